// Tests of the commands that read saved arrays: score, attack, verify.

package command

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
	"github.com/lethe-ml/lethe/lib/stats"
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
	args := []string{"audit", "--only", "scores", "--members", vectorFile(t, 3, 4, 5), "--nonmembers", vectorFile(t, 1, 2, 3)}
	s := clitest.Decoded[scoreJSON](t, lethe(t, append(args, "--json")...))
	if math.Abs(s.AUC.Value-8.5/9) > 1e-12 || math.Abs(s.Advantage.Signed-8.0/9) > 1e-12 {
		t.Errorf("AUC %v, signed advantage %v", s.AUC.Value, s.Advantage.Signed)
	}
	if s.NMembers != 3 || s.NNonmembers != 3 || s.Advantage.Chance_p95 <= s.Advantage.Chance_mean || len(s.TPR) == 0 {
		t.Errorf("%+v", s)
	}
	if r := lethe(t, args...); r.Code != cli.ExitOK || !strings.Contains(r.Out, "0.9444") || r.Stderr != "" {
		t.Errorf("%+v", r)
	}
}

// The interval is that of the odds, and a note says how short it is with few records.
func TestScoresOfFewRecordsHaveAnIntervalOfTheOdds(t *testing.T) {
	m, n := []float64{2.5, 4.5, 11.5, 12.5, 30}, make([]float64, 20)
	for i := range n {
		n[i] = float64(i)
	}
	args := []string{"audit", "--only", "scores", "--members", vectorFile(t, m...), "--nonmembers", vectorFile(t, n...)}
	s := clitest.Decoded[scoreJSON](t, lethe(t, append(args, "--json")...))
	want, err := stats.AUCOdds(m, n, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	if s.AUC.Low != want.Low || s.AUC.High != want.High || s.Advantage.Signed != 2*want.Value-1 {
		t.Errorf("%+v, want %v", s.AUC, want)
	}
	const note = "may be too short"
	if r := lethe(t, args...); !strings.Contains(r.Out, note) {
		t.Errorf("no note on five members: %s", r.Out)
	}
	if r := lethe(t, "audit", "--only", "scores", "--members", vectorFile(t, n...), "--nonmembers", vectorFile(t, n...)); strings.Contains(r.Out, note) {
		t.Errorf("a note on 20 and 20 records: %s", r.Out)
	}
}

func TestScoreKeepsTheSignOfOverUnlearning(t *testing.T) {
	s := clitest.Decoded[scoreJSON](t, lethe(t, "audit", "--only", "scores", "--members", vectorFile(t, 1, 2), "--nonmembers", vectorFile(t, 3, 4), "--json"))
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
			fails(t, lethe(t, "audit", "--only", "scores", "--members", c.path, "--nonmembers", good, "--json"), cli.ExitFailure, "--members", c.word)
		})
	}
	nan := vectorFile(t, 1, math.NaN())
	fails(t, lethe(t, "audit", "--only", "scores", "--members", good, "--nonmembers", nan), cli.ExitFailure, "NaN", nan)
	fails(t, lethe(t, "audit", "--only", "scores", "--members", good, "--nonmembers", vectorFile(t)), cli.ExitFailure, "no non-members")
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
	base := []string{"audit", "--only", "ruler", "--unlearned", matrixFile(t, u),
		"--forget", rowsFile(t, span(0, 10)...), "--retain", rowsFile(t, span(10, 60)...), "--json"}
	alone := clitest.Decoded[metricsJSON](t, lethe(t, base...))
	if alone["m1"] != nil || alone["m2"] != nil || alone["m3"] != nil {
		t.Errorf("without an oracle there is only M4: %v", alone)
	}
	if m4 := metric(t, alone, "m4"); m4["null"] != 0.5 || m4["n"] != 10.0 {
		t.Errorf("m4 is %v", m4)
	}
	withOracle := append(base, "--oracle", matrixFile(t, o))
	two := clitest.Decoded[metricsJSON](t, lethe(t, withOracle...))
	if metric(t, two, "m1")["null"] != nil || metric(t, two, "m2")["null"] != 0.0 || two["m3"] != nil {
		t.Errorf("%v", two)
	}
	three := clitest.Decoded[metricsJSON](t, lethe(t, append(withOracle, "--original", matrixFile(t, g))...))
	metric(t, three, "m3")
	if got, want := metric(t, three, "m4")["value"], metric(t, alone, "m4")["value"]; got != want {
		t.Errorf("M4 is %v with an oracle and %v without", got, want)
	}
	text := lethe(t, append(withOracle[:len(withOracle):len(withOracle)], "--json=false")...)
	if text.Code != cli.ExitOK || !strings.Contains(text.Out, "M4") || !strings.Contains(text.Out, "residual memory") {
		t.Errorf("%+v", text)
	}
}

func TestVerifyRulerCapZeroSearchesEverything(t *testing.T) {
	m := embeddings(1, 2600)
	args := []string{"audit", "--only", "ruler", "--json", "--unlearned", matrixFile(t, m), "--oracle", matrixFile(t, m),
		"--forget", rowsFile(t, span(0, 50)...), "--retain", rowsFile(t, span(50, 2600)...)}
	sizes := func(more ...string) [2]float64 {
		r := clitest.Decoded[struct{ N_gallery, N_baseline float64 }](t, lethe(t, append(args[:len(args):len(args)], more...)...))
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
		"original alone":  {cli.ExitUsage, []string{"--unlearned", u, "--original", u, "--forget", f, "--retain", r}, "--oracle"},
		"negative cap":    {cli.ExitUsage, []string{"--unlearned", u, "--forget", f, "--retain", r, "--cap", "-1"}, "--cap -1"},
		"no retain":       {cli.ExitUsage, []string{"--unlearned", u, "--forget", f}, "retain"},
		"row outside":     {cli.ExitFailure, []string{"--unlearned", u, "--forget", rowsFile(t, 20), "--retain", r}, "outside"},
		"shared row":      {cli.ExitFailure, []string{"--unlearned", u, "--forget", rowsFile(t, 2), "--retain", r}, "forget set too"},
		"misaligned":      {cli.ExitFailure, []string{"--unlearned", u, "--oracle", matrixFile(t, embeddings(1, 21)), "--forget", f, "--retain", r}, "21 x 8"},
		"zero row":        {cli.ExitFailure, []string{"--unlearned", matrixFile(t, zero), "--forget", f, "--retain", r}, "row 3"},
		"floats as rows":  {cli.ExitFailure, []string{"--unlearned", u, "--forget", vectorFile(t, 0), "--retain", r}, "--forget"},
		"vector as model": {cli.ExitFailure, []string{"--unlearned", vectorFile(t, 1), "--forget", f, "--retain", r}, "--unlearned"},
	} {
		t.Run(name, func(t *testing.T) {
			fails(t, lethe(t, append([]string{"audit", "--only", "ruler", "--json"}, c.args...)...), c.code, c.word)
		})
	}
	passes := lethe(t, "audit", "--only", "ruler", "--unlearned", matrixFile(t, zero), "--forget", f, "--retain", r, "--zero-rows")
	if passes.Code != cli.ExitOK || !strings.Contains(passes.Out, "zero length") {
		t.Errorf("--zero-rows: %+v", passes)
	}
}

func TestVerifyRulerSearchesAllOfABigGallery(t *testing.T) {
	const n = 2*ruler.PaperGalleryCap + 50
	m := embeddings(1, n)
	args := []string{"audit", "--only", "ruler", "--json", "--unlearned", matrixFile(t, m), "--forget", rowsFile(t, span(0, 50)...), "--retain", rowsFile(t, span(50, n)...)}
	got := clitest.Decoded[metricsJSON](t, lethe(t, args...))
	forget, retain := span(0, 50), span(50, n)
	evidence := ruler.Evidence{Unlearned: &m, Forget: forget, Retain: retain}
	want, _, err := ruler.M4(evidence, ruler.Options{GalleryCap: ruler.NoCap})
	if err != nil {
		t.Fatal(err)
	}
	if v := metric(t, got, "m4")["value"]; v != want.Value {
		t.Errorf("M4 is %v, and of the library %v", v, want.Value)
	}
}

// TestEveryRefusalNamesItsFileAndPlace gives each file of each command all that
// is wrong with a file.
func TestEveryRefusalNamesItsFileAndPlace(t *testing.T) {
	dir := t.TempDir()
	raw := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	saved := func(name string, m array.Matrix[float64]) string {
		path := filepath.Join(dir, name)
		if err := npy.Write(path, m); err != nil {
			t.Fatal(err)
		}
		return path
	}
	corrupted := func(v float64) array.Matrix[float64] {
		m := embeddings(1, 20)
		m.Row(13)[5] = v
		return m
	}
	zero := embeddings(1, 20)
	clear(zero.Row(13))
	array1 := func(descr, shape string, n int) string {
		header := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + "}"
		return "\x93NUMPY\x01\x00" + string(rune(len(header))) + "\x00" + header + strings.Repeat("\x00", n)
	}
	unreadable := map[string]string{
		filepath.Join(dir, "none.npy"):                                "no such file",
		raw("empty.npy", ""):                                          "start with",
		raw("text.npy", "1,2\n"):                                      "start with",
		raw("cut.npy", "\x93NUMPY\x01\x00\xff\xff"):                   "65535",
		raw("short.npy", array1("<f8", "(20, 8)", 9)):                 "needs 1280 bytes, found 9",
		raw("object.npy", array1("|O", "(20, 8)", 160)):               "Python objects",
		raw("complex.npy", array1("<c8", "(20, 8)", 1280)):            "<c8",
		raw("huge.npy", array1("<f8", "(4611686018427387904, 4)", 1)): "overflows",
		raw("escape\x1b[2J.npy", "no"):                                `escape\x1b[2J.npy`,
		dir:                                                           "regular file",
	}
	matrices := map[string]string{
		raw("cube.npy", array1("<f8", "(20, 8, 2)", 20*8*2*8)):                          "(20, 8, 2)",
		saved("nan.npy", corrupted(math.NaN())):                                         "row 13, column 5 is NaN",
		saved("inf.npy", corrupted(math.Inf(-1))):                                       "row 13, column 5 is -Inf",
		saved("huge-value.npy", corrupted(1e200)):                                       "row 13",
		raw("bools.npy", array1("|b1", "(20, 8)", 160)):                                 "bools",
		saved("narrow.npy", array.New[float64](20, 0)):                                  "0 columns",
		saved("none-at-all.npy", array.New[float64](0, 8)):                              "0",
		raw("longs.npy", array1("<i8", "(1, 1)", 0)+"\xff\xff\xff\xff\xff\xff\xff\x7f"): "row 0, column 0 is 9223372036854775807",
	}
	rows := map[string]string{
		raw("mask.npy", array1("|b1", "(20,)", 20)):                      "flatnonzero",
		raw("floats.npy", array1("<f8", "(1,)", 8)):                      "expected integers",
		raw("no-rows.npy", array1("<i8", "(0,)", 0)):                     "set is empty",
		raw("outside.npy", array1("|u1", "(2,)", 0)+"\x01d"):             "[1] = 100 is outside the 20 rows",
		raw("twice.npy", array1("|u1", "(2,)", 0)+"\x01\x01"):            "[1] = 1 names a row twice",
		raw("negative.npy", array1("<i4", "(1,)", 0)+"\xff\xff\xff\xff"): "element 0 is -1",
	}
	scores := map[string]string{
		raw("nans.npy", array1("<f4", "(2,)", 4)+"\x00\x00\xc0\x7f"): "nans.npy: row 1 is NaN",
		raw("no-scores.npy", array1("<f4", "(0,)", 0)):               "members",
		raw("score-bools.npy", array1("|b1", "(2,)", 2)):             "bools",
		raw("score-matrix.npy", array1("<f4", "(2, 2)", 16)):         "(2, 2)",
	}
	u, v, f, r := saved("u.npy", embeddings(1, 20)), vectorFile(t, 1, 2), rowsFile(t, 0, 13), rowsFile(t, append(span(1, 13), span(14, 20)...)...)
	others := []string{saved("u2.npy", embeddings(2, 20)), saved("u3.npy", embeddings(3, 20))}
	ruler := map[string]string{"unlearned": u, "oracle": others[0], "original": u, "forget": f, "retain": r}
	count := 0
	try := func(command string, files map[string]string, flag string, bad map[string]string) {
		for path, word := range bad {
			args := strings.Fields(command)
			for name, good := range files {
				if name == flag {
					good = path
				}
				args = append(args, "--"+name, good)
			}
			count++
			fails(t, lethe(t, args...), cli.ExitFailure, "--"+flag, cli.Printable(path), word)
		}
	}
	for _, flag := range []string{"unlearned", "oracle", "original"} {
		try("audit --only ruler", ruler, flag, unreadable)
		try("audit --only ruler", ruler, flag, matrices)
		try("audit --only ruler", ruler, flag, map[string]string{saved("zero.npy", zero): "row 13: norm 0", saved("wide.npy", array.New[float64](20, 9)): "20 x 9"})
	}
	for _, flag := range []string{"forget", "retain"} {
		try("audit --only ruler", ruler, flag, unreadable)
		try("audit --only ruler", ruler, flag, rows)
	}
	for _, flag := range []string{"target", "in", "out"} {
		files := map[string]string{"target": u, "in": others[0], "out": others[1]}
		try("audit --only sde", files, flag, unreadable)
		try("audit --only sde", files, flag, matrices)
	}
	for _, flag := range []string{"members", "nonmembers"} {
		files := map[string]string{"members": v, "nonmembers": v}
		try("audit --only scores", files, flag, unreadable)
		try("audit --only scores", files, flag, scores)
	}
	if count < 150 {
		t.Errorf("only %d refusals were tried", count)
	}
}

func TestVerifySDEIsBounded(t *testing.T) {
	u := matrixFile(t, embeddings(1, 20))
	files := []string{"audit", "--only", "sde", "--target", u, "--in", u, "--out", u}
	fails(t, lethe(t, append(files, "--bins", "1000000000000")...), cli.ExitUsage, "--bins 1000000000000: expected 1 to 1000000")
	fails(t, lethe(t, append(files, "--permutations", "1000000000000")...), cli.ExitUsage, "at most 1000000")
	long := matrixFile(t, array.New[float64](maxRecords+1, 1))
	fails(t, lethe(t, "audit", "--only", "sde", "--target", long, "--in", u, "--out", matrixFile(t, embeddings(2, 20))), cli.ExitFailure, long, "30001 rows")
}
