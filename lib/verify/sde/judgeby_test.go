package sde_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/verify/sde"
)

func TestJudgeByTheMethodSDEIsJudge(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	target, in, out := gaussian(rng, 60, 5, 1), gaussian(rng, 60, 5, 1.1), gaussian(rng, 60, 5, 1)
	for _, opt := range []sde.Options{{}, {Seed: 7, Bins: 10}, {FreshSplits: true, Bandwidth: sde.MedianDistance()}} {
		want, err := sde.Judge(target, sde.References{In: in, Out: out}, opt)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sde.JudgeBy(sde.SDE{}, target, sde.References{In: in, Out: out}, opt)
		if err != nil || got != want.JSD || got.Verdict() != want.Verdict {
			t.Errorf("%+v: %+v, %v; Judge says %+v", opt, got, err, want.JSD)
		}
	}
}

func TestJudgeByTheSpreadAloneIsTheDifferenceOfSpreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	target, in, out := gaussian(rng, 40, 3, 1), gaussian(rng, 40, 3, 1.3), gaussian(rng, 40, 3, 0.9)
	got, err := sde.JudgeBy(sde.SpreadOnly{}, target, sde.References{In: in, Out: out}, sde.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spread := func(m *sde.Matrix) float64 {
		v, err := sde.Spread(m, sde.SqrtDim())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	wantIn, wantOut := math.Abs(spread(target)-spread(in)), math.Abs(spread(target)-spread(out))
	if math.Abs(got.In-wantIn) > 1e-12 || math.Abs(got.Out-wantOut) > 1e-12 {
		t.Errorf("%+v, want %v and %v", got, wantIn, wantOut)
	}
}

func TestJudgeByRefusesSetsThatJudgeRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	in, out := gaussian(rng, 20, 3, 1), gaussian(rng, 20, 3, 1)
	for name, c := range map[string]struct {
		target *sde.Matrix
		want   string
	}{
		"missing":   {nil, "target"},
		"too small": {gaussian(rng, 2, 3, 1), "2 rows"},
		"narrow":    {gaussian(rng, 20, 2, 1), "2 columns"},
		"size":      {gaussian(rng, 10, 3, 1), "10 records"},
	} {
		if _, err := sde.JudgeBy(sde.SpreadOnly{}, c.target, sde.References{In: in, Out: out}, sde.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
}
