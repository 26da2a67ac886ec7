package fishing

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/stats"
)

// small is a network that is trained in no time.
func small(s *lab.Setting) {
	b := briefStudy().Cases[0]
	s.Data, s.Fit.Epochs, s.Model = b.Data, b.Fit.Epochs, b.Model
}

func TestAnAutoencoderForNotebooks(t *testing.T) {
	a, err := TrainAutoencoder(t.Context(), newEnv(t).Lab(), 0, small)
	if err != nil {
		t.Fatal(err)
	}
	recon, divergence, err := a.Losses()
	if err != nil || len(recon) != a.Test.X.Rows || len(divergence) != a.Test.X.Rows {
		t.Fatalf("%d and %d losses, %v", len(recon), len(divergence), err)
	}
	each, err := a.DivergenceByVariable()
	if err != nil {
		t.Fatal(err)
	}
	sum, mean := 0.0, 0.0
	for _, v := range each {
		sum += v
	}
	if mean, _ = stats.Mean(divergence); len(each) != 4 || math.Abs(sum-mean) > 1e-9 {
		t.Errorf("divergences %v sum to %v, their mean is %v", each, sum, mean)
	}
	if r, d, sil, err := a.Summary(); err != nil || math.Abs(d-mean) > 1e-12 || !(r > d) || sil < -1 || sil > 1 {
		t.Errorf("%v, %v, %v, %v", r, d, sil, err)
	}
	points := 0
	f := a.Plane("plane")
	for _, c := range f.Clouds {
		points += len(c.X)
	}
	if points != a.Test.X.Rows || len(f.Clouds) != 8 || len(f.Clouds[0].X) < len(f.Clouds[7].X) {
		t.Errorf("%d points in %d clouds", points, len(f.Clouds))
	}
}

// The threshold compares cells to forget with unseen ones, lower losses for members.
func TestTheThresholdsRoles(t *testing.T) {
	a, err := TrainAutoencoder(t.Context(), newEnv(t).Lab(), 0, small)
	if err != nil {
		t.Fatal(err)
	}
	with, err := a.Threshold(a.Weights, false)
	if err != nil {
		t.Fatal(err)
	}
	o, err := a.Runner.Predict(a.Weights, a.Problem.Train.Gather(a.Forget).X)
	if err != nil || o.Outputs[loss.Proportion].Rows != len(a.Forget) {
		t.Fatal(err)
	}
	recon, _, _ := a.Losses()
	s, err := predictCells(a.Runner, a.Weights, a.Problem.Train.Gather(a.Forget))
	if err != nil {
		t.Fatal(err)
	}
	// The share of pairs in which the forgotten cell has the lower loss.
	below := 0.0
	for _, m := range s.recon {
		for _, u := range recon {
			if m < u {
				below++
			}
		}
	}
	if want := below / float64(len(s.recon)*len(recon)); math.Abs(with-want) > 1e-9 {
		t.Errorf("AUC %v, want %v", with, want)
	}
	bare, err := a.Threshold(a.Weights, true)
	untrained, err2 := a.Threshold(a.InitialWeights(5), true)
	if err != nil || err2 != nil || bare == with || math.Abs(bare-untrained) > 0.02 {
		t.Errorf("without library size %v, untrained %v; %v, %v", bare, untrained, err, err2)
	}
}

// Counts of one type have the mean of their library sizes; losing counts is what the
// inflation finds, and no inflation is found where nothing is lost.
func TestCountsOfTheCommonType(t *testing.T) {
	of := func(lost float64) []GeneCounts {
		g, err := CommonTypeCounts(t.Context(), lost, rand.New(rand.NewPCG(4, 4)), "G2396", "G1574")
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	whole, half := of(0), of(0.4)
	for k, g := range whole {
		x, _ := stats.Mean(g.X)
		m, _ := stats.Mean(g.Means)
		if len(g.X) < 500 || math.Abs(x-m) > 1e-9*m || g.Gene != []string{"G2396", "G1574"}[k] {
			t.Errorf("%s: %d cells, means %v and %v", g.Gene, len(g.X), x, m)
		}
		plain, inflated := g.FitDistribution(false), g.FitDistribution(true)
		if plain.Inflation != 0 || inflated.Inflation > 0.1 || g.LogLikelihood(inflated) < g.LogLikelihood(plain) {
			t.Errorf("%s: %+v and %+v", g.Gene, plain, inflated)
		}
	}
	if l := half[0].FitDistribution(true); math.Abs(l.Inflation-0.4) > 0.1 {
		t.Errorf("0.4 are lost, found are %+v", l)
	}
	if _, err := CommonTypeCounts(t.Context(), 0, nil, "CD14"); err == nil || !strings.Contains(err.Error(), "CD14") {
		t.Errorf("%v", err)
	}
}
