package language

import (
	"errors"
	"fmt"
)

// Answers are the mean log-probabilities per token of a right answer and of wrong ones to each of n
// questions. The published programs take the right answer in other words for Right; on questions
// about real authors and the world, which have no paraphrase, the right answer itself.
type Answers struct {
	Right []float64   // n
	Wrong [][]float64 // n, of at least one each
}

// Check returns one list of all that is wrong: lengths that do not match, questions without a wrong
// answer, and values that are no logarithms of probabilities.
func (a Answers) Check() error {
	var list []error
	if len(a.Right) == 0 {
		list = append(list, errors.New("there are no questions"))
	}
	if len(a.Right) != len(a.Wrong) {
		list = append(list, fmt.Errorf("%d questions with a right answer, %d with wrong ones", len(a.Right), len(a.Wrong)))
	}
	for q, v := range a.Right {
		if what := notLogarithm(v); what != "" {
			list = append(list, fmt.Errorf("question %d: the right answer's log-probability is %s%s", q, what, withValue(what, v, false)))
		}
	}
	for q, wrong := range a.Wrong {
		if len(wrong) == 0 {
			list = append(list, fmt.Errorf("question %d has no wrong answer", q))
		}
		for k, v := range wrong {
			if what := notLogarithm(v); what != "" {
				list = append(list, fmt.Errorf("question %d: the log-probability of wrong answer %d is %s%s", q, k, what, withValue(what, v, false)))
			}
		}
	}
	return errors.Join(list...)
}

// Kind says what a document is to its question.
type Kind int

// The kinds of answers.
const (
	TrueAnswer  Kind = iota // the words that were trained on
	Paraphrase              // the right answer in other words
	WrongAnswer             // a wrong answer in the same words
)

// Place says which answer a document is.
type Place struct {
	Question int // from 0
	Kind     Kind
}

// Arrange makes Answers of tokens that hold one answer per document: places[d] is document d's.
// right says which kind counts as the right answer. Questions are numbered without a gap, each has one
// right answer, and wrong ones keep the documents' order.
func Arrange(t *Tokens, places []Place, right Kind) (Answers, error) {
	if right != TrueAnswer && right != Paraphrase {
		return Answers{}, fmt.Errorf("answers of kind %d are not right ones", right)
	}
	values, err := t.MeanLogProb()
	if err != nil {
		return Answers{}, err
	}
	if len(places) != len(values) {
		return Answers{}, fmt.Errorf("%d places for %d documents", len(places), len(values))
	}
	questions := 0
	for d, p := range places {
		if p.Question < 0 || p.Question >= len(places) || p.Kind < TrueAnswer || p.Kind > WrongAnswer {
			return Answers{}, fmt.Errorf("document %d: question %d of %d documents, kind %d", d, p.Question, len(places), p.Kind)
		}
		questions = max(questions, p.Question+1)
	}
	a, found := Answers{Right: make([]float64, questions), Wrong: make([][]float64, questions)}, make([]int, questions)
	for d, p := range places {
		switch p.Kind {
		case right:
			a.Right[p.Question] = values[d]
			found[p.Question]++
		case WrongAnswer:
			a.Wrong[p.Question] = append(a.Wrong[p.Question], values[d])
		}
	}
	var list []error
	for q, n := range found {
		if n != 1 {
			list = append(list, fmt.Errorf("question %d has %d right answers, want 1", q, n))
		}
	}
	if len(list) == 0 {
		list = append(list, a.Check())
	}
	if err := errors.Join(list...); err != nil {
		return Answers{}, err
	}
	return a, nil
}
