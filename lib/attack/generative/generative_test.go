package generative

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
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

func both(rng *rand.Rand, better float64) Views {
	return Views{Members: view(rng, 30, better, 1), Nonmembers: view(rng, 194, 0, 1)}
}

// The published program attacks the original with the retrained model as reference,
// and the retrained model with the original: one number, read twice.
func TestTheLikelihoodRatioIsAntisymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	original, retrained := both(rng, 1), both(rng, -0.3)
	there, err := Run(LikelihoodRatio{}, Evidence{Model: original, Reference: &retrained})
	if err != nil {
		t.Fatal(err)
	}
	back, err := Run(LikelihoodRatio{}, Evidence{Model: retrained, Reference: &original})
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
	for i := range e.Model.Members.KL {
		e.Model.Members.KL[i] += 9     // rare
		e.Model.Members.Recon[i] -= 20 // and well known
	}
	for a, want := range map[Attack]float64{KL{}: 0, Recon{}: 1, ELBO{}: 1} {
		r, err := Run(a, e)
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
		e.Model.Members.Codes.(array.Matrix[float64]).Row(i)[0] += 8
	}
	coded, err := Run(CodedNeighbours(), e)
	if err != nil {
		t.Fatal(err)
	}
	if coded.AUC.Value > 0.01 || coded.AUC.High > 0.2 {
		t.Errorf("coded: AUC %+v", coded.AUC)
	}
	// Half of the cluster in, half out: at chance for either, as it should be.
	half := Evidence{Model: Views{Members: view(rng, 30, 0, 1), Nonmembers: view(rng, 30, 0, 1)}, Retained: e.Retained}
	for _, v := range []View{half.Model.Members, half.Model.Nonmembers} {
		for i := range 30 {
			v.Codes.(array.Matrix[float64]).Row(i)[0] += 8
		}
	}
	for _, a := range []Attack{CodedNeighbours(), Neighbours{}} {
		r, err := Run(a, half)
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
		Model:    Views{Members: View{Codes: codes(0, 1, 5)}, Nonmembers: View{Codes: codes(0, 10, 0, 0)}},
		Retained: codes(100, 7),
	}
	s, err := Neighbours{K: 1}.Scores(e)
	if err != nil {
		t.Fatal(err)
	}
	// Member 0 meets 1, 1 meets 0, 5 meets 7. The first non-member goes without member
	// 0 and meets 1, the second without member 1, the others meet member 0.
	want := []float64{-1, -1, -2, -1, -3, 0, -1}
	for i, v := range append(s.Members, s.Nonmembers...) {
		if v != want[i] {
			t.Errorf("record %d: %v, want %v", i, v, want[i])
		}
	}
	s, err = Neighbours{K: 1, ExcludeMembers: true}.Scores(e)
	if err != nil || s.Members[0] != -7 || s.Nonmembers[1] != -3 {
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
		"elbo: members: 29 divergences of 30":          {ELBO{}, func(e *Evidence) { e.Model.Members.KL = e.Model.Members.KL[1:] }},
		"kl: non-members: 0 divergences":               {KL{}, func(e *Evidence) { e.Model.Nonmembers.KL = nil }},
		"no reference model":                           {LikelihoodRatio{}, func(e *Evidence) { e.Reference = nil }},
		"reference: members: reconstruction losses: r": {LikelihoodRatio{}, func(e *Evidence) { e.Reference.Members.Recon[4] = math.NaN() }},
		"by the reference 30 and 193": {LikelihoodRatio{}, func(e *Evidence) {
			e.Reference.Nonmembers.Recon, e.Reference.Nonmembers.KL = e.Reference.Nonmembers.Recon[1:], e.Reference.Nonmembers.KL[1:]
		}},
		"retained records: there are no codes": {Neighbours{}, func(e *Evidence) { e.Retained = nil }},
		"members: there are no codes":          {Neighbours{}, func(e *Evidence) { e.Model.Members.Codes = nil }},
		"retained ones have 3":                 {Neighbours{}, func(e *Evidence) { e.Retained = array.New[float64](20, 3) }},
		"the 10 nearest of 4":                  {CodedNeighbours(), func(e *Evidence) { e.Retained = array.New[float64](4, 2) }},
	} {
		e := good()
		c.corrupt(&e)
		if _, err := Run(c.a, e); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
}
