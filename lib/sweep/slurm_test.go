// Tests of slurm.go.

package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestRangesAreWhatSlurmReads(t *testing.T) {
	for want, n := range map[string][]int{"": nil, "4": {4}, "0-3": {0, 1, 2, 3}, "0,2-3,7": {0, 2, 3, 7}, "5-6": {5, 6}} {
		if got := formatRanges(n); got != want {
			t.Errorf("%v is %q, want %q", n, got, want)
		}
	}
}

// Every shard is in one array, under a number that the cluster accepts.
func TestArraysAreSplitAtTheirLargestSize(t *testing.T) {
	var shards []int
	for s := range 2500 {
		if s%7 != 3 {
			shards = append(shards, s)
		}
	}
	for _, size := range []int{1, 2, 10, 1001, 5000} {
		var got []int
		for _, a := range splitArrays(shards, size) {
			for _, task := range a.Tasks {
				if task < 0 || task >= size {
					t.Fatalf("size %d: task %d", size, task)
				}
				got = append(got, task+a.Offset)
			}
		}
		if !slices.Equal(got, shards) {
			t.Errorf("size %d: other shards", size)
		}
	}
	if n := len(splitArrays(shards, 1001)); n != 3 {
		t.Errorf("%d arrays of 1001", n)
	}
}

// fakeSlurm answers as Slurm's programs do, and writes down what it was asked.
type fakeSlurm struct {
	calls  []string
	stdin  []string
	number int
	size   string
	queue  string
	state  string
	fail   func(call string) error
}

func (c *fakeSlurm) command(_ context.Context, stdin, name string, args ...string) (string, error) {
	call := strings.Join(append([]string{name}, args...), " ")
	c.calls, c.stdin = append(c.calls, call), append(c.stdin, stdin)
	if c.fail != nil {
		if err := c.fail(call); err != nil {
			return "", err
		}
	}
	switch {
	case name == "sbatch":
		c.number += 10
		return fmt.Sprintf("%d;cluster\n", c.number), nil
	case name == "squeue":
		return c.queue, nil
	case strings.HasPrefix(call, "scontrol show config"):
		return "MaxArraySize_X = 7\nMaxArraySize            = " + c.size + "\nMaxJobCount = 10000\n", nil
	case strings.HasPrefix(call, "scontrol --oneliner show job"):
		return "JobId=17 ArrayJobId=12 JobName=x " + c.state + " Reason=None", nil
	}
	return "", nil
}

func TestAStageComesAfterAllArraysOfTheStageBefore(t *testing.T) {
	dir, p := planGrid(t, small(), 5)
	c := &fakeSlurm{size: "2"}
	s := Slurm{Command: c.command, Args: []string{"--nice=5"}}
	handed, err := s.Submit(t.Context(), readProgress(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	var sbatch []string
	for _, call := range c.calls {
		if strings.HasPrefix(call, "sbatch") {
			sbatch = append(sbatch, call)
		}
	}
	want := []string{
		"sbatch --parsable --nice=5", "sbatch --parsable --nice=5", "sbatch --parsable --nice=5",
		"sbatch --parsable --dependency=afterany:10:20:30 --nice=5",
	}
	if !slices.Equal(sbatch, want) || len(handed) != 4 || handed[3].Stage != 1 || handed[3].Number != "40" || handed[1].Offset != 2 {
		t.Errorf("%q\n%+v", sbatch, handed)
	}
	for _, h := range handed {
		b, err := os.ReadFile(filepath.Join(dir, h.Script))
		if err != nil || !slices.Contains(c.stdin, string(b)) {
			t.Errorf("the script of %s is not the one that was handed in: %v", h.Number, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "submitted.jsonl")); err != nil || strings.Count(string(b), "\n") != 4 || !strings.Contains(string(b), `"number":"40"`) {
		t.Errorf("%s, %v", b, err)
	}
	if p.Stages != 2 {
		t.Errorf("%d stages", p.Stages)
	}
}

// Of three arrays the second is refused: the first is known, and so is the reason.
func TestASubmissionThatBreaksOffSaysWhatWasHandedIn(t *testing.T) {
	dir, _ := planGrid(t, small(), 5)
	c := &fakeSlurm{size: "2"}
	c.fail = func(call string) error {
		if strings.HasPrefix(call, "sbatch") && c.number == 10 {
			return errors.New("sbatch: error: QOSMaxSubmitJobPerUserLimit")
		}
		return nil
	}
	handed, err := Slurm{Command: c.command}.Submit(t.Context(), readProgress(t, dir))
	if err == nil || !strings.Contains(err.Error(), "QOSMax") || len(handed) != 1 || handed[0].Number != "10" {
		t.Errorf("%+v, %v", handed, err)
	}
	odd := &fakeSlurm{size: "1001"}
	talk := func(ctx context.Context, stdin, name string, args ...string) (string, error) {
		if name == "sbatch" {
			return "Submitted batch job\n", nil
		}
		return odd.command(ctx, stdin, name, args...)
	}
	if _, err := (Slurm{Command: talk}).Submit(t.Context(), readProgress(t, dir)); err == nil || !strings.Contains(err.Error(), "number of a job") {
		t.Errorf("%v", err)
	}
	odd.size = "many"
	if _, err := (Slurm{Command: odd.command}).MaxArraySize(t.Context()); err == nil || !strings.Contains(err.Error(), "many") {
		t.Errorf("%v", err)
	}
}

func TestOnlyWhatIsMissingIsHandedIn(t *testing.T) {
	dir, p := planGrid(t, small(), 4)
	w := newWorker(t, dir, small(), 1, 4)
	w.Stage = 0
	if err := w.Work(t.Context()); err != nil {
		t.Fatal(err)
	}
	arrays, err := Slurm{}.Arrays(readProgress(t, dir), 1001)
	if err != nil || len(arrays) != 2 || formatRanges(arrays[0].Tasks) != "0,2-3" {
		t.Errorf("%+v, %v", arrays, err)
	}
	if err := workAll(t, dir, small()); err != nil {
		t.Fatal(err)
	}
	if arrays, err = (Slurm{}).Arrays(readProgress(t, dir), 1001); err != nil || len(arrays) != 0 {
		t.Errorf("%+v, %v; %d stages", arrays, err, p.Stages)
	}
}

func TestTheScriptIsTheOneThatIsMeant(t *testing.T) {
	g := &Progress{Plan: &Plan{ID: "t1-0a", Shards: 2000, Program: Program{Name: "lethe", SHA256: "0a1b"}}, Dir: "/shared/t1"}
	s := Slurm{
		Resources: Resources{Time: "2:00:00", Mem: "4G", CPUs: 2, MaxParallel: 8, MaxRestarts: 3, Env: []string{"LETHE_DATA=/d/it's here"}},
		Partition: "main", Account: "lab", Constraint: "avx2", Lead: 120,
	}
	got := s.script(g, Array{Stage: 1, Tasks: []int{0, 1, 5}, Offset: 1001})
	want := `#!/bin/bash
#SBATCH --job-name=lethe-t1-0a-s1
#SBATCH --array=0-1,5%8
#SBATCH --cpus-per-task=2
#SBATCH --time=2:00:00
#SBATCH --mem=4G
#SBATCH --partition=main
#SBATCH --account=lab
#SBATCH --constraint=avx2
#SBATCH --signal=B:TERM@120
#SBATCH --open-mode=append
#SBATCH --output=/shared/t1/logs/t1-0a-s1.%A_%a.log
#SBATCH --requeue
set -eu
export GOMAXPROCS=${SLURM_CPUS_PER_TASK:-1}
export LETHE_DATA='/d/it'\''s here'
set -- 0a1b /shared/t1/lethe sweep work /shared/t1 --stage 1 --shard $((SLURM_ARRAY_TASK_ID + 1001))/2000 --max-restarts 3 --log ` +
		`/shared/t1/logs/t1-0a-s1."${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}".log
planned=$1 program=$2
exec 3< "$program"
found=$(sha256sum <&3)
if [ "${found%% *}" != "$planned" ]; then
  echo "refused: $program has SHA-256 ${found%% *}, the sweep was planned by one with $planned" >&2
  exit 1
fi
shift 2
exec -a "$program" /proc/self/fd/3 "$@"
`
	if got != want {
		t.Errorf("found\n%s", got)
	}
	plain := Slurm{}.script(g, Array{Tasks: []int{0}})
	for _, word := range []string{"--time", "--mem", "--partition", "--account", "--constraint"} {
		if strings.Contains(plain, word) {
			t.Errorf("%s is in\n%s", word, plain)
		}
	}
	for _, word := range []string{"--cpus-per-task=1\n", "TERM@300", "--max-restarts 10 ", "--array=0\n"} {
		if !strings.Contains(plain, word) {
			t.Errorf("%q is not in\n%s", word, plain)
		}
	}
}

// A shell runs the script: the shard that the worker is given is that of the task. It
// starts no other program than the one that was planned.
func TestAShellReadsTheScript(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux starts an open file by its number")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	dir := t.TempDir()
	told := "#!/bin/sh\nprintf '%s\\n' \"$LETHE_DATA\" \"$GOMAXPROCS\" \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "lethe"), []byte(told), 0o755); err != nil {
		t.Fatal(err)
	}
	hash, err := hashFile(filepath.Join(dir, "lethe"))
	if err != nil {
		t.Fatal(err)
	}
	g := &Progress{Plan: &Plan{ID: "t1", Shards: 2000, Program: Program{Name: "lethe", SHA256: hash}}, Dir: dir}
	if !pathPattern.MatchString(dir) {
		t.Skip("the temporary folder has a name that Slurm would not take")
	}
	c := exec.Command(bash, "-c", Slurm{Resources: Resources{Env: []string{"LETHE_DATA=a '$HOME' \"b\""}}}.script(g, Array{Offset: 1001, Tasks: []int{4}}))
	c.Env = []string{"SLURM_ARRAY_TASK_ID=4", "SLURM_ARRAY_JOB_ID=77", "SLURM_CPUS_PER_TASK=3", "PATH=" + os.Getenv("PATH")}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	want := []string{"a '$HOME' \"b\"", "3", "sweep", "work", dir, "--stage", "0", "--shard", "1005/2000", "--max-restarts", "10", "--log",
		filepath.Join(dir, "logs", "t1-s0.77_4.log"), ""}
	if got := strings.Split(string(out), "\n"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "lethe"), []byte(told+"# another one\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	again := exec.Command(bash, c.Args[1:]...)
	again.Env = c.Env
	if out, err := again.CombinedOutput(); err == nil || !strings.Contains(string(out), "refused: "+filepath.Join(dir, "lethe")) || strings.Contains(string(out), "--stage") {
		t.Errorf("another program: %v, %s", err, out)
	}
}

// Whatever a plan says, a shell reads the scripts of its sweep as they are meant, or
// there are none.
func TestAPlanIsDataToAScript(t *testing.T) {
	dir, _ := planGrid(t, small(), 3)
	path := filepath.Join(dir, PlanFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, evil := range []string{"$(touch pwned)", "`touch pwned`", "lethe; touch pwned", "lethe\ntouch pwned", "lethe'", "a b", "-c", "", ".", "/bin/sh", "lethe\x00"} {
		for _, change := range []func(p *Plan){
			func(p *Plan) { p.Program.Name = evil }, func(p *Plan) { p.ID = evil }, func(p *Plan) { p.Program.SHA256 = evil },
			func(p *Plan) { p.Jobs[0].Command = []string{"sh", "-c", evil} },
			func(p *Plan) { p.Engine.Spec = "xla:/" + evil },
		} {
			p := &Plan{}
			if err := json.Unmarshal(good, p); err != nil {
				t.Fatal(err)
			}
			change(p)
			b, err := json.Marshal(p)
			if err == nil {
				err = os.WriteFile(path, b, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			if g, err := ReadProgress(dir); err == nil {
				t.Errorf("%q: %+v", evil, g.Plan)
			}
		}
	}
}

// An option of Slurm's is one word of its line.
func TestAnOptionIsOneWordOfItsLine(t *testing.T) {
	dir, _ := planGrid(t, small(), 3)
	for _, evil := range []string{"main --uid=0", "main\t--uid=0", "main #", "ma\"in", "ma'in", `ma\in`, "main\u2028", "main\xff", "$(id)", "main;id"} {
		for _, s := range []Slurm{{Partition: evil}, {Account: evil}, {Constraint: evil}, {Resources: Resources{Time: evil}}, {Resources: Resources{Mem: evil}}} {
			if a, err := s.Arrays(readProgress(t, dir), 10); err == nil {
				t.Errorf("%q: %s", evil, a[0].Script)
			}
		}
	}
	for _, good := range []Slurm{{Constraint: "[rack1|rack2]&avx2*4"}, {Resources: Resources{Time: "1-12:00:00", Mem: "4G"}}, {Partition: "a,b_c.d"}} {
		if _, err := good.Arrays(readProgress(t, dir), 10); err != nil {
			t.Error(err)
		}
	}
	var out strings.Builder
	if err := (Slurm{Args: []string{"--comment=$(id) it's"}}).Print(&out, readProgress(t, dir), 10); err != nil || !strings.Contains(out.String(), `'--comment=$(id) it'\''s'`) {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestNamesThatSlurmWouldMisreadAreRefused(t *testing.T) {
	for _, dir := range []string{"/a b", "/a%j", "/a\\b", "/a\"b", "/a\nb", "/a$b", "/ü"} {
		g := &Progress{Plan: &Plan{}, Dir: dir}
		if _, err := (Slurm{}).Arrays(g, 10); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", dir)) {
			t.Errorf("%q: %v", dir, err)
		}
	}
	g := &Progress{Plan: &Plan{}, Dir: "/a"}
	for _, env := range []string{"LETHE_DATA", "A=b\nexit"} {
		if _, err := (Slurm{Resources: Resources{Env: []string{env}}}).Arrays(g, 10); err == nil {
			t.Errorf("the variable %q", env)
		}
	}
	if _, err := (Slurm{}).Arrays(g, 0); err == nil {
		t.Error("arrays of no task")
	}
	for _, s := range []Slurm{
		{Partition: "main\n#SBATCH --uid=0"}, {Account: "a\rb"}, {Constraint: "x\x00"}, {Args: []string{"--mem=1G\n"}}, {Lead: -1},
		{Resources: Resources{Time: "1:00\nrm"}}, {Resources: Resources{Mem: "4G\n"}}, {Resources: Resources{CPUs: -1}},
		{Resources: Resources{MaxParallel: -1}}, {Resources: Resources{MaxRestarts: -1}}, {Resources: Resources{Env: []string{"A B=c"}}},
	} {
		if out, err := s.Arrays(g, 10); err == nil {
			t.Errorf("%+v: %+v", s, out)
		}
	}
}

// The queue is asked by names, which hold the sweep's own, and not by numbers.
func TestTheQueueIsAskedByName(t *testing.T) {
	c := &fakeSlurm{queue: "10_3 RUNNING\n11_0 PENDING\n"}
	got, err := Slurm{Command: c.command}.Queued(t.Context(), &Plan{ID: "t1-0a", Stages: 2})
	if err != nil || !slices.Equal(got, []string{"10_3 RUNNING", "11_0 PENDING"}) || !strings.Contains(c.calls[0], "--name=lethe-t1-0a-s0,lethe-t1-0a-s1") {
		t.Errorf("%q, %v, %q", got, err, c.calls)
	}
	c.queue = ""
	if got, err = (Slurm{Command: c.command}).Queued(t.Context(), &Plan{ID: "t1-0a", Stages: 2}); err != nil || len(got) > 0 {
		t.Errorf("%q, %v", got, err)
	}
	c.fail = func(string) error { return errors.New("no controller") }
	if _, err = (Slurm{Command: c.command}).Queued(t.Context(), &Plan{Stages: 1}); err == nil {
		t.Error("a queue that does not answer is no empty queue")
	}
}

// A task asks for itself: the number of a job may be that of its whole array. One
// that somebody has cancelled stays so.
func TestATaskQueuesItselfAgain(t *testing.T) {
	for name, c := range map[string]struct {
		env    map[string]string
		state  string
		again  bool
		failed bool
		last   string
	}{
		"a task":        {map[string]string{"SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "5", "SLURM_JOB_ID": "17"}, "JobState=RUNNING", true, false, "scontrol requeue 12_5"},
		"twice again":   {map[string]string{"SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "0", "SLURM_RESTART_COUNT": "2"}, "JobState=RUNNING", true, false, "scontrol requeue 12_0"},
		"often enough":  {map[string]string{"SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "5", "SLURM_RESTART_COUNT": "3"}, "JobState=RUNNING", false, true, ""},
		"cancelled":     {map[string]string{"SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "5"}, "JobState=COMPLETING", false, false, "scontrol --oneliner show job 12_5"},
		"no array":      {map[string]string{"SLURM_JOB_ID": "17"}, "JobState=RUNNING", false, false, ""},
		"not in Slurm":  {nil, "", false, false, ""},
		"being stopped": {map[string]string{"SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "5"}, "JobState=CANCELLED", false, false, "scontrol --oneliner show job 12_5"},
	} {
		asked := &fakeSlurm{state: c.state}
		again, err := Slurm{Command: asked.command}.Requeue(t.Context(), func(n string) string { return c.env[n] }, 3)
		last := ""
		if len(asked.calls) > 0 {
			last = asked.calls[len(asked.calls)-1]
		}
		if again != c.again || (err != nil) != c.failed || last != c.last {
			t.Errorf("%s: %v, %v, %q", name, again, err, asked.calls)
		}
	}
}

func TestWhatIsPrintedIsWhatWouldBeHandedIn(t *testing.T) {
	dir, _ := planGrid(t, small(), 5)
	var out strings.Builder
	if err := (Slurm{}).Print(&out, readProgress(t, dir), 2); err != nil {
		t.Fatal(err)
	}
	arrays, err := Slurm{}.Arrays(readProgress(t, dir), 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range arrays {
		if !strings.Contains(out.String(), a.Script) {
			t.Errorf("not printed:\n%s", a.Script)
		}
	}
	if strings.Count(out.String(), "#!/bin/bash") != 4 || strings.Count(out.String(), "--dependency=afterany:NUMBERS-OF-STAGE-0") != 1 {
		t.Errorf("%s", out.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("printing left %v, %v", left, err)
	}
}
