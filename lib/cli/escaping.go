package cli

import (
	"io"
	"os"
	"sync"
	"unicode/utf8"
)

// escapingWriter is a stream that a person may read: what is written to it goes through
// Printable. Names of files and columns, what a server answers and what a file holds come
// from anybody; no command has to think of each. JSON stays JSON of the same strings.
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
	if _, err := io.WriteString(s.w, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// incompleteBytes is how many bytes at the end of b begin a character.
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

// flush writes what is left of a character that never ended.
func (s *escapingWriter) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.w, Printable(string(s.partial))) // nothing can be said where nothing can be written
	s.partial = nil
}

// Fd is that of the file behind the stream, or none that there is.
func (s *escapingWriter) Fd() uintptr {
	if f, ok := s.w.(*os.File); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// Raw is the stream behind one that a command was given, for pictures and for what moves
// the cursor of a terminal. Foreign text goes through Printable first.
func Raw(w io.Writer) io.Writer {
	if s, ok := w.(*escapingWriter); ok {
		return s.w
	}
	return w
}
