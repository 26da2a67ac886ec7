package judge

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
)

// withInputs writes a folder with inputs, in which the forgotten records differ from all others by
// shift.
func withInputs(t *testing.T, seed uint64, unlearned func(m *fixture) func(i int) bool, shift float64) (string, array.Matrix[float32]) {
	t.Helper()
	m := newFixture(seed, 60, 150, 120)
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(seed, 31))
	m.write(t, dir, unlearned(m), 0)
	x := array.New[float32](len(m.y), 4)
	for i := range m.y {
		for j := range 4 {
			x.Row(i)[j] = float32(rng.NormFloat64())
		}
		if i < m.forget {
			x.Row(i)[1] += float32(shift)
		}
	}
	must(t, npy.Write(filepath.Join(dir, "inputs.npy"), x))
	return dir, x
}

func all(m *fixture) func(i int) bool      { return m.all }
func retained(m *fixture) func(i int) bool { return m.retained }

// withoutRetrained leaves the retrained models out, so that attacks are read against their null.
func withoutRetrained(t *testing.T, dir string) string {
	t.Helper()
	must(t, os.RemoveAll(filepath.Join(dir, "retrained")))
	must(t, os.RemoveAll(filepath.Join(dir, "retrained-2")))
	return dir
}

// Sets that differ by themselves take the null away from every attack that rests on it, and not from
// comparisons with a retrained model; retained records in the place of the forgotten ones do not
// differ.
func TestSetsThatDifferByThemselvesHaveNoNull(t *testing.T) {
	dir, _ := withInputs(t, 1, retained, 2.5)
	r := audited(t, dir)
	if r.Inputs.difference() == nil {
		t.Fatalf("%+v", r.Inputs.Blind)
	}
	if v := r.verdict(t, "loss"); v.Call != audit.Forgotten || v.Reference != RetrainedReference {
		t.Errorf("beside a retrained model: %s by %s", v.Call, v.Reference)
	}
	r = audited(t, withoutRetrained(t, dir))
	for _, v := range r.Verdicts {
		null := v.Lens.Info().Null == audit.NonmemberNull
		if null && (v.Call != audit.CannotTell || !strings.Contains(v.Why, "differ by themselves")) {
			t.Errorf("%s: %s, %s", v.Name(), v.Call, v.Why)
		}
		if !null && strings.Contains(v.Why, "differ by themselves") {
			t.Errorf("%s has no such null: %s", v.Name(), v.Why)
		}
	}
	if s := r.beware("unlearned"); !strings.Contains(s, "differ by themselves") {
		t.Errorf("the summary says %q", s)
	}
	if a := r.Headline("unlearned").Answer; a != NoAnswer {
		t.Errorf("the answer is %q", a)
	}

	exchanged, _ := withInputs(t, 1, retained, 2.5)
	must(t, npy.WriteIndices(filepath.Join(exchanged, "forget.npy"), rowsOf(150)[60:120]))
	must(t, npy.WriteIndices(filepath.Join(exchanged, "retain.npy"), slices.Concat(rowsOf(60), rowsOf(210)[150:])))
	if b := audited(t, exchanged).Inputs; b.difference() != nil {
		t.Errorf("sets that are alike: %+v", b.Blind)
	}
}

// An attack that reaches far more than the inputs do still sees a memory.
func TestAnAttackBeyondTheBlindOneIsBelieved(t *testing.T) {
	dir, _ := withInputs(t, 3, all, 0.8)
	r := audited(t, withoutRetrained(t, dir))
	v := r.verdict(t, "loss")
	if r.Inputs.difference() == nil || v.Reference != BlindReference || v.Call != audit.Remembered {
		t.Errorf("blind %+v; %s by the %s, %+v", r.Inputs.Blind, v.Call, v.Reference, v.Reading.Estimate)
	}
	if !strings.Contains(v.Text(), "Like the original") || !strings.Contains(v.Text(), "blind attack") {
		t.Errorf("%s", v.Text())
	}
}

// Whatever the reading, within what inputs reach on either side nothing is said.
func TestWhatInputsReachIsNoEvidenceOnEitherSide(t *testing.T) {
	blind := audit.Reading{Lens: audit.BlindAttackName, Memory: audit.Above}
	null := 0.5
	blind.Value, blind.Low, blind.High, blind.Null = 0.7, 0.62, 0.78, &null
	for value, want := range map[float64]audit.Call{
		0.05: audit.Beyond, 0.25: audit.CannotTell, 0.35: audit.CannotTell, 0.5: audit.CannotTell, 0.65: audit.CannotTell, 0.75: audit.CannotTell, 0.95: audit.Remembered,
	} {
		v := Verdict{Lens: audit.Loss{}, Blind: &blind}
		v.Reading.Value, v.Reading.Low, v.Reading.High, v.Reading.Null, v.Reading.Memory = value, value-0.04, value+0.04, &null, audit.Above
		v.Reading.N, v.Reading.Over = 100, "records"
		if v.place(); v.Call != want {
			t.Errorf("a reading of %v is called %s, want %s", value, v.Call, want)
		}
	}
}

// Of folders whose sets do not differ few are said to.
func TestSetsThatAreAlikeAreSeldomSaidToDiffer(t *testing.T) {
	const trials = 40
	differ := 0
	for k := range uint64(trials) {
		dir, _ := withInputs(t, 100+k, retained, 0)
		e, err := Open(dir)
		must(t, err)
		if e.checkInputs().difference() != nil {
			differ++
		}
	}
	if differ > 7 { // 5 % and three standard errors
		t.Errorf("%d of %d pairs of sets are said to differ", differ, trials)
	}
}

// Copies are in the report, in the summary and in the JSON form, and held-out records that were in
// training are warned of.
func TestTheReportNamesCopies(t *testing.T) {
	dir, x := withInputs(t, 5, all, 0)
	copy(x.Row(7), x.Row(70))
	copy(x.Row(220), x.Row(80))
	must(t, npy.Write(filepath.Join(dir, "inputs.npy"), x))
	r := audited(t, dir)
	var b, md bytes.Buffer
	must(t, r.JSON(&b))
	var out struct {
		Inputs struct {
			Copies struct {
				Rows []int `json:"identical_rows"`
				Held []int `json:"heldout_rows_in_training"`
			} `json:"copies"`
			Blind *struct{ Value float64 } `json:"blind_attack"`
		} `json:"inputs"`
	}
	must(t, json.Unmarshal(b.Bytes(), &out))
	if in := out.Inputs; !slices.Equal(in.Copies.Rows, []int{7}) || !slices.Equal(in.Copies.Held, []int{220}) || in.Blind == nil {
		t.Errorf("%+v", in)
	}
	p, err := r.Page()
	must(t, err)
	must(t, p.Markdown(&md))
	for _, want := range []string{"1 of 60 forgotten records has an identical copy", "cannot be forgotten", "Blind attack", "1 held-out record has an identical copy"} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("the report does not say %q", want)
		}
	}
}

// Without inputs the report says what to save.
func TestWithoutInputsTheReportSaysWhatToSave(t *testing.T) {
	m := newFixture(6, 30, 60, 60)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	r := audited(t, dir)
	if s := strings.Join(r.Inputs.Sentences(r.Evidence), " "); strings.Count(s, "inputs.npy (n, d)") != 2 || !strings.Contains(s, "Not judged") {
		t.Errorf("%s", s)
	}
}

// Tokens of texts are inputs too, and wrong ones are refused by name.
func TestTokensOfTextsAreInputs(t *testing.T) {
	write := func(dir string, tokens, offset []int) {
		must(t, npy.WriteIndices(filepath.Join(dir, "input_tokens.npy"), tokens))
		must(t, npy.WriteIndices(filepath.Join(dir, "input_offset.npy"), offset))
	}
	rng := rand.New(rand.NewPCG(8, 8))
	tokens, offset := []int{}, []int{0}
	for i := range textRecords {
		for range 30 {
			tokens = append(tokens, rng.IntN(100))
		}
		if i < textForget {
			tokens[30*i+5] = 200 // a word of the forgotten texts
		}
		offset = append(offset, len(tokens))
	}
	copy(tokens[:30], tokens[30*textForget:]) // the first text is a retained one
	dir := writeTexts(t, false)
	write(dir, tokens, offset)
	r := audited(t, dir)
	if !slices.Equal(r.Inputs.Copies.IdenticalRows, []int{0}) || r.Inputs.difference() == nil {
		t.Errorf("%+v, %+v", r.Inputs.Copies, r.Inputs.Blind)
	}
	for want, spoil := range map[string]func(dir string){
		"ends at": func(dir string) { write(dir, tokens[1:], offset) },
		"rows;":   func(dir string) { write(dir, tokens[:30], []int{0, 10, 30}) },
		"need input_offset.npy": func(dir string) {
			write(dir, tokens, offset)
			must(t, os.Remove(filepath.Join(dir, "input_offset.npy")))
		},
		"there is no input_tokens.npy": func(dir string) {
			write(dir, tokens, offset)
			must(t, os.Remove(filepath.Join(dir, "input_tokens.npy")))
		},
		"rows of numbers or tokens of text": func(dir string) {
			write(dir, tokens, offset)
			must(t, npy.Write(filepath.Join(dir, "inputs.npy"), array.New[float32](textRecords, 2)))
		},
		"has no token": func(dir string) { o := slices.Clone(offset); o[3] = o[4]; write(dir, tokens, o) },
	} {
		dir := writeTexts(t, false)
		spoil(dir)
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// Inputs that are the same for all records are said to be so, and the AUC of nothing is not shown as one.
func TestInputsThatAreTheSameForAllRecordsAreSaidToBeSo(t *testing.T) {
	dir, x := withInputs(t, 9, all, 0)
	for i := range x.Data {
		x.Data[i] = 0.1
	}
	must(t, npy.Write(filepath.Join(dir, "inputs.npy"), x))
	c := audited(t, dir).Inputs
	if c.Blind != nil || c.BlindWhy != "the inputs are the same for all forgotten and held-out records" {
		t.Errorf("blind attack: %+v, %q", c.Blind, c.BlindWhy)
	}
	if c.Copies == nil || c.Copies.Identical.Value != 1 || !strings.Contains(c.Copies.NearWhy, "no other one whose inputs differ") {
		t.Errorf("copies: %+v, %q", c.Copies, c.CopiesWhy)
	}
}

// One record has, and several have.
func TestCopiesAreCountedInSentences(t *testing.T) {
	e := &Evidence{}
	e.Forget, e.Retain = []int{0}, []int{1}
	c := &audit.Copies{HeldOutRows: []int{2, 3}, Compared: 1, Searched: 1, Measure: "m"}
	got := strings.Join(copySentences(c, e), " ")
	for _, want := range []string{"The only forgotten record does not have an identical copy among 1 retained record.", "2 held-out records have",
		"The only forgotten record does not have a near copy among 1 retained record: m."} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// Without inputs and without a retrained model nothing shows that the sets were drawn alike; either of them does.
func TestSetsThatNobodyComparedAreSaid(t *testing.T) {
	m := newFixture(77, 60, 100, 100)
	dir := t.TempDir()
	m.write(t, dir, m.retained, 0)
	says := func() bool {
		return strings.Contains(audited(t, dir).beware("unlearned"), "A retrained model shows it")
	}
	if says() {
		t.Error("retrained models compare the sets")
	}
	must(t, os.RemoveAll(filepath.Join(dir, "retrained")))
	must(t, os.RemoveAll(filepath.Join(dir, "retrained-2")))
	if !says() {
		t.Error("nothing compares the sets, and the summary does not say so")
	}
	must(t, npy.Write(filepath.Join(dir, "inputs.npy"), m.base))
	if says() {
		t.Error("inputs compare the sets")
	}
}
