// Tests of verify_sde.go.

package command

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
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
	in, out := matrixFile(t, activations(2, 20, 1)), matrixFile(t, activations(3, 20, 1))
	narrow := array.New[float64](20, 2)
	for name, c := range map[string]struct {
		code int
		args []string
		word string
	}{
		"no out":       {cli.ExitUsage, []string{"--target", good, "--in", in}, "out"},
		"bandwidth":    {cli.ExitUsage, []string{"--target", good, "--in", in, "--out", out, "--bandwidth", "wide"}, `--bandwidth "wide"`},
		"permutations": {cli.ExitUsage, []string{"--target", good, "--in", in, "--out", out, "--permutations", "1"}, "--permutations 1"},
		"bins":         {cli.ExitUsage, []string{"--target", good, "--in", in, "--out", out, "--bins", "0"}, "--bins 0"},
		"sizes":        {cli.ExitFailure, []string{"--target", matrixFile(t, activations(1, 22, 1)), "--in", in, "--out", out}, "22 records"},
		"layers":       {cli.ExitFailure, []string{"--target", good, "--in", in, "--out", matrixFile(t, narrow)}, "2 columns"},
		"not a number": {cli.ExitFailure, []string{"--target", good, "--in", matrixFile(t, nan), "--out", out}, "row 7, column 3"},
		"a vector":     {cli.ExitFailure, []string{"--target", vectorFile(t, 1), "--in", in, "--out", out}, "--target"},
		"too many":     {cli.ExitFailure, []string{"--target", good, "--in", matrixFile(t, array.New[float64](30001, 1)), "--out", out}, "30001 rows"},
		"too few":      {cli.ExitFailure, []string{"--target", matrixFile(t, activations(1, 2, 1)), "--in", in, "--out", out}, "at least 4"},
	} {
		t.Run(name, func(t *testing.T) {
			fails(t, lethe(t, append([]string{"audit", "--only", "sde", "--json"}, c.args...)...), c.code, c.word)
		})
	}
}

// SDE compares three sets of records. The same file for two of them is refused, a copy of it no evidence.
func TestSDEOfTheSameRecordsTwiceIsNoEvidence(t *testing.T) {
	sets := []string{}
	for k := range uint64(3) {
		sets = append(sets, matrixFile(t, activations(k+1, 40, 1)))
	}
	names := []string{"target", "in", "out"}
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		of := slices.Clone(sets)
		of[pair[1]] = of[pair[0]]
		args := func() []string {
			return []string{"audit", "--only", "sde", "--target", of[0], "--in", of[1], "--out", of[2]}
		}
		fails(t, lethe(t, args()...), cli.ExitUsage, fmt.Sprintf("--%s and --%s: %s is the same file", names[pair[0]], names[pair[1]], of[pair[0]]))
		data, err := os.ReadFile(of[pair[0]])
		if err != nil {
			t.Fatal(err)
		}
		of[pair[1]] = filepath.Join(t.TempDir(), "copy.npy")
		if err := os.WriteFile(of[pair[1]], data, 0o600); err != nil {
			t.Fatal(err)
		}
		want := "no evidence: " + names[pair[0]] + " and " + names[pair[1]] + " hold the same activations"
		if r := lethe(t, args()...); r.Code != cli.ExitOK || !strings.Contains(r.Out, want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}

// Measures on single arrays say that numbers of a model that gives many records the same are no evidence.
func TestSingleArraysThatTieAreNoEvidence(t *testing.T) {
	few := array.New[float64](60, 16) // three rows, again and again
	for i := range 60 {
		copy(few.Row(i), activations(1, 3, 1).Row(i%3))
	}
	flat := make([]float64, 60)
	in, truth := make([][]bool, 8), [][]bool{make([]bool, 60)}
	var forget, retain []int
	for i := range 60 {
		truth[0][i] = i%2 == 1
		if i < 20 {
			forget = append(forget, i)
		} else {
			retain = append(retain, i)
		}
	}
	for m := range in {
		in[m] = make([]bool, 60)
		for i := range 60 {
			in[m][i] = (m+i)%2 == 1
		}
	}
	mask := func(rows [][]bool) string {
		path := filepath.Join(t.TempDir(), "mask.npy")
		if err := npy.WriteMask(path, rows); err != nil {
			t.Fatal(err)
		}
		return path
	}
	shadows := activations(4, 60, 1)
	shadows = array.Matrix[float64]{Rows: 8, Cols: 60, Data: shadows.Data[:8*60]}
	c := matrixFile(t, few)
	for _, args := range [][]string{
		{"sde", "--target", c, "--in", matrixFile(t, activations(2, 60, 1)), "--out", matrixFile(t, activations(3, 60, 1))},
		{"scores", "--members", vectorFile(t, flat...), "--nonmembers", vectorFile(t, flat[:40]...)},
		{"losses", "--members", vectorFile(t, flat...), "--nonmembers", vectorFile(t, flat[:40]...)},
		{"ruler", "--unlearned", c, "--forget", rowsFile(t, forget...), "--retain", rowsFile(t, retain...)},
		{"shadows", "--target", vectorFile(t, flat...), "--shadows", matrixFile(t, shadows), "--in", mask(in),
			"--truth", mask(truth), "--method", "lira-online"},
	} {
		args = append([]string{"audit", "--only"}, args...)
		if r := lethe(t, args...); !strings.Contains(r.Out, "no evidence: ") {
			t.Errorf("%v does not say so:\n%s%s", args, r.Out, r.Stderr)
		}
		if text := lethe(t, append(args, "--json")...).Out; !strings.Contains(text, `"no_evidence": "`) && !strings.Contains(text, `"no_evidence":"`) {
			t.Errorf("%v does not say so as JSON:\n%s", args, text)
		}
	}
	fine := []string{"audit", "--only", "sde", "--target", matrixFile(t, activations(1, 60, 1)), "--in", matrixFile(t, activations(2, 60, 1)),
		"--out", matrixFile(t, activations(3, 60, 1))}
	if text := lethe(t, fine...).Out; strings.Contains(text, "no evidence") {
		t.Errorf("activations that differ: %s", text)
	}
	// A rate that so few non-members cannot show is no number in JSON either.
	for _, r := range []map[string]any{
		clitest.Decoded[map[string]any](t, lethe(t, "audit", "--only", "scores", "--members", vectorFile(t, 1, 2, 3), "--nonmembers",
			vectorFile(t, shadows.Data[:40]...), "--json")),
		clitest.Decoded[[]map[string]any](t, lethe(t, "audit", "--only", "losses", "--members", vectorFile(t, 1, 2, 3), "--nonmembers",
			vectorFile(t, shadows.Data[:40]...), "--json"))[0],
	} {
		shown := r["tpr_at_fpr"].(map[string]any)
		if len(shown) != 4 || shown["0.001"] != nil || shown["0.01"] != nil || shown["0.05"] == nil {
			t.Errorf("with 40 non-members: %v", r)
		}
	}
}

// RULER compares a model with a retrained one: the same file for both is refused.
func TestRULEROfTheSameModelTwiceIsRefused(t *testing.T) {
	m := matrixFile(t, embeddings(1, 20))
	args := []string{"audit", "--only", "ruler", "--unlearned", m, "--oracle", m, "--forget", rowsFile(t, 0, 1, 2, 3), "--retain", rowsFile(t, span(4, 20)...)}
	fails(t, lethe(t, args...), cli.ExitUsage, "--unlearned and --oracle: "+m+" is the same file")
}
