// What comparisons of two logs need to know of their questions.

package logs

import (
	"fmt"
	"strings"
)

// SameQuestions says whether two sets, of two models, hold the same questions in the same order, as
// comparisons of pairs need: true answers are compared without spaces, which tokenizers move;
// prompts are not, since every model has its own. The forget sets of TOFU's retrained models are
// different people.
func SameQuestions(a, b TOFUSet) error {
	if a.Questions() != b.Questions() {
		return fmt.Errorf("%d questions, and %d in the other set", a.Questions(), b.Questions())
	}
	for q := range a.Questions() {
		if x, y := a.Texts[q].True, b.Texts[q].True; withoutSpaces(x) != withoutSpaces(y) {
			return fmt.Errorf("question %d has the true answer %q, and %q in the other set", q, x, y)
		}
	}
	return nil
}

func withoutSpaces(text string) string { return strings.Join(strings.Fields(text), "") }

// Authors returns the author of each of n questions of Forget or Retain, for tests that respect
// groups: TOFU asks perAuthor questions, 20 as published, about one author after another.
func Authors(n, perAuthor int) ([]int, error) {
	if n < 1 || perAuthor < 1 || n%perAuthor != 0 {
		return nil, fmt.Errorf("%d questions are not whole authors of %d", n, perAuthor)
	}
	out := make([]int, n)
	for q := range out {
		out[q] = q / perAuthor
	}
	return out, nil
}
