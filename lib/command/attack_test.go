// Tests of attack.go.

package command

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
)

// attackJSON is the published shape of a row of attack --json.
type attackJSON struct {
	Attack, Protocol string
	LeftOut          string `json:"left_out"`
	scoreJSON
	Cells []struct {
		Record          int
		Member, Trained bool
		Score           float64
	}
	HeldOut *scoreJSON `json:"held_out"`
	Coded   struct {
		AUC, Advantage struct{ Value, Low, High float64 }
	}
}

// Intervals differ: an attack has DeLong's, as its readings in the store have, and scores that of the odds.
func TestAttackByLossesIsAScoreOfNegativeLosses(t *testing.T) {
	members, others := vectorFile(t, 0.1, 0.2, 0.9), vectorFile(t, 0.5, 0.3, 1, 2)
	rows := clitest.Decoded[[]attackJSON](t, lethe(t, "audit", "--only", "losses", "--members", members, "--nonmembers", others, "--json"))
	s := clitest.Decoded[scoreJSON](t, lethe(t, "audit", "--only", "scores", "--members", vectorFile(t, -0.1, -0.2, -0.9), "--nonmembers", vectorFile(t, -0.5, -0.3, -1, -2), "--json"))
	if len(rows) != 1 || rows[0].Attack != "threshold" {
		t.Fatalf("%+v", rows)
	}
	a, b := rows[0].Advantage, s.Advantage
	a.Low, a.High, b.Low, b.High = 0, 0, 0, 0
	if rows[0].AUC.Value != s.AUC.Value || a != b || s.AUC.Value != 10./12 {
		t.Errorf("%+v, %+v", rows, s)
	}
}

func TestTheLikelihoodRatioFlipsWithItsReference(t *testing.T) {
	files := []string{vectorFile(t, 0.1, 0.2, 0.3), vectorFile(t, 0.5, 0.6), vectorFile(t, 0.4, 0.5, 0.2), vectorFile(t, 0.3, 0.7)}
	ratio := func(m, n, rm, rn string) attackJSON {
		rows := clitest.Decoded[[]attackJSON](t, lethe(t, "audit", "--only", "losses", "--members", m, "--nonmembers", n,
			"--reference-members", rm, "--reference-nonmembers", rn, "--json"))
		if len(rows) != 2 || rows[1].Attack != "likelihood-ratio" {
			t.Fatalf("%+v", rows)
		}
		return rows[1]
	}
	there, back := ratio(files[0], files[1], files[2], files[3]), ratio(files[2], files[3], files[0], files[1])
	// Differences 0.3, 0.3, -0.1 against -0.2, 0.1: five of six pairs.
	if math.Abs(there.AUC.Value-5./6) > 1e-12 || math.Abs(back.AUC.Value-1./6) > 1e-12 {
		t.Errorf("AUC %v and %v", there.AUC.Value, back.AUC.Value)
	}
}

// A rate for which there are too few non-members is not printed as a number.
func TestARateThatCannotBeMeasuredIsNoNumber(t *testing.T) {
	for n, want := range map[int]int{19: 2, 20: 1, 100: 0} { // of the rates 1 % and 5 %
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		members, others := vectorFile(t, 0.5, 3.5), vectorFile(t, x...)
		if r := lethe(t, "audit", "--only", "losses", "--members", members, "--nonmembers", others); strings.Count(r.Out, "too few non-members") != want {
			t.Errorf("%d non-members: %+v", n, r)
		}
		if r := lethe(t, "audit", "--only", "scores", "--members", members, "--nonmembers", others); strings.Count(r.Out, "too few non-members") != want+1 { // and 0.1 %
			t.Errorf("%d non-members: %+v", n, r)
		}
	}
}

// shiftedRecords returns n records of eight features, one of which is shifted.
func shiftedRecords(seed uint64, n int, by float64) array.Matrix[float64] {
	m := embeddings(seed, n)
	for i := range n {
		m.Row(i)[2] += by
	}
	return m
}

func TestAttackByFeaturesSaysWhatItWasTrainedOn(t *testing.T) {
	args := []string{"audit", "--only", "features", "--members", matrixFile(t, shiftedRecords(1, 30, 3)), "--nonmembers", matrixFile(t, shiftedRecords(2, 60, 0))}
	rows := clitest.Decoded[[]attackJSON](t, lethe(t, append(args, "--json")...))
	if len(rows) != 1 || rows[0].Protocol != "cross-fitted-logistic" || !(rows[0].AUC.Low > 0.7) || len(rows[0].Cells) != 90 || rows[0].HeldOut == nil {
		t.Errorf("%+v", rows)
	}
	for _, c := range rows[0].Cells {
		if c.Trained {
			t.Errorf("%+v", c)
		}
	}
	again := lethe(t, append(args, "--json")...)
	other := lethe(t, append(args, "--json", "--seed", "5")...)
	if again.Out == other.Out || again.Out != lethe(t, append(args, "--json", "--seed", "0")...).Out {
		t.Error("the seed does not decide")
	}
	text := lethe(t, append(args, "--protocol", "P-E,cross-fitted-logistic")...)
	for _, word := range []string{"P-E, held out", "trained on 72 of the 90 records", "the folds share training records", "30 + 60"} {
		if !strings.Contains(text.Out, word) {
			t.Errorf("no %q in %+v", word, text)
		}
	}
	transferred := append(args, "--protocol", "P-A", "--original-members", matrixFile(t, shiftedRecords(3, 30, 3)), "--original-nonmembers", matrixFile(t, shiftedRecords(4, 60, 0)))
	if r := lethe(t, transferred...); !strings.Contains(r.Out, "P-A, held out") {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"P-A-kept-codes", `"P-A, kept codes"`} {
		if r := lethe(t, append(slices.Clone(transferred), "--protocol", name)...); !strings.Contains(r.Out, "P-A, kept codes, held out") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := lethe(t, append(args, "--protocol", "P-C")...); !strings.Contains(r.Out, "trained on 90 of the 90 records that it scores: interval and chance do not hold") {
		t.Errorf("%+v", r)
	}
	apart := append(args, "--protocol", "within-groups", "--member-groups", rowsFile(t, make([]int, 30)...), "--nonmember-groups", rowsFile(t, slices.Repeat([]int{1}, 60)...))
	if r := lethe(t, apart...); !strings.Contains(r.Out, "no group has members and non-members") {
		t.Errorf("%+v", r)
	}
	fails(t, lethe(t, append(args, "--protocol", "P-A")...), cli.ExitFailure, "--members", "P-A", "features in the original model")
	fails(t, lethe(t, append(args, "--protocol", "P-G")...), cli.ExitUsage, "--protocol P-G", "P-A", "cross-fitted-mlp")
	fails(t, lethe(t, append(args, "--original-members", args[4])...), cli.ExitUsage, "original-nonmembers")
	bad := shiftedRecords(1, 30, 3)
	bad.Data[9] = math.NaN()
	fails(t, lethe(t, "audit", "--only", "features", "--members", matrixFile(t, bad), "--nonmembers", args[6]), cli.ExitFailure, "--members", "row 1, column 1 is NaN")
}

// Non-members that lie beside members: told which, nothing is found where there is
// nothing; torn apart, less than nothing.
func TestAttackByFeaturesKeepsPairsTogether(t *testing.T) {
	members, others := shiftedRecords(1, 40, 0), shiftedRecords(2, 40, 0)
	beside := filepath.Join(t.TempDir(), "beside.npy")
	var rows []int
	for i := range others.Data {
		others.Data[i] = members.Data[i] + 0.05*others.Data[i]
	}
	for i := range 40 {
		rows = append(rows, i)
	}
	if err := npy.WriteIndices(beside, rows); err != nil {
		t.Fatal(err)
	}
	args := []string{"audit", "--only", "features", "--members", matrixFile(t, members), "--nonmembers", matrixFile(t, others), "--json"}
	torn := clitest.Decoded[[]attackJSON](t, lethe(t, args...))
	together := clitest.Decoded[[]attackJSON](t, lethe(t, append(args, "--beside", beside)...))
	if !(torn[0].AUC.High < 0.4) || !(together[0].AUC.Low < 0.5 && together[0].AUC.High > 0.5) {
		t.Errorf("AUC torn %+v, together %+v", torn[0].AUC, together[0].AUC)
	}
	if err := npy.WriteIndices(beside, append(rows, 0)); err != nil {
		t.Fatal(err)
	}
	fails(t, lethe(t, append(args, "--beside", beside)...), cli.ExitFailure, "40 non-members, nearest members of 41")
}

// shadowArrays are models that fit what they had better by memory, as files.
func shadowArrays(t *testing.T, memory float64) (args []string) {
	t.Helper()
	const models, records, nonmembers = 16, 60, 30
	rng := rand.New(rand.NewPCG(3, 3))
	scores, z := array.New[float64](models, records), array.New[float64](models, nonmembers)
	had := make([][]bool, models)
	score := func(i int, in bool) float64 {
		v := -3 - math.Mod(float64(i)*0.7, 2) + 0.4*rng.NormFloat64()
		if in {
			v += memory
		}
		return min(v, 0)
	}
	var target, population []float64
	truth := make([]bool, records)
	for m := range models {
		had[m] = make([]bool, records)
		for i := range records {
			had[m][i] = rng.IntN(2) == 0
			if m < 4 {
				had[m][i] = m%2 == 0
			}
			scores.Row(m)[i] = score(i, had[m][i])
		}
		for k := range nonmembers {
			z.Row(m)[k] = score(records+k, false)
		}
	}
	for i := range records {
		truth[i] = i%3 == 0
		target = append(target, score(i, truth[i]))
	}
	for k := range nonmembers {
		population = append(population, score(records+k, false))
	}
	mask := func(rows ...[]bool) string {
		path := filepath.Join(t.TempDir(), "mask.npy")
		if err := npy.WriteMask(path, rows); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return []string{"audit", "--only", "shadows", "--target", vectorFile(t, target...), "--shadows", matrixFile(t, scores), "--in", mask(had...),
		"--truth", mask(truth), "--population", vectorFile(t, population...), "--population-shadows", matrixFile(t, z)}
}

func TestAttackByShadowModels(t *testing.T) {
	args := shadowArrays(t, 1.5)
	rows := clitest.Decoded[[]attackJSON](t, lethe(t, append(args, "--json")...))
	if len(rows) != 8 {
		t.Errorf("%d attacks", len(rows))
	}
	for _, r := range rows {
		if !(r.AUC.Low > 0.6) || r.NMembers != 20 || r.NNonmembers != 40 {
			t.Errorf("%+v", r)
		}
	}
	if r := lethe(t, append(args[:len(args):len(args)], "--method", "u-lira")...); !strings.Contains(r.Out, "u-lira") {
		t.Errorf("asked for: %+v", r)
	}
	without := args[:len(args)-4]
	for _, r := range clitest.Decoded[[]attackJSON](t, lethe(t, append(without[:len(without):len(without)], "--json")...)) {
		if rmia := strings.HasPrefix(r.Attack, "rmia"); rmia != (r.LeftOut == "there is no population") || rmia == (r.NMembers > 0) {
			t.Errorf("without a population: %+v", r)
		}
	}
	if r := lethe(t, append(args, "--method", "lira-online-pooled")...); !strings.Contains(r.Out, "lira-online-pooled") || strings.Contains(r.Out, "rmia") {
		t.Errorf("%+v", r)
	}
	fails(t, lethe(t, append(without[:len(without):len(without)], "--method", "rmia-online")...), cli.ExitFailure, "rmia-online", "there is no population")
	fails(t, lethe(t, append(args, "--method", "lira")...), cli.ExitUsage, "--method lira", "lira-online")
	swapped := append([]string(nil), args...)
	swapped[8], swapped[10] = args[10], args[8]
	fails(t, lethe(t, swapped...), cli.ExitFailure, "--truth", "16 rows")
	swapped = append([]string(nil), args...)
	swapped[6], swapped[14] = args[14], args[6]
	fails(t, lethe(t, swapped...), cli.ExitFailure, "--shadows", "want at least one model and 60 records")
}

// Who does not say which attack gets those that the files are enough for.
func TestAnAttackThatTheFilesAreNotEnoughForIsLeftOut(t *testing.T) {
	args := shadowArrays(t, 1.5)
	args = args[:len(args)-4]
	masks, err := npy.ReadMask(args[8])
	if err != nil {
		t.Fatal(err)
	}
	alone := true
	for m := range masks {
		masks[m][6], alone = alone, false
	}
	if err := npy.WriteMask(args[8], masks); err != nil {
		t.Fatal(err)
	}
	const why = "record 6: shadow models with it: 1, and at least 2 are needed"
	r := lethe(t, args...)
	if r.Code != 0 || !strings.Contains(r.Out, "lira-online is left out ("+why+").") || strings.Count(r.Out, "\nlira-online ") != 0 ||
		strings.Count(r.Out, "\nlira-online-pooled ") != 1 {
		t.Errorf("%+v", r)
	}
	fails(t, lethe(t, append(args[:len(args):len(args)], "--method", "lira-online,lira-offline")...), cli.ExitFailure, "lira-online: "+why)
	for m := range masks {
		masks[m][6] = true // offline attacks miss those without it, online ones both sides
	}
	if err := npy.WriteMask(args[8], masks); err != nil {
		t.Fatal(err)
	}
	fails(t, lethe(t, args...), cli.ExitFailure, "lira-coded-offline", "without it")
}

// Of several files an error names one, and the row.
func TestAttacksNameTheFileThatIsNotFinite(t *testing.T) {
	good := []string{vectorFile(t, 0.1, 0.2, 0.9), vectorFile(t, 0.5, 0.3, 1)}
	flags := []string{"--members", "--nonmembers", "--reference-members", "--reference-nonmembers"}
	for bad, flag := range flags {
		for _, v := range []float64{math.NaN(), math.Inf(1)} {
			path := vectorFile(t, 0.1, 0.2, v)
			args := []string{"audit", "--only", "losses"}
			for k, f := range flags {
				if file := good[k%2]; k != bad {
					args = append(args, f, file)
				} else {
					args = append(args, f, path)
				}
			}
			fails(t, lethe(t, args...), cli.ExitFailure, flag+": "+path+": row 2 is")
		}
	}
	args := shadowArrays(t, 1)
	for _, at := range []int{4, 12} { // target and population
		corrupted := append([]string(nil), args...)
		corrupted[at] = vectorFile(t, math.NaN())
		fails(t, lethe(t, corrupted...), cli.ExitFailure, corrupted[at-1]+": "+corrupted[at]+": row 0 is NaN")
	}
}

// A file of members that is the file of non-members too has nobody to tell apart.
func TestMembersAndNonMembersAreDifferentFiles(t *testing.T) {
	scores, features := vectorFile(t, 0.1, 0.2, 0.9), matrixFile(t, array.New[float64](9, 2))
	for _, c := range []struct{ command, file string }{{"scores", scores}, {"losses", scores}, {"features", features}} {
		fails(t, lethe(t, "audit", "--only", c.command, "--members", c.file, "--nonmembers", c.file), cli.ExitUsage, c.file+" is the same file")
	}
}

// Nothing named is neither everything nor nothing: it is a slip.
func TestEmptyListsAreUsageErrors(t *testing.T) {
	v := vectorFile(t, 1, 2)
	for _, args := range [][]string{
		append(shadowArrays(t, 1), "--method", ""),
		{"audit", "--only", "features", "--members", v, "--nonmembers", v, "--protocol", ""},
		{"audit", t.TempDir(), "--kit", ""},
		{"audit", t.TempDir(), "--data", ""},
		{"audit", t.TempDir(), "--out", ""},
		{"audit", t.TempDir(), "--config", ""},
		{"onnx", "m.onnx", "--data", "", "--out", ""},
		{"onnx", "m.onnx", "--data", "x", "--out", "y", "--layers", ""},
	} {
		fails(t, lethe(t, args...), cli.ExitUsage, "is empty")
	}
	fails(t, lethe(t, "audit", t.TempDir(), "--onnx", ""), cli.ExitUsage, "NAME=VALUE")
	fails(t, lethe(t, "audit", t.TempDir(), "--onnx", "unlearned=", "--data", v), cli.ExitUsage, "--onnx unlearned", "is empty")
}
