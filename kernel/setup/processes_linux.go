package setup

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticks is the unit of times in /proc, which Linux fixes for programs.
const ticks = 100

// processes lists the processes whose program this user can see.
func processes() ([]running, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	boot := bootTime()
	var out []running
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		exe, err := os.Readlink(filepath.Join(dir, "exe"))
		if err != nil && pid != 1 {
			continue
		}
		p := running{pid: pid, exe: strings.TrimSuffix(exe, " (deleted)")}
		args, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		p.sidecar = bytes.Contains(args, []byte("** telemetry **"))
		// The name in brackets can hold anything, also brackets.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 20 {
			continue
		}
		p.parent, _ = strconv.Atoi(string(fields[1]))
		if began, err := strconv.ParseInt(string(fields[19]), 10, 64); err == nil && !boot.IsZero() {
			p.start = boot.Add(time.Duration(began) * time.Second / ticks)
		}
		out = append(out, p)
	}
	return out, nil
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

// isZombie reports whether a process has ended and only waits for its parent.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z"))
}
