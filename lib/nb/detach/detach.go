// Package detach lets the program of a notebook cell go on when its cell is over.
//
// A kernel that runs one cell at a time waits until the program of a cell has ended. With
// Begin, that program is split before it has done anything: a parent, for which the kernel
// waits, and a child, which runs the cell. Link.Detach ends the parent. The child goes on and
// talks to the kernel through a Unix socket: it publishes outputs for its cell and receives
// the values that a page sends to its address. It ends when its work is done, when its cell
// runs again, or with the kernel.
//
// Both sides of the socket are here: Link for the program, Message and Read for the kernel.
package detach

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

// EnvSocket is the environment variable that names the kernel's socket. Without it, a program
// cannot be detached.
const EnvSocket = "LETHE_DETACH_SOCKET"

// Message is what the two sides send each other, one JSON object a line. Which fields are set
// depends on its kind.
type Message struct {
	Kind Kind `json:"kind"`

	// PID is the program's process, in Hello and Printed.
	PID int `json:"pid,omitempty"`

	// Address is where a page sends values to, in Subscribe and Value.
	Address string `json:"address,omitempty"`

	// Value is what a page has sent, in Value.
	Value json.RawMessage `json:"value,omitempty"`

	// Data, Metadata and ID describe an output by media type, in Display. It replaces the
	// cell's output with the same ID, if there is one.
	Data     map[string]any `json:"data,omitempty"`
	Metadata map[string]any `json:"metadata,omitempty"`
	ID       string         `json:"id,omitempty"`
}

// Kind is the kind of a Message.
type Kind string

// The program sends Hello first, or Printed on a connection that carries only its printed text
// from then on. It asks for values with Subscribe, and for its cell to end with Detach. The
// kernel answers with Detached, after which the program may end its parent.
const (
	Hello     Kind = "hello"
	Printed   Kind = "printed"
	Subscribe Kind = "subscribe"
	Display   Kind = "display"
	Detach    Kind = "detach"
	Detached  Kind = "detached"
	Value     Kind = "value"
)

// maxLine is the size limit of a message in bytes. A figure takes less than a million.
const maxLine = 64 << 20

// Read reads the next message. A line that is too long or is no message is an error; the
// connection cannot be used any more then.
func Read(r *bufio.Reader) (m Message, err error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return m, fmt.Errorf("a message of more than %d bytes", maxLine)
		case err == bufio.ErrBufferFull:
			continue
		case err != nil:
			return m, err
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return m, fmt.Errorf("a message that is no JSON object: %w", err)
		}
		return m, nil
	}
}

// Write writes a message.
func Write(w io.Writer, m Message) error {
	line, err := json.Marshal(m)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

// Link is the connection of a program to the kernel. Its methods may be called from several
// goroutines.
type Link struct {
	conn     net.Conn
	mu       sync.Mutex
	handlers map[string]func(json.RawMessage)
	detached chan struct{}
}

// Open connects the program to its kernel; nil if it cannot be detached.
func Open() *Link {
	if child == nil {
		return nil
	}
	conn, err := net.Dial("unix", os.Getenv(EnvSocket))
	if err != nil {
		return nil
	}
	l := &Link{conn: conn, handlers: map[string]func(json.RawMessage){}, detached: make(chan struct{})}
	if l.send(Message{Kind: Hello, PID: os.Getpid()}) != nil {
		_ = conn.Close()
		return nil
	}
	go l.listen()
	return l
}

func (l *Link) send(m Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Write(l.conn, m)
}

// Subscribe calls handle, in one goroutine, with every value that a page sends to the address.
func (l *Link) Subscribe(address string, handle func(value json.RawMessage)) error {
	l.mu.Lock()
	l.handlers[address] = handle
	l.mu.Unlock()
	return l.send(Message{Kind: Subscribe, Address: address})
}

// Display publishes an output of the cell, by media type, or replaces the one with the id.
func (l *Link) Display(data, metadata map[string]any, id string) error {
	return l.send(Message{Kind: Display, Data: data, Metadata: metadata, ID: id})
}

// listen handles what the kernel sends. Without a kernel the program has nothing to do.
func (l *Link) listen() {
	r := bufio.NewReader(l.conn)
	var once sync.Once
	for {
		m, err := Read(r)
		if err != nil {
			os.Exit(0)
		}
		switch m.Kind {
		case Detached:
			once.Do(func() { close(l.detached) })
		case Value:
			l.mu.Lock()
			handle := l.handlers[m.Address]
			l.mu.Unlock()
			if handle != nil {
				handle(m.Value)
			}
		}
	}
}
