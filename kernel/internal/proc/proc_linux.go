// Processes by /proc.

package proc

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// All lists the processes that run on this machine.
func All() ([]Process, error) {
	entries, err := os.ReadDir("/proc")
	var out []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, ok := parseStat(readProcFile(pid, "stat")); ok && p.PID == pid {
			out = append(out, p)
		}
	}
	return out, err
}

// parseStat parses a line of /proc/PID/stat. The name is in parentheses and may hold any
// character. Zombies are left out.
func parseStat(data []byte) (Process, bool) {
	from, to := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if from < 0 || to < from {
		return Process{}, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data[:from])))
	fields := strings.Fields(string(data[to+1:]))
	if err != nil || len(fields) < 20 || fields[0] == "Z" {
		return Process{}, false
	}
	p := Process{PID: pid, Name: string(data[from+1 : to])}
	var wrong [3]error
	p.Parent, wrong[0] = strconv.Atoi(fields[1])
	p.Group, wrong[1] = strconv.Atoi(fields[2])
	p.Started, wrong[2] = strconv.ParseUint(fields[19], 10, 64)
	return p, wrong == [3]error{}
}

// readProcFile reads a file of /proc/PID; nil if the process is gone or belongs to another
// user.
func readProcFile(pid int, what string) []byte {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), what))
	if err != nil {
		return nil
	}
	return b
}

func readProcLink(pid int, what string) string {
	path, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), what))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, " (deleted)")
}

// Exe returns the program's file, "" if it is not visible.
func (p Process) Exe() string { return readProcLink(p.PID, "exe") }

// Args returns the arguments of the program.
func (p Process) Args() []string { return splitZeros(readProcFile(p.PID, "cmdline")) }

// Env returns the environment of the program.
func (p Process) Env() []string { return splitZeros(readProcFile(p.PID, "environ")) }

func splitZeros(b []byte) []string {
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// ticks is the unit of times in /proc, which Linux fixes for programs.
const ticks = 100

// StartTime returns when the process began, zero if it is not known.
func (p Process) StartTime() time.Time {
	boot := bootTime()
	if boot.IsZero() {
		return boot
	}
	return boot.Add(time.Duration(p.Started) * time.Second / ticks)
}

func bootTime() time.Time {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "btime "); ok {
			if s, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64); err == nil {
				return time.Unix(s, 0)
			}
		}
	}
	return time.Time{}
}

func isZombie(pid int) bool {
	stat := readProcFile(pid, "stat")
	return bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z"))
}
