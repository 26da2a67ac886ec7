package judge

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/datasets/logs"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// texts are what models are compared on: the logits of a vocabulary of 16 for every token, of which the first is the
// true one. Half of the records are retained.
type texts struct {
	rng    *rand.Rand
	logits [][][]float64
}

func drawTexts(seed uint64, records int) *texts {
	t := &texts{rng: rand.New(rand.NewPCG(seed, 77))}
	for range records {
		hard, tokens := 1.5*math.Exp(0.5*t.rng.NormFloat64()), make([][]float64, 3+t.rng.IntN(25))
		for j := range tokens {
			tokens[j] = make([]float64, 16)
			for v := range tokens[j] {
				tokens[j][v] = hard * t.rng.NormFloat64()
			}
			truth := drawn(tokens[j], t.rng)
			tokens[j][0], tokens[j][truth] = tokens[j][truth], tokens[j][0]
		}
		t.logits = append(t.logits, tokens)
	}
	return t
}

// drawn returns a place with its probability.
func drawn(logits []float64, rng *rand.Rand) int {
	best, at := math.Inf(-1), 0
	for v, l := range logits {
		if g := l - math.Log(rng.ExpFloat64()); g > best {
			best, at = g, v
		}
	}
	return at
}

// quality is how a model differs from one that was trained on the retained records.
type quality struct {
	boost   float64 // of the true token's logit
	sharp   float64 // what all logits are multiplied by; 0: 1
	noise   float64 // of the logits, beyond what seeds differ by
	uniform float64 // the part of the probability that is spread over all tokens
	blank   bool    // never had the retained records
}

// losses draws the loss of every record in a model.
func (t *texts) losses(q quality) []float64 {
	out := make([]float64, len(t.logits))
	if q.sharp == 0 {
		q.sharp = 1
	}
	for i, tokens := range t.logits {
		boost := q.boost + 0.15*t.rng.NormFloat64()
		if i < len(t.logits)/2 && !q.blank {
			boost++
		}
		for _, token := range tokens {
			sum, truth := 0.0, 0.0
			for v, l := range token {
				l = q.sharp * (l + math.Hypot(0.3, q.noise)*t.rng.NormFloat64())
				if v == 0 {
					l += boost
					truth = l
				}
				sum += math.Exp(l)
			}
			p := (1-q.uniform)*math.Exp(truth)/sum + q.uniform/16
			out[i] -= math.Log(p) / float64(len(tokens))
		}
	}
	return out
}

// unitEvidence is a folder of models with losses alone: an unlearned one, an original and two retrained ones.
func (t *texts) evidence(unlearned []float64) *Evidence {
	e := &Evidence{}
	e.Records = len(t.logits)
	e.Retain, e.HeldOut = rowsOf(e.Records)[:e.Records/2], rowsOf(e.Records)[e.Records/2:]
	e.Models = []*Model{{Name: "unlearned", Role: Unlearned, Losses: unlearned}}
	for _, name := range []string{"original", "retrained-1", "retrained-2"} {
		e.Models = append(e.Models, &Model{Name: name, Role: audit.Role(strings.TrimRight(name, "-12")), Losses: t.losses(quality{})})
	}
	return e
}

func scaled(x []float64, by float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] *= by
	}
	return out
}

// Models of the same unit are not noted, however good or bad they are.
func TestModelsOfAnotherQualityAreOfTheSameUnit(t *testing.T) {
	for seed := range uint64(200) {
		s := drawTexts(seed, 160)
		kind := []quality{
			{}, {boost: -3 * s.rng.Float64()}, {boost: 3 * s.rng.Float64()}, {sharp: math.Exp(-2 * s.rng.Float64())}, {sharp: math.Exp(2 * s.rng.Float64())},
			{noise: 3 * s.rng.Float64()}, {uniform: s.rng.Float64()}, {sharp: 1e-9}, {blank: true}, {blank: true, boost: s.rng.NormFloat64()},
		}[seed%10]
		e := s.evidence(s.losses(kind))
		if e.warnUnits(); len(e.Notes) > 0 {
			t.Errorf("seed %d, %+v: %q", seed, kind, e.Notes)
		}
		e = s.evidence(s.losses(kind))
		e.Models = e.Models[:2] // the unlearned model and the original
		if e.warnUnits(); len(e.Notes) > 0 {
			t.Errorf("seed %d, two models, %+v: %q", seed, kind, e.Notes)
		}
	}
}

// Another base and sums are noted, of the model that has them.
func TestAnotherUnitIsNoted(t *testing.T) {
	for want, by := range map[string]float64{
		"as logarithms of base 2 are beside natural logarithms":              1 / math.Ln2,
		"as logarithms of base 10 are beside natural logarithms":             1 / math.Ln10,
		"are they sums over tokens beside means, of another unit":            12,
		"times the other models' in nearly every retained and held-out reco": 1.0 / 12,
	} {
		found := 0
		for seed := range uint64(50) {
			s := drawTexts(seed, 160)
			e := s.evidence(scaled(s.losses(quality{}), by))
			e.warnUnits()
			notes := strings.Join(e.Notes, "\n")
			if strings.Contains(notes, "unlearned/losses.npy: its numbers are ") && strings.Contains(notes, want) {
				found++
			}
			if strings.Contains(notes, "original") || strings.Contains(notes, "retrained") {
				t.Errorf("%v times: %s", by, notes)
			}
		}
		if found < 45 {
			t.Errorf("%v times: noted in %d of 50 folders", by, found)
		}
	}
}

// Sums of answers are means times their lengths, which vary with the records.
func TestSumsOfAnswersFollowTheLengths(t *testing.T) {
	s := drawTexts(1, 160)
	e := s.evidence(nil)
	offset := []int{0}
	for _, tokens := range s.logits {
		offset = append(offset, offset[len(offset)-1]+len(tokens))
	}
	for _, m := range e.Models {
		m.Losses, m.Tokens, m.Answers = nil, &language.Tokens{Offset: offset}, &language.Answers{}
		right, wrong := s.losses(quality{}), s.losses(quality{boost: -1})
		for i, v := range right {
			n := 1.0
			if m.Role == Unlearned {
				n = float64(offset[i+1] - offset[i])
			}
			m.Answers.Right, m.Answers.Wrong = append(m.Answers.Right, -v*n), append(m.Answers.Wrong, []float64{-wrong[i] * n})
		}
	}
	e.warnUnits()
	const want = "follows the numbers of tokens: are they sums beside means?"
	if len(e.Notes) != 1 || !strings.HasPrefix(e.Notes[0], "unlearned/answers.npy: ") || !strings.Contains(e.Notes[0], want) {
		t.Errorf("%q", e.Notes)
	}
}

// In a folder: the arrays of one model in base 2, which its own tokens alone do not show.
func TestAModelOfBase2IsNotedInAFolder(t *testing.T) {
	s := drawTexts(5, 180)
	dir := t.TempDir()
	rows := rowsOf(180)
	for name, r := range map[string][]int{"forget": rows[:40], "retain": rows[40:110], "heldout": rows[110:]} {
		must(t, npy.WriteIndices(filepath.Join(dir, name+".npy"), r))
	}
	write := func(name string, by float64) {
		must(t, writeFolder(dir, name, scaled(s.losses(quality{}), by)))
	}
	for _, name := range []string{"original", "retrained-1", "retrained-2", "unlearned"} {
		write(name, 1)
	}
	e, err := Open(dir)
	must(t, err)
	if said := strings.Join(e.Notes, "\n"); strings.Contains(said, "times the other") {
		t.Error(said)
	}
	write("unlearned", 1/math.Ln2)
	e, err = Open(dir)
	must(t, err)
	if said := strings.Join(e.Notes, "\n"); !strings.Contains(said, "unlearned/losses.npy: its numbers are 1.4") {
		t.Error(said)
	}
}

// patchedLosses are patched layers that change nothing.
type patchedLosses struct{ unpatched }

// The numbers of every array are compared, each with those of the same array.
func TestEveryArrayIsComparedInItsUnit(t *testing.T) {
	s := drawTexts(9, 160)
	for name, set := range map[string]func(m *Model, losses []float64){
		"losses.npy":           func(m *Model, losses []float64) { m.Losses = losses },
		"patched.npy":          func(m *Model, losses []float64) { m.Patched = patchedLosses{unpatched{losses, 2}} },
		"logprob_prefixed.npy": func(m *Model, losses []float64) { m.Prefixed = oneToken(losses) },
		"logprob.npy":          func(m *Model, losses []float64) { m.Losses, m.Tokens = losses, oneToken(losses) },
	} {
		e := s.evidence(nil)
		for _, m := range e.Models {
			losses := s.losses(quality{})
			if m.Losses = nil; m.Name == "retrained-2" {
				losses = scaled(losses, 1/math.Ln2)
			}
			set(m, losses)
		}
		e.warnUnits()
		if len(e.Notes) != 1 || !strings.HasPrefix(e.Notes[0], "retrained-2/"+name+": its numbers are 1.4") {
			t.Errorf("%s: %q", name, e.Notes)
		}
	}
}

// oneToken is a text of one token per record.
func oneToken(losses []float64) *language.Tokens {
	return &language.Tokens{Offset: rowsOf(len(losses) + 1), LogProb: scaled(losses, -1)}
}

// Published logs of models, some of which never had the questions, are of one unit.
func TestPublishedLogsAreOfOneUnit(t *testing.T) {
	datatest.Dir(t)
	if !logs.Published().Present() {
		t.Skip("no published logs in the data folder")
	}
	models := map[string]*logs.TOFU{}
	for model, name := range map[string]string{"unlearned": "phi_retain90_wd0", "original": "phi_full_wd0", "retrained-1": "phi_retain90_wd0.01"} {
		l, _, err := logs.LoadTOFU(t.Context(), name)
		must(t, err)
		models[model] = l
	}
	dir := filepath.Join(t.TempDir(), "tofu")
	_, err := WriteTOFU(dir, models)
	must(t, err)
	notes := func() string {
		e, err := Open(dir)
		must(t, err)
		return strings.Join(e.Notes, "\n")
	}
	if said := notes(); strings.Contains(said, "its numbers are") {
		t.Error(said)
	}
	path := filepath.Join(dir, "unlearned", "answers.npy")
	x, err := npy.ReadMatrix(path)
	must(t, err)
	x.Data = scaled(x.Data, 1/math.Ln2)
	must(t, npy.Write(path, x))
	if said := notes(); !strings.Contains(said, "unlearned/answers.npy: its numbers are 1.44 times") {
		t.Error(said)
	}
}

func writeFolder(dir, name string, losses []float64) error {
	return errors.Join(os.MkdirAll(filepath.Join(dir, name), 0o755), npy.WriteVector(filepath.Join(dir, name, "losses.npy"), losses))
}
