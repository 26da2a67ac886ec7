// The socket on which programs that go on when their cell is over talk to the relay.

package relay

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
	"github.com/lethe-ml/lethe/lib/nb/detach"
)

// programEvent is what a program has sent, on one connection.
type programEvent struct {
	connection int
	message    detach.Message
	text       string // what it has printed, with the message that began the connection
	closed     bool   // the connection has ended
}

// programServer holds the connections of programs. The zero value has none.
type programServer struct {
	listener net.Listener
	events   chan programEvent
	stopped  chan struct{}
	stopOnce sync.Once
	notes    io.Writer

	mu          sync.Mutex
	last        int
	connections map[int]net.Conn
}

// listenForPrograms opens the socket, which only this user can reach.
func listenForPrograms(path string, notes io.Writer) (*programServer, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	s := &programServer{
		listener: l, events: make(chan programEvent), stopped: make(chan struct{}), notes: notes, connections: map[int]net.Conn{},
	}
	go s.accept()
	return s, nil
}

func (s *programServer) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.last++
		number := s.last
		s.connections[number] = c
		s.mu.Unlock()
		go s.receive(number, c)
	}
}

// receive passes on what comes over a connection until it ends.
func (s *programServer) receive(number int, c net.Conn) {
	r := bufio.NewReader(c)
	last := programEvent{connection: number, closed: true}
	for {
		m, err := detach.Read(r)
		if err != nil {
			if err != io.EOF {
				fmt.Fprintf(s.notes, "lethe-kernel: a program that goes on: %v\n", err)
			}
			break
		}
		s.pass(programEvent{connection: number, message: m})
		if m.Kind == detach.Printed {
			s.receiveText(number, m, r)
			last.message = m
			break
		}
	}
	s.close(number)
	s.pass(last)
}

// receiveText passes on what a program prints.
func (s *programServer) receiveText(number int, m detach.Message, r io.Reader) {
	buffer := make([]byte, 1<<15)
	for {
		n, err := r.Read(buffer)
		if n > 0 {
			s.pass(programEvent{connection: number, message: m, text: string(buffer[:n])})
		}
		if err != nil {
			return
		}
	}
}

func (s *programServer) pass(e programEvent) {
	select {
	case s.events <- e:
	case <-s.stopped:
	}
}

// tellLimit is how long a program may leave a message unread; then it gets no more.
const tellLimit = time.Second

// tell sends a message to a program.
func (s *programServer) tell(number int, m detach.Message) {
	s.mu.Lock()
	c := s.connections[number]
	s.mu.Unlock()
	if c == nil {
		return
	}
	_ = c.SetWriteDeadline(time.Now().Add(tellLimit))
	if err := detach.Write(c, m); err != nil {
		s.close(number)
	}
}

// endWithin is how long a program that has to end may take.
const endWithin = 2 * time.Second

// end ends a program.
func (s *programServer) end(number, pid int) {
	proc.Terminate(pid)
	time.AfterFunc(endWithin, func() {
		s.mu.Lock()
		_, connected := s.connections[number]
		s.mu.Unlock()
		if connected {
			proc.Kill(pid)
		}
	})
}

func (s *programServer) close(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.connections[number]; c != nil {
		_ = c.Close()
		delete(s.connections, number)
	}
}

// stop closes all connections, which ends the programs.
func (s *programServer) stop() {
	if s.listener == nil {
		return
	}
	_ = s.listener.Close()
	s.stopOnce.Do(func() { close(s.stopped) })
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.connections {
		_ = c.Close()
	}
}
