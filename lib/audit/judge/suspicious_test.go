package judge

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// threeSets are the forgotten, retained and held-out records of models with these losses, a little spread.
func threeSets(models ...*Model) *Evidence {
	e := &Evidence{Evidence: audit.Evidence{Records: 120}}
	for i := range 120 {
		set := []*[]int{&e.Forget, &e.Retain, &e.HeldOut}[i/40]
		*set = append(*set, i)
	}
	e.Models = models
	return e
}

func withLosses(role audit.Role, name string, forget, retain, heldOut float64) *Model {
	m := &Model{Name: name, Role: role}
	for i := range 120 {
		m.Losses = append(m.Losses, []float64{forget, retain, heldOut}[i/40]+0.001*float64(i%40))
	}
	return m
}

// Probabilities in place of losses make what is remembered look pushed away: a doubt, unless another set shows that they are losses.
// A model whose own numbers are the wrong way round is doubted beside an original whose are right.
func TestReversedLossesAreDoubted(t *testing.T) {
	for name, c := range map[string]struct {
		forget, retain, heldOut float64
		doubt                   bool
	}{
		"probabilities":                    {0.8, 0.9, 0.4, true},
		"probabilities, all sets alike":    {0.4, 0.4, 0.4, false},
		"losses of records pushed away":    {0.8, 0.1, 0.4, false},
		"losses of remembered records":     {0.1, 0.1, 0.4, false},
		"log-likelihoods":                  {-0.1, -0.1, -0.9, true},
		"losses of a density, all below 0": {-0.1, -0.9, -0.4, false},
		"losses above one":                 {2.4, 1.9, 1.1, false},
	} {
		for beside, others := range map[string][]*Model{
			"alone": nil, "beside a good original": {withLosses(Original, "original", 0.1, 0.1, 0.4)},
		} {
			e := threeSets(append(others, withLosses(Unlearned, "unlearned", c.forget, c.retain, c.heldOut))...)
			e.doubtReversedLosses()
			if got := e.doubtOf("unlearned"); (got != "") != c.doubt {
				t.Errorf("%s, %s: doubt %q", name, beside, got)
			}
		}
	}
	// Where retained and held-out records do not differ, an original with such numbers says what they are.
	for remembered, doubt := range map[float64]bool{0.1: false, 0.7: true} {
		e := threeSets(withLosses(Original, "original", remembered, 0.4, 0.4), withLosses(Unlearned, "unlearned", 0.9, 0.4, 0.4))
		e.doubtReversedLosses()
		if got := e.doubtOf("unlearned"); (got != "") != doubt {
			t.Errorf("an original with %g: doubt %q", remembered, got)
		}
	}
}

// Of two originals one is compared with, and the report says which.
func TestASecondOriginalIsNamed(t *testing.T) {
	one, two := withLosses(Original, "original-1", 0.1, 0.1, 0.4), withLosses(Original, "original-2", 0.1, 0.1, 0.4)
	for _, models := range [][]*Model{{one}, {one, two}} {
		e := threeSets(models...)
		e.warnOriginals()
		if said := strings.Contains(strings.Join(e.Notes, " "), "every comparison is with original-1"); said != (len(models) == 2) {
			t.Errorf("%d originals: %q", len(models), e.Notes)
		}
	}
}

// inMemory is a matrix of a test.
type inMemory struct{ x array.Matrix[float64] }

func (m inMemory) Read() (array.Rows, error) { return m.x, nil }
func (m inMemory) Width() int                { return m.x.Cols }

// Without losses copies are found by embeddings or outputs; the models of another seed are not.
func TestACopyIsFoundWithoutLosses(t *testing.T) {
	rows := func(shift, round float64) audit.Matrix {
		x := array.New[float64](50, 4)
		for i := range x.Data {
			x.Data[i] = math.Round(math.Sin(float64(3*i)+shift)/round) * round
		}
		return inMemory{x}
	}
	a, rounded, other := rows(0, 1e-12), rows(0, 1e-5), rows(1, 1e-12)
	for what, of := range map[string]func(x audit.Matrix) *Model{
		"embeddings": func(x audit.Matrix) *Model { return &Model{Embedding: x} },
		"outputs":    func(x audit.Matrix) *Model { return &Model{Outputs: x} },
	} {
		if got, same := sameModel(of(a), of(rounded)); !same || got != what {
			t.Errorf("%s of a copy: %s, %t", what, got, same)
		}
		if _, same := sameModel(of(a), of(other)); same {
			t.Errorf("%s of another model", what)
		}
	}
	if _, same := sameModel(&Model{Embedding: a}, &Model{Outputs: a}); same {
		t.Error("embeddings are compared with outputs")
	}
}

// A retrained model that is the audited one again clears it, so that it is doubted.
func TestARetrainedModelThatIsTheAuditedOneIsDoubted(t *testing.T) {
	var losses, single []float64
	for i := range 60 {
		losses = append(losses, 0.01*float64(i+1)+1.0/3)
		single = append(single, float64(float32(losses[i])))
	}
	other := slices.Clone(losses)
	slices.Reverse(other)
	for name, c := range map[string]struct {
		retrained []float64
		doubt     bool
	}{"in single precision": {single, true}, "another model": {other, false}} {
		e := &Evidence{Evidence: audit.Evidence{Records: 60}}
		e.Models = []*Model{{Name: "unlearned", Role: Unlearned, Losses: losses}, {Name: "retrained-1", Role: Retrained, Losses: c.retrained}}
		e.warnAuditedAgain()
		noted := strings.Contains(strings.Join(e.Notes, " "), "retrained-1 has the losses of unlearned")
		if got := e.doubtOf("unlearned") != ""; got != c.doubt || noted != c.doubt {
			t.Errorf("%s: doubt %t, noted %t", name, got, noted)
		}
	}
}

func TestCheckpointsAreInTheOrderOfTheirNumbers(t *testing.T) {
	names := []string{"checkpoint-10", "checkpoint-1.5", "checkpoint-2", "checkpoint-0.5", "checkpoint-1", "checkpoint"}
	slices.SortFunc(names, compareNatural)
	if got := strings.Join(names, " "); got != "checkpoint checkpoint-0.5 checkpoint-1 checkpoint-1.5 checkpoint-2 checkpoint-10" {
		t.Error(got)
	}
}

// A token of which every model is certain to the last bit is a masked one. A model that is certain where others are not is none.
func TestMaskedTokensAreNoted(t *testing.T) {
	models := func(zero func(model, token int) bool) *Evidence {
		e := &Evidence{}
		for k := range 3 {
			tokens := &language.Tokens{Offset: []int{0, 10, 20, 30, 40}, LogProb: make([]float64, 40)}
			for i := range tokens.LogProb {
				if tokens.LogProb[i] = -0.1 * float64(1+(i+k)%7); zero(k, i) {
					tokens.LogProb[i] = 0
				}
			}
			e.Models = append(e.Models, &Model{Tokens: tokens})
		}
		return e
	}
	for name, c := range map[string]struct {
		zero  func(model, token int) bool
		noted string
	}{
		"no zeros":                  {func(int, int) bool { return false }, ""},
		"the questions' tokens":     {func(_, token int) bool { return token%10 < 5 }, "20 of 40 log-probabilities"},
		"the first of every text":   {func(_, token int) bool { return token%10 == 0 }, "4 of them the first"},
		"one model that is certain": {func(model, token int) bool { return model == 0 && token%10 < 5 }, ""},
	} {
		e := models(c.zero)
		e.warnMaskedTokens()
		if notes := strings.Join(e.Notes, " "); (notes == "") != (c.noted == "") || !strings.Contains(notes, c.noted) {
			t.Errorf("%s: %q", name, notes)
		}
	}
}
