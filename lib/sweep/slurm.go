// Submitting a sweep to Slurm.

package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/lib/files"
)

// Resources are the resources of a worker. Zero values leave the choice to the cluster.
type Resources struct {
	Time        string // "2:00:00", as the cluster reads it
	Mem         string // "4G"
	CPUs        int    // 0: 1; on this machine its share of the cores
	MaxParallel int    // workers at a time, 0: as many as fit
	MaxRestarts int    // of one worker, 0: 10
	// Env are variables of the workers, "NAME=value", such as LETHE_DATA.
	Env []string
}

const defaultRestarts = 10

// check refuses negative numbers, and words that a script would read as more than one.
func (r Resources) check(more ...string) error {
	if r.CPUs < 0 || r.MaxParallel < 0 || r.MaxRestarts < 0 {
		return fmt.Errorf("%d cores, %d workers at a time, %d restarts: none is less than 0", r.CPUs, r.MaxParallel, r.MaxRestarts)
	}
	for _, word := range append(more, r.Time, r.Mem) {
		if !isOneLine(word) {
			return fmt.Errorf("%q holds the end of a line, another control character, or what is no UTF-8", word)
		}
	}
	for _, e := range r.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || !variablePattern.MatchString(name) || !isOneLine(e) {
			return fmt.Errorf("the variable %q is not NAME=value in one line", e)
		}
	}
	return nil
}

// isOneLine reports whether every reader takes a text for one line. U+2028 and U+2029 end
// lines too, for some.
func isOneLine(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}

var variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Slurm submits a sweep to a Slurm cluster.
type Slurm struct {
	Resources
	Partition, Account, Constraint string
	// Lead is how many seconds before its time limit a worker is told to save its work,
	// 0: 300. Slurm may be a minute late.
	Lead int
	Args []string // more arguments of sbatch
	// Command runs a program of Slurm, nil: the one in PATH.
	Command func(ctx context.Context, stdin, name string, args ...string) (string, error)
}

const (
	defaultLead  = 300
	defaultArray = 1001 // Slurm's MaxArraySize where nothing else is configured
)

// Array is one array job: shards of a stage.
type Array struct {
	Stage  int
	Tasks  []int // numbers of the array's tasks
	Offset int   // shard = task + Offset
	Script string
}

// Submitted is a submitted array job: a line of submitted.jsonl.
type Submitted struct {
	Time   time.Time `json:"time"`
	System string    `json:"on"`
	Stage  int       `json:"stage"`
	Number string    `json:"number"` // the cluster's
	Tasks  string    `json:"tasks"`
	Offset int       `json:"offset,omitempty"`
	Script string    `json:"script"`
}

var (
	// pathPattern allows no character with a special meaning in Slurm's scripts or file names.
	pathPattern = regexp.MustCompile(`^[A-Za-z0-9_@+=:,./-]+$`)
	// optionPattern allows no character that continues an #SBATCH line: space, quotes, #, \.
	optionPattern = regexp.MustCompile(`^[A-Za-z0-9_@+=:,./&|*()\[\]-]*$`)
)

// Arrays returns the array jobs of the remaining work, stage by stage. All task numbers are
// below size.
func (s Slurm) Arrays(g *Progress, size int) ([]Array, error) {
	if !pathPattern.MatchString(g.Dir) {
		return nil, fmt.Errorf("the folder %q: Slurm's file names hold letters, digits and _@+=:,./- only", g.Dir)
	}
	if err := s.check(append(s.Args, s.Partition, s.Account, s.Constraint)...); err != nil {
		return nil, err
	}
	for _, option := range []string{s.Time, s.Mem, s.Partition, s.Account, s.Constraint} {
		if !optionPattern.MatchString(option) {
			return nil, fmt.Errorf("%q: an #SBATCH line would read more than one word in it", option)
		}
	}
	if size < 1 || s.Lead < 0 {
		return nil, fmt.Errorf("arrays of at most %d tasks, told %d seconds before their end", size, s.Lead)
	}
	var out []Array
	for stage := range g.Stages {
		for _, a := range splitArrays(g.MissingShards(stage), size) {
			a.Stage = stage
			a.Script = s.script(g, a)
			out = append(out, a)
		}
	}
	return out, nil
}

// splitArrays splits shards into arrays whose task numbers are below size.
func splitArrays(shards []int, size int) (out []Array) {
	for _, shard := range shards {
		offset := shard / size * size
		if len(out) == 0 || out[len(out)-1].Offset != offset {
			out = append(out, Array{Offset: offset})
		}
		last := &out[len(out)-1]
		last.Tasks = append(last.Tasks, shard-offset)
	}
	return out
}

// formatRanges prints ascending numbers as Slurm does: "0-3,7".
func formatRanges(n []int) string {
	var parts []string
	for i := 0; i < len(n); {
		end := i
		for end+1 < len(n) && n[end+1] == n[end]+1 {
			end++
		}
		if end == i {
			parts = append(parts, strconv.Itoa(n[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", n[i], n[end]))
		}
		i = end + 1
	}
	return strings.Join(parts, ",")
}

// jobName returns the name of a stage's jobs in the queue.
func (p *Plan) jobName(stage int) string { return fmt.Sprintf("lethe-%s-s%d", p.ID, stage) }

func (s Slurm) script(g *Progress, a Array) string {
	var b strings.Builder
	tasks := formatRanges(a.Tasks)
	if s.MaxParallel > 0 {
		tasks += fmt.Sprintf("%%%d", s.MaxParallel)
	}
	lead := s.Lead
	if lead == 0 {
		lead = defaultLead
	}
	// Only "B:" signals the batch script, which exec has replaced by the worker.
	options := [][2]string{
		{"job-name", g.jobName(a.Stage)}, {"array", tasks}, {"cpus-per-task", strconv.Itoa(max(1, s.CPUs))},
		{"time", s.Time}, {"mem", s.Mem}, {"partition", s.Partition}, {"account", s.Account}, {"constraint", s.Constraint},
		{"signal", fmt.Sprintf("B:TERM@%d", lead)}, {"open-mode", "append"}, {"output", s.log(g, a, "%A_%a")},
	}
	b.WriteString("#!/bin/bash\n")
	for _, o := range options {
		if o[1] != "" {
			fmt.Fprintf(&b, "#SBATCH --%s=%s\n", o[0], o[1])
		}
	}
	b.WriteString("#SBATCH --requeue\nset -eu\nexport GOMAXPROCS=${SLURM_CPUS_PER_TASK:-1}\n")
	for _, e := range s.Env {
		name, value, _ := strings.Cut(e, "=")
		fmt.Fprintf(&b, "export %s=%s\n", name, shellQuote(value))
	}
	fmt.Fprintf(&b, "set -- %s %s sweep work %s --stage %d --shard $((SLURM_ARRAY_TASK_ID + %d))/%d --max-restarts %d --log %s\n",
		g.Program.SHA256, shellWord(filepath.Join(g.Dir, g.Program.Name)), shellWord(g.Dir), a.Stage, a.Offset, g.Shards, s.restarts(),
		s.log(g, a, `"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"`))
	b.WriteString(startScript(`exec -a "$program"`))
	return b.String()
}

// startScript returns shell commands that replace the shell by the program $2, with the
// arguments after it, if its SHA-256 is $1. The file is opened once, so that the hashed
// file is the one that starts.
func startScript(exec string) string {
	return `planned=$1 program=$2
exec 3< "$program"
found=$(sha256sum <&3)
if [ "${found%% *}" != "$planned" ]; then
  echo "refused: $program has SHA-256 ${found%% *}, the sweep was planned by one with $planned" >&2
  exit 1
fi
shift 2
` + exec + ` /proc/self/fd/3 "$@"
`
}

func (r Resources) restarts() int {
	if r.MaxRestarts == 0 {
		return defaultRestarts
	}
	return r.MaxRestarts
}

// log returns the path of a task's log. It holds the sweep's name, because a cluster may
// use a number twice.
func (s Slurm) log(g *Progress, a Array, number string) string {
	return filepath.Join(g.Dir, logsDirName, fmt.Sprintf("%s-s%d.%s.log", g.ID, a.Stage, number))
}

// shellWord returns a text as one word of the shell, quoted if necessary.
func shellWord(s string) string {
	if pathPattern.MatchString(s) {
		return s
	}
	return shellQuote(s)
}

// shellQuote quotes a word for the shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// MaxArraySize returns the cluster's MaxArraySize: one more than the largest task number.
func (s Slurm) MaxArraySize(ctx context.Context) (int, error) {
	out, err := s.run(ctx, "", "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(out) {
		name, value, ok := strings.Cut(line, "=")
		if ok && strings.TrimSpace(name) == "MaxArraySize" {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil || n < 1 {
				return 0, fmt.Errorf("scontrol: MaxArraySize is %q", strings.TrimSpace(value))
			}
			return n, nil
		}
	}
	return defaultArray, nil
}

// Queued returns the numbers and states of this sweep's jobs in the queue. It finds them by
// name: their numbers may belong to other jobs by now.
func (s Slurm) Queued(ctx context.Context, p *Plan) ([]string, error) {
	var names []string
	for stage := range p.Stages {
		names = append(names, p.jobName(stage))
	}
	out, err := s.run(ctx, "", "squeue", "--noheader", "--array", "--name="+strings.Join(names, ","), "--format=%i %T")
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(strings.TrimSpace(out), func(r rune) bool { return r == '\n' }), nil
}

// Submit submits the remaining work. A stage waits until the one before it has ended,
// successfully or not: afterok would leave it waiting for ever after one failed task.
// Submit returns when the cluster has accepted the arrays.
func (s Slurm) Submit(ctx context.Context, g *Progress) ([]Submitted, error) {
	size, err := s.MaxArraySize(ctx)
	if err != nil {
		return nil, err
	}
	arrays, err := s.Arrays(g, size)
	if err != nil {
		return nil, err
	}
	for _, dirName := range []string{logsDirName, "slurm"} {
		if err := os.MkdirAll(filepath.Join(g.Dir, dirName), 0o755); err != nil {
			return nil, err
		}
	}
	var out []Submitted
	var now, before []string // numbers of the arrays of this stage and of the one before
	for i, a := range arrays {
		if i > 0 && a.Stage != arrays[i-1].Stage {
			now, before = nil, now
		}
		sub, err := s.submit(ctx, g, a, before)
		if err != nil {
			return out, err
		}
		out, now = append(out, sub), append(now, sub.Number)
	}
	return out, nil
}

func (s Slurm) submit(ctx context.Context, g *Progress, a Array, after []string) (Submitted, error) {
	sub := Submitted{Time: time.Now().UTC(), System: "slurm", Stage: a.Stage, Tasks: formatRanges(a.Tasks), Offset: a.Offset}
	sub.Script = filepath.Join("slurm", fmt.Sprintf("s%d-%d-%s.sbatch", a.Stage, a.Offset, randomDigits()))
	if err := files.WriteFile(filepath.Join(g.Dir, sub.Script), []byte(a.Script)); err != nil {
		return sub, err
	}
	args := []string{"--parsable"}
	if len(after) > 0 {
		args = append(args, "--dependency=afterany:"+strings.Join(after, ":"))
	}
	text, err := s.run(ctx, a.Script, "sbatch", append(args, s.Args...)...)
	if err != nil {
		return sub, err
	}
	sub.Number, _, _ = strings.Cut(strings.TrimSpace(text), ";")
	if _, err := strconv.Atoi(sub.Number); err != nil {
		return sub, fmt.Errorf("sbatch: expected the number of a job, found %q", text)
	}
	return sub, recordSubmission(g.Dir, sub)
}

// recordSubmission adds a line to submitted.jsonl.
func recordSubmission(dir string, s Submitted) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f, err := files.OpenNoFollow(filepath.Join(dir, "submitted.jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	return errors.Join(err, f.Close())
}

func (s Slurm) run(ctx context.Context, stdin, name string, args ...string) (string, error) {
	if s.Command != nil {
		return s.Command(ctx, stdin, name, args...)
	}
	return runCommand(ctx, stdin, name, args...)
}

// runCommand runs a program and returns its output; the error holds what it printed on
// standard error.
func runCommand(ctx context.Context, stdin, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	var out, problem bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &problem
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(problem.String()))
	}
	return out.String(), nil
}

// Print writes the scripts of the remaining work, and how each would be submitted.
func (s Slurm) Print(w io.Writer, g *Progress, size int) error {
	arrays, err := s.Arrays(g, size)
	if err != nil {
		return err
	}
	for _, a := range arrays {
		after := ""
		if a.Stage > arrays[0].Stage {
			after = fmt.Sprintf(" --dependency=afterany:NUMBERS-OF-STAGE-%d", a.Stage-1)
		}
		words := []string{"sbatch --parsable" + after}
		for _, arg := range s.Args {
			words = append(words, shellWord(arg))
		}
		if _, err := fmt.Fprintf(w, "# %s\n%s\n", strings.Join(words, " "), a.Script); err != nil {
			return err
		}
	}
	return nil
}

// Requeue asks Slurm to queue this process's array task again, and reports whether it will.
// It will not outside Slurm, after a cancellation, or after max restarts. The task is named
// with its array, because the bare number of an array's last task is that of the whole
// array.
func (s Slurm) Requeue(ctx context.Context, getenv func(string) string, max int) (bool, error) {
	array, task := getenv("SLURM_ARRAY_JOB_ID"), getenv("SLURM_ARRAY_TASK_ID")
	if array == "" || task == "" {
		return false, nil
	}
	restarts, _ := strconv.Atoi(getenv("SLURM_RESTART_COUNT")) // not set: 0
	if restarts >= max {
		return false, fmt.Errorf("this task was restarted %d times, which is the limit; submit the sweep again", restarts)
	}
	number := array + "_" + task
	state, err := s.run(ctx, "", "scontrol", "--oneliner", "show", "job", number)
	if err != nil {
		return false, err
	}
	if !strings.Contains(state, " JobState=RUNNING ") { // COMPLETING: it was cancelled
		return false, nil
	}
	_, err = s.run(ctx, "", "scontrol", "requeue", number)
	return err == nil, err
}
