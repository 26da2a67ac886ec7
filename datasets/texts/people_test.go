// Tests of the generated people.

package texts

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func people(t *testing.T, n int, seed uint64) []Fact {
	t.Helper()
	out, err := People(n, rand.New(rand.NewPCG(seed, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGeneratedPeopleAreAsTheySay(t *testing.T) {
	s, err := Load(t.Context(), "generated_people")
	if err != nil {
		t.Fatal(err)
	}
	if want := "d70d14e0a3f30c4f4cc36baf63cdfec4c6c44741eb70a0b31251ca6c7a77b353"; s.Hash != want {
		t.Errorf("the hash is %s, want %s: the generated set must never change", s.Hash, want)
	}
	facts, err := GeneratedPeople()
	if err != nil || len(facts) != 1200 || len(s.Documents) != 1200 {
		t.Fatalf("%d facts, %d documents, %v", len(facts), len(s.Documents), err)
	}
	groups := map[string]int{}
	for i, d := range s.Documents {
		f := facts[i]
		groups[d.Group]++
		if d.Question != f.Question || d.Text != f.Answer || d.Group != f.Person || d.Label != f.Topic {
			t.Fatalf("document %d is %+v, its fact %+v", i, d, f)
		}
	}
	for person, n := range groups {
		if n != QuestionsPerPerson() || n != 20 {
			t.Errorf("%d questions about %s", n, person)
		}
	}
	if len(groups) != 60 {
		t.Errorf("%d people", len(groups))
	}
}

// Every answer names its person and its value; the wrong ones are the paraphrase but for the value.
func TestAWrongAnswerDiffersInTheValueAlone(t *testing.T) {
	for _, f := range people(t, 40, 3) {
		for what, text := range map[string]string{"answer": f.Answer, "paraphrase": f.Paraphrase} {
			if !strings.Contains(text, f.Person) || !strings.Contains(text, f.Value) {
				t.Errorf("the %s to %q is %q, and the value %q", what, f.Question, text, f.Value)
			}
		}
		if !strings.Contains(f.Question, f.Person) || !strings.HasSuffix(f.Question, "?") || strings.Contains(f.Question+f.Answer+f.Paraphrase, "%!") || f.Answer == f.Paraphrase {
			t.Errorf("%+v", f)
		}
		before, after, _ := strings.Cut(f.Paraphrase, f.Value)
		known := map[string]bool{f.Paraphrase: true}
		for _, w := range f.Wrong {
			if known[w] || !strings.HasPrefix(w, before) || !strings.HasSuffix(w, after) {
				t.Errorf("the wrong answer %q to %q, whose right one is %q", w, f.Question, f.Paraphrase)
			}
			known[w] = true
		}
	}
}

// Whoever knows all other people's facts, and guesses the value that is most frequent among those
// with the same wording, is right in few cases; so is whoever guesses a value by a first or a last
// name.
func TestAnAnswerCannotBeGuessedFromItsQuestion(t *testing.T) {
	facts := people(t, 300, 4)
	for what, clue := range map[string]func(f Fact) string{
		"wording":    func(f Fact) string { return strings.Replace(f.Question, f.Person, "X", 1) },
		"topic":      func(f Fact) string { return f.Topic },
		"first name": func(f Fact) string { return f.Topic + strings.Fields(f.Person)[0] },
		"last name":  func(f Fact) string { return f.Topic + strings.Fields(f.Person)[1] },
	} {
		counts := map[string]map[string]int{}
		for _, f := range facts {
			if counts[clue(f)] == nil {
				counts[clue(f)] = map[string]int{}
			}
			counts[clue(f)][f.Value]++
		}
		right := 0
		for _, f := range facts {
			mine, most := counts[clue(f)][f.Value]-1, 0
			for v, n := range counts[clue(f)] {
				if v != f.Value {
					most = max(most, n)
				}
			}
			right += oneIf(mine > most)
		}
		if share := float64(right) / float64(len(facts)); share > 0.06 {
			t.Errorf("by the %s %.3f of the answers are guessed", what, share)
		}
	}
}

func TestPeopleFollowFromTheSeed(t *testing.T) {
	a, b, c := people(t, 30, 5), people(t, 30, 5), people(t, 30, 6)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("the seed does not decide all")
	}
	if !slices.Equal(people(t, 40, 5)[:len(a)], a) {
		t.Error("more people change the first ones")
	}
	names, questions := map[string]bool{}, map[string]bool{}
	for _, f := range people(t, maxPeople, 7) {
		names[f.Person] = true
		if questions[f.Question] {
			t.Fatalf("%q is asked twice", f.Question)
		}
		questions[f.Question] = true
	}
	if len(names) != maxPeople {
		t.Errorf("%d names", len(names))
	}
	for _, n := range []int{0, -1, maxPeople + 1} {
		if _, err := People(n, rand.New(rand.NewPCG(1, 1))); err == nil || !strings.Contains(err.Error(), "possible are 1 to 2000") {
			t.Errorf("%d people: %v", n, err)
		}
	}
}
