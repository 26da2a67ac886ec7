//go:build unix

// Tests of detach: a program of this package's own is split, goes on and ends.

package detach

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const roleEnv = "DETACH_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleEnv)
	if role == "" {
		os.Exit(m.Run())
	}
	Begin()
	programs[role]()
	os.Exit(0)
}

// programs are what the tests run. They print to which kind of process they belong.
var programs = map[string]func(){
	"exit 3": func() { fmt.Println(os.Args[1], child != nil); os.Exit(3) },
	"panic":  func() { panic("boom") },
	"kill":   func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) },
	"interrupt": func() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("ready")
		fmt.Println(<-c)
	},
	"kernel": func() { fmt.Println(KernelPID()) },
	"go on": func() {
		l := Open()
		if l == nil {
			return // the kernel has ended
		}
		fmt.Println("before")
		_ = l.Subscribe("/a", func(v json.RawMessage) {
			fmt.Printf("got %s\n", v)
			_ = l.Display(map[string]any{"text/plain": string(v)}, nil, "id")
			if string(v) == `"crash"` {
				panic("crashed")
			}
		})
		if err := l.Detach(); err != nil {
			fmt.Println(err)
		}
		time.Sleep(time.Minute)
	},
}

// begin starts a program as a kernel does; without a socket it cannot be split.
func begin(t *testing.T, role, socket string) (*exec.Cmd, *bufio.Reader, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "an argument")
	cmd.Env = append(os.Environ(), roleEnv+"="+role, EnvSocket+"="+socket)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errors bytes.Buffer
	cmd.Stderr = &errors
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { late.Stop() })
	return cmd, bufio.NewReader(out), &errors
}

func TestTheParentEndsAsTheChildDoes(t *testing.T) {
	for role, want := range map[string]string{"exit 3": "exit status 3", "panic": "exit status 2", "kill": "signal: killed"} {
		cmd, out, errors := begin(t, role, "/nowhere")
		text, _ := io.ReadAll(out)
		if err := cmd.Wait(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", role, err, want)
		}
		if role == "exit 3" && string(text) != "an argument true\n" || role == "panic" && !strings.Contains(errors.String(), "panic: boom") {
			t.Errorf("%s: printed %q and %q", role, text, errors.String())
		}
	}
	cmd, out, _ := begin(t, "exit 3", "")
	if text, _ := io.ReadAll(out); string(text) != "an argument false\n" {
		t.Errorf("without a socket: %q", text)
	}
	_ = cmd.Wait()
}

func TestTheParentPassesTheEndOnAndIgnoresInterrupts(t *testing.T) {
	cmd, out, _ := begin(t, "interrupt", "/nowhere")
	_, _ = out.ReadString('\n')
	_ = cmd.Process.Signal(os.Interrupt) // the kernel sends one to the child as well
	_ = cmd.Process.Signal(syscall.SIGTERM)
	text, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil || string(text) != "terminated\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestTheKernelIsTheParentsParent(t *testing.T) {
	for _, socket := range []string{"/nowhere", ""} {
		cmd, out, _ := begin(t, "kernel", socket)
		if text, _ := out.ReadString('\n'); text != fmt.Sprintln(os.Getpid()) {
			t.Errorf("with socket %q the kernel is %q, want %d", socket, text, os.Getpid())
		}
		_ = cmd.Wait()
	}
}

// kernel is the kernel's side of a connection.
type kernel struct {
	net.Conn
	r *bufio.Reader
}

func (k kernel) read(t *testing.T) Message {
	t.Helper()
	_ = k.SetReadDeadline(time.Now().Add(20 * time.Second))
	m, err := Read(k.r)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAProgramGoesOn(t *testing.T) {
	dir, err := os.MkdirTemp("", "dt") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accept := func() kernel {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return kernel{c, bufio.NewReader(c)}
	}
	cmd, out, errors := begin(t, "go on", l.Addr().String())
	k := accept()
	hello, subscribe := k.read(t), k.read(t)
	if hello.Kind != Hello || hello.PID == cmd.Process.Pid || subscribe.Kind != Subscribe || subscribe.Address != "/a" {
		t.Fatalf("%+v, %+v", hello, subscribe)
	}
	printed := accept()
	if m := printed.read(t); m.Kind != Printed || m.PID != hello.PID {
		t.Fatalf("%+v", m)
	}
	if m := k.read(t); m.Kind != Detach {
		t.Fatalf("%+v", m)
	}
	_ = Write(k, Message{Kind: Detached})
	text, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil || string(text) != "before\n" || errors.Len() > 0 {
		t.Fatalf("the cell ends with %v, printed %q and %q", err, text, errors.String())
	}
	_ = Write(k, Message{Kind: Value, Address: "/b", Value: []byte(`"for nobody"`)})
	_ = Write(k, Message{Kind: Value, Address: "/a", Value: []byte(`"one"`)})
	if m := k.read(t); m.Kind != Display || m.ID != "id" || m.Data["text/plain"] != `"one"` {
		t.Errorf("%+v", m)
	}
	_ = Write(k, Message{Kind: Value, Address: "/a", Value: []byte(`"crash"`)})
	rest, _ := io.ReadAll(printed.r)
	if got := string(rest); !strings.HasPrefix(got, "got \"one\"\ngot \"crash\"\npanic: crashed\n") {
		t.Errorf("printed %q", got)
	}
}

func TestAProgramEndsWithItsKernel(t *testing.T) {
	dir, err := os.MkdirTemp("", "dt")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	cmd, _, _ := begin(t, "go on", l.Addr().String())
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	_ = l.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"kind":"hello","pid":3}` + "\n"))
	f.Add([]byte("{}\n{\"kind\":1}\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReader(bytes.NewReader(data))
		for {
			m, err := Read(r)
			if err != nil {
				return
			}
			var again bytes.Buffer
			if err := Write(&again, m); err != nil {
				t.Fatalf("%+v cannot be written: %v", m, err)
			}
		}
	})
}

// endless reads as an endless line.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, strings.Repeat("x", len(p))), nil }

func TestALineWithoutAnEndIsRefused(t *testing.T) {
	if _, err := Read(bufio.NewReader(endless{})); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("got %v", err)
	}
}
