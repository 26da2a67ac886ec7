// The ZeroMQ sockets on both sides of the relay.

package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/go-zeromq/zmq4"
)

type received struct {
	from   port
	frames [][]byte
}

// peer is one side of the relay: its sockets by port, and its key.
type peer struct {
	key     []byte
	sockets map[port]zmq4.Socket
	outbox  map[port]chan zmq4.Msg
	done    chan struct{} // one token for each outbox that is empty and closed
	beat    zmq4.Socket
}

// queued is how many messages may wait for a slow client.
const queued = 1 << 12

func newPeer(key string) *peer {
	return &peer{
		key: []byte(key), sockets: map[port]zmq4.Socket{},
		outbox: map[port]chan zmq4.Msg{}, done: make(chan struct{}, 8),
	}
}

// bind opens the sockets that Jupyter's clients connect to.
func bind(ctx context.Context, c *connection, notes io.Writer) (*peer, error) {
	quiet := zmq4.WithLogger(log.New(notes, "zmq: ", 0))
	s := newPeer(c.Key)
	s.beat = zmq4.NewRep(ctx, quiet)
	for _, one := range []struct {
		port   port
		socket zmq4.Socket
		number int
		name   string
	}{
		{jupyterShell, zmq4.NewRouter(ctx, quiet), c.ShellPort, "shell"},
		{jupyterControl, zmq4.NewRouter(ctx, quiet), c.ControlPort, "control"},
		{jupyterStdin, zmq4.NewRouter(ctx, quiet), c.StdinPort, "stdin"},
		{jupyterIOPub, zmq4.NewPub(ctx, quiet), c.IOPubPort, "iopub"},
		{-1, s.beat, c.HBPort, "hb"},
	} {
		if err := one.socket.Listen(c.address(one.number)); err != nil {
			s.close()
			return nil, fmt.Errorf("the %s socket: %w", one.name, err)
		}
		if one.port >= 0 {
			s.add(one.port, one.socket)
		}
	}
	go echo(s.beat)
	return s, nil
}

// dial connects to gonb as a client, and waits for it to open its sockets until ctx ends.
func dial(ctx context.Context, c *connection, notes io.Writer) (*peer, error) {
	options := []zmq4.Option{
		zmq4.WithLogger(log.New(notes, "zmq: ", 0)),
		zmq4.WithID(zmq4.SocketIdentity("lethe")), // gonb answers on other sockets than it was asked on
		zmq4.WithDialerRetry(10 * time.Millisecond), zmq4.WithDialerMaxRetries(-1),
	}
	sub := zmq4.NewSub(ctx, options...)
	if err := sub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		return nil, err
	}
	s := newPeer(c.Key)
	for _, one := range []struct {
		port   port
		socket zmq4.Socket
		number int
	}{
		{gonbIOPub, sub, c.IOPubPort},
		{gonbShell, zmq4.NewDealer(ctx, options...), c.ShellPort},
		{gonbControl, zmq4.NewDealer(ctx, options...), c.ControlPort},
		{gonbStdin, zmq4.NewDealer(ctx, options...), c.StdinPort},
	} {
		if err := one.socket.Dial(c.address(one.number)); err != nil {
			s.close()
			return nil, err
		}
		s.add(one.port, one.socket)
	}
	return s, nil
}

// add adds a socket and starts to send the messages queued for it.
func (s *peer) add(p port, socket zmq4.Socket) {
	s.sockets[p] = socket
	box := make(chan zmq4.Msg, queued)
	s.outbox[p] = box
	go func() {
		for msg := range box {
			_ = socket.SendMulti(msg) // a client that is gone needs no answer
		}
		s.done <- struct{}{}
	}()
}

// listen passes on what arrives at every readable socket.
func (s *peer) listen(ctx context.Context, to chan<- received) {
	for p, socket := range s.sockets {
		if p == jupyterIOPub {
			continue
		}
		go func() {
			for ctx.Err() == nil {
				msg, err := socket.Recv()
				if err != nil {
					time.Sleep(time.Millisecond)
					continue
				}
				select {
				case to <- received{p, msg.Frames}:
				case <-ctx.Done():
				}
			}
		}()
	}
}

// send queues a message for a port.
func (s *peer) send(p port, msg *message) {
	if p == jupyterIOPub {
		msg = msg.withIDs([]byte("kernel." + msg.head.Type))
	}
	if box := s.outbox[p]; box != nil {
		box <- zmq4.NewMsgFrom(msg.frames(s.key)...)
	}
}

// flush sends what is queued, within the given time. Nothing can be sent afterwards.
func (s *peer) flush(limit time.Duration) {
	late := time.After(limit)
	for p, box := range s.outbox {
		close(box)
		delete(s.outbox, p)
	}
	for range s.sockets {
		select {
		case <-s.done:
		case <-late:
			return
		}
	}
	// A PUB socket writes from a queue of its own that cannot be waited for.
	time.Sleep(50 * time.Millisecond)
}

func (s *peer) close() {
	for _, socket := range s.sockets {
		_ = socket.Close()
	}
	if s.beat != nil {
		_ = s.beat.Close()
	}
}

// echo answers heartbeats until the socket is closed.
func echo(beat zmq4.Socket) {
	for {
		msg, err := beat.Recv()
		switch {
		case errors.Is(err, context.Canceled):
			return
		case err != nil:
			time.Sleep(time.Millisecond)
		default:
			_ = beat.Send(msg)
		}
	}
}
