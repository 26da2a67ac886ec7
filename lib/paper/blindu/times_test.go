package blindu

import (
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/progress/progresstest"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// What the program prints, by hand: spec and program count in their own ways.
func TestTheProgramsTimesAreItsOwn(t *testing.T) {
	run := RunCost{Steps: 60, Model: 10, Rounds: 4, Ordinary: 0.5}
	want := map[string]float64{"vbu": 60 * 0.01, "vbu-coded": 60 * 0.01, "hbfu": 0.5 * 5 * 3, "blindu-w": 10 * 2 * 0.01, "blindu-wo": 10 * 2 * 0.01}
	for _, m := range TimedMethods() {
		if m.Counted() != (want[m.Name] != 0) {
			t.Errorf("%s: counted: %v", m.Name, m.Counted())
		}
		if !m.Counted() {
			continue
		}
		if got := m.program(run, 0.01); math.Abs(got-want[m.Name]) > 1e-12 {
			t.Errorf("%s: %v, want %v", m.Name, got, want[m.Name])
		}
	}
}

// Of BlindU's steps one in 1 + Critic is the model's, and those of the warm-up, which no history counts, take time too.
func TestBlindUsStepsAreItsModelsAndItsCritics(t *testing.T) {
	cost := RunCost{Steps: 60}
	cost.addCritic(unlearn.BlindU{Critic: 2, WarmUp: 40})
	if cost.Model != 20 || cost.WarmUp != 40 {
		t.Errorf("%+v", cost)
	}
	sum, err := summariseTimes(TimedMethods()[3], cost, []float64{1}, 0.5)
	if err != nil || sum.PerStep != 0.01 || *sum.Program != 20*2*0.5 {
		t.Errorf("%+v, %v", sum, err)
	}
	for _, m := range []unlearn.Method{unlearn.VBU{}, unlearn.BlindU{Coded: &unlearn.Coded{}}} {
		cost = RunCost{Steps: 60}
		if cost.addCritic(m); cost.Model != 0 || cost.WarmUp != 0 {
			t.Errorf("%T: %+v", m, cost)
		}
	}
	if got := criticsSteps(); got != "5 of 6 its critic's, without the critic's 100 before the first" {
		t.Error(got)
	}
}

func TestTheClockAddsUpTurns(t *testing.T) {
	c := usersClock{users: map[int]float64{}}
	for _, turn := range []struct {
		round, user int
		erased      []int
		seconds     float64
	}{{1, 0, []int{7}, 4}, {1, 1, nil, 1}, {2, 0, []int{7}, 2}, {2, 1, nil, 3}} {
		c.addTurn(federated.UserRound{Round: turn.round, User: turn.user, Erased: turn.erased}, time.Duration(turn.seconds*float64(time.Second)))
	}
	if got := c.total(); got.User != 5 || got.SideBySide != 7 || got.Ordinary != 2 {
		t.Errorf("%+v", got)
	}
}

// The methods alternate, the first run of each is not counted, a training step is the
// median of epochs, and what diverged has no time.
func TestMethodsTakeTurns(t *testing.T) {
	methods := TimedMethods()[:3] // VBU, HBFU, BFU
	var order []string
	calls := map[string]float64{}
	run := func(m *TimedMethod) (RunCost, error) {
		name, steps := "training", 4
		if m != nil {
			name, steps = m.Name, 10
		}
		order = append(order, name)
		calls[name]++
		out := RunCost{Seconds: []float64{100, 3, 1, 8}[int(calls[name])-1], Steps: steps, Rounds: 3, Ordinary: 0.25}
		if name == "bfu" {
			out = RunCost{Diverged: "in epoch 2"}
		}
		return out, nil
	}
	var c TimedCell
	if err := c.RunInterleaved(3, methods, run); err != nil {
		t.Fatal(err)
	}
	if want := slices.Repeat([]string{"training", "vbu", "hbfu", "bfu"}, 4); !slices.Equal(order, want) {
		t.Errorf("order %v", order)
	}
	vbu, hbfu, bfu := c.Methods[0], c.Methods[1], c.Methods[2]
	if c.Step != 0.75 || vbu.Method != VBU || vbu.Median != 3 || !slices.Equal(vbu.Seconds, []float64{3, 1, 8}) || vbu.PerStep != 0.3 {
		t.Errorf("a step %v, %+v", c.Step, vbu)
	}
	if *vbu.Program != 10*0.75 || *hbfu.Program != 5*0.25*2 || bfu.Program != nil || bfu.Seconds != nil || bfu.Diverged == "" {
		t.Errorf("%+v", c.Methods)
	}
	times := Times{On: "drawings", Turns: 3, Cells: []TimedCell{c, c}, Machine: paper.Machine{Processor: "Abacus 3", Threads: 2, Cores: 2, Engine: "lethe, 3", Date: "2026-01-02"}}
	times.Cells[1].Share = 0.5
	table := times.Table()
	if err := table.Check(); err != nil {
		t.Fatal(err)
	}
	cells := table.Rows[0].Cells
	if cells[1].Text != "3 s" || cells[2].Text != "1 s" || cells[7].Text != "7.5 s" || table.Rows[2].Cells[1].Missing != "diverged" {
		t.Errorf("%+v\n%+v", cells, table.Rows[2])
	}
	text := times.Figure("T", "D", "S").Text()
	for _, want := range []string{"by the wall clock", "as BlindU's program counts", HBFU, "Measured on Abacus 3 with 2 cores, engine lethe, 3, 2026-01-02; another machine gives"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, " "+BFU+":") {
		t.Errorf("the figure shows what diverged:\n%s", text)
	}
	nothing := 0.0
	for i := range times.Cells { // HBFU stops after a round
		times.Cells[i].Methods = slices.Clone(times.Cells[i].Methods)
		times.Cells[i].Methods[1].Program = &nothing
	}
	if err := times.Figure("T", "D", "S").Render(io.Discard, "svg"); err != nil {
		t.Error(err)
	}
	lost := errors.New("lost")
	if err := c.RunInterleaved(1, methods, func(*TimedMethod) (RunCost, error) { return RunCost{}, lost }); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
}

// The figures measure on this machine whenever they are made: nothing of the times is
// kept, and what is kept are the originals alone. The caption and the source name the machine.
func TestTimesAreMeasuredEachTime(t *testing.T) {
	e := newEnv(t)
	c := glyphs()
	c.Data, c.Fit.Epochs, c.Users = lab.Limit(c.Data, 400, 100), 2, unlearn.Users{Rounds: 2, LocalEpochs: 1}
	study := Study{Scale: "quick", Cases: []Case{c.WithShare(0.06, 1e-3), c.WithShare(0.06, 1e-1)}}
	shown := progresstest.Record(t)
	first, found, err := study.measureTimes(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if !shown.HasNamed("timing the methods · by the clock: ") || len(found.Data) != 1 || len(found.Runs) != 2 {
		t.Errorf("shown: %v, data %v, runs %v", shown.States(), found.Data, found.Runs)
	}
	var kinds []string
	runs, err := e.Store.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		kinds = append(kinds, r.Key.Recipe)
	}
	if len(kinds) != 2 || slices.ContainsFunc(kinds, func(k string) bool { return k != "train" }) {
		t.Errorf("the store has %v", kinds)
	}
	again, _, err := study.measureTimes(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	for i, cell := range first.Cells {
		if len(cell.Methods) != len(TimedMethods()) || cell.Share != 0.06 || cell.Step <= 0 {
			t.Fatalf("%+v", cell)
		}
		for k, m := range cell.Methods {
			if m.Median <= 0 || len(m.Seconds) != study.numTurns() || m.Steps == 0 || (m.Program != nil) != TimedMethods()[k].Counted() {
				t.Errorf("%+v", m)
			}
			if b := again.Cells[i].Methods[k]; slices.Equal(b.Seconds, m.Seconds) || b.Steps != m.Steps {
				t.Errorf("%s: %v s and then %v s, %d and %d steps", m.Method, m.Seconds, b.Seconds, m.Steps, b.Steps)
			}
		}
	}
	if w, at := first.sweep(); w.axis != byBeta.axis || at(first.Cells[1]) != 1e-1 {
		t.Errorf("drawn against %s", w.axis)
	}
	if err := first.Table().Check(); err != nil {
		t.Error(err)
	}
	if got := len(first.records()); got != 2*len(TimedMethods()) {
		t.Errorf("%d records", got)
	}
}

// Figures 7 and 14 measure what Figures 4 and 13 forget, on the same originals.
func TestTheTimesAreOfTheSweepsOriginals(t *testing.T) {
	e := newEnv(t)
	keys := func(of string) map[string]bool {
		r, err := Paper().Find(paper.Figure, of)
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := r.Jobs(t.Context(), e, "quick")
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]bool{}
		for _, j := range jobs {
			out[j.Key] = true
		}
		return out
	}
	for of, as := range map[string]string{"7": "4", "14": "13"} {
		own, others := keys(of), keys(as)
		if r, _ := Paper().Find(paper.Figure, of); !r.Timed || len(own) < 3 {
			t.Errorf("figure %s: %d originals, clocked: %v", of, len(own), r.Timed)
		}
		for key := range maps.Keys(own) {
			if !others[key] {
				t.Errorf("figure %s has an original that figure %s has not", of, as)
			}
		}
	}
}

func TestTimesWithoutTheirDataSayWhereThatIs(t *testing.T) {
	t.Setenv(datasets.EnvDir, t.TempDir())
	e := newEnv(t)
	for _, r := range []paper.Recipe{timesRecipe(figure7, byShare), timesRecipe(figure14, byBeta)} {
		_, err := r.Run(t.Context(), e, "standard")
		if !errors.Is(err, datasets.ErrMissing) || !strings.Contains(err.Error(), "lethe data get mnist") {
			t.Errorf("%v", err)
		}
	}
}
