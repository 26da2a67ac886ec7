// Tests of plan.go.

package sweep

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/lab"
)

// Whatever needs what: nobody needs a job of another shard in its own stage or of a
// later one, and every job is in some shard.
func TestEveryAssignmentCanBeDone(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 3))
	for range 300 {
		p := &Plan{Format: planFormat, ID: "x-1", Engine: Engine{"auto", "e"}, Program: Program{"lethe", strings.Repeat("0", 64)}, Shards: 1 + rng.IntN(9)}
		for i := range 1 + rng.IntN(40) {
			j := Job{ID: fmt.Sprint(i), Cost: rng.Int64N(100)}
			for range rng.IntN(4) {
				if i > 0 {
					j.Needs = append(j.Needs, fmt.Sprint(rng.IntN(i)))
				}
			}
			p.Jobs = append(p.Jobs, j)
		}
		p.Stages = assignJobs(p.Jobs, p.Shards)
		if err := p.check(); err != nil {
			t.Fatal(err)
		}
		total := 0
		for stage := range p.Stages {
			here := 0
			for shard := range p.Shards {
				here += len(p.jobsOfShard(stage, shard))
			}
			if here == 0 {
				t.Fatalf("nothing is in stage %d of %d", stage, p.Stages)
			}
			total += here
		}
		if total != len(p.Jobs) {
			t.Fatalf("%d of %d jobs are assigned", total, len(p.Jobs))
		}
	}
}

// Jobs that need nothing are one stage, evenly assigned: the fullest shard has at most
// one job more than the fair share.
func TestJobsWithoutNeedsAreAssignedEvenly(t *testing.T) {
	var jobs []Job
	var total, most int64
	for i := range 100 {
		c := int64(1 + i*i%37)
		jobs, total, most = append(jobs, Job{ID: fmt.Sprint(i), Cost: c}), total+c, max(most, c)
	}
	if n := assignJobs(jobs, 7); n != 1 {
		t.Fatalf("%d stages", n)
	}
	load := make([]int64, 7)
	for _, j := range jobs {
		load[j.Shard] += j.Cost
	}
	if slices.Max(load) > total/7+most {
		t.Errorf("%v of %d", load, total)
	}
}

// What hangs on one job stays with it, up to a fair share: one original with many
// unlearnings does not become one shard.
func TestWhatHangsOnOneJobStaysWithItUpToAFairShare(t *testing.T) {
	tree := func(leaves int) (jobs []Job) {
		for _, root := range []string{"a", "b"} {
			jobs = append(jobs, Job{ID: root, Cost: 10})
			for i := range leaves {
				jobs = append(jobs, Job{ID: fmt.Sprint(root, i), Needs: []string{root}, Cost: 1})
			}
		}
		return jobs
	}
	few := tree(3)
	if n := assignJobs(few, 2); n != 1 || few[0].Shard == few[4].Shard || few[0].Shard != few[3].Shard || few[4].Shard != few[7].Shard {
		t.Errorf("%d stages, %+v", n, few)
	}
	many := tree(60)
	if n := assignJobs(many, 7); n != 2 {
		t.Fatalf("%d stages", n)
	}
	load := map[[2]int]int64{}
	for _, j := range many {
		load[[2]int{j.Stage, j.Shard}] += j.Cost
	}
	for at, n := range load {
		if n > 20+1 { // a seventh of 140
			t.Errorf("stage and shard %v have %d", at, n)
		}
	}
}

func TestAPlanIsReadAsItWasLaid(t *testing.T) {
	dir, p := planGrid(t, small(), 3)
	got, err := Read(dir)
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%v\n%+v\n%+v", err, got, p)
	}
	if p.Stages != 2 || p.Jobs[0].Command[4] != "--job" || p.Jobs[0].Command[5] != p.Jobs[0].ID || p.Jobs[1].Key != "" || p.Jobs[0].Key == "" {
		t.Errorf("%+v", p)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "lethe")); err != nil || string(b) != "#!/bin/sh\n" {
		t.Errorf("the program is %q, %v", b, err)
	}
	if err := p.Create(dir, filepath.Join(dir, "lethe")); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("laid twice: %v", err)
	}
	if again, err := New(small().jobs(), Options{Recipes: []string{"test/grid"}, Scale: "quick"}); err != nil || again.ID == p.ID || len(again.Jobs) != 14 || again.Shards != 14 {
		t.Errorf("%v: %+v", err, again)
	}
}

// What a plan that was killed leaves, at whatever moment, keeps no other one from the
// folder; what somebody else has there does.
func TestAKilledPlanLeavesRoomForTheNext(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	lay := func(left map[string]string) (string, error) {
		dir := filepath.Join(t.TempDir(), "sweep")
		for name, text := range left {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, err := New(small().jobs(), Options{Recipes: []string{"test/grid"}, Scale: "quick", Engine: Engine{"auto", engineHere}})
		if err != nil {
			t.Fatal(err)
		}
		return dir, p.Create(dir, program)
	}
	for _, left := range []map[string]string{
		{}, {".new-17": ""}, {".new-17": "#!/bin"}, {"lethe": ""}, {"lethe": "#!/b"}, {"lethe": "#!/bin/sh\n", ".new-3": "{"}, {".snapshot/x": ""},
	} {
		dir, err := lay(left)
		if err != nil {
			t.Errorf("%v: %v", left, err)
			continue
		}
		if _, err := Read(dir); err != nil {
			t.Errorf("%v: %v", left, err)
		}
		info, err := os.Stat(filepath.Join(dir, "lethe"))
		if err != nil || info.Mode().Perm() != 0o755 && runtime.GOOS != "windows" {
			t.Errorf("%v: %v, %v", left, info, err)
		}
		if over, err := filepath.Glob(filepath.Join(dir, files.TempPrefix+"*")); err != nil || len(over) > 0 {
			t.Errorf("%v left %v, %v", left, over, err)
		}
	}
	for _, left := range []map[string]string{{"notes.txt": ""}, {"lethe/x": ""}, {"stores/0/x": ""}, {"plan.json": ""}} {
		if dir, err := lay(left); err == nil || !strings.Contains(err.Error(), "a folder of its own") {
			t.Errorf("%v: %v, %s", left, err, dir)
		}
	}
}

// A process that plans is killed a hundred times, at other moments of its work: a sweep
// is there whole or not at all, and the next plan takes the folder.
func TestAPlanIsThereWholeOrNotAtAll(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("processes are killed by signals")
	}
	whole, broken := 0, 0
	pause := 50 * time.Microsecond // longer after a plan that was broken off, shorter after a whole one
	for range 100 {
		dir := filepath.Join(t.TempDir(), "sweep")
		c := exec.Command(os.Args[0], dir)
		c.Env = append(os.Environ(), asWorker+"=plan")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for { // from when it begins
			if _, err := os.Stat(dir); err == nil || c.ProcessState != nil {
				break
			}
		}
		time.Sleep(pause)
		_ = c.Process.Kill()
		_ = c.Wait()
		if _, err := Read(dir); err == nil {
			whole, pause = whole+1, pause*2/3
			g := readProgress(t, dir)
			f, err := g.openProgram()
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			continue
		} else if !strings.Contains(err.Error(), "is no sweep") {
			t.Fatal(err)
		}
		broken, pause = broken+1, pause*5/4
		if err := bePlanner(dir); err != nil {
			t.Fatal(err)
		}
		readProgress(t, dir)
	}
	t.Logf("%d plans were whole when they were killed, %d were not begun or not ended", whole, broken)
	if whole == 0 || broken == 0 {
		t.Errorf("%d plans whole, %d broken off: nothing was tried", whole, broken)
	}
}

// bePlanner plans a sweep whose program is this test.
func bePlanner(dir string) error {
	p, err := New(small().jobs(), Options{Recipes: []string{"test/grid"}, Scale: "quick", Engine: Engine{"auto", engineHere}})
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return p.Create(dir, program)
}

func TestAPlanLeavesOutWhatHasNoData(t *testing.T) {
	jobs := small().jobs()
	for i := range jobs {
		jobs[i].Missing = i > 6
	}
	p, err := New(jobs, Options{})
	if err != nil || len(p.Jobs) != 7 || len(p.LeftOut) != 7 || p.LeftOut[0] != jobs[7].ID {
		t.Errorf("%v: %+v", err, p)
	}
	for i := range jobs {
		jobs[i].Missing = true
	}
	if _, err := New(jobs, Options{}); err == nil || !strings.Contains(err.Error(), "of 14 jobs 14 have no data") {
		t.Errorf("%v", err)
	}
	if _, err := New([]lab.Job{{ID: "idle"}}, Options{}); err == nil || !strings.Contains(err.Error(), "idle") {
		t.Errorf("a job without work: %v", err)
	}
	if _, err := New(small().jobs(), Options{Shards: -1}); err == nil {
		t.Error("-1 shards")
	}
	double := small().jobs()
	double[3].Data = map[string]string{"words": "d0"} // one set, prepared in two ways
	if p, err = New(double, Options{}); err != nil || !slices.Equal(p.Data["words"], []string{"d0", "d1"}) {
		t.Errorf("%v: %v", err, p.Data)
	}
}

func TestAPlanThatContradictsItselfIsRefused(t *testing.T) {
	dir, whole := planGrid(t, small(), 3)
	path := filepath.Join(dir, PlanFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(p *Plan)
		word   string
	}{
		"format":                {func(p *Plan) { p.Format = 2 }, "format 2"},
		"id":                    {func(p *Plan) { p.ID = "../x" }, `id "../x"`},
		"no shards":             {func(p *Plan) { p.Shards = 0 }, "in 0 shards"},
		"endless shards":        {func(p *Plan) { p.Shards = 1 << 62 }, "shards and"},
		"endless stages":        {func(p *Plan) { p.Stages = 1 << 40 }, "1099511627776 stages"},
		"no jobs":               {func(p *Plan) { p.Jobs = nil }, "0 jobs"},
		"no engine":             {func(p *Plan) { p.Engine.Identity = "" }, "engine"},
		"program":               {func(p *Plan) { p.Program.Name = "../lethe" }, `program: "../lethe"`},
		"another program":       {func(p *Plan) { p.Program.Name = "python3" }, `program: "python3"`},
		"another command":       {func(p *Plan) { p.Jobs[0].Command[5] = p.Jobs[1].ID }, "does something else"},
		"a file to load":        {func(p *Plan) { p.Engine.Spec = "xla:/tmp/plugin.so" }, `engine: "xla:/tmp/plugin.so"`},
		"program hash":          {func(p *Plan) { p.Program.SHA256 = "abc" }, `"abc"`},
		"nameless":              {func(p *Plan) { p.Jobs[2].ID = "" }, "job 2"},
		"twice":                 {func(p *Plan) { p.Jobs[2].ID = p.Jobs[0].ID }, "listed twice"},
		"stage":                 {func(p *Plan) { p.Jobs[3].Stage = 2 }, "job 3 (twin/0-1): stage 2 of 2"},
		"shard":                 {func(p *Plan) { p.Jobs[3].Shard = 3 }, "shard 3 of 3"},
		"negative":              {func(p *Plan) { p.Jobs[3].Shard = -1 }, "shard -1 of 3"},
		"unknown need":          {func(p *Plan) { p.Jobs[1].Needs[0] = "base/9" }, "base/9, which is not listed"},
		"later need":            {func(p *Plan) { p.Jobs[0].Needs = []string{p.Jobs[1].ID} }, "which is not listed before it"},
		"need elsewhere":        {func(p *Plan) { p.Jobs[1].Shard = (p.Jobs[0].Shard + 1) % 3 }, "and needs base/0-0 of stage 0"},
		"need of a later stage": {func(p *Plan) { p.Jobs[0].Stage = 1 }, "and needs base/0-0 of stage 1"},
	} {
		p := &Plan{}
		if err := json.Unmarshal(good, p); err != nil {
			t.Fatal(err)
		}
		c.change(p)
		b, err := json.Marshal(p)
		if err == nil {
			err = os.WriteFile(path, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), c.word) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"half a plan": string(good[:len(good)/2]), "nothing": "", "another thing": `{"format": 1, "jbos": []}`, "a list": "[]",
		"a word for a number": strings.Replace(string(good), `"shards": 3`, `"shards": "3"`, 1),
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := whole.Find("base/0-1"); err != nil {
		t.Error(err)
	}
}
