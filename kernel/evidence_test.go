package kernel

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

func vectorFile(t *testing.T, values ...float64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "v.npy")
	if err := npy.WriteVector(path, values); err != nil {
		t.Fatal(err)
	}
	return path
}

func rowsFile(t *testing.T, rows ...int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.npy")
	if err := npy.WriteIndices(path, rows); err != nil {
		t.Fatal(err)
	}
	return path
}

func matrixFile(t *testing.T, m array.Matrix[float64]) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.npy")
	if err := npy.Write(path, m); err != nil {
		t.Fatal(err)
	}
	return path
}

// scoreJSON is the published shape of score --json.
type scoreJSON struct {
	AUC         struct{ Value, Low, High float64 }
	Advantage   struct{ Value, Signed, Low, High, Chance_mean, Chance_p95 float64 }
	TPR         map[string]float64 `json:"tpr_at_fpr"`
	NMembers    int                `json:"n_members"`
	NNonmembers int                `json:"n_nonmembers"`
}

func TestScoreCountsPairsAndTies(t *testing.T) {
	// Of 9 pairs 8 are in order and one is a tie: AUC = 8.5/9.
	args := []string{"score", "--members", vectorFile(t, 3, 4, 5), "--nonmembers", vectorFile(t, 1, 2, 3)}
	s := decoded[scoreJSON](t, lethe(t, append(args, "--json")...))
	if math.Abs(s.AUC.Value-8.5/9) > 1e-12 || math.Abs(s.Advantage.Signed-8.0/9) > 1e-12 {
		t.Errorf("AUC %v, signed advantage %v", s.AUC.Value, s.Advantage.Signed)
	}
	if s.NMembers != 3 || s.NNonmembers != 3 || s.Advantage.Chance_p95 <= s.Advantage.Chance_mean || len(s.TPR) == 0 {
		t.Errorf("%+v", s)
	}
	if r := lethe(t, args...); r.code != exitOK || !strings.Contains(r.out, "0.9444") || r.stderr != "" {
		t.Errorf("%+v", r)
	}
}

func TestScoreKeepsTheSignOfOverUnlearning(t *testing.T) {
	s := decoded[scoreJSON](t, lethe(t, "score", "--members", vectorFile(t, 1, 2), "--nonmembers", vectorFile(t, 3, 4), "--json"))
	if s.AUC.Value != 0 || s.Advantage.Signed != -1 || s.Advantage.Value != 1 {
		t.Errorf("%+v", s)
	}
}

func TestBadFilesAreFailuresThatNameFlagAndFile(t *testing.T) {
	good := vectorFile(t, 1, 2)
	write := func(content string) string {
		path := filepath.Join(t.TempDir(), "bad.npy")
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct{ path, word string }{
		"missing":   {filepath.Join(t.TempDir(), "none.npy"), "none.npy"},
		"empty":     {write(""), "bad.npy"},
		"no npy":    {write("score,1\n"), "bad.npy"},
		"truncated": {write("\x93NUMPY\x01\x00\xff\xff"), "bad.npy"},
		"a folder":  {t.TempDir(), "regular file"},
		"matrix":    {matrixFile(t, array.New[float64](2, 2)), "(2, 2)"},
	} {
		t.Run(name, func(t *testing.T) {
			fails(t, lethe(t, "score", "--members", c.path, "--nonmembers", good, "--json"), exitFailure, "--members", c.word)
		})
	}
	nan := vectorFile(t, 1, math.NaN())
	fails(t, lethe(t, "score", "--members", good, "--nonmembers", nan), exitFailure, "NaN", nan)
	fails(t, lethe(t, "score", "--members", good, "--nonmembers", vectorFile(t)), exitFailure, "no non-members")
}

// embeddings are n random directions.
func embeddings(seed uint64, n int) array.Matrix[float64] {
	rng, m := rand.New(rand.NewPCG(seed, 0)), array.New[float64](n, 8)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

func span(from, to int) []int {
	var out []int
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}

type metricsJSON map[string]any

func metric(t *testing.T, m metricsJSON, name string) map[string]any {
	t.Helper()
	v, ok := m[name].(map[string]any)
	if !ok {
		t.Fatalf("%s is %v", name, m[name])
	}
	for _, field := range []string{"value", "low", "high", "null", "n"} {
		if _, ok := v[field]; !ok {
			t.Errorf("%s has no %s", name, field)
		}
	}
	return v
}

func TestVerifyRulerReportsWhatTheGivenModelsAllow(t *testing.T) {
	u, o, g := embeddings(1, 60), embeddings(2, 60), embeddings(3, 60)
	base := []string{"verify", "ruler", "--unlearned", matrixFile(t, u),
		"--forget", rowsFile(t, span(0, 10)...), "--retain", rowsFile(t, span(10, 60)...), "--json"}
	alone := decoded[metricsJSON](t, lethe(t, base...))
	if alone["m1"] != nil || alone["m2"] != nil || alone["m3"] != nil {
		t.Errorf("without an oracle there is only M4: %v", alone)
	}
	if m4 := metric(t, alone, "m4"); m4["null"] != 0.5 || m4["n"] != 10.0 {
		t.Errorf("m4 is %v", m4)
	}
	withOracle := append(base, "--oracle", matrixFile(t, o))
	two := decoded[metricsJSON](t, lethe(t, withOracle...))
	if metric(t, two, "m1")["null"] != nil || metric(t, two, "m2")["null"] != 0.0 || two["m3"] != nil {
		t.Errorf("%v", two)
	}
	three := decoded[metricsJSON](t, lethe(t, append(withOracle, "--original", matrixFile(t, g))...))
	metric(t, three, "m3")
	if got, want := metric(t, three, "m4")["value"], metric(t, alone, "m4")["value"]; got != want {
		t.Errorf("M4 is %v with an oracle and %v without", got, want)
	}
	text := lethe(t, append(withOracle[:len(withOracle):len(withOracle)], "--json=false")...)
	if text.code != exitOK || !strings.Contains(text.out, "M4") || !strings.Contains(text.out, "residual memory") {
		t.Errorf("%+v", text)
	}
}

func TestVerifyRulerCapZeroSearchesEverything(t *testing.T) {
	m := embeddings(1, 2600)
	args := []string{"verify", "ruler", "--json", "--unlearned", matrixFile(t, m), "--oracle", matrixFile(t, m),
		"--forget", rowsFile(t, span(0, 50)...), "--retain", rowsFile(t, span(50, 2600)...)}
	sizes := func(more ...string) [2]float64 {
		r := decoded[struct{ N_gallery, N_baseline float64 }](t, lethe(t, append(args[:len(args):len(args)], more...)...))
		return [2]float64{r.N_gallery, r.N_baseline}
	}
	if got := sizes(); got != [2]float64{2550, 2550} {
		t.Errorf("default: %v", got)
	}
	if got := sizes("--cap", "0"); got != [2]float64{2550, 2550} {
		t.Errorf("--cap 0: %v", got)
	}
	if got := sizes("--cap", "2000", "--baseline-cap", "500"); got != [2]float64{2000, 500} {
		t.Errorf("the paper's caps: %v", got)
	}
}

func TestVerifyRulerRefusesWhatMakesNoSense(t *testing.T) {
	u := matrixFile(t, embeddings(1, 20))
	f, r := rowsFile(t, 0, 1), rowsFile(t, span(2, 20)...)
	zero := embeddings(1, 20)
	clear(zero.Row(3))
	for name, c := range map[string]struct {
		code int
		args []string
		word string
	}{
		"original alone":  {exitUsage, []string{"--unlearned", u, "--original", u, "--forget", f, "--retain", r}, "--oracle"},
		"negative cap":    {exitUsage, []string{"--unlearned", u, "--forget", f, "--retain", r, "--cap", "-1"}, "--cap -1"},
		"no retain":       {exitUsage, []string{"--unlearned", u, "--forget", f}, "retain"},
		"row outside":     {exitFailure, []string{"--unlearned", u, "--forget", rowsFile(t, 20), "--retain", r}, "outside"},
		"shared row":      {exitFailure, []string{"--unlearned", u, "--forget", rowsFile(t, 2), "--retain", r}, "forget set too"},
		"misaligned":      {exitFailure, []string{"--unlearned", u, "--oracle", matrixFile(t, embeddings(1, 21)), "--forget", f, "--retain", r}, "21 x 8"},
		"zero row":        {exitFailure, []string{"--unlearned", matrixFile(t, zero), "--forget", f, "--retain", r}, "row 3"},
		"floats as rows":  {exitFailure, []string{"--unlearned", u, "--forget", vectorFile(t, 0), "--retain", r}, "--forget"},
		"vector as model": {exitFailure, []string{"--unlearned", vectorFile(t, 1), "--forget", f, "--retain", r}, "--unlearned"},
	} {
		t.Run(name, func(t *testing.T) {
			fails(t, lethe(t, append([]string{"verify", "ruler", "--json"}, c.args...)...), c.code, c.word)
		})
	}
	passes := lethe(t, "verify", "ruler", "--unlearned", matrixFile(t, zero), "--forget", f, "--retain", r, "--zero-rows")
	if passes.code != exitOK || !strings.Contains(passes.out, "zero length") {
		t.Errorf("--zero-rows: %+v", passes)
	}
}

func TestVerifyRulerOpensTheEngineForABigGalleryAndSaysNothing(t *testing.T) {
	const n = bigGallery + 50
	m := embeddings(1, n)
	args := []string{"verify", "ruler", "--json", "--unlearned", matrixFile(t, m), "--forget", rowsFile(t, span(0, 50)...), "--retain", rowsFile(t, span(50, n)...)}
	got := decoded[metricsJSON](t, lethe(t, args...))
	forget, retain := span(0, 50), span(50, n)
	evidence := ruler.Evidence{Unlearned: &m, Forget: forget, Retain: retain}
	want, _, err := ruler.M4(evidence, ruler.Options{GalleryCap: ruler.NoCap}) // without the engine
	if err != nil {
		t.Fatal(err)
	}
	if v := metric(t, got, "m4")["value"]; v != want.Value {
		t.Errorf("M4 is %v with the engine and %v without", v, want.Value)
	}
}
