//go:build unix

package nb

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// supervise runs a command and keeps its exit code. An interrupt reaches the
// command too; the shell waits for it.
const supervise = `trap : INT TERM
exit=$1
shift
"$@"
code=$?
echo "$code" >"$exit.part" && mv "$exit.part" "$exit"`

// start starts the job in a session of its own; it returns false when the job
// runs already. The process holds the lock as long as it lives, whatever
// becomes of the cell, so that nobody needs to guess from a process number.
func (j *job) start(program string) (bool, error) {
	lock, err := os.OpenFile(j.file("lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return false, err
	}
	defer lock.Close()
	if got, err := take(lock); !got {
		return false, err
	}
	_ = os.Remove(j.file("exit"))
	out, err := os.Create(j.file("output.txt"))
	if err != nil {
		return false, err
	}
	defer out.Close()
	log, err := os.Create(j.file("log.txt"))
	if err != nil {
		return false, err
	}
	defer log.Close()
	cmd := exec.Command("/bin/sh", append([]string{"-c", supervise, "sh", j.file("exit"), program}, j.Args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = outside(os.Environ()), out, log, []*os.File{lock}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	j.PID = cmd.Process.Pid
	about, err := json.Marshal(j)
	if err != nil {
		return true, err
	}
	if err := os.WriteFile(j.file("job.json"), append(about, '\n'), 0o644); err != nil {
		return true, err
	}
	return true, cmd.Process.Release()
}

// take locks a job for its process. Somebody who only asks whether the job runs
// holds the lock for a moment, so that one refusal says nothing yet.
func take(lock *os.File) (bool, error) {
	for range 5 {
		err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return false, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false, nil
}

// outside is the environment without the pipes of the cell.
func outside(env []string) []string {
	var out []string
	for _, v := range env {
		if !strings.HasPrefix(v, "GONB_PIPE") {
			out = append(out, v)
		}
	}
	return out
}

// running says whether the job's process lives.
func (j *job) running() bool {
	lock, err := os.Open(j.file("lock"))
	if err != nil {
		return false
	}
	defer lock.Close()
	return errors.Is(unix.Flock(int(lock.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}

// interrupt sends an interrupt to the job and its command.
func (j *job) interrupt() error {
	text, err := os.ReadFile(j.file("job.json"))
	if err != nil {
		return err
	}
	var saved job
	if err := json.Unmarshal(text, &saved); err != nil {
		return err
	}
	if saved.PID <= 1 {
		return errors.New("its process is not known")
	}
	return unix.Kill(-saved.PID, unix.SIGINT)
}
