package relay

import (
	"os"
	"os/exec"
	"path/filepath"
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
		if ok != c.ok || ok && m != (member{pid: 42, parent: 7, group: 8, name: c.name, started: 12345}) {
			t.Errorf("%q: %+v, %v", c.line, m, ok)
		}
	}
}

func TestThisProcessIsListed(t *testing.T) {
	for _, m := range processes() {
		if m.pid == os.Getpid() {
			if m.parent != os.Getppid() {
				t.Errorf("parent %d, not %d", m.parent, os.Getppid())
			}
			return
		}
	}
	t.Error("not found")
}

func TestGonbEndsWithAKilledRelay(t *testing.T) {
	c := prepareClient(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, c.file)
	cmd.Env = append(os.Environ(), roleEnv+"=relay")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.dial()
	c.until(c.run("print x"))
	var gonb []member
	for _, m := range processes() {
		if m.parent == cmd.Process.Pid {
			gonb = append(gonb, m)
		}
	}
	if len(gonb) != 1 {
		t.Fatalf("the relay has %d children", len(gonb))
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for stop := time.Now().Add(10 * time.Second); alive(gonb[0]); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(stop) {
			killOne(gonb[0].pid)
			t.Fatal("gonb is still there")
		}
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(c.log), "gonb_*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func alive(was member) bool {
	for _, m := range processes() {
		if m.pid == was.pid && m.started == was.started {
			return true
		}
	}
	return false
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("1 (a) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, ok := parseStat(data); ok && len(m.name) > len(data) {
			t.Fatal("a name longer than the line")
		}
	})
}
