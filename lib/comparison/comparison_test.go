package comparison

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

func newLab(t *testing.T) *lab.Lab {
	t.Helper()
	e, s := enginetest.WithStore(t)
	return &lab.Lab{Engine: e, Store: s}
}

// island is a planted group that the original memorises.
func island() lab.Setting {
	return lab.Setting{Data: lab.Table{Set: "moons_island"}, Forget: lab.Planted("island"), Model: tabular.MLP{Hidden: 32},
		Fit: train.Config{Epochs: 100, Optimizer: nn.Adam{LR: 5e-3}}}
}

// broken is a method that fits nothing.
type broken struct{ unlearn.FineTuning }

func (b broken) Info() unlearn.Info {
	about := b.FineTuning.Info()
	about.Name = "broken"
	return about
}

func (broken) Unlearn(context.Context, unlearn.Request) (*unlearn.Outcome, error) {
	return nil, errors.New("it needs a federation of users")
}

// A planted memory is remembered in the original, forgotten in the retrained model, and the
// table, the answers, the page and the JSON say so. A method that fails is a row with the
// reason; the others are compared.
func TestAPlantedMemoryIsFoundInEverySeed(t *testing.T) {
	s := Study{Lab: newLab(t), Setting: island(), Methods: []unlearn.Method{unlearn.FineTuning{Epochs: 1}, broken{}}, Seeds: 2}
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	original, retrained := r.labels()[0], r.labels()[1]
	able, _, _, _ := r.sortedLenses()
	if len(able) == 0 {
		t.Fatalf("no lens finds the memory: %v", r.Answers())
	}
	for _, k := range able {
		if call, n := majority(r.found(original), k); call != audit.Remembered || n != 2 {
			t.Errorf("%s: the original is %s in %d seeds", r.Study.Lenses[k].Name(), call, n)
		}
		if call, n := majority(r.found(retrained), k); call != audit.Forgotten || n != 2 {
			t.Errorf("%s: the retrained model is %s in %d seeds", r.Study.Lenses[k].Name(), call, n)
		}
	}
	table := r.Table()
	if err := table.Check(); err != nil {
		t.Fatal(err)
	}
	last := table.Rows[len(table.Rows)-1]
	if last.Cells[0].Text != "broken" || last.Cells[1].Missing == "" || !strings.Contains(strings.Join(table.Notes, "\n"), "no model in 2 of 2 seeds: ") ||
		!strings.Contains(strings.Join(table.Notes, "\n"), "2 of 2 seeds: it needs a federation of users") {
		t.Errorf("the method that fails: %+v, notes %q", last, table.Notes)
	}
	for _, row := range table.Rows {
		if control := !slices.Contains([]string{"fine-tuning", "broken"}, row.Cells[0].Text); control != (row.Kind == report.Control) {
			t.Errorf("%s is of kind %s", row.Cells[0].Text, row.Kind)
		}
	}
	if cell := table.Rows[0].Cells[1+able[0]]; cell.Verdict != "remembered" || !strings.Contains(cell.Text, "] 2/2") {
		t.Errorf("the original's cell is %+v", cell)
	}
	if answers := strings.Join(r.Answers(), "\n"); !strings.Contains(answers, "fine-tuning: ") || strings.Contains(answers, "random-weights") ||
		!strings.Contains(answers, "of the held-out ones, the retrained model on 0.") || strings.Contains(answers, "the copy") {
		t.Errorf("the answers are %s", answers)
	}
	if got := r.settings()[0]; got != "Network: tabular-mlp, 1218 weights." { // 2*32+32 + 32*32+32 + 32*2+2
		t.Error(got)
	}
	checkFiles(t, r)
}

// panicking is a method of somebody else with a mistake.
type panicking struct {
	broken
	Early bool
}

func (p panicking) Info() unlearn.Info {
	about := p.FineTuning.Info()
	about.Name = "panicking"
	return about
}

func (p *panicking) SetDefaults() {
	if p.Early {
		panic("no defaults")
	}
}

func (panicking) Unlearn(context.Context, unlearn.Request) (*unlearn.Outcome, error) { panic("oops") }

// A method's panic is the reason why it has no row, and the other methods have theirs.
func TestAMethodThatPanicsEndsNeitherTheStudyNorTheProgram(t *testing.T) {
	moons := lab.Setting{Data: lab.Table{Set: "two_moons", MaxRows: 200}, Forget: lab.Random{Fraction: 0.2}, Fit: train.Config{Epochs: 2}}
	s := Study{Lab: newLab(t), Setting: moons, Methods: []unlearn.Method{panicking{}, unlearn.FineTuning{Epochs: 1}}, Seeds: 1}
	r, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const want = "the method panicked at comparison_test.go:"
	if m := r.Runs[0].find("panicking"); m == nil || !strings.HasPrefix(m.Missing, want) || !strings.HasSuffix(m.Missing, ": oops") {
		t.Errorf("the method that panics: %+v", m)
	}
	if m := r.Runs[0].find("fine-tuning"); m == nil || m.Missing != "" || len(m.Readings) == 0 {
		t.Errorf("the other method: %+v", m)
	}
	s.Methods = []unlearn.Method{unlearn.FineTuning{}, panicking{Early: true}}
	if _, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "method 1 (comparison.panicking), before it began, panicked at comparison_test.go:") ||
		!strings.HasSuffix(err.Error(), ": no defaults") {
		t.Errorf("a method whose defaults panic: %v", err)
	}
}

// checkFiles writes the result and reads it again.
func checkFiles(t *testing.T, r *Result) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "report")
	if err := r.Write(folder); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"report.html", "report.md", "report.json"} {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !bytes.Contains(b, []byte("What is left of the")) || !bytes.Contains(b, []byte("fine-tuning")) {
			t.Errorf("%s: %d bytes (%v)", name, len(b), err)
		}
	}
	b, _ := os.ReadFile(filepath.Join(folder, "report.json"))
	var back jsonResult
	if err := json.Unmarshal(b, &back); err != nil || len(back.Runs) != len(r.Runs) {
		t.Fatalf("%d runs (%v)", len(back.Runs), err)
	}
	for i, run := range back.Runs {
		for k, m := range run.Models {
			if found := r.Runs[i].Models[k]; m.Model != found.Label || len(m.Readings) != len(found.Readings) || m.Missing != found.Missing {
				t.Errorf("seed %d: %+v, want %+v", i, m, found)
			}
		}
	}
}

// The second time everything comes from the store, and more seeds compute only what is new.
func TestAComparisonGoesOn(t *testing.T) {
	l := newLab(t)
	s := Study{Lab: l, Setting: lab.Setting{Data: lab.Table{Set: "two_moons", MaxRows: 200}, Forget: lab.Random{Fraction: 0.2}, Fit: train.Config{Epochs: 2}},
		Methods: []unlearn.Method{unlearn.FineTuning{Epochs: 1}}, Seeds: 1}
	one, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runs, _ := l.Store.List()
	s.Seeds = 2
	two, err := s.Run(t.Context())
	more, _ := l.Store.List()
	if err != nil || len(more) != 2*len(runs) {
		t.Errorf("%d runs for one seed, %d for two (%v)", len(runs), len(more), err)
	}
	a, b := one.Runs[0].Models[1].Readings[0].Value, two.Runs[0].Models[1].Readings[0].Value
	if a != b {
		t.Errorf("the first seed read %v alone and %v with another", a, b)
	}
	if cell := one.Table().Rows[0].Cells[1]; strings.Contains(cell.Text, "1/1") || cell.Estimate.Over != "records" && cell.Missing == "" {
		t.Errorf("with one seed the cell is %+v", cell)
	}
	if two.Runs[0].DataHash == two.Runs[1].DataHash {
		t.Error("another seed has the same split")
	}
}

// namedLikeTheOriginal is a method whose row could not be told from the original's.
type namedLikeTheOriginal struct{ unlearn.FineTuning }

func (namedLikeTheOriginal) Info() unlearn.Info {
	info := unlearn.FineTuning{}.Info()
	info.Name = audit.ControlVariants()[0].Label
	return info
}

// Nothing is trained before everything is checked.
func TestAStudyIsCheckedFirst(t *testing.T) {
	l := newLab(t)
	for words, s := range map[string]Study{
		"no lab with an engine":                                   {},
		"6 records are held out; attacks need":                    {Lab: l, Setting: lab.Setting{Data: lab.Table{Set: "two_moons", MaxRows: 30}, Forget: lab.Random{Fraction: 0.5}}},
		"and only 1 are left to be held out":                      {Lab: l, Setting: lab.Setting{Data: lab.Table{Set: "two_moons", MaxRows: 40}, Forget: testPartButOne(t, l)}},
		"want 1 to 1000":                                          {Lab: l, Seeds: -1},
		"method 1 is nil":                                         {Lab: l, Methods: []unlearn.Method{unlearn.SCRUB{}, nil}},
		"two methods or controls are called scrub":                {Lab: l, Methods: []unlearn.Method{unlearn.SCRUB{}, unlearn.SCRUB{Epochs: 3}}},
		"controls are called " + audit.ControlVariants()[0].Label: {Lab: l, Methods: []unlearn.Method{namedLikeTheOriginal{}}},
		`there is no planted group "reef"`:                        {Lab: l, Setting: lab.Setting{Forget: lab.Planted("reef")}},
	} {
		if _, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	if runs, err := l.Store.List(); err != nil || len(runs) != 0 {
		t.Errorf("%d runs of studies that cannot be (%v)", len(runs), err)
	}
}

// A verdict is that of more than half of the seeds; otherwise the counts stand in its place.
func TestAVerdictNeedsAMajority(t *testing.T) {
	of := func(calls ...audit.Call) (out []*Model) {
		for _, c := range calls {
			out = append(out, &Model{Calls: []audit.Call{c}})
		}
		return out
	}
	if call, n := majority(of(audit.Blind, audit.Remembered, audit.Remembered), 0); call != audit.Remembered || n != 2 {
		t.Errorf("%s in %d", call, n)
	}
	split := of(audit.Remembered, audit.Blind)
	if call, _ := majority(split, 0); call != "" || callCounts(split, 0) != "blind 1, remembered 1" {
		t.Errorf("%q, %s", call, callCounts(split, 0))
	}
}

// withCalls is a result of one lens that has these verdicts on the original, on the model
// retrained from another seed, and on a method.
func withCalls(forget int, original, other, method audit.Call) *Result {
	model := func(label string, control bool, call audit.Call) Model {
		return Model{Label: label, Control: control, Calls: []audit.Call{call}, Readings: make([]audit.Reading, 1)}
	}
	return &Result{Study: Study{Lenses: Lenses()[:1]}, Name: "people", Runs: []Run{{Forget: forget, Models: []Model{
		model("original", true, original), model(otherSeed, true, other), model("scrub", false, method)}}}}
}

// A forgotten record that is retained too is said, and so is how many are answered right.
func TestAnswersTellOfCopies(t *testing.T) {
	hashes := []uint64{7, 8, 7, 9, 8, 5}
	if n := copies(hashesAt(hashes, []int{0, 1, 3}), hashesAt(hashes, []int{2, 4, 5})); n != 2 {
		t.Errorf("%d copies, want 2", n)
	}
	if n := copies(hashesAt(hashes, []int{0, 2, 3}), hashesAt(hashes, []int{5})); n != 0 {
		t.Errorf("%d copies among the forgotten alone", n)
	}
	seeds := &Result{Runs: []Run{{Forget: 15, Judged: 66, Copies: 13, HeldOutCopies: 63}, {Forget: 15, Judged: 66, Copies: 10, HeldOutCopies: 63}}}
	for k, want := range []string{"Of the 15 forgotten records 10 to 13 (by the seed) can be found among", "Of the 66 held-out records that lenses read, 63 can be found in training"} {
		if said := seeds.Answers()[k]; !strings.HasPrefix(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
	}
	r := withCalls(50, audit.Remembered, audit.Forgotten, audit.Forgotten)
	r.Runs[0].Copies = 2
	if said := r.Answers()[0]; !strings.HasPrefix(said, "Of the 50 forgotten records 2 can be found among the retained ones too") {
		t.Error(said)
	}
	for call, want := range map[audit.Call]string{
		audit.Blind:      "does not mean that there is no memory; the original is right on 1.00 of the forgotten records and 0.90 of the held-out ones, the retrained model on 0.25 and 0.80.",
		audit.Remembered: "scrub: forgotten (loss); right on 0.50 of the forgotten records and 0.60 of the held-out ones, the retrained model on 0.25 and 0.80.",
	} {
		r := withCalls(50, call, audit.Forgotten, audit.Forgotten)
		models := append(r.Runs[0].Models, Model{Label: oracleLabel, Control: true, Calls: []audit.Call{audit.Forgotten}, Readings: make([]audit.Reading, 1)})
		for k, accuracy := range []float64{1, 0.3, 0.5, 0.25} { // original, other seed, scrub, oracle
			held := []float64{0.9, 0.7, 0.6, 0.8}[k]
			models[k].Forgotten, models[k].HeldOut = &accuracy, &held
		}
		r.Runs[0].Models = models
		if said := strings.Join(r.Answers(), "\n"); !strings.Contains(said, want) {
			t.Errorf("where the lens says %s of the original: %s", call, said)
		}
	}
}

// A class that some seeds hold out is not said to be missing in all; of one seed nothing is said of seeds.
func TestAnswersSayInWhichSeeds(t *testing.T) {
	blind := func() *Result { return withCalls(50, audit.Blind, audit.Blind, audit.Blind) }
	r := blind()
	if said := strings.Join(r.Answers(), "\n"); strings.Contains(said, "most seeds") || strings.Contains(said, "all seeds") {
		t.Errorf("of one seed: %s", said)
	}
	r.Runs = append(r.Runs, append(blind().Runs, blind().Runs...)...)
	r.Runs[0].notHeldOut, r.Runs[1].notHeldOut, r.Runs[2].notHeldOut = []string{"rare", "none"}, []string{"none"}, []string{"none"}
	said := strings.Join(r.Answers(), "\n")
	for _, want := range []string{`No record of the class "none", "rare" (in 1 of 3 seeds) is held out`, "retrained models here, in "} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in: %s", want, said)
		}
	}
}

// Too few records are no sign of forgetting, and the answers say how many there are; a lens of which the seeds
// say different things says so; a lens that takes a model of another seed for the original is named.
func TestAnswersDoNotTakeMissingEvidenceForForgetting(t *testing.T) {
	answers := func(r *Result) string { return strings.Join(r.Answers(), "\n") }
	few := withCalls(5, audit.TooFew, audit.TooFew, audit.TooFew)
	few.Runs[0].Models[0].Readings[0].NoEvidence = audit.TooFewRecords(3, "held-out records")
	said := answers(few)
	if want := "No evidence for or against: loss (too few: 3 held-out records, and with fewer than 6 no value is significant at 5 %). That does"; !strings.Contains(said, want) {
		t.Errorf("too few: %s", said)
	}
	if tied := answers(withCalls(50, audit.CannotTell, audit.CannotTell, audit.CannotTell)); strings.Contains(tied, "may be chance") || strings.Contains(tied, "oo few") {
		t.Errorf("tied: %s", tied)
	}
	if blind := answers(withCalls(50, audit.Blind, audit.Blind, audit.Blind)); !strings.Contains(blind, "may be chance or the seed") || strings.Contains(blind, "No evidence") {
		t.Errorf("blind: %s", blind)
	}
	split := withCalls(50, audit.Remembered, audit.Forgotten, audit.Forgotten)
	split.Runs = append(split.Runs, withCalls(50, audit.Blind, audit.Blind, audit.Blind).Runs...)
	if said := answers(split); said != "Tell the original from the retrained models in some seeds only, and say little of any method: loss (blind 1, remembered 1)." {
		t.Errorf("two seeds that differ: %s", said)
	}
	chance := answers(withCalls(50, audit.Remembered, audit.Backwards, audit.Remembered))
	if !strings.Contains(chance, `Take care with "loss"`) || !strings.Contains(chance, "scrub: remembered (loss).") {
		t.Errorf("another seed is called backwards: %s", chance)
	}
	if pushed := answers(withCalls(50, audit.Remembered, audit.Beyond, audit.Remembered)); !strings.Contains(pushed, `Take care with "loss": a model that was`) {
		t.Errorf("another seed is called beyond: %s", pushed)
	}
	if sound := answers(withCalls(50, audit.Remembered, audit.Forgotten, audit.Forgotten)); strings.Contains(sound, "Take care") {
		t.Errorf("another seed is called forgotten: %s", sound)
	}
}

// The comparison has the model whose row the answers look for.
func TestTheModelOfAnotherSeedHasItsRow(t *testing.T) {
	s := Study{Lab: newLab(t), Setting: lab.Setting{Data: lab.Table{Set: "two_moons", MaxRows: 200}, Forget: lab.Random{Fraction: 0.2}, Fit: train.Config{Epochs: 2}},
		Methods: []unlearn.Method{unlearn.FineTuning{Epochs: 1}}, Seeds: 1}
	r, err := s.Run(t.Context())
	if err != nil || len(r.found(otherSeed)) != 1 {
		t.Errorf("the rows are %v (%v)", r.labels(), err)
	}
}

// A report has no examples of the values of an identifier. Otherwise its cells are those of the terminal, and its notes are in the words of who asked.
func TestAReportDoesNotShowIdentifiers(t *testing.T) {
	found := own.Report{File: "people.csv", Notes: []string{`say Number("email")`}, Columns: []own.FoundColumn{
		{Name: "email", Role: own.RoleIdentifier, Examples: []string{"jane@x.org"}}, {Name: "city", Role: own.RoleFeature, Examples: []string{"Bern"}},
		{Name: "income", Role: own.RoleFeature, Kind: datasets.Number, Distinct: own.MaxDistinct, Missing: 3, Forced: true}, {Name: "hair", Role: own.RoleIgnored}}}
	table, is := columnsReport(found, strings.ToUpper)[1].(*report.Table)
	if !is || table.Rows[0].Cells[5].Text != "not shown" || table.Rows[1].Cells[5].Text != "Bern" || table.Notes[0] != `SAY NUMBER("EMAIL")` {
		t.Fatalf("%+v", table)
	}
	if err := table.Check(); err != nil {
		t.Error(err)
	}
	for k, want := range []string{"income|number (forced)|feature|100000 or more|3|", "hair||ignored|||"} {
		var cells []string
		for _, c := range table.Rows[2+k].Cells {
			cells = append(cells, c.Text)
		}
		if got := strings.Join(cells, "|"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// An interval over two seeds is wide, but an AUC lies between 0 and 1.
func TestAnIntervalEndsWhereTheLensDoes(t *testing.T) {
	of := func(values ...float64) (out []*Model) {
		for _, v := range values {
			out = append(out, &Model{Readings: []audit.Reading{{Estimate: stats.Estimate{Value: v}}, {Estimate: stats.Estimate{Value: v}}}})
		}
		return out
	}
	r := &Result{Study: Study{Lenses: []audit.Lens{audit.Outputs{}, audit.AgainstOracle{}}}}
	bounded, _ := r.lensMean(of(0.2, 0.9), 0)
	free, _ := r.lensMean(of(0.2, 0.9), 1)
	if bounded.Low != 0 || bounded.High != 1 || !(free.Low < -1) || bounded.Value != free.Value {
		t.Errorf("an AUC of %+v, without bounds %+v", bounded, free)
	}
}

// A lens that takes a model of random weights for the original does not read memory.
func TestAnUntrainedModelThatIsRememberedIsAWarning(t *testing.T) {
	r := withCalls(50, audit.Remembered, audit.Forgotten, audit.Remembered)
	if answers := strings.Join(r.Answers(), "\n"); strings.Contains(answers, "Take care") {
		t.Errorf("without an untrained model: %s", answers)
	}
	untrained := r.Runs[0].Models[1]
	untrained.Label, untrained.Calls = unlearn.RandomWeights{}.Info().Name, []audit.Call{audit.Remembered}
	r.Runs[0].Models = append(r.Runs[0].Models, untrained)
	if answers := strings.Join(r.Answers(), "\n"); !strings.Contains(answers, "random weights, which never met any record, is called remembered") {
		t.Errorf("with one: %s", answers)
	}
}

// full is a method on a full disk.
type full struct{ unlearn.FineTuning }

func (full) Unlearn(context.Context, unlearn.Request) (*unlearn.Outcome, error) {
	return nil, &fs.PathError{Op: "write", Path: "weights", Err: errors.New("no space left")}
}

// A file that cannot be written is no property of a method: the comparison ends.
func TestAFullDiskIsNoRowOfTheTable(t *testing.T) {
	s := Study{Lab: newLab(t), Setting: lab.Setting{Data: lab.Table{Set: "two_moons", MaxRows: 200}, Forget: lab.Random{Fraction: 0.2}, Fit: train.Config{Epochs: 1}},
		Methods: []unlearn.Method{full{}}, Seeds: 1}
	if _, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v", err)
	}
}

// testPartButOne names the records of the test part of 40 moons without the first.
func testPartButOne(t *testing.T, l *lab.Lab) lab.Records {
	t.Helper()
	c, err := l.Case(t.Context(), lab.Setting{Data: lab.Table{Set: "two_moons", MaxRows: 40}})
	if err != nil {
		t.Fatal(err)
	}
	return lab.Records(slices.Clone(c.Test.IDs[1:]))
}

// Where a condition takes its records out of the held-out part, the table says so.
func TestATableOfAConditionSaysWhoIsHeldOut(t *testing.T) {
	r := withCalls(50, audit.Remembered, audit.Forgotten, audit.Remembered)
	r.Study.Lab = newLab(t)
	said := func() bool {
		return strings.Contains(strings.Join(r.Table().Notes, "\n"), "no held-out record is of their kind")
	}
	plain := said()
	r.Study.Setting.Forget = lab.Where{Column: "city", Op: datasets.Equal, Values: []string{"Bern"}}
	if plain || !said() {
		t.Error("the note stands where it should not, or not where it should")
	}
}

// Of a table in which every row is there three times, most held-out records are in training too; of one
// without repeated rows none is.
func TestHeldOutCopiesAreCounted(t *testing.T) {
	for _, times := range []int{1, 3} {
		var b strings.Builder
		b.WriteString("a,b,y\n")
		for k := range 120 {
			fmt.Fprintf(&b, "%d.5,%d.25,%c\n", k/times*7%101, k/times, 'p'+k/times%2)
		}
		path := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := own.ReadTable(path, own.Target("y"))
		if err != nil {
			t.Fatal(err)
		}
		s := Study{Lab: newLab(t), Setting: lab.Setting{Data: table, Forget: lab.Random{Fraction: 0.1}, Fit: train.Config{Epochs: 1}},
			Methods: []unlearn.Method{unlearn.FineTuning{Epochs: 1}}, Seeds: 1}
		r, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		run := r.Runs[0]
		if times == 1 && run.HeldOutCopies != 0 || times == 3 && (run.HeldOutCopies < run.Judged/2 || run.HeldOutCopies > run.Judged) {
			t.Errorf("rows %d times: %d of %d held-out records are copies", times, run.HeldOutCopies, run.Judged)
		}
		if said := strings.Join(r.Answers(), " "); strings.Contains(said, "can be found in training too") != (times == 3) {
			t.Errorf("rows %d times: %s", times, said)
		}
	}
}

// In how many seeds groups are few is said in words that are right for all of them too.
func TestSeedsOfFewGroupsAreCounted(t *testing.T) {
	for want, runs := range map[string][]Run{
		"few.": {{fewGroups: "few."}}, "In all 3 seeds (here the last): c": {{fewGroups: "a"}, {fewGroups: "b"}, {fewGroups: "c"}},
		"In 2 of 3 seeds (here the last of them): b": {{fewGroups: "a"}, {fewGroups: "b"}, {}},
	} {
		if got := (&Result{Runs: runs}).fewGroups(); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// That no lens will have a verdict is said once, before the first epoch, and only where it is so: of the least of all
// seeds, and with fewer records than audit.MinRecords.
func TestTooFewRecordsAreSaidBeforeTraining(t *testing.T) {
	for _, c := range []struct {
		forget lab.ForgetSet
		want   []string
	}{
		{lab.Records{3}, []string{"no lens will have a verdict: 1 record to forget, and with fewer than 6 no value is significant at 5 %"}},
		{lab.Records{3, 14, 15, 92, 65}, []string{"no lens will have a verdict: 5 records to forget, and with fewer than 6 no value is significant at 5 %"}},
		{lab.Records{3, 14, 15, 92, 65, 35}, nil},
	} {
		var epochs atomic.Int64
		l := newLab(t)
		l.AfterEpoch = func(train.Epoch) { epochs.Add(1) }
		setting := island()
		setting.Forget, setting.Fit.Epochs = c.forget, 1
		var got []string
		s := Study{Lab: l, Setting: setting, Methods: []unlearn.Method{unlearn.FineTuning{Epochs: 1}}, Seeds: 2, Warn: func(text string) {
			got = append(got, text)
			if n := epochs.Load(); n > 0 {
				t.Errorf("%d epochs were over: %s", n, text)
			}
		}}
		if _, err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, c.want) || epochs.Load() == 0 {
			t.Errorf("%v: %q, want %q", c.forget, got, c.want)
		}
	}
}
