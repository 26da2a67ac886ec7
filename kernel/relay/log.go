// The log file of gonb's messages.

package relay

import (
	"bytes"
	"os"
	"regexp"
	"sync"
)

// maxLog is the size at which the log file is renamed to FILE.old.
const maxLog = 1 << 20

// logFile receives gonb's messages: a log file of limited size, and the last lines in
// memory in case gonb does not start.
type logFile struct {
	mu     sync.Mutex
	name   string // "" for no file
	file   *os.File
	tail   []byte
	folder string // of gonb's temporary files, once it has said so
}

// tempFolder matches gonb's message about its temporary folder.
var tempFolder = regexp.MustCompile(`tmp Go code in "([^"]+)"`)

func newLogFile(name string) (*logFile, error) {
	n := &logFile{name: name}
	return n, n.open()
}

func (n *logFile) open() (err error) {
	if n.name != "" {
		n.file, err = os.OpenFile(n.name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	}
	return err
}

// Write adds output of gonb. It never fails: a log that cannot be written must not stop the
// kernel.
func (n *logFile) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tail = append(n.tail, p...)
	if over := len(n.tail) - 4096; over > 0 {
		n.tail = append(n.tail[:0], n.tail[over:]...)
	}
	if at := tempFolder.FindSubmatch(n.tail); at != nil && n.folder == "" {
		n.folder = string(at[1])
	}
	if info, err := n.file.Stat(); err == nil && info.Size()+int64(len(p)) > maxLog {
		_ = n.file.Close()
		if os.Rename(n.name, n.name+".old") == nil {
			_ = n.open()
		}
	}
	_, _ = n.file.Write(p) // a nil file takes nothing
	return len(p), nil
}

// gonbFolder returns gonb's temporary folder, "" before gonb has named it.
func (n *logFile) gonbFolder() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.folder
}

// lastLines returns the end of gonb's output, without colours.
func (n *logFile) lastLines() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return string(bytes.TrimSpace(colour.ReplaceAll(n.tail, nil)))
}

func (n *logFile) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	_ = n.file.Close()
}
