// A fake gonb and a fake client for the tests of this package.

package relay

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

// The test program plays other roles when this variable says so: gonb, the
// compiler that gonb starts, and the relay as a process of its own.
const roleEnv = "LETHE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "gonb":
		fakeGonb()
	case "compiler":
		time.Sleep(time.Minute)
	case "relay":
		self, err := os.Executable()
		fatal(err)
		fatal(os.Setenv(roleEnv, "gonb"))
		fatal(Run(context.Background(), Options{Gonb: self, ConnectionFile: os.Args[1]}))
	default:
		os.Exit(m.Run())
	}
}

// fake speaks GoNB's side of the protocol. What a cell does is in its code.
type fake struct {
	key    []byte
	shell  zmq4.Socket
	iopub  zmq4.Socket
	folder string
	count  int
	deaf   int // messages that are lost because nobody has subscribed yet
}

func fakeGonb() {
	var file string
	for i, a := range os.Args[:len(os.Args)-1] {
		if a == "--kernel" {
			file = os.Args[i+1]
		}
	}
	how := os.Getenv("LETHE_TEST_START")
	if how == "broken" {
		fmt.Fprintln(os.Stderr, "no go here")
		os.Exit(3)
	}
	c, err := readConnection(file)
	fatal(err)
	ctx := context.Background()
	f := &fake{key: []byte(c.Key), shell: zmq4.NewRouter(ctx), iopub: zmq4.NewPub(ctx)}
	if how == "deaf" {
		f.deaf = 5
	}
	f.folder, err = os.MkdirTemp("", "gonb_")
	fatal(err)
	fmt.Fprintf(os.Stderr, "tmp Go code in %q\n", f.folder)
	control, stdin := zmq4.NewRouter(ctx), zmq4.NewRouter(ctx)
	fatal(f.shell.Listen(c.address(c.ShellPort)))
	fatal(control.Listen(c.address(c.ControlPort)))
	fatal(stdin.Listen(c.address(c.StdinPort)))
	fatal(f.iopub.Listen(c.address(c.IOPubPort)))
	signals := make(chan os.Signal, 9)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		_ = os.RemoveAll(f.folder)
		os.Exit(0)
	}()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT) // not Ignore, which the compiler would inherit
	go f.serve(control)
	f.serve(f.shell)
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake gonb:", err)
		os.Exit(9)
	}
}

func (f *fake) serve(socket zmq4.Socket) {
	for {
		raw, err := socket.Recv()
		fatal(err)
		m, err := parse(raw.Frames, f.key)
		fatal(err) // as GoNB: a message that is not right ends it
		f.publish(m, "status", map[string]any{"execution_state": "busy"})
		switch m.head.Type {
		case "kernel_info_request":
			f.reply(m, "kernel_info_reply", map[string]any{"status": "ok", "banner": "fake"})
		case "execute_request":
			f.execute(m)
		default:
			f.reply(m, strings.Replace(m.head.Type, "request", "reply", 1), map[string]any{"status": "ok"})
		}
		f.publish(m, "status", map[string]any{"execution_state": "idle"})
	}
}

func (f *fake) execute(m *message) {
	f.count++
	code := m.fields()["code"].(string)
	f.publish(m, "execute_input", map[string]any{"execution_count": f.count, "code": code})
	reply := map[string]any{"status": "ok", "execution_count": f.count}
	word, rest, _ := strings.Cut(code, " ")
	switch word {
	case "print":
		f.publish(m, "stream", streamContent("stdout", rest))
	case "fail":
		f.fail(m, reply, "# gonb_1\n./main.go:2:3: "+rest)
	case "panic":
		f.publish(m, "stream", streamContent("stderr", "panic: "+rest+"\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/gonb_1/main.go:3\n"))
		f.publish(m, "stream", streamContent("stderr", "exit status 2\n"))
		f.fail(m, reply, "exit status 2")
	case "compile":
		if err := f.compile(); err != nil {
			f.fail(m, reply, err.Error())
			break
		}
		f.publish(m, "stream", streamContent("stdout", "it ran"))
	case "die":
		time.Sleep(time.Second) // in which the next cell comes to the relay, on a busy machine too
		os.Exit(7)
	case "echo": // what came in, with a buffer
		a := m.newReply("display_data", m.fields())
		a.metadata, a.buffers = m.metadata, m.buffers
		f.send(f.iopub, a)
	}
	f.reply(m, "execute_reply", reply)
}

func (f *fake) fail(m *message, reply map[string]any, value string) {
	f.publish(m, "error", failure{"ERROR", value, strings.Split(value, "\n")})
	reply["status"], reply["ename"], reply["evalue"] = "error", "ERROR", value
}

// compile runs a program called go, which does not end by itself.
func (f *fake) compile() error {
	self, err := os.Executable()
	fatal(err)
	tool := filepath.Join(f.folder, "go")
	_ = os.Symlink(self, tool)
	cmd := exec.Command(tool)
	cmd.Env = append(os.Environ(), roleEnv+"=compiler")
	return cmd.Run()
}

func (f *fake) publish(m *message, kind string, content any) {
	if f.deaf > 0 {
		f.deaf--
		return
	}
	f.send(f.iopub, m.newReply(kind, content))
}

func (f *fake) reply(m *message, kind string, content any) {
	f.send(f.shell, m.newReply(kind, content))
}

func (f *fake) send(s zmq4.Socket, m *message) {
	fatal(s.SendMulti(zmq4.NewMsgFrom(m.frames(f.key)...)))
}

// client is a Jupyter client of a relay that runs in this process.
type client struct {
	t        testing.TB
	key      []byte
	sockets  map[port]zmq4.Socket
	arrivals chan received
	seen     []step     // every message that was read
	moves    int        // of sliders, see slide
	done     chan error // what Run returned
	stop     context.CancelFunc
	file     string // the connection file
	log      string
	conn     *connection
}

// connect starts a relay with a fake gonb behind it and connects to it.
func connect(t testing.TB, environment ...string) *client {
	t.Helper()
	c := prepareClient(t)
	c.start(fakeOptions(t, environment...))
	return c
}

func fakeOptions(t testing.TB, environment ...string) Options {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("GoNB runs on Unix only")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range append(environment, roleEnv+"=gonb") {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	return Options{Gonb: self, GoWork: t.TempDir()}
}

// start runs a relay in this process and connects to it.
func (c *client) start(o Options) {
	c.t.Helper()
	if err := c.conn.write(c.file); err != nil {
		c.t.Fatal(err)
	}
	o.ConnectionFile, o.Log = c.file, c.log
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.t.Cleanup(stop)
	go func() { c.done <- Run(ctx, o) }()
	c.dial()
}

// prepareClient writes a connection file for a relay that is yet to start.
func prepareClient(t testing.TB) *client {
	t.Helper()
	dir, err := os.MkdirTemp("", "rt") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, sockets: map[port]zmq4.Socket{}, arrivals: make(chan received, 1<<10), done: make(chan error, 1)}
	t.Setenv("TMPDIR", dir)
	c.conn = privateConnection(dir)
	c.key = []byte(c.conn.Key)
	c.file = filepath.Join(dir, "kernel-00000000-aa.json")
	c.log = filepath.Join(dir, "log")
	if err := c.conn.write(c.file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, s := range c.sockets {
			_ = s.Close()
		}
		_ = os.RemoveAll(dir)
	})
	return c
}

func (c *client) dial() {
	c.t.Helper()
	options := []zmq4.Option{zmq4.WithID(zmq4.SocketIdentity("client-1")), zmq4.WithDialerRetry(5 * time.Millisecond), zmq4.WithDialerMaxRetries(1000)}
	sub := zmq4.NewSub(context.Background(), options...)
	if err := sub.SetOption(zmq4.OptionSubscribe, ""); err != nil {
		c.t.Fatal(err)
	}
	for _, one := range []struct {
		port   port
		socket zmq4.Socket
		number int
	}{
		{jupyterIOPub, sub, c.conn.IOPubPort},
		{jupyterShell, zmq4.NewDealer(context.Background(), options...), c.conn.ShellPort},
		{jupyterControl, zmq4.NewDealer(context.Background(), options...), c.conn.ControlPort},
	} {
		if err := one.socket.Dial(c.conn.address(one.number)); err != nil {
			c.t.Fatal(err)
		}
		c.sockets[one.port] = one.socket
		go func() {
			for {
				msg, err := one.socket.Recv()
				if err != nil {
					return
				}
				c.arrivals <- received{one.port, msg.Frames}
			}
		}()
	}
}

func (c *client) send(to port, m *message) {
	c.t.Helper()
	if err := c.sockets[to].SendMulti(zmq4.NewMsgFrom(m.withIDs().frames(c.key)...)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) run(code string) *message {
	m := request("execute_request", string(encode(map[string]any{"code": code, "silent": false, "store_history": true, "stop_on_error": true})))
	c.send(jupyterShell, m)
	return m
}

// next is the next message from the relay, with where it came from.
func (c *client) next() (port, *message) {
	c.t.Helper()
	from, m, ok := c.nextWithin(time.Minute) // a language server on a busy machine takes its time
	if !ok {
		c.t.Fatal("no message for a minute")
	}
	return from, m
}

// nextWithin is the next message from the relay, if one comes in time.
func (c *client) nextWithin(limit time.Duration) (port, *message, bool) {
	c.t.Helper()
	select {
	case a := <-c.arrivals:
		m, err := parse(a.frames, c.key)
		if err != nil {
			c.t.Fatal(err)
		}
		return a.from, m, true
	case <-time.After(limit):
		return 0, nil, false
	}
}

// until reads up to the reply to a request and the idle after it, and returns
// what it has read. The sockets are not in step with each other, so both may have
// come while another request was waited for.
func (c *client) until(r *message) []step {
	c.t.Helper()
	before := len(c.seen)
	replied, idle := false, false
	for i := 0; !replied || !idle; i++ {
		if i == len(c.seen) {
			p, m := c.next()
			c.seen = append(c.seen, step{to: p, msg: m})
		}
		if s := c.seen[i]; s.msg.parent.ID == r.head.ID {
			replied = replied || s.to != jupyterIOPub
			idle = idle || s.msg.fields()["execution_state"] == "idle"
		}
	}
	return slices.Clone(c.seen[before:])
}

// replied reads up to the reply to a request that has no status messages.
func (c *client) replied(r *message) {
	c.t.Helper()
	for !slices.ContainsFunc(c.seen, func(s step) bool {
		return s.to != jupyterIOPub && s.msg.parent.ID == r.head.ID
	}) {
		p, m := c.next()
		c.seen = append(c.seen, step{to: p, msg: m})
	}
}

// findStep is a summary of what answers a request, without its status messages and
// without the order between the sockets.
func findStep(all []step, r *message) string {
	var iopub, other []step
	for _, s := range all {
		switch {
		case s.msg.parent.ID != r.head.ID || s.msg.head.Type == "status" || s.msg.head.Type == "execute_input":
		case s.to == jupyterIOPub:
			iopub = append(iopub, s)
		default:
			other = append(other, s)
		}
	}
	return summary(append(iopub, other...))
}

func (c *client) ended() error {
	c.t.Helper()
	select {
	case err := <-c.done:
		return err
	case <-time.After(20 * time.Second):
		c.t.Fatal("the relay does not end")
		return nil
	}
}
