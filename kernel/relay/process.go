package relay

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// process is the gonb behind the relay.
type process struct {
	pid  int
	done chan struct{} // closed when gonb has ended
	err  error         // how it ended; read it after done
}

// start runs a command in a process group of its own, which ends with this
// process.
func start(cmd *exec.Cmd) (*process, error) {
	prepare(cmd)
	cmd.WaitDelay = time.Second
	p := &process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux ends the child when the thread that started it ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, <-started
}

// reason is how gonb ended, in words.
func (p *process) reason() string {
	if p.err == nil {
		return "gonb ended by itself"
	}
	return "gonb: " + p.err.Error()
}

// wait reports whether gonb ended within the time.
func (p *process) wait(limit time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(limit):
		return false
	}
}

// member is a process as far as the relay needs to know it.
type member struct {
	pid, parent, group int
	name               string
	started            uint64 // distinguishes processes that share a number
}

// family is every process in gonb's process group but gonb itself: the tools
// that build a cell, its program, shells and their children. gopls is in a group
// of its own, and so is what a cell starts to outlive the kernel.
func family(all []member, root int) []member {
	var out []member
	for _, m := range all {
		if m.group == root && m.pid != root {
			out = append(out, m)
		}
	}
	return out
}

// topOf is the child of root that m descends from, or m itself; nil if there is
// none.
func topOf(all []member, m member, root int) *member {
	for range all {
		if m.parent == root {
			return &m
		}
		at := -1
		for i := range all {
			if all[i].pid == m.parent {
				at = i
			}
		}
		if at < 0 {
			return nil
		}
		m = all[at]
	}
	return nil
}

// isTool reports whether gonb runs the program itself to make a cell's program,
// and so does not hand interrupts on to it.
func isTool(name string) bool { return name == "go" || name == "goimports" }

// targets chooses whom to interrupt. In the first round gonb has passed the
// interrupt on to the program that it runs, but to nobody below it. In later
// rounds only what has begun since is left: programs that gonb started late.
func targets(all []member, root int, first bool) []member {
	var out []member
	for _, m := range family(all, root) {
		top := topOf(all, m, root)
		direct := top != nil && top.pid == m.pid
		building := top != nil && isTool(top.name)
		if building || direct != first {
			out = append(out, m)
		}
	}
	return out
}

const (
	huntEvery = 50 * time.Millisecond
	huntLimit = 6 * time.Second // gonb kills a program that does not stop after 5 s
)

// interrupt stops what gonb is doing for the running cell, until ctx says that
// the cell is over. What is left after some seconds is killed. A cell that waits
// behind something else in gonb is stopped as soon as it begins.
func (p *process) interrupt(ctx context.Context) {
	seen := map[member]bool{}
	before := processes()
	interruptOne(p.pid)
	for _, m := range family(before, p.pid) {
		seen[m] = true
	}
	for _, m := range targets(before, p.pid, true) {
		interruptOne(m.pid)
	}
	late := time.After(huntLimit)
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.done:
			return
		case <-late:
			for _, m := range family(processes(), p.pid) {
				killOne(m.pid)
			}
			late = time.After(huntLimit)
		case <-time.After(huntEvery):
		}
		for _, m := range targets(processes(), p.pid, false) {
			if !seen[m] {
				seen[m] = true
				interruptOne(m.pid)
			}
		}
	}
}

const (
	endWait   = 1500 * time.Millisecond // for gonb to end by itself
	groupWait = 700 * time.Millisecond  // for a cell's program to save its work
)

// end sees gonb and everything that it started out: politely first, then not.
// gopls has a process group of its own and is found by the folder it works in.
func (p *process) end(folder string) {
	pipes := pipesOf(family(processes(), p.pid))
	if !p.wait(0) {
		terminateOne(p.pid)
	}
	if !p.wait(endWait) {
		killGroup(p.pid)
		p.wait(time.Second)
	}
	for stop := time.Now().Add(groupWait); groupAlive(p.pid) && time.Now().Before(stop); {
		time.Sleep(10 * time.Millisecond)
	}
	killGroup(p.pid)
	for _, pipe := range pipes {
		_ = os.Remove(pipe)
	}
	if !strings.HasPrefix(filepath.Base(folder), "gonb_") {
		return
	}
	for _, pid := range workingIn(folder) {
		killOne(pid)
	}
	_ = os.RemoveAll(folder)
}

// withoutGopls is a PATH on which gopls is not found. A folder that holds it is
// replaced by one with links to everything else in there.
func withoutGopls(path, folder string) (string, error) {
	dirs := filepath.SplitList(path)
	for i, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "gopls")); err != nil {
			continue
		}
		shadow := filepath.Join(folder, fmt.Sprintf("bin%d", i))
		if err := linkAll(dir, shadow); err != nil {
			return "", fmt.Errorf("hiding gopls from gonb: %w", err)
		}
		dirs[i] = shadow
	}
	return strings.Join(dirs, string(filepath.ListSeparator)), nil
}

func linkAll(from, to string) error {
	from, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == "gopls" {
			continue
		}
		if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
