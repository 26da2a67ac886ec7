// The gonb process: starting, interrupting, stopping.

package relay

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// process is the gonb process behind the relay.
type process struct{ *proc.Child }

// startProcess runs a command in its own process group. If the relay is killed, the system
// sends gonb SIGTERM, so that it can remove its temporary folder.
func startProcess(cmd *exec.Cmd) (*process, error) {
	cmd.WaitDelay = time.Second
	c, err := proc.Start(cmd)
	if err != nil {
		return nil, err
	}
	return &process{c}, nil
}

// reason says how gonb ended.
func (p *process) reason() string {
	if p.Err == nil {
		return "gonb ended by itself"
	}
	return "gonb: " + p.Err.Error()
}

// processes returns the processes of this machine; nil if they are not visible.
func processes() []proc.Process {
	all, err := proc.All()
	if err != nil {
		return nil
	}
	return all
}

// groupMembers returns every process in gonb's process group but gonb itself: the tools
// that build a cell, its program, shells and their children. A process that a cell starts
// to outlive the kernel is in another group.
func groupMembers(all []proc.Process, root int) []proc.Process {
	return slices.DeleteFunc(slices.Clone(all), func(m proc.Process) bool { return m.Group != root || m.PID == root })
}

// childOfRoot returns the child of root that m descends from, or m itself; nil if there is
// none.
func childOfRoot(all []proc.Process, m proc.Process, root int) *proc.Process {
	for range all {
		if m.Parent == root {
			return &m
		}
		at := slices.IndexFunc(all, func(p proc.Process) bool { return p.PID == m.Parent })
		if at < 0 {
			return nil
		}
		m = all[at]
	}
	return nil
}

// isTool reports whether gonb runs the program to build a cell, in which case it does not
// pass interrupts on to it.
func isTool(name string) bool { return name == "go" || name == "goimports" }

// interruptTargets chooses the processes to interrupt. In the first round gonb has passed
// the interrupt on to the program that it runs, but not to its children. In later rounds
// only programs that were started since are left.
func interruptTargets(all []proc.Process, root int, first bool) []proc.Process {
	var out []proc.Process
	for _, m := range groupMembers(all, root) {
		top := childOfRoot(all, m, root)
		direct := top != nil && top.PID == m.PID
		building := top != nil && isTool(filepath.Base(top.Name))
		if building || direct != first {
			out = append(out, m)
		}
	}
	return out
}

// without returns the processes without some and their descendants.
func without(all []proc.Process, spare []int) []proc.Process {
	gone := slices.Clone(spare)
	for again := true; again; {
		again = false
		for _, m := range all {
			if slices.Contains(gone, m.Parent) && !slices.Contains(gone, m.PID) {
				gone, again = append(gone, m.PID), true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(m proc.Process) bool { return slices.Contains(gone, m.PID) })
}

const (
	interruptEvery = 50 * time.Millisecond
	interruptLimit = 6 * time.Second // gonb kills a program that does not stop after 5 s
)

// interrupt stops what gonb does for the running cell, until ctx says that the cell is
// over. What is left after some seconds is killed. A cell that waits in gonb is stopped as
// soon as it begins.
//
// The processes to spare, and their children, are of cells that are over.
func (p *process) interrupt(ctx context.Context, spare []int) {
	seen := map[proc.Process]bool{}
	processes := func() []proc.Process { return without(processes(), spare) }
	before := processes()
	proc.Interrupt(p.Process.Pid)
	for _, m := range groupMembers(before, p.Process.Pid) {
		seen[m] = true
	}
	for _, m := range interruptTargets(before, p.Process.Pid, true) {
		proc.Interrupt(m.PID)
	}
	late := time.After(interruptLimit)
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.Done:
			return
		case <-late:
			for _, m := range groupMembers(processes(), p.Process.Pid) {
				proc.Kill(m.PID)
			}
			late = time.After(interruptLimit)
		case <-time.After(interruptEvery):
		}
		for _, m := range interruptTargets(processes(), p.Process.Pid, false) {
			if !seen[m] {
				seen[m] = true
				proc.Interrupt(m.PID)
			}
		}
	}
}

const (
	endWait   = 1500 * time.Millisecond // for gonb to end by itself
	groupWait = 700 * time.Millisecond  // for a cell's program to save its work
)

// stop ends gonb and everything that it has started: first with SIGTERM, then with SIGKILL.
func (p *process) stop(folder string) {
	pipes := pipesOf(groupMembers(processes(), p.Process.Pid))
	if !p.Ended(0) {
		proc.Terminate(p.Process.Pid)
	}
	if !p.Ended(endWait) {
		proc.KillGroup(p.Process.Pid)
		p.Ended(time.Second)
	}
	for stop := time.Now().Add(groupWait); proc.GroupAlive(p.Process.Pid) && time.Now().Before(stop); {
		time.Sleep(10 * time.Millisecond)
	}
	proc.KillGroup(p.Process.Pid)
	for _, pipe := range pipes {
		_ = os.Remove(pipe)
	}
	if strings.HasPrefix(filepath.Base(folder), "gonb_") {
		_ = os.RemoveAll(folder)
	}
}

// pipesOf returns the pipes between gonb and the programs of cells. gonb leaves them behind
// when it ends first.
func pipesOf(programs []proc.Process) []string {
	var out []string
	for _, m := range programs {
		for _, entry := range m.Env() {
			name, value, _ := strings.Cut(entry, "=")
			if name == "GONB_PIPE" || name == "GONB_PIPE_BACK" {
				out = append(out, value)
			}
		}
	}
	return out
}

// withoutGopls returns a PATH without gopls. A folder that holds gopls is replaced by one
// with links to everything else in it.
func withoutGopls(path, folder string) (string, error) {
	dirs := filepath.SplitList(path)
	for i, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "gopls")); err != nil {
			continue
		}
		dir, err := filepath.Abs(dir)
		shadow := filepath.Join(folder, fmt.Sprintf("bin%d", i))
		if err == nil {
			err = linkAll(dir, shadow)
		}
		if err != nil {
			return "", fmt.Errorf("hiding gopls from gonb: %w", err)
		}
		dirs[i] = shadow
	}
	return strings.Join(dirs, string(filepath.ListSeparator)), nil
}

func linkAll(from, to string) error {
	entries, err := os.ReadDir(from)
	if err == nil {
		err = os.Mkdir(to, 0o700)
	}
	for _, e := range entries {
		if err == nil && e.Name() != "gopls" {
			err = os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		}
	}
	return err
}
