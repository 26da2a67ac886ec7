package sweep

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
)

// Whatever needs what: nobody needs a job of another shard in its own stage or of a
// later one, and every job is in some shard.
func TestEveryDealCanBeDone(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 3))
	for range 300 {
		p := &Plan{Format: format, ID: "x-1", Engine: Engine{"auto", "e"}, Program: Program{"lethe", strings.Repeat("0", 64)}, Shards: 1 + rng.IntN(9)}
		for i := range 1 + rng.IntN(40) {
			j := Job{ID: fmt.Sprint(i), Cost: rng.Int64N(100)}
			for range rng.IntN(4) {
				if i > 0 {
					j.Needs = append(j.Needs, fmt.Sprint(rng.IntN(i)))
				}
			}
			p.Jobs = append(p.Jobs, j)
		}
		p.Stages = deal(p.Jobs, p.Shards)
		if err := p.check(); err != nil {
			t.Fatal(err)
		}
		total := 0
		for stage := range p.Stages {
			here := 0
			for shard := range p.Shards {
				here += len(p.of(stage, shard))
			}
			if here == 0 {
				t.Fatalf("nothing is in stage %d of %d", stage, p.Stages)
			}
			total += here
		}
		if total != len(p.Jobs) {
			t.Fatalf("%d of %d jobs are dealt", total, len(p.Jobs))
		}
	}
}

// Jobs that need nothing are one stage, evenly dealt: the fullest shard has at most
// one job more than the fair share.
func TestJobsThatNeedNothingAreDealtEvenly(t *testing.T) {
	var jobs []Job
	var total, most int64
	for i := range 100 {
		c := int64(1 + i*i%37)
		jobs, total, most = append(jobs, Job{ID: fmt.Sprint(i), Cost: c}), total+c, max(most, c)
	}
	if n := deal(jobs, 7); n != 1 {
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
	if n := deal(few, 2); n != 1 || few[0].Shard == few[4].Shard || few[0].Shard != few[3].Shard || few[4].Shard != few[7].Shard {
		t.Errorf("%d stages, %+v", n, few)
	}
	many := tree(60)
	if n := deal(many, 7); n != 2 {
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
	dir, p := planned(t, small(), 3)
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
	if err := p.Lay(dir, filepath.Join(dir, "lethe")); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("laid twice: %v", err)
	}
	if again, err := New(small().jobs(), Options{Recipes: []string{"test/grid"}, Scale: "quick"}); err != nil || again.ID == p.ID || len(again.Jobs) != 14 || again.Shards != 14 {
		t.Errorf("%v: %+v", err, again)
	}
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
	dir, whole := planned(t, small(), 3)
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
		"no engine":             {func(p *Plan) { p.Engine.Is = "" }, "engine"},
		"program":               {func(p *Plan) { p.Program.Name = "../lethe" }, `program: "../lethe"`},
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
