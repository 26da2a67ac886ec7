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
		if x, y := a.Texts[q].True, b.Texts[q].True; !SameText(x, y) {
			return fmt.Errorf("question %d has the true answer %q, and %q in the other set", q, x, y)
		}
	}
	return nil
}

// SameTokens says whether two sets of the same questions (SameQuestions) have true answers of as many
// tokens and as many wrong answers, as comparisons of losses need: models of other tokenizers do not.
func SameTokens(a, b TOFUSet) error {
	for q := range a.Questions() {
		if a.Tokens != nil && b.Tokens != nil && a.Tokens[q] != b.Tokens[q] {
			return fmt.Errorf("the true answer to question %d has %d tokens, and %d in the other set: the models have other tokenizers",
				q, a.Tokens[q], b.Tokens[q])
		}
		if x, y := len(a.Wrong[q]), len(b.Wrong[q]); x != y {
			return fmt.Errorf("question %d has %d wrong answers, and %d in the other set", q, x, y)
		}
	}
	return nil
}

// SameText says whether two texts are one but for spaces, which tokenizers move.
func SameText(a, b string) bool { return withoutSpaces(a) == withoutSpaces(b) }

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
