// Tests of verify_sde.go.

package command

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
)

// activations are n draws of one law on a given scale.
func activations(seed uint64, n int, scale float64) array.Matrix[float64] {
	rng, m := rand.New(rand.NewPCG(seed, 1)), array.New[float64](n, 16)
	for i := range m.Data {
		m.Data[i] = scale * rng.NormFloat64()
	}
	return m
}

type setJSON struct {
	Mean, SD, Identity float64
	ExactMean          float64 `json:"exact_mean"`
}

// verifySDEJSON is the published shape of audit --only sde --json.
type verifySDEJSON struct {
	HSIC        struct{ Target, In, Out setJSON }
	JSD         struct{ In, Out float64 }
	MannWhitney struct{ U, P float64 } `json:"mann_whitney"`
	Verdict     string
}

func TestVerifySDEJudgesBySpread(t *testing.T) {
	args := []string{"audit", "--only", "sde", "--target", matrixFile(t, activations(1, 300, 1)),
		"--in", matrixFile(t, activations(2, 300, 1.2)), "--out", matrixFile(t, activations(3, 300, 1))}
	r := clitest.Decoded[verifySDEJSON](t, lethe(t, append(args, "--json")...))
	if r.Verdict != "out" || !(r.JSD.Out < r.JSD.In) || !(r.MannWhitney.P < 1e-6) || r.MannWhitney.U < 30000 {
		t.Errorf("%+v", r)
	}
	for name, s := range map[string]setJSON{"target": r.HSIC.Target, "in": r.HSIC.In, "out": r.HSIC.Out} {
		if se := s.SD / math.Sqrt(200); s.Mean <= 0 || s.Identity <= 0 || math.Abs(s.Mean-s.ExactMean) > 4*se {
			t.Errorf("%s: %+v", name, s)
		}
	}
	again := clitest.Decoded[verifySDEJSON](t, lethe(t, append(args, "--json", "--seed", "1")...))
	other := clitest.Decoded[verifySDEJSON](t, lethe(t, append(args, "--json", "--seed", "2")...))
	shuffled := clitest.Decoded[verifySDEJSON](t, lethe(t, append(args, "--json", "--shuffle")...))
	if again != r || other == r || other.HSIC.Target.ExactMean != r.HSIC.Target.ExactMean {
		t.Errorf("seed 1 %+v, again %+v, seed 2 %+v", r, again, other)
	}
	if shuffled.HSIC.Target.ExactMean == r.HSIC.Target.ExactMean || shuffled.Verdict != "out" {
		t.Errorf("shuffled %+v", shuffled)
	}
	text := lethe(t, append(args, "--bandwidth", "median", "--bins", "32", "--permutations", "50")...)
	for _, word := range []string{"out of training", "product of the spreads", "Mann-Whitney", "passed"} {
		if text.Code != cli.ExitOK || !strings.Contains(text.Out, word) {
			t.Errorf("no %q in %+v", word, text)
		}
	}
}

func TestVerifySDESaysWhenItsVerdictIsInvalid(t *testing.T) {
	r := lethe(t, "audit", "--only", "sde", "--target", matrixFile(t, activations(1, 100, 1)),
		"--in", matrixFile(t, activations(2, 100, 0.8)), "--out", matrixFile(t, activations(3, 100, 1)))
	if r.Code != cli.ExitOK || !strings.Contains(r.Out, "invalid") || !strings.Contains(r.Out, "failed") {
		t.Errorf("%+v", r)
	}
}

func TestVerifySDERefusesWhatMakesNoSense(t *testing.T) {
	good, nan := matrixFile(t, activations(1, 20, 1)), activations(1, 20, 1)
	nan.Row(7)[3] = math.NaN()
	narrow := array.New[float64](20, 2)
	for name, c := range map[string]struct {
		code int
		args []string
		word string
	}{
		"no out":       {cli.ExitUsage, []string{"--target", good, "--in", good}, "out"},
		"bandwidth":    {cli.ExitUsage, []string{"--target", good, "--in", good, "--out", good, "--bandwidth", "wide"}, `--bandwidth "wide"`},
		"permutations": {cli.ExitUsage, []string{"--target", good, "--in", good, "--out", good, "--permutations", "1"}, "--permutations 1"},
		"bins":         {cli.ExitUsage, []string{"--target", good, "--in", good, "--out", good, "--bins", "0"}, "--bins 0"},
		"sizes":        {cli.ExitFailure, []string{"--target", matrixFile(t, activations(1, 22, 1)), "--in", good, "--out", good}, "22 records"},
		"layers":       {cli.ExitFailure, []string{"--target", good, "--in", good, "--out", matrixFile(t, narrow)}, "2 columns"},
		"not a number": {cli.ExitFailure, []string{"--target", good, "--in", matrixFile(t, nan), "--out", good}, "row 7, column 3"},
		"a vector":     {cli.ExitFailure, []string{"--target", vectorFile(t, 1), "--in", good, "--out", good}, "--target"},
		"too many":     {cli.ExitFailure, []string{"--target", good, "--in", matrixFile(t, array.New[float64](30001, 1)), "--out", good}, "30001 rows"},
		"too few":      {cli.ExitFailure, []string{"--target", matrixFile(t, activations(1, 2, 1)), "--in", good, "--out", good}, "at least 4"},
	} {
		t.Run(name, func(t *testing.T) {
			fails(t, lethe(t, append([]string{"audit", "--only", "sde", "--json"}, c.args...)...), c.code, c.word)
		})
	}
}
