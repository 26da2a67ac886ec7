// Processes and folders that killed kernels have left.

package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// Process is a running program of Lethe.
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name"` // gonb, gopls or lethe-kernel
}

// running is what the system says about a process.
type running struct {
	pid, parent int
	exe         string
	sidecar     bool      // of gopls, which ends by itself when gopls does
	start       time.Time // zero where it is not known
}

// Leftovers are processes and folders that killed kernels have left.
type Leftovers struct {
	Processes []Process `json:"processes"`
	Folders   []string  `json:"folders"` // temporary folders of kernels that are gone
	Living    []Process `json:"living"`  // kernels in use
}

// FindLeftovers finds processes of ours without their kernel, and folders of kernels that
// no longer run.
func FindLeftovers(home string) (Leftovers, error) {
	all, err := processes()
	if err != nil {
		return Leftovers{}, err
	}
	left := classifyProcesses(all, filepath.Join(home, "kernel"))
	temp := os.TempDir()
	left.Folders = append(staleFolders(temp, "gonb_*", oldestStart(all, gonbName)), staleFolders(temp, relayName+"-*", oldestStart(all, relayName))...)
	return left, nil
}

func processes() ([]running, error) {
	all, err := proc.All()
	var out []running
	for _, p := range all {
		exe := p.Exe()
		if exe == "" && p.PID != 1 {
			continue
		}
		sidecar := slices.Contains(p.Args(), "** telemetry **")
		out = append(out, running{p.PID, p.Parent, exe, sidecar, p.StartTime()})
	}
	return out, err
}

// classifyProcesses separates orphaned processes of ours from kernels in use.
func classifyProcesses(all []running, ours string) Leftovers {
	byPID := map[int]running{}
	for _, p := range all {
		byPID[p.pid] = p
	}
	var out Leftovers
	for _, p := range all {
		name := filepath.Base(p.exe)
		if p.sidecar || !strings.HasPrefix(p.exe, ours+string(os.PathSeparator)) {
			continue
		}
		switch parent := filepath.Base(byPID[p.parent].exe); {
		case name == gonbName && parent != relayName,
			name == goplsName && parent != relayName && parent != goplsName,
			name == relayName && isReaper(p.parent, parent):
			out.Processes = append(out.Processes, Process{p.pid, name})
		case name == relayName:
			out.Living = append(out.Living, Process{p.pid, name})
		}
	}
	return out
}

// isReaper reports whether a process only adopts orphans. Jupyter as the first process of a
// container is none.
func isReaper(pid int, name string) bool {
	switch name {
	case "systemd", "init", "launchd", "tini", "dumb-init", "docker-init":
		return true
	}
	return pid <= 1 && !strings.Contains(name, "python") && !strings.Contains(name, "jupyter")
}

// oldestStart returns when the oldest running program of that name (of any user) was
// started: the zero time if that is not known, a future time if there is none.
func oldestStart(all []running, name string) time.Time {
	began := time.Now().Add(time.Hour)
	for _, p := range all {
		if filepath.Base(p.exe) == name && p.start.Before(began) {
			began = p.start
		}
	}
	return began
}

// staleFolders returns folders and pipes of kernels that were last changed before the
// oldest running kernel was started, so that none is in use.
func staleFolders(temp, pattern string, oldest time.Time) []string {
	found, _ := filepath.Glob(filepath.Join(temp, pattern))
	var out []string
	for _, dir := range found {
		info, err := os.Lstat(dir)
		if err != nil || !ownedByUser(info) || !info.ModTime().Before(oldest.Add(-2*time.Second)) {
			continue
		}
		// A pipe is what a cell's program shows its figures through.
		if info.Mode()&fs.ModeNamedPipe != 0 || info.IsDir() && isKernelFolder(dir) {
			out = append(out, dir)
		}
	}
	return out
}

// isKernelFolder reports whether a folder holds a kernel's files: a module of gonb, or a
// connection file of the relay.
func isKernelFolder(dir string) bool {
	connections, _ := filepath.Glob(filepath.Join(dir, "kernel*.json"))
	return isFile(filepath.Join(dir, "go.mod")) || len(connections) > 0
}

// stopWait is how long an orphan may take to end.
const stopWait = 2 * time.Second

// Stop ends the orphans and removes the folders, and returns all problems.
func (l Leftovers) Stop(ctx context.Context) error {
	var problems []error
	for _, p := range l.Processes {
		if err := endProcess(ctx, p.PID); err != nil {
			problems = append(problems, fmt.Errorf("process %d (%s) cannot be ended: %w", p.PID, p.Name, err))
		}
	}
	for _, dir := range l.Folders {
		if err := os.RemoveAll(dir); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

func endProcess(ctx context.Context, pid int) error {
	for _, stop := range []func(int){proc.Terminate, proc.Kill} {
		stop(pid)
		for until := time.Now().Add(stopWait); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if !proc.Alive(pid) {
				return nil
			}
		}
	}
	return errors.New("it does not end")
}
