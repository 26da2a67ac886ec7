package nb

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The environment variables of jobs. HomeEnv names the folder for everything
// that Lethe keeps; without it that is lethe in the user's cache folder.
const (
	ProgramEnv = "LETHE_PROGRAM" // the lethe program
	HomeEnv    = "LETHE_HOME"
)

// A job is a lethe command that runs on its own: it outlives the cell, the tab
// and the kernel. Its folder, named by a hash of the arguments, holds
//
//	job.json    the arguments and the process
//	output.txt  what it printed, its result
//	log.txt     its progress and its errors
//	exit        its exit code, once it has ended
//	lock        held by the process as long as it lives
type job struct {
	s    *stage
	dir  string
	Args []string `json:"args"`
	PID  int      `json:"pid"`
}

func (s *stage) job(args []string) (*job, error) {
	if len(args) == 0 {
		return nil, errors.New("a job needs the arguments of a lethe command")
	}
	home := os.Getenv(HomeEnv)
	if home == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("no folder to keep a job in: set %s (%w)", HomeEnv, err)
		}
		home = filepath.Join(cache, "lethe")
	}
	given, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(given)
	dir, err := filepath.Abs(filepath.Join(home, "jobs", hex.EncodeToString(hash[:8])))
	return &job{s: s, dir: dir, Args: args}, err
}

func (j *job) file(name string) string { return filepath.Join(j.dir, name) }

// words is the command as a reader would type it.
func (j *job) words() string { return "lethe " + strings.Join(j.Args, " ") }

// Start starts a lethe command as a job of its own, which goes on when the cell
// ends, the tab is closed or the kernel stops:
//
//	nb.Start("reproduce", "ruler/table1", "--scale", "paper")
//
// A job that runs already, or that has finished, is not started twice; one that
// was interrupted or failed is started again and goes on where it stopped.
func Start(args ...string) { Check(std.startJob(args)) }

func (s *stage) startJob(args []string) error {
	program := os.Getenv(ProgramEnv)
	if program == "" {
		return fmt.Errorf("the lethe program is not known: %s is empty. Notebooks started by lethe lab have it set", ProgramEnv)
	}
	j, err := s.job(args)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(j.dir, 0o755); err != nil {
		return err
	}
	if code, ended := j.exit(); ended && code == 0 && !j.olderThan(program) {
		s.say(s.out, "Finished already: %s", j.words())
		return nil
	}
	started, err := j.start(program)
	if err != nil {
		return fmt.Errorf("%s cannot be started: %w", j.words(), err)
	}
	if !started {
		s.say(s.out, "Running already: %s", j.words())
		return nil
	}
	s.say(s.out, "Started: %s\nIt goes on when this notebook is closed.", j.words())
	return nil
}

// olderThan says whether another program has come since the job has ended: what
// is stored is not computed again, what has changed is.
func (j *job) olderThan(program string) bool {
	mine, err := os.Stat(j.file("exit"))
	if err != nil {
		return true
	}
	its, err := os.Stat(program)
	return err == nil && its.ModTime().After(mine.ModTime())
}

// exit is the job's exit code, if it has ended.
func (j *job) exit() (code int, ended bool) {
	text, err := os.ReadFile(j.file("exit"))
	if err != nil {
		return 0, false
	}
	code, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return code, err == nil
}

// Attach shows the progress of a job until it ends, and then its result.
// Interrupting the cell only stops looking; the job goes on.
func Attach(args ...string) { Check(std.attachJob(Context(), args)) }

// watchEvery is the time between two looks at a job.
const watchEvery = 300 * time.Millisecond

func (s *stage) attachJob(ctx context.Context, args []string) error {
	j, err := s.job(args)
	if err != nil {
		return err
	}
	if _, err := os.Stat(j.file("job.json")); err != nil {
		return fmt.Errorf("%s was never started: nb.Start does it", j.words())
	}
	if j.running() && !j.watch(ctx) {
		s.say(s.out, "%s goes on without this cell. Run the cell again to watch it; nb.Stop interrupts it.", j.words())
		return nil
	}
	return j.result()
}

// watch shows a bar while the job runs; it returns false when the cell ends
// first.
func (j *job) watch(ctx context.Context) bool {
	bar := j.s.bar(100, j.words())
	bar.percent = true
	for j.running() {
		percent, what := progressOf(tail(j.file("log.txt"), 4<<10))
		if what != "" {
			what = j.words() + ": " + what
		}
		bar.Report(percent, 100, what)
		select {
		case <-ctx.Done():
			bar.end("not watched any more")
			return false
		case <-time.After(watchEvery):
		}
	}
	bar.Report(100, 100, j.words())
	bar.Done()
	return true
}

// lethe's lines of progress look like "lethe: table 1: 40 %, about 3s left".
var progressLine = regexp.MustCompile(`(?m)^lethe: (.*): (\d{1,3}) %`)

// progressOf finds the last line of progress in a log.
func progressOf(log string) (percent int64, what string) {
	all := progressLine.FindAllStringSubmatch(log, -1)
	if len(all) == 0 {
		return 0, ""
	}
	last := all[len(all)-1]
	percent, _ = strconv.ParseInt(last[2], 10, 64)
	return min(percent, 100), last[1]
}

// result says how the job has ended and prints the end of its output.
func (j *job) result() error {
	code, ended := j.exit()
	switch {
	case !ended:
		return fmt.Errorf("%s ended without a word, as when a machine is switched off: nb.Start goes on where it stopped. "+
			"Its log is %s", j.words(), j.file("log.txt"))
	case code == interruptedCode:
		return fmt.Errorf("%s was interrupted: nb.Start goes on where it stopped", j.words())
	case code != 0:
		return fmt.Errorf("%s failed with exit code %d:\n%s\nIts log is %s", j.words(), code, strings.TrimSpace(tail(j.file("log.txt"), 2<<10)),
			j.file("log.txt"))
	}
	if out := strings.TrimRight(tail(j.file("output.txt"), 16<<10), "\n"); out != "" {
		j.s.say(j.s.out, "%s", out)
	}
	j.s.say(j.s.out, "Finished: %s\nThe whole output is in %s", j.words(), j.file("output.txt"))
	return nil
}

// interruptedCode is lethe's exit code after an interrupt: its state is saved.
const interruptedCode = 130

// tail is the end of a file, from the start of a line.
func tail(name string, size int64) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	from := max(info.Size()-size, 0)
	text, err := io.ReadAll(io.NewSectionReader(f, from, size))
	if err != nil {
		return ""
	}
	if i := bytes.IndexByte(text, '\n'); from > 0 && i >= 0 {
		text = text[i+1:]
	}
	return string(text)
}

// Stop interrupts a job, which saves its state and ends. nb.Start goes on from
// there.
func Stop(args ...string) { Check(std.stopJob(args)) }

// saveWait is how long Stop waits for a job to save its state.
const saveWait = 30 * time.Second

func (s *stage) stopJob(args []string) error {
	j, err := s.job(args)
	if err != nil {
		return err
	}
	if !j.running() {
		s.say(s.out, "Does not run: %s", j.words())
		return nil
	}
	if err := j.interrupt(); err != nil {
		return fmt.Errorf("%s cannot be interrupted: %w", j.words(), err)
	}
	for stop := s.now().Add(saveWait); s.now().Before(stop); time.Sleep(50 * time.Millisecond) {
		if !j.running() {
			s.say(s.out, "Stopped: %s\nnb.Start goes on where it stopped.", j.words())
			return nil
		}
	}
	s.say(s.out, "Interrupted, and still saving its state: %s", j.words())
	return nil
}
