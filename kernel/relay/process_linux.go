package relay

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// prepare gives the command a process group of its own. When the relay is
// killed, the system asks gonb to end: gonb then takes gopls and its temporary
// folder with it, which it could not if it were killed.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// processes lists every process of the machine that can be read.
func processes() []member {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []member
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		if m, ok := parseStat(data); ok && m.pid == pid {
			out = append(out, m)
		}
	}
	return out
}

// parseStat reads a line of /proc/PID/stat. The name is in parentheses and may
// hold any character, blanks and parentheses too. A process that has ended and
// only waits to be collected is left out.
func parseStat(data []byte) (member, bool) {
	from, to := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if from < 0 || to < from {
		return member{}, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data[:from])))
	fields := strings.Fields(string(data[to+1:]))
	if err != nil || len(fields) < 20 || fields[0] == "Z" {
		return member{}, false
	}
	m := member{pid: pid, name: string(data[from+1 : to])}
	var wrong [3]error
	m.parent, wrong[0] = strconv.Atoi(fields[1])
	m.group, wrong[1] = strconv.Atoi(fields[2])
	m.started, wrong[2] = strconv.ParseUint(fields[19], 10, 64)
	return m, wrong == [3]error{}
}

// workingIn lists the processes whose working directory is the folder or was,
// if it has been removed.
func workingIn(folder string) []int {
	var out []int
	for _, m := range processes() {
		dir, err := os.Readlink("/proc/" + strconv.Itoa(m.pid) + "/cwd")
		if err == nil && strings.TrimSuffix(dir, " (deleted)") == folder {
			out = append(out, m.pid)
		}
	}
	return out
}

// pipesOf lists the pipes through which gonb talks to the programs of cells; it
// leaves them behind when it ends before they do.
func pipesOf(programs []member) []string {
	var out []string
	for _, m := range programs {
		environment, err := os.ReadFile("/proc/" + strconv.Itoa(m.pid) + "/environ")
		if err != nil {
			continue
		}
		for entry := range strings.SplitSeq(string(environment), "\x00") {
			name, value, _ := strings.Cut(entry, "=")
			if name == "GONB_PIPE" || name == "GONB_PIPE_BACK" {
				out = append(out, value)
			}
		}
	}
	return out
}
