// Tests of relay.go.

package relay

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"
)

func TestMessagesPassBothWaysUnharmed(t *testing.T) {
	c := connect(t)
	m := request("execute_request", `{"code":"echo", "silent":false, "store_history":true, "n": 1.50}`)
	m.metadata = []byte(`{"cellId": "ä"}`)
	m.buffers = [][]byte{{0, 1, 2}, {}}
	c.send(jupyterShell, m)
	for _, s := range c.until(m) {
		if s.msg.head.Type != "display_data" {
			continue
		}
		if string(s.msg.metadata) != string(m.metadata) || len(s.msg.buffers) != 2 || string(s.msg.buffers[0]) != "\x00\x01\x02" {
			t.Errorf("metadata %s, buffers %v", s.msg.metadata, s.msg.buffers)
		}
		if s.msg.parent != m.head {
			t.Errorf("parent %+v, sent %+v", s.msg.parent, m.head)
		}
		return
	}
	t.Error("no display_data came back")
}

func TestRunAllStopsAtTheFirstError(t *testing.T) {
	c := connect(t)
	a, b, d := c.run("print one"), c.run("fail x"), c.run("print three")
	all := c.until(a)
	if got := findStep(all, a); got != "iopub stream one; shell execute_reply ok" {
		t.Errorf("first: %s", got)
	}
	all = append(all, c.until(d)...)
	if got := findStep(all, b); got != "iopub error compile error; shell execute_reply error compile error" {
		t.Errorf("second: %s", got)
	}
	if got := findStep(all, d); got != "shell execute_reply aborted" {
		t.Errorf("third: %s", got)
	}
	e := c.run("print later")
	if got := findStep(c.until(e), e); got != "iopub stream later; shell execute_reply ok" {
		t.Errorf("later: %s", got)
	}
}

func TestCrashIsShownByTheErrorAlone(t *testing.T) {
	c := connect(t)
	a := c.run("panic boom")
	if got := findStep(c.until(a), a); got != "iopub error panic; shell execute_reply error panic" {
		t.Errorf("got %s", got)
	}
}

func TestInterruptReachesTheCompiler(t *testing.T) {
	if len(processes()) == 0 {
		t.Skip("no /proc here: the compiler cannot be found")
	}
	c := connect(t)
	a, b := c.run("compile"), c.run("print must not run")
	time.Sleep(300 * time.Millisecond) // until the compiler runs; earlier must work too
	r := request("interrupt_request", `{}`)
	c.send(jupyterControl, r)
	all := c.until(a)
	if got := findStep(all, a); got != "iopub error interrupted; shell execute_reply error interrupted" {
		t.Errorf("got %s", got)
	}
	if got := findStep(all, b); got != "shell execute_reply aborted" {
		t.Errorf("waiting: %s", got)
	}
	c.replied(r) // on a socket of its own: it may come after the cell's end
	if got := findStep(c.seen, r); got != "control interrupt_reply ok" {
		t.Errorf("interrupt: %s", got)
	}
}

func TestInterruptIsNotLostBeforeTheCompilerStarts(t *testing.T) {
	if len(processes()) == 0 {
		t.Skip("no /proc here: the compiler cannot be found")
	}
	c := connect(t)
	a := c.run("compile")
	for { // busy: the cell is gonb's now
		if _, m := c.next(); m.head.Type == "execute_input" {
			break
		}
	}
	c.send(jupyterControl, request("interrupt_request", `{}`))
	if got := findStep(c.until(a), a); got != "iopub error interrupted; shell execute_reply error interrupted" {
		t.Errorf("got %s", got)
	}
}

func TestForgedAndBrokenFramesAreDropped(t *testing.T) {
	c := connect(t)
	forged := request("execute_request", `{"code":"die"}`).withIDs()
	for _, frames := range [][][]byte{
		forged.frames([]byte("wrong key")),
		{[]byte("junk")},
		{[]byte(delimiter)},
		{[]byte(delimiter), nil, nil, nil, nil, nil},
	} {
		if err := c.sockets[jupyterShell].SendMulti(zmq4.NewMsgFrom(frames...)); err != nil {
			t.Fatal(err)
		}
	}
	a := c.run("print alive")
	if got := findStep(c.until(a), a); got != "iopub stream alive; shell execute_reply ok" {
		t.Errorf("got %s", got)
	}
	log, err := os.ReadFile(c.log)
	if err != nil || strings.Count(string(log), "message dropped") != 4 {
		t.Errorf("log %s (%v)", log, err)
	}
}

func TestDeathOfGonbEndsTheRelay(t *testing.T) {
	c := connect(t)
	a, b := c.run("die"), c.run("print never")
	all := c.until(b)
	if got := findStep(all, a); !strings.HasPrefix(got, "iopub stream The Go kernel behind this notebook has ended: gonb: exit status 7.") ||
		!strings.HasSuffix(got, "iopub error kernel ended; shell execute_reply error kernel ended") {
		t.Errorf("got %s", got)
	}
	if got := findStep(all, b); got != "shell execute_reply aborted" {
		t.Errorf("waiting: %s", got)
	}
	if err := c.ended(); !errors.Is(err, errDied) || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("error %v", err)
	}
	c.nothingLeft()
}

func TestShutdownIsAnsweredAndLeavesNothing(t *testing.T) {
	c := connect(t)
	a := c.run("print x")
	c.until(a)
	r := request("shutdown_request", `{"restart":true}`)
	c.send(jupyterControl, r)
	for {
		p, m := c.next()
		if p == jupyterControl && m.head.Type == "shutdown_reply" {
			if m.fields()["restart"] != true || m.parent.ID != r.head.ID {
				t.Errorf("reply %s to %s", m.content, m.parent.ID)
			}
			break
		}
	}
	if err := c.ended(); err != nil {
		t.Error(err)
	}
	c.nothingLeft()
}

func TestEndOfTheContextEndsARunningCell(t *testing.T) {
	c := connect(t)
	c.run("compile")
	for {
		if _, m := c.next(); m.head.Type == "execute_input" {
			break
		}
	}
	c.stop()
	if err := c.ended(); err != nil {
		t.Error(err)
	}
	c.nothingLeft()
}

func TestTCPWorksAsWell(t *testing.T) {
	c := prepareClient(t)
	c.conn.Transport, c.conn.IP = "tcp", "127.0.0.1"
	for _, p := range []*int{&c.conn.ShellPort, &c.conn.ControlPort, &c.conn.StdinPort, &c.conn.IOPubPort, &c.conn.HBPort} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		*p = l.Addr().(*net.TCPAddr).Port
		_ = l.Close()
	}
	c.start(fakeOptions(t))
	a := c.run("print over TCP")
	if got := findStep(c.until(a), a); got != "iopub stream over TCP; shell execute_reply ok" {
		t.Errorf("got %s", got)
	}
}

func TestNoOutputIsLostAtTheStart(t *testing.T) {
	c := connect(t, "LETHE_TEST_START=deaf")
	a := c.run("print first")
	if got := findStep(c.until(a), a); got != "iopub stream first; shell execute_reply ok" {
		t.Errorf("got %s", got)
	}
}

func TestControlRequestsAreAnsweredOnControl(t *testing.T) {
	c := connect(t)
	r := request("debug_request", `{}`)
	c.send(jupyterControl, r)
	if got := findStep(c.until(r), r); got != "control debug_reply ok" {
		t.Errorf("got %s", got)
	}
}

func TestHeartbeatIsAnswered(t *testing.T) {
	c := connect(t)
	c.until(c.run("print x"))
	beat := zmq4.NewReq(context.Background())
	defer func() { _ = beat.Close() }()
	if err := beat.Dial(c.conn.address(c.conn.HBPort)); err != nil {
		t.Fatal(err)
	}
	for _, ping := range []string{"ping", "pong"} {
		if err := beat.Send(zmq4.NewMsgString(ping)); err != nil {
			t.Fatal(err)
		}
		back, err := beat.Recv()
		if err != nil || string(back.Bytes()) != ping {
			t.Errorf("%q came back for %q (%v)", back.Bytes(), ping, err)
		}
	}
}

// nothingLeft checks that only the connection file and the log are still there.
func (c *client) nothingLeft() {
	c.t.Helper()
	entries, err := os.ReadDir(filepath.Dir(c.log))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "gonb_pipe_") {
			continue // GoNB removes it after its last answer, and may have to end before; lethe clean does it then
		}
		if strings.HasPrefix(e.Name(), "gonb_") || strings.HasPrefix(e.Name(), "lethe-kernel-") {
			c.t.Errorf("%s was left behind", e.Name())
		}
	}
}

func TestGonbThatDoesNotStartIsTold(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "kernel.json")
	if err := privateConnection(dir).write(file); err != nil {
		t.Fatal(err)
	}
	err := Run(context.Background(), Options{Gonb: filepath.Join(dir, "nosuch"), ConnectionFile: file})
	if err == nil || !strings.Contains(err.Error(), "gonb does not start") {
		t.Errorf("error %v", err)
	}
	self, _ := os.Executable()
	t.Setenv(roleEnv, "gonb")
	t.Setenv("LETHE_TEST_START", "broken")
	err = Run(context.Background(), Options{Gonb: self, ConnectionFile: file})
	if err == nil || !strings.Contains(err.Error(), "no go here") {
		t.Errorf("error %v", err)
	}
}

// BenchmarkCell is one cell through the relay and a gonb that does nothing: what
// the relay adds to every cell.
func BenchmarkCell(b *testing.B) {
	c := connect(b)
	c.until(c.run("print x"))
	for b.Loop() {
		c.until(c.run("print x"))
	}
}
