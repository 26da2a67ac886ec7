package judge

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/datasets/logs"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// twins are an unlearned model, an original and two retrained ones that hardly differ, with losses and answers.
func twins(seed uint64) *Evidence {
	s := drawTexts(seed, 160)
	e := s.evidence(nil)
	noise := func(x []float64, by float64) []float64 {
		out := slices.Clone(x)
		for i := range out {
			out[i] *= math.Exp(by * s.rng.NormFloat64())
		}
		return out
	}
	losses, right, wrong := s.losses(quality{}), s.losses(quality{boost: -1}), s.losses(quality{boost: -2})
	for _, m := range e.Models {
		by := 0.04
		if m.Role == Retrained {
			by = 0.004
		}
		m.Losses, m.Answers = noise(losses, by), &language.Answers{Right: scaled(noise(right, by), -1)}
		for _, v := range noise(wrong, by) {
			m.Answers.Wrong = append(m.Answers.Wrong, []float64{-v})
		}
	}
	return e
}

// change replaces the numbers of a model's answers, of every record by its own function.
func change(m *Model, by func(record int, v float64) float64) {
	a := &language.Answers{}
	for i, v := range m.Answers.Right {
		a.Right = append(a.Right, by(i, v))
		var wrong []float64
		for _, w := range m.Answers.Wrong[i] {
			wrong = append(wrong, by(i, w))
		}
		a.Wrong = append(a.Wrong, wrong)
	}
	m.Answers = a
}

// rolled returns answers a few rows further down.
func rolled(a *language.Answers) *language.Answers {
	n := len(a.Right) - 7
	return &language.Answers{Right: slices.Concat(a.Right[n:], a.Right[:n]), Wrong: slices.Concat(a.Wrong[n:], a.Wrong[:n])}
}

// Answers of another base are noted and doubted beside retrained models that are near to each other; the same answers of one
// base are not.
func TestAnswersOfAnotherBaseAreDoubtedBesideTwins(t *testing.T) {
	for seed := range uint64(20) {
		for by, want := range map[float64]string{1: "", 1 / math.Ln2: "logarithms of base 2 are beside natural", 1 / math.Ln10: "logarithms of base 10 are beside natural"} {
			for k, name := range []string{"unlearned", "original", "retrained-1"} {
				e := twins(seed)
				change(e.Models[k], func(_ int, v float64) float64 { return v * by })
				e.warnUnits()
				said := strings.Join(e.Notes, "\n")
				if want == "" && said != "" || want != "" && (len(e.Notes) != 1 || !strings.HasPrefix(said, name+"/answers.npy: ") || !strings.Contains(said, want)) {
					t.Errorf("seed %d, %s, times %.3g: %q", seed, name, by, e.Notes)
				}
				if doubted := e.doubtOf("unlearned"); (doubted != "") != (want != "") || want != "" && !strings.Contains(doubted, name+"/answers.npy may be in another unit") {
					t.Errorf("seed %d, %s, times %.3g: doubt %q", seed, name, by, doubted)
				}
			}
		}
	}
}

// However little the other models differ, a ratio of two bases that nearly all records have is noted.
func TestAnswersOfAnotherBaseAreNotedBesideAlikeModels(t *testing.T) {
	e := twins(2)
	e.Models[1].Answers = e.Models[2].Answers
	if e.warnUnits(); len(e.Notes) > 0 {
		t.Errorf("of one base: %q", e.Notes)
	}
	change(e.Models[0], func(_ int, v float64) float64 { return v / math.Ln10 })
	if e.warnUnits(); len(e.Notes) != 1 || !strings.HasPrefix(e.Notes[0], "unlearned/answers.npy: ") {
		t.Errorf("%q", e.Notes)
	}
}

// With one model of another base among three, the others are not noted against a middle that lies between the two bases.
func TestOneModelOfThreeInAnotherBaseIsTheOneNoted(t *testing.T) {
	e := twins(1)
	e.Models = e.Models[:3]
	change(e.Models[1], func(_ int, v float64) float64 { return v / math.Ln10 })
	if e.warnUnits(); len(e.Notes) != 1 || !strings.HasPrefix(e.Notes[0], "original/answers.npy: ") {
		t.Errorf("%q", e.Notes)
	}
}

// Sums over tokens whose numbers are not known are noted by the model's losses, which have no such multiple; a model whose
// losses are as much greater is not noted.
func TestSumsOfAnswersAreNotedByTheLosses(t *testing.T) {
	lengths := func(i int, v float64) float64 { return v * float64(5+7*(i%11)) }
	e := twins(3)
	change(e.Models[2], lengths)
	const want = "retrained-1/answers.npy: its numbers are "
	if e.warnUnits(); len(e.Notes) != 1 || !strings.HasPrefix(e.Notes[0], want) || !strings.Contains(e.Notes[0], "sums over tokens beside means") ||
		e.doubtOf("unlearned") == "" {
		t.Errorf("%q", e.Notes)
	}
	e = twins(3)
	for _, k := range []int{0, 1, 3} {
		change(e.Models[k], lengths)
	}
	if e.warnUnits(); len(e.Notes) != 1 || !strings.HasPrefix(e.Notes[0], want) || !strings.Contains(e.Notes[0], "means over tokens beside sums") {
		t.Errorf("the others are sums: %q", e.Notes)
	}
	e = twins(3)
	change(e.Models[0], lengths)
	for i := range e.Models[0].Losses {
		e.Models[0].Losses[i] = lengths(i, e.Models[0].Losses[i])
	}
	if e.warnUnits(); len(e.Notes) > 0 {
		t.Errorf("a model whose losses are greater too: %q", e.Notes)
	}
}

// Every array with numbers of records is looked at, each by its name, and answers with one other model too.
func TestEveryArrayInAnotherOrderIsDoubted(t *testing.T) {
	e := twins(4)
	e.Models[2].Answers = rolled(e.Models[2].Answers)
	e.warnOrder()
	said := strings.Join(e.Notes, "\n")
	for _, want := range []string{"its log-probabilities of right answers (answers.npy) have", "its mean log-probabilities of wrong answers (answers.npy) have"} {
		if len(e.Notes) != 2 || !strings.HasPrefix(said, "retrained-1: ") || !strings.Contains(said, "records "+want) || e.doubtOf("unlearned") == "" {
			t.Errorf("want %q: %q", want, e.Notes)
		}
	}
	e = twins(4)
	e.Models = e.Models[:2]
	e.Models[0].Answers = rolled(e.Models[0].Answers)
	if e.warnOrder(); len(e.Notes) != 2 || !strings.Contains(e.Notes[0], "whose losses go along with its losses") || e.doubtOf("unlearned") == "" {
		t.Errorf("one other model: %q", e.Notes)
	}
	for name, set := range map[string]func(m *Model, numbers []float64){
		"patched.npy":          func(m *Model, numbers []float64) { m.Patched = patchedLosses{unpatched{numbers, 2}} },
		"logprob_prefixed.npy": func(m *Model, numbers []float64) { m.Prefixed = oneToken(numbers) },
		"logprob_mean.npy": func(m *Model, numbers []float64) {
			m.Tokens = &language.Tokens{Offset: rowsOf(len(numbers) + 1), Mean: scaled(numbers, -1)}
		},
		"logprob_deviation.npy": func(m *Model, numbers []float64) {
			m.Tokens = &language.Tokens{Offset: rowsOf(len(numbers) + 1), Deviation: numbers}
		},
	} {
		s := drawTexts(9, 160)
		e := s.evidence(s.losses(quality{}))
		for _, m := range e.Models {
			set(m, s.losses(quality{}))
		}
		if e.warnOrder(); len(e.Notes) > 0 {
			t.Errorf("%s in order: %q", name, e.Notes)
		}
		set(e.Models[3], permuted(s.losses(quality{}), s.rng))
		if e.warnOrder(); len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "("+name+") have a rank correlation") || e.doubtOf("unlearned") == "" {
			t.Errorf("%s: %q", name, e.Notes)
		}
	}
}

// publishedEvidence is a folder of published logs, the first the unlearned model's.
func publishedEvidence(read map[string]*logs.TOFU, names []string) *Evidence {
	e := &Evidence{}
	for k, name := range names {
		var x array.Matrix[float64]
		m := &Model{Name: []string{"unlearned", "original", "retrained-1", "retrained-2"}[k], Answers: &language.Answers{}}
		m.Role = []Role{Unlearned, Original, Retrained, Retrained}[k]
		m.Losses, x = tofuArrays(read[name])
		for i := range x.Rows {
			row := slices.DeleteFunc(slices.Clone(x.Row(i)), math.IsNaN)
			m.Answers.Right, m.Answers.Wrong = append(m.Answers.Right, row[0]), append(m.Answers.Wrong, row[1:])
		}
		e.Records, e.Models = x.Rows, append(e.Models, m)
	}
	forget := read[names[0]].Forget.Questions()
	e.Forget, e.Retain = countFrom(0, forget), countFrom(forget, e.Records-forget)
	return e
}

// Published logs that can stand in one folder are of one unit and in one order, whichever is the unlearned model's; one whose
// answers were changed is doubted.
func TestPublishedAnswersAreDoubtedWhereTheyWereChanged(t *testing.T) {
	datatest.Dir(t)
	if !logs.Published().Present() {
		t.Skip("no published logs in the data folder")
	}
	for _, family := range []string{"phi", "llama2-7b"} {
		all, read := []string{"_full_wd0", "_full_wd0.01", "_retain90_wd0", "_retain90_wd0.01"}, map[string]*logs.TOFU{}
		for k := range all {
			all[k] = family + all[k]
			l, _, err := logs.LoadTOFU(t.Context(), all[k])
			must(t, err)
			read[all[k]] = l
		}
		for chosen := range 1 << len(all) {
			var names []string
			for k, name := range all {
				if chosen>>k&1 == 1 {
					names = append(names, name)
				}
			}
			for k := range names {
				if len(names) > 1 {
					checkPublished(t, read, slices.Concat(names[k:], names[:k]))
				}
			}
		}
	}
}

func checkPublished(t *testing.T, read map[string]*logs.TOFU, names []string) {
	t.Helper()
	notes := func(of int, edit func(m *Model)) int {
		e := publishedEvidence(read, names)
		edit(e.Models[of])
		e.warnUnits()
		if e.warnOrder(); (e.doubtOf("unlearned") != "") != (len(e.Notes) > 0) {
			t.Errorf("%v: notes %q, doubts %q", names, e.Notes, e.doubts)
		}
		return len(e.Notes)
	}
	if n := notes(0, func(*Model) {}); n > 0 {
		t.Errorf("%v: %d notes", names, n)
	}
	for _, of := range []int{0, len(names) - 1} {
		tokens := slices.Concat(read[names[of]].Forget.Tokens, read[names[of]].Retain.Tokens)
		for what, edit := range map[string]func(m *Model){
			"base 2":  func(m *Model) { change(m, func(_ int, v float64) float64 { return v / math.Ln2 }) },
			"base 10": func(m *Model) { change(m, func(_ int, v float64) float64 { return v / math.Ln10 }) },
			"sums":    func(m *Model) { change(m, func(i int, v float64) float64 { return v * float64(tokens[i]) }) },
			"rolled":  func(m *Model) { m.Answers = rolled(m.Answers) },
		} {
			if n, want := notes(of, edit), map[string]int{"rolled": 2}[what]; n != max(1, want) {
				t.Errorf("%v: %s of model %d: %d notes", names, what, of, n)
			}
		}
	}
}
