// Tests of processes.go.

package setup

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

func TestOnlyProcessesWithoutTheirKernelAreOrphans(t *testing.T) {
	const home = "/home/u/.cache/lethe/kernel"
	bin := home + "/tools-0123456789ab/bin/"
	relay := home + "/root-0123456789ab/lethe-go/bin/lethe-kernel"
	all := []running{
		{pid: 1, exe: "/sbin/init"}, {pid: 2, parent: 1, exe: "/usr/bin/python3.11"}, {pid: 3, parent: 1, exe: "/usr/lib/systemd/systemd"},
		{pid: 10, parent: 2, exe: relay}, {pid: 11, parent: 10, exe: bin + "gonb"}, {pid: 12, parent: 10, exe: bin + "gopls"},
		{pid: 13, parent: 1, exe: bin + "gopls", sidecar: true},
		{pid: 20, parent: 1, exe: relay}, {pid: 21, parent: 3, exe: relay},
		{pid: 22, parent: 1, exe: bin + "gonb"}, {pid: 23, parent: 1, exe: bin + "gopls"}, {pid: 24, parent: 99, exe: bin + "gopls"},
		{pid: 30, parent: 1, exe: "/usr/local/bin/gopls"}, {pid: 31, parent: 1, exe: "/opt/gonb"},
	}
	got := classifyProcesses(all, home)
	var orphans []int
	for _, p := range got.Processes {
		orphans = append(orphans, p.PID)
	}
	if want := []int{20, 21, 22, 23, 24}; !slices.Equal(orphans, want) {
		t.Errorf("orphans %v, want %v", orphans, want)
	}
	if len(got.Living) != 1 || got.Living[0].PID != 10 {
		t.Errorf("living %v", got.Living)
	}
}

func TestJupyterAsTheFirstProcessOfAContainerIsNoReaper(t *testing.T) {
	for name, want := range map[string]bool{"python3.11": false, "jupyter-lab": false, "init": true, "tini": true, "sh": true} {
		if got := isReaper(1, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if isReaper(812, "code") || !isReaper(812, "systemd") {
		t.Error("a user's systemd adopts orphans, an editor does not")
	}
}

func TestFoldersOfLivingKernelsStay(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"gonb_old": time.Hour, "gonb_new": 0, "other_old": time.Hour} {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "go.mod"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "gonb_without_module"), 0o700); err != nil {
		t.Fatal(err)
	}
	alive := []running{{exe: "/x/gonb", start: now.Add(-time.Minute)}, {exe: "/x/gonb", start: now}}
	if got := staleFolders(dir, "gonb_*", oldestStart(alive, gonbName)); len(got) != 1 || filepath.Base(got[0]) != "gonb_old" {
		t.Errorf("%v", got)
	}
	if got := staleFolders(dir, "gonb_*", oldestStart(nil, gonbName)); len(got) != 2 {
		t.Errorf("without a kernel: %v", got)
	}
	if got := staleFolders(dir, "gonb_*", oldestStart([]running{{exe: "/x/gonb"}}, gonbName)); len(got) != 0 {
		t.Errorf("with a kernel of unknown age: %v", got)
	}
}

// TestAnOrphanIsFoundAndEnded starts a program that is called gopls and whose
// parent is no gonb.
func TestAnOrphanIsFoundAndEnded(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("needs /proc and a sleep program")
	}
	home := t.TempDir()
	path := filepath.Join(home, "kernel", "tools-0123456789ab", "bin", goplsName)
	copyProgram(t, sleep, path)
	cmd := exec.Command(path, "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	var left Leftovers
	for range 100 { // until the child has become the other program
		if left, err = FindLeftovers(home); err != nil || len(left.Processes) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil || len(left.Processes) != 1 || left.Processes[0].PID != cmd.Process.Pid {
		t.Errorf("%+v, %v", left, err)
	}
	left.Folders = nil // other people's
	if err := left.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("it still runs")
		_ = cmd.Process.Kill()
	}
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRemoveTakesOnlyWhatPrepareMade(t *testing.T) {
	w := newTestMachine(t)
	w.ready()
	w.writeFile("home/kernel/Makefile", "somebody's own")
	w.writeFile("home/data/set.csv", "1,2")
	dir, size, err := Remove(t.Context(), w.home)
	if err != nil || size == 0 {
		t.Fatal(dir, size, err)
	}
	var left []string
	for _, pattern := range []string{"*", "*/*", "*/.*"} {
		found, _ := filepath.Glob(filepath.Join(w.home, pattern))
		left = append(left, found...)
	}
	for i := range left {
		left[i], _ = filepath.Rel(w.home, left[i])
	}
	slices.Sort(left)
	if want := []string{"data", "data/set.csv", "kernel", "kernel/Makefile"}; !slices.Equal(left, want) {
		t.Errorf("left %v", left)
	}
	w.ready()
	if _, size, err := Remove(t.Context(), filepath.Join(w.home, "nowhere")); err != nil || size != 0 {
		t.Error(size, err)
	}
}
