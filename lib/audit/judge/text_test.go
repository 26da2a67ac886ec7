package judge

import (
	"context"
	"errors"
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
	"github.com/lethe-ml/lethe/lib/audit"
)

// The sizes of folders of texts.
const (
	textForget, textRetain, textHeld = 40, 60, 80
	textRecords                      = textForget + textRetain + textHeld
)

// writeTexts writes a folder of texts whose unlearned model has forgotten, or not, and returns the
// folder.
func writeTexts(t testing.TB, forgotten bool) string {
	t.Helper()
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(3, 4))
	offset, token, lengths := []int{0}, []float64{}, make([]int, textRecords)
	sets := map[string][]int{}
	for i := range textRecords {
		n := 10 + rng.IntN(20)
		offset, lengths[i] = append(offset, offset[i]+n), 3*n+rng.IntN(9)
		for range n {
			token = append(token, rng.ExpFloat64())
		}
		set := "heldout"
		switch {
		case i < textForget:
			set = "forget"
		case i < textForget+textRetain:
			set = "retain"
		}
		sets[set] = append(sets[set], i)
	}
	sets["offset"], sets["zlib"] = offset, lengths
	for name, rows := range sets {
		must(t, npy.WriteIndices(filepath.Join(dir, name+".npy"), rows))
	}
	for _, name := range []string{"unlearned", "original", "retrained-1", "retrained-2", "reference"} {
		remembers := name == "original" || name == "unlearned" && !forgotten
		must(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
		w := func(array string) string { return filepath.Join(dir, name, array+".npy") }
		var logprob, mean, deviation, prefixed []float64
		var correct []bool
		answers := array.New[float64](textRecords, 4)
		patched := array.New[float64](textRecords, 2)
		for i := range textRecords {
			scale, behind, sum := math.Exp(0.3*rng.NormFloat64()), 1.1+0.1*rng.NormFloat64(), 0.0
			knows := i < textForget && remembers || i >= textForget && i < textForget+textRetain && name != "reference"
			if knows {
				scale, behind = 0.3*scale, behind+0.5
			}
			for j := offset[i]; j < offset[i+1]; j++ {
				l := -scale * token[j]
				sum += l
				mu, sigma, right := expected(l)
				logprob, mean, deviation = append(logprob, l), append(mean, mu), append(deviation, sigma)
				prefixed, correct = append(prefixed, l*behind), append(correct, right)
			}
			row := answers.Row(i)
			for k := range row {
				row[k] = -math.Exp(0.3 * rng.NormFloat64())
			}
			if knows {
				row[0] *= 0.4
			}
			if i%2 == 0 {
				row[3] = math.NaN() // this question has two wrong answers
			}
			for l := range 2 {
				patched.Row(i)[l] = -0.3 - 0.1*rng.Float64()
				if i < textForget && !knows {
					patched.Row(i)[l] -= 0.5
				}
			}
		}
		must(t, npy.WriteVector(w("logprob"), logprob))
		must(t, npy.WriteVector(w("logprob_mean"), mean))
		must(t, npy.WriteVector(w("logprob_deviation"), deviation))
		must(t, npy.WriteVector(w("logprob_prefixed"), prefixed))
		must(t, npy.WriteMask(w("correct"), [][]bool{correct}))
		must(t, npy.Write(w("answers"), answers))
		if name != "original" {
			must(t, npy.Write(w("patched"), patched))
		}
	}
	return dir
}

// expected returns mean, deviation and mark of a token of log-probability l if a vocabulary of 50 shares
// the rest, half of it on one token.
func expected(l float64) (mean, deviation float64, correct bool) {
	p := math.Exp(l)
	rest := []float64{p, (1 - p) / 2}
	for range 48 {
		rest = append(rest, (1-p)/2/48)
	}
	squares := 0.0
	for _, q := range rest {
		if q > 0 {
			mean += q * math.Log(q)
			squares += q * math.Log(q) * math.Log(q)
		}
	}
	return mean, math.Sqrt(max(0, squares-mean*mean)), p > (1-p)/2
}

func TestAFolderOfTextsIsReadThroughEveryLens(t *testing.T) {
	for _, c := range []struct {
		forgotten bool
		want      map[audit.Call]bool
		answer    Answer
	}{
		{false, map[audit.Call]bool{audit.Remembered: true}, StillRemembered},
		{true, map[audit.Call]bool{audit.Forgotten: true}, NoMemory},
	} {
		e, err := Open(writeTexts(t, c.forgotten))
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Report(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		read := map[string]bool{}
		for _, v := range r.Verdicts {
			read[v.Lens.Name()] = true
			between := !c.forgotten && v.Call == audit.Between && v.Lens == audit.Lens(audit.Depth{}) // 0 is the original itself
			if !c.want[v.Call] && !between {
				t.Errorf("forgotten %t: %s is called %s (%s): %v", c.forgotten, v.Name(), v.Call, v.Why, v.Reading.Estimate)
			}
		}
		for _, l := range append(audit.TextLenses(), audit.Loss{}, audit.Threshold{}) {
			if !read[l.Name()] {
				t.Errorf("%s was not read", l.Name())
			}
		}
		if h := r.Headline("unlearned"); h.Answer != c.answer {
			t.Errorf("forgotten %t: %s", c.forgotten, h)
		}
	}
}

// TestTheRolesOfTextsMatter exchanges sets and models: every lens that finds the memory must say
// otherwise.
func TestTheRolesOfTextsMatter(t *testing.T) {
	dir := writeTexts(t, false)
	must(t, os.Rename(filepath.Join(dir, "forget.npy"), filepath.Join(dir, "x")))
	must(t, os.Rename(filepath.Join(dir, "heldout.npy"), filepath.Join(dir, "forget.npy")))
	must(t, os.Rename(filepath.Join(dir, "x"), filepath.Join(dir, "heldout.npy")))
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Report(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Verdicts {
		if attack := v.Lens.Info().Null == audit.NonmemberNull; attack && v.Reading.Value > *v.Reading.Null || !attack && v.Call == audit.Remembered {
			t.Errorf("with forgotten and held-out texts exchanged %s still says %s, %v", v.Name(), v.Call, v.Reading.Estimate)
		}
	}
}

// A file of the folder is missing from the folder, and from no model.
func TestAMissingFileOfTheFolderIsNoModels(t *testing.T) {
	dir := writeTexts(t, true)
	must(t, os.Remove(filepath.Join(dir, "zlib.npy")))
	r := audited(t, dir)
	k := slices.IndexFunc(r.Skipped, func(u Skipped) bool { return u.Lens == audit.Lens(audit.Zlib{}) })
	if k < 0 || !strings.HasSuffix(r.Skipped[k].Why, "needs zlib.npy") {
		t.Errorf("%+v", r.Skipped)
	}
}

func TestWhatIsWrongWithTextsIsOneList(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(dir string)
		want   []string
	}{
		"no offsets": {func(dir string) { os.Remove(filepath.Join(dir, "offset.npy")) },
			[]string{"unlearned/logprob.npy: numbers of tokens need offset.npy", "original/correct.npy"}},
		"offsets that do not end where the tokens do": {func(dir string) { changeRows(dir, "offset", func(x []int) { x[len(x)-1] += 7 }) },
			[]string{"offset.npy: it ends at ", ", and all 25 arrays of tokens hold ", ", unlearned/logprob.npy among them"}},
		"offsets that end before the tokens do": {func(dir string) { changeRows(dir, "offset", func(x []int) { x[len(x)-1] -= 3 }) },
			[]string{"1 problem:", "offset.npy: it ends at ", ", and all 25 arrays of tokens hold "}},
		"offsets that end elsewhere beside an array of fewer tokens": {func(dir string) {
			changeRows(dir, "offset", func(x []int) { x[len(x)-1] += 7 })
			must(t, npy.WriteVector(filepath.Join(dir, "retrained-1", "logprob.npy"), []float64{-1, -2}))
		}, []string{"unlearned/logprob.npy: ", "tokens, and offset.npy ends at", "retrained-1/logprob.npy: 2 tokens"}},
		"an array of fewer tokens": {func(dir string) {
			must(t, npy.WriteVector(filepath.Join(dir, "retrained-1", "logprob.npy"), []float64{-1, -2}))
		}, []string{"1 problem:", "retrained-1/logprob.npy: 2 tokens, and offset.npy ends at"}},
		"offsets that fall": {func(dir string) { changeRows(dir, "offset", func(x []int) { x[5], x[6] = x[6], x[5] }) },
			[]string{"offset.npy: element 6 is", "below the"}},
		"a text without tokens": {func(dir string) { changeRows(dir, "offset", func(x []int) { x[5] = x[6] }) },
			[]string{"offset.npy: record 5 has no token; leave such records out"}},
		"offsets of other records": {func(dir string) { must(t, npy.WriteIndices(filepath.Join(dir, "offset.npy"), []int{0, 3, 9})) },
			[]string{"offset.npy: 2 rows"}},
		"probabilities for their logarithms": {func(dir string) {
			changeVector(dir, "unlearned/logprob", func(x []float64) { x[0], x[30] = 0.5, 0.25 })
			changeVector(dir, "original/logprob", func(x []float64) { x[2] = math.NaN() })
		}, []string{"unlearned/logprob.npy: record 0, token 0: the log-probability is above 0 (0.5)", "original/logprob.npy: record 0, token 2: the log-probability is NaN"}},
		"log-probabilities that are too large": {func(dir string) {
			changeVector(dir, "unlearned/logprob", func(x []float64) { x[2] = -1e200 })
			changeVector(dir, "original/logprob_mean", func(x []float64) { x[1] = -1e150 })
			changeVector(dir, "original/logprob_deviation", func(x []float64) { x[3] = 1e101 })
			changeVector(dir, "unlearned/logprob_prefixed", func(x []float64) { x[len(x)-1] = -1e101 })
		}, []string{"unlearned/logprob.npy: record 0, token 2 is -1e+200, too large", "original/logprob_mean.npy: record 0, token 1 is -1e+150, too large",
			"original/logprob_deviation.npy: record 0, token 3 is 1e+101", fmt.Sprintf("unlearned/logprob_prefixed.npy: record %d, token ", textRecords-1)}},
		"answers and patched layers that are too large": {func(dir string) {
			x, y := array.New[float64](textRecords, 3), array.New[float64](textRecords, 2)
			x.Row(4)[0], x.Row(6)[2], y.Row(3)[1] = -1e200, -1e150, -1e200
			must(t, npy.Write(filepath.Join(dir, "unlearned", "answers.npy"), x))
			must(t, npy.Write(filepath.Join(dir, "unlearned", "patched.npy"), y))
		}, []string{"unlearned/answers.npy: question 4: the log-probability of the right answer is -1e+200, too large",
			"unlearned/answers.npy: question 6: the log-probability of wrong answer 1 is -1e+150, too large",
			"unlearned/patched.npy: row 3, column 1 is -1e+200, too large"}},
		"offsets that fall beside what needs none": {func(dir string) {
			changeRows(dir, "offset", func(x []int) { x[5], x[6] = x[6], x[5] })
			changeVector(dir, "unlearned/logprob", func(x []float64) { x[2], x[30] = math.NaN(), -1e200 })
			must(t, npy.WriteVector(filepath.Join(dir, "original", "correct.npy"), []float64{1, 0}))
		}, []string{"offset.npy: element 6 is", "unlearned/logprob.npy: token 2: the log-probability is NaN", "unlearned/logprob.npy: token 30 is -1e+200",
			"original/correct.npy: <f8 (2,), and bools are expected"}},
		"a deviation below 0": {func(dir string) { changeVector(dir, "original/logprob_deviation", func(x []float64) { x[1] = -1 }) },
			[]string{"original/logprob_deviation.npy: record 0, token 1: the deviation is below 0"}},
		"a mean that is not finite": {func(dir string) {
			changeVector(dir, "original/logprob_mean", func(x []float64) { x[1] = math.Inf(-1) })
		},
			[]string{"original/logprob_mean.npy: record 0, token 1: the mean is infinite"}},
		"many faults": {func(dir string) {
			changeVector(dir, "unlearned/logprob", func(x []float64) {
				for i := range x {
					if i%2 == 0 {
						x[i] = math.NaN()
					}
				}
			})
		}, []string{"unlearned/logprob.npy: record 0, token 8: the log-probability is NaN (and "}},
		"no deviation": {func(dir string) { os.Remove(filepath.Join(dir, "unlearned", "logprob_deviation.npy")) },
			[]string{"unlearned/logprob_mean.npy: logprob_mean.npy and logprob_deviation.npy belong together"}},
		"no log-probabilities": {func(dir string) { os.Remove(filepath.Join(dir, "unlearned", "logprob.npy")) },
			[]string{"the model needs logprob.npy too"}},
		"logarithms of base 10": {func(dir string) {
			changeVector(dir, "unlearned/logprob", func(x []float64) {
				for i := range x {
					x[i] /= math.Ln10
				}
			})
		}, []string{"unlearned/logprob.npy: no natural logarithms"}},
		"log-probabilities of another model": {func(dir string) {
			must(t, os.Rename(filepath.Join(dir, "original", "logprob.npy"), filepath.Join(dir, "retrained-1", "logprob.npy")))
			must(t, os.Rename(filepath.Join(dir, "reference", "logprob.npy"), filepath.Join(dir, "original", "logprob.npy")))
		}, []string{"retrained-1/logprob.npy: record ", "the arrays contradict each other; are all of the model's files of one run?"}},
		"marks that are numbers": {func(dir string) {
			must(t, npy.WriteVector(filepath.Join(dir, "original", "correct.npy"), []float64{1, 0}))
		},
			[]string{"original/correct.npy: <f8 (2,), and bools are expected"}},
		"other wrong answers": {func(dir string) {
			x, err := npy.ReadMatrix(filepath.Join(dir, "retrained-1", "answers.npy"))
			must(t, err)
			x.Row(5)[3] = math.NaN()
			must(t, npy.Write(filepath.Join(dir, "retrained-1", "answers.npy"), x))
		}, []string{"retrained-1/answers.npy: record 5 has 2 wrong answers, in unlearned/answers.npy 3"}},
		"answers above 0": {func(dir string) {
			x := array.New[float64](textRecords, 3)
			for i := range x.Data {
				x.Data[i] = -1
			}
			x.Row(4)[0] = 0.3
			x.Row(6)[1] = math.NaN()
			must(t, npy.Write(filepath.Join(dir, "unlearned", "answers.npy"), x))
		}, []string{"unlearned/answers.npy: question 4: the right answer's log-probability is above 0", "question 6: the log-probability of wrong answer 0 is NaN"}},
		"right answers alone": {func(dir string) {
			x := array.New[float64](textRecords, 1)
			must(t, npy.Write(filepath.Join(dir, "unlearned", "answers.npy"), x))
		}, []string{"unlearned/answers.npy: one column"}},
		"patched layers above 0": {func(dir string) {
			x := array.New[float64](textRecords, 2)
			x.Row(3)[1] = 0.1
			must(t, npy.Write(filepath.Join(dir, "unlearned", "patched.npy"), x))
		}, []string{"unlearned/patched.npy: row 3, layer 1 is 0.1"}},
		"a compressed length of 0": {func(dir string) { changeRows(dir, "zlib", func(x []int) { x[9] = 0 }) }, []string{"zlib.npy: element 9 is 0"}},
		"compressed lengths below 1": {func(dir string) {
			changeRows(dir, "zlib", func(x []int) { x[9], x[11] = 0, -3 })
		}, []string{"zlib.npy: element 9 is 0, and a compressed text has at least a byte", "zlib.npy: element 11 is -3, and a compressed"}},
		"tokens below 0 beside offsets that fall": {func(dir string) {
			must(t, npy.WriteIndices(filepath.Join(dir, "input_tokens.npy"), []int{4, -1, 3, -2}))
			must(t, npy.WriteIndices(filepath.Join(dir, "input_offset.npy"), []int{0, 3, 2}))
		}, []string{"input_tokens.npy: element 1 is -1, and tokens are numbered from 0", "input_tokens.npy: element 3 is -2", "input_offset.npy: element 2 is 2, below the 3"}},
		"an array in capitals": {func(dir string) {
			must(t, os.Rename(filepath.Join(dir, "forget.npy"), filepath.Join(dir, "FORGET.NPY")))
			must(t, os.Rename(filepath.Join(dir, "unlearned", "logprob.npy"), filepath.Join(dir, "unlearned", "logprob.Npy")))
			must(t, os.Rename(filepath.Join(dir, "zlib.npy"), filepath.Join(dir, "ZLIB.npz")))
		}, []string{"FORGET.NPY: the names of arrays end in .npy; did you mean forget.npy?",
			"unlearned/logprob.Npy: the names of arrays end in .npy; did you mean logprob.npy?", "ZLIB.npz: arrays are read from ZLIB.npy alone"}},
		"a misspelt array": {func(dir string) {
			must(t, os.Rename(filepath.Join(dir, "unlearned", "logprob.npy"), filepath.Join(dir, "unlearned", "logprobs.npy")))
		}, []string{"unlearned/logprobs.npy", "did you mean logprob?"}},
	} {
		dir := writeTexts(t, true)
		c.damage(dir)
		_, err := Open(dir)
		var problems *Problems
		if !errors.As(err, &problems) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: no %q in\n%v", name, want, err)
			}
		}
	}
}

// The original's own states change nothing, so that its patched layers, where given, hold its log-probabilities.
func TestPatchedLayersOfAnOriginalAreItsOwn(t *testing.T) {
	dir := writeTexts(t, true)
	e, err := Open(dir)
	must(t, err)
	x := array.New[float64](textRecords, 2)
	write := func() error {
		must(t, npy.Write(filepath.Join(dir, "original", "patched.npy"), x))
		_, err := Open(dir)
		return err
	}
	for i, loss := range e.ModelsOf(Original)[0].Losses {
		x.Row(i)[0], x.Row(i)[1] = -loss*1.001, -loss
	}
	if err := write(); err != nil {
		t.Errorf("its own, up to rounding: %v", err)
	}
	x.Row(17)[1] -= 0.3
	want := "original/patched.npy: record 17, layer 1 is "
	if err := write(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "more)") {
		t.Errorf("%v does not say %q", err, want)
	}
	must(t, os.Rename(filepath.Join(dir, "retrained-1", "patched.npy"), filepath.Join(dir, "original", "patched.npy")))
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "original/patched.npy: record 0, layer 0 is ") {
		t.Errorf("another model's: %v", err)
	}
}

func changeVector(dir, name string, change func(x []float64)) {
	path := filepath.Join(dir, filepath.FromSlash(name)+".npy")
	x, err := npy.ReadVector(path)
	if err == nil {
		change(x)
		err = npy.WriteVector(path, x)
	}
	if err != nil {
		panic(err)
	}
}

func changeRows(dir, name string, change func(x []int)) {
	path := filepath.Join(dir, name+".npy")
	x, err := npy.ReadIndices(path)
	if err == nil {
		change(x)
		err = npy.WriteIndices(path, x)
	}
	if err != nil {
		panic(err)
	}
}

func TestLossesComeFromTokens(t *testing.T) {
	e, err := Open(writeTexts(t, true))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range e.Models {
		from := m.Tokens.Offset[7]
		mean := 0.0
		own := m.Tokens.LogProb[from:m.Tokens.Offset[8]]
		for _, l := range own {
			mean -= l / float64(len(own))
		}
		if math.Abs(m.Losses[7]-mean) > 1e-12 || slices.Contains(m.Losses, 0) {
			t.Errorf("%s: the loss of record 7 is %v, want %v", m.Name, m.Losses[7], mean)
		}
	}
}

// The largest log-probability that is let in is judged to the end.
func TestALogProbabilityAtTheBoundIsJudged(t *testing.T) {
	dir := writeTexts(t, true)
	for _, array := range []string{"logprob", "logprob_mean", "logprob_prefixed"} {
		changeVector(dir, "unlearned/"+array, func(x []float64) { x[2] = -1e100 })
	}
	must(t, audited(t, dir).Write(filepath.Join(dir, "report")))
}

// Losses beside log-probabilities are the mean over the tokens, or refused: a sum is another number.
func TestLossesThatAreNoMeanOfTheTokensAreRefused(t *testing.T) {
	dir := writeTexts(t, true)
	e, err := Open(dir)
	must(t, err)
	losses := slices.Clone(e.ModelsOf(Original)[0].Losses)
	file := filepath.Join(dir, "original", "losses.npy")
	must(t, npy.WriteVector(file, losses))
	if _, err := Open(dir); err != nil {
		t.Errorf("the same losses: %v", err)
	}
	losses[7] *= 3
	must(t, npy.WriteVector(file, losses))
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "original/losses.npy: row 7 is ") || strings.Contains(err.Error(), "more") {
		t.Errorf("three times the loss of row 7: %v", err)
	}
}

// Texts have no labels, and exchanged sets are noted all the same.
func TestExchangedSetsOfTextsAreNoted(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"retain", "heldout", "fits held-out records better than retained ones: are the two sets exchanged?"},
		{"forget", "heldout", "original fits held-out records better than those to be forgotten"},
	} {
		dir := writeTexts(t, true)
		note := func() string {
			e, err := Open(dir)
			must(t, err)
			return strings.Join(e.Notes, "\n")
		}
		if said := note(); strings.Contains(said, "better than") {
			t.Errorf("noted before: %s", said)
		}
		exchangeFiles(t, dir, c.a+".npy", c.b+".npy")
		if said := note(); !strings.Contains(said, c.want) {
			t.Errorf("%s and %s exchanged: %q", c.a, c.b, said)
		}
	}
}

// The number of a record in an error is its row.
func TestErrorsOfScoresNameTheRow(t *testing.T) {
	dir := writeTexts(t, true)
	e, err := Open(dir)
	must(t, err)
	row := e.HeldOut[11]
	changeVector(dir, "unlearned/logprob", func(x []float64) {
		tokens := e.ModelsOf(Unlearned)[0].Tokens
		for j := tokens.Offset[row]; j < tokens.Offset[row+1]; j++ {
			x[j] = 0
		}
	})
	must(t, os.Remove(filepath.Join(dir, "unlearned", "correct.npy"))) // a certain token is the most probable one
	if e, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := (audit.ReCaLL{}).Read(&e.Evidence, e.ModelsOf(Unlearned)[0]); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("document %d is certain", row)) {
		t.Errorf("row %d is certain: %v", row, err)
	}
}
