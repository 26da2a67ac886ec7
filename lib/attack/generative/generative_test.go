package generative

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
)

func view(rng *rand.Rand, n int, better, spread float64) View {
	codes := array.New[float64](n, 2)
	v := View{Codes: codes}
	for range n {
		v.Recon, v.KL = append(v.Recon, 10+rng.NormFloat64()-better), append(v.KL, 3+rng.NormFloat64()-better)
	}
	for k := range codes.Data {
		codes.Data[k] = spread * rng.NormFloat64()
	}
	return v
}

// members is the number of records, the first of all, that a model was trained on.
const members = 30

// joined returns the outputs for members, followed by those for non-members.
func joined(in, out View) View {
	a, b := in.Codes.(array.Matrix[float64]), out.Codes.(array.Matrix[float64])
	return View{Recon: slices.Concat(in.Recon, out.Recon), KL: slices.Concat(in.KL, out.KL),
		Codes: array.Matrix[float64]{Rows: a.Rows + b.Rows, Cols: a.Cols, Data: slices.Concat(a.Data, b.Data)}}
}

func both(rng *rand.Rand, better float64) View {
	return joined(view(rng, members, better, 1), view(rng, 194, 0, 1))
}

// run attacks records of which the first are members.
func run(a Attack, e Evidence) (*attack.ScoreReport, error) {
	e.Member = make([]bool, len(e.Model.KL))
	for i := range min(members, len(e.Member)) {
		e.Member[i] = true
	}
	return attack.Run(a, e, e.Member)
}

// The published program attacks the original with the retrained model as reference,
// and the retrained model with the original: one number, read twice.
func TestTheLikelihoodRatioIsAntisymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	original, retrained := both(rng, 1), both(rng, -0.3)
	there, err := run(LikelihoodRatio{}, Evidence{Model: original, Reference: &retrained})
	if err != nil {
		t.Fatal(err)
	}
	back, err := run(LikelihoodRatio{}, Evidence{Model: retrained, Reference: &original})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(there.AUC.Value+back.AUC.Value-1) > 1e-12 || there.Advantage.Value != back.Advantage.Value || there.AUC.Value < 0.7 {
		t.Errorf("AUC %v and %v, advantage %v and %v", there.AUC.Value, back.AUC.Value, there.Advantage.Value, back.Advantage.Value)
	}
}

func TestThresholdsKeepTheirSign(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	e := Evidence{Model: both(rng, 0)}
	for i := range members {
		e.Model.KL[i] += 9     // rare
		e.Model.Recon[i] -= 20 // and well known
	}
	for a, want := range map[Attack]float64{KL{}: 0, Recon{}: 1, ELBO{}: 1} {
		r, err := run(a, e)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(r.AUC.Value-want) > 0.01 {
			t.Errorf("%s: AUC %v, want %v", a.Name(), r.AUC.Value, want)
		}
		if r.Advantage.Signed != 2*r.AUC.Value-1 {
			t.Errorf("%s: signed advantage %v of AUC %v", a.Name(), r.Advantage.Signed, r.AUC.Value)
		}
	}
}

// Members of a rare cluster are far from retained records whether or not the model
// has them; only an index with members in it asks more.
func TestTheCodedNeighboursMeasureRarity(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	e := Evidence{Model: both(rng, 0), Retained: view(rng, 500, 0, 1).Codes}
	for i := range 30 {
		e.Model.Codes.(array.Matrix[float64]).Row(i)[0] += 8
	}
	coded, err := run(CodedNeighbours(), e)
	if err != nil {
		t.Fatal(err)
	}
	if coded.AUC.Value > 0.01 || coded.AUC.High > 0.2 {
		t.Errorf("coded: AUC %+v", coded.AUC)
	}
	// Half of the cluster in, half out: at chance for either, as it should be.
	half := Evidence{Model: joined(view(rng, members, 0, 1), view(rng, members, 0, 1)), Retained: e.Retained}
	for i := range 2 * members {
		half.Model.Codes.(array.Matrix[float64]).Row(i)[0] += 8
	}
	for _, a := range []Attack{CodedNeighbours(), Neighbours{}} {
		r, err := run(a, half)
		if err != nil {
			t.Fatal(err)
		}
		if r.AUC.Low > 0.5 || r.AUC.High < 0.5 {
			t.Errorf("%s within a cluster: AUC %+v", a.Name(), r.AUC)
		}
	}
}

func TestAMemberDoesNotMeetItself(t *testing.T) {
	codes := func(x ...float64) array.Rows { return array.Matrix[float64]{Rows: len(x), Cols: 1, Data: x} }
	e := Evidence{
		Model:    View{Codes: codes(0, 1, 5, 0, 10, 0, 0)},
		Member:   []bool{true, true, true, false, false, false, false},
		Retained: codes(100, 7),
	}
	s, err := Neighbours{K: 1}.Scores(e)
	if err != nil {
		t.Fatal(err)
	}
	// Member 0 meets 1, 1 meets 0, 5 meets 7. The first non-member goes without member
	// 0 and meets 1, the second without member 1, the others meet member 0.
	want := []float64{-1, -1, -2, -1, -3, 0, -1}
	for i, v := range s {
		if v != want[i] {
			t.Errorf("record %d: %v, want %v", i, v, want[i])
		}
	}
	s, err = Neighbours{K: 1, ExcludeMembers: true}.Scores(e)
	if err != nil || s[0] != -7 || s[4] != -3 {
		t.Errorf("%v, %v", s, err)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	good := func() Evidence {
		r := both(rng, 0)
		return Evidence{Model: both(rng, 0), Reference: &r, Retained: view(rng, 40, 0, 1).Codes}
	}
	for words, c := range map[string]struct {
		a       Attack
		corrupt func(e *Evidence)
	}{
		"elbo: 223 divergences of 224":          {ELBO{}, func(e *Evidence) { e.Model.KL = e.Model.KL[1:] }},
		"kl: 0 divergences":                     {KL{}, func(e *Evidence) { e.Model.KL = nil }},
		"no reference model":                    {LikelihoodRatio{}, func(e *Evidence) { e.Reference = nil }},
		"reference: reconstruction losses: row": {LikelihoodRatio{}, func(e *Evidence) { e.Reference.Recon[4] = math.NaN() }},
		"224 records, by the reference 223": {LikelihoodRatio{}, func(e *Evidence) {
			e.Reference.Recon, e.Reference.KL = e.Reference.Recon[1:], e.Reference.KL[1:]
		}},
		"none of retained ones":            {Neighbours{}, func(e *Evidence) { e.Retained = nil }},
		"no codes of the records":          {Neighbours{}, func(e *Evidence) { e.Model.Codes = nil }},
		"membership of 223 records, codes": {Neighbours{}, func(e *Evidence) { e.Model.KL = e.Model.KL[1:] }},
		"retained ones have 3":             {Neighbours{}, func(e *Evidence) { e.Retained = array.New[float64](20, 3) }},
		"the 10 nearest of 4":              {CodedNeighbours(), func(e *Evidence) { e.Retained = array.New[float64](4, 2) }},
	} {
		e := good()
		c.corrupt(&e)
		if _, err := run(c.a, e); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
}
