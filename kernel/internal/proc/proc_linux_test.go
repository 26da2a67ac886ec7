// Tests of proc.go.

package proc

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

func TestStatLineIsReadWhateverTheName(t *testing.T) {
	const rest = " 7 8 8 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 0 0"
	for _, c := range []struct {
		line string
		name string
		ok   bool
	}{
		{"42 (go) S" + rest, "go", true},
		{"42 (a) b (c)) R" + rest, "a) b (c)", true},
		{"42 (gone) Z" + rest, "", false},
		{"42 (short) S 1 2", "", false},
		{"x (go) S" + rest, "", false},
		{"42 )go( S" + rest, "", false},
		{"", "", false},
	} {
		m, ok := parseStat([]byte(c.line))
		if ok != c.ok || ok && m != (Process{PID: 42, Parent: 7, Group: 8, Name: c.name, Started: 12345}) {
			t.Errorf("%q: %+v, %v", c.line, m, ok)
		}
	}
}

func TestThisProcessIsListed(t *testing.T) {
	for _, m := range all(t) {
		if m.PID == os.Getpid() {
			if m.Parent != os.Getppid() {
				t.Errorf("parent %d, not %d", m.Parent, os.Getppid())
			}
			return
		}
	}
	t.Error("not found")
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("1 (a) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, ok := parseStat(data); ok && len(m.Name) > len(data) {
			t.Fatal("a name longer than the line")
		}
	})
}

func all(t *testing.T) []Process {
	t.Helper()
	got, err := All()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAChildIsAtTheHeadOfItsGroupAndEndsWithIt(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "trap '' TERM; sleep 60 & echo started; wait; sleep 60")
	cmd.Env, cmd.Dir = append(os.Environ(), "MARK=of this test"), "/"
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	var group []int
	for _, m := range all(t) {
		if m.Group == c.Process.Pid {
			group = append(group, m.PID)
		}
		if m.PID == c.Process.Pid && (!slices.Contains(m.Env(), "MARK=of this test") || m.Exe() == "" || m.Args()[0] != "/bin/sh" || time.Since(m.StartTime()).Abs() > time.Minute) {
			t.Errorf("%+v: %s since %v, %q", m, m.Exe(), m.StartTime(), m.Args())
		}
	}
	if len(group) != 2 || !GroupAlive(c.Process.Pid) || c.Ended(0) {
		t.Errorf("the group is %v", group)
	}
	c.Stop(50 * time.Millisecond) // it does not listen
	if c.Err == nil || c.Err.Error() != "signal: killed" {
		t.Errorf("it ended with %v", c.Err)
	}
	for end := time.Now().Add(10 * time.Second); slices.ContainsFunc(group, Alive); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("something that it started is still running")
		}
	}
}

func TestAnEndedContextAsksTheWholeGroupToStop(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	file := t.TempDir() + "/stopped"
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", `(trap 'echo x > "$0"; exit' INT; echo started; while :; do sleep 0.02; done); true`, file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	Group(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	stop()
	_ = cmd.Wait()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a member of the group was not asked")
		}
	}
	KillGroup(cmd.Process.Pid)
}

func TestAProgramThatIsNotThereIsNoChild(t *testing.T) {
	if _, err := Start(exec.Command("/nowhere/program")); err == nil {
		t.Error("no error")
	}
}
