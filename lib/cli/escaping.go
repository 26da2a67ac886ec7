// A writer that escapes control characters, for all that commands print.

package cli

import (
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/lib/progress"
)

// escapingWriter passes what is written through Printable. File names, columns and answers
// of servers may hold anything, and no command has to escape them by itself. JSON stays
// JSON of the same strings.
type escapingWriter struct {
	mu      sync.Mutex
	w       io.Writer
	partial []byte // the beginning of a character whose end is still to come
}

// Write implements io.Writer.
func (s *escapingWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := append(s.partial, p...)
	whole := len(b) - incompleteBytes(b)
	text := Printable(string(b[:whole]))
	s.partial = append([]byte(nil), b[whole:]...)
	var err error
	progress.PrintAbove(func() { _, err = io.WriteString(s.w, text) })
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// incompleteBytes returns how many bytes at the end of b begin an incomplete character.
func incompleteBytes(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return n
			}
			return 0
		}
	}
	return 0
}

// flush writes the rest of an incomplete character.
func (s *escapingWriter) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.w, Printable(string(s.partial))) // there is no one to report an error to
	s.partial = nil
}

// Fd returns the descriptor of the underlying file, or an invalid one.
func (s *escapingWriter) Fd() uintptr {
	if f, ok := s.w.(*os.File); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// Raw returns the stream below an escapingWriter, for pictures and for code that moves the
// cursor. Foreign text must pass Printable first.
func Raw(w io.Writer) io.Writer {
	if s, ok := w.(*escapingWriter); ok {
		return s.w
	}
	return w
}
