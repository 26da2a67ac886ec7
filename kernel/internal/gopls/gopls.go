// Package gopls is a client of the Go language server for files that exist in memory
// only.
package gopls

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// Server is a running gopls. It answers one request after the other.
type Server struct {
	dir     string
	in      io.WriteCloser
	child   *proc.Child
	answers chan answer

	requestMu sync.Mutex
	lastID    int
	versions  map[string]int // of the files, by name

	writeMu sync.Mutex
}

// Position is a place in a file: the line, and the UTF-16 code unit in it, both from 0.
type Position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// answer is a message of the protocol, as far as it is used.
type answer struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// settings switch off gopls's own diagnostics, and limit its workspace to the folder.
var settings = map[string]any{
	"expandWorkspaceToModule": false, "diagnosticsTrigger": "Save", "deepCompletion": false, "linksInHover": false, "vulncheck": "Off",
}

var errEnded = errors.New("gopls has ended")

// endWithin is the time that gopls gets to end and to write its cache.
const endWithin = time.Second

// Start starts the program in a folder with a go.mod. Its standard error goes to notes.
func Start(program, dir string, env []string, notes io.Writer) (*Server, error) {
	cmd := exec.Command(program)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, notes
	cmd.WaitDelay = endWithin
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = w
	child, err := proc.Start(cmd)
	_ = w.Close()
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	s := &Server{dir: dir, in: in, child: child, answers: make(chan answer), versions: map[string]int{}}
	go s.listen(out)
	return s, nil
}

// Open initialises the server. Call it before any request.
func (s *Server) Open(ctx context.Context) error {
	formats := []string{"markdown", "plaintext"}
	err := s.request(ctx, "initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": fileURI(s.dir),
		"workspaceFolders": []map[string]string{{"uri": fileURI(s.dir), "name": filepath.Base(s.dir)}},
		"capabilities": map[string]any{"textDocument": map[string]any{
			"hover":         map[string]any{"contentFormat": formats},
			"signatureHelp": map[string]any{"signatureInformation": map[string]any{"documentationFormat": formats}},
		}},
		"initializationOptions": settings,
	}, nil)
	if err != nil {
		return err
	}
	return s.notify("initialized", struct{}{})
}

// Stop ends gopls and its children.
func (s *Server) Stop() {
	_ = s.in.Close()
	s.child.Stop(endWithin)
}

// Set sets the content of a file in the folder.
func (s *Server) Set(name, text string) error {
	s.requestMu.Lock()
	defer s.requestMu.Unlock()
	s.versions[name]++
	uri, version := fileURI(filepath.Join(s.dir, name)), s.versions[name]
	if version == 1 {
		return s.notify("textDocument/didOpen", map[string]any{
			"textDocument": map[string]any{"uri": uri, "languageId": "go", "version": version, "text": text},
		})
	}
	return s.notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": uri, "version": version},
		"contentChanges": []map[string]string{{"text": text}},
	})
}

// positionParams returns the parameters of a request about a position.
func (s *Server) positionParams(name string, at Position) map[string]any {
	return map[string]any{"textDocument": map[string]string{"uri": fileURI(filepath.Join(s.dir, name))}, "position": at}
}

func (s *Server) request(ctx context.Context, method string, params, result any) error {
	s.requestMu.Lock()
	defer s.requestMu.Unlock()
	s.lastID++
	id := strconv.Itoa(s.lastID)
	if err := s.write(map[string]any{"jsonrpc": "2.0", "id": s.lastID, "method": method, "params": params}); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.child.Done:
			return errEnded
		case a := <-s.answers:
			switch {
			case string(a.ID) != id: // of a request that was given up
			case a.Error != nil:
				return fmt.Errorf("gopls: %s: %s", method, a.Error.Message)
			case result == nil:
				return nil
			default:
				return json.Unmarshal(a.Result, result)
			}
		}
	}
}

func (s *Server) notify(method string, params any) error {
	return s.write(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (s *Server) write(message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	s.writeMu.Lock()
	defer s.writeMu.Unlock()
	_, err = fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// listen passes answers on until gopls ends. Requests of gopls are answered with null, its
// notifications are ignored.
func (s *Server) listen(out io.ReadCloser) {
	defer out.Close()
	r := bufio.NewReader(out)
	for {
		a, err := readAnswer(r)
		switch {
		case err != nil:
			return
		case a.Method != "" && a.ID != nil:
			_ = s.write(map[string]any{"jsonrpc": "2.0", "id": a.ID, "result": nil})
		case a.Method == "":
			select {
			case s.answers <- a:
			case <-s.child.Done:
				return
			}
		}
	}
}

// maxMessage is far above the size of gopls's messages.
const maxMessage = 1 << 26

func readAnswer(r *bufio.Reader) (a answer, err error) {
	b, err := readBody(r)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(b, &a)
}

// readBody returns the next message without its header.
func readBody(r *bufio.Reader) ([]byte, error) {
	head, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(head.Get("Content-Length"))
	if err != nil || n < 0 || n > maxMessage {
		return nil, fmt.Errorf("a message of length %q", head.Get("Content-Length"))
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return b, err
}

func fileURI(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}
