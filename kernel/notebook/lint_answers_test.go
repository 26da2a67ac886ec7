// Tests of lint_answers.go.

package notebook

import "testing"

func TestAnswersInClearAreFound(t *testing.T) {
	for code, want := range map[string]bool{
		`nb.Exercise(1, answer, answer == "no", "try (it)")`:                              true,
		`nb.Exercise(1, answer, math.Abs(answer-0.5*0.4/200) < 1e-6, "x")`:                true,
		`nb.Exercise(1, answer, answer > 0.21 && answer < 0.22, "x")`:                     true,
		`nb.Exercise(1, answer, math.Abs(answer-ratio) < 0.1, "x")`:                       false,
		`nb.Exercise(2, epochs, share < 0.5 && share > 0, fmt.Sprintf("%.2f (left)", a))`: false,
		`nb.Exercise(2, answer, luck(answer) < 0.1 && answer <= 260, "x")`:                false,
		`nb.Answer(1, answer, "0.001/e5b74e90", "x")`:                                     false,
		`nb.Exercise(`: false,
	} {
		l := &linter{path: "x", nb: &Notebook{Cells: []Cell{{Kind: Code, Source: "%%\nanswer := 0.0\n" + code}}}}
		l.answers()
		if got := len(l.problems) == 1; got != want {
			t.Errorf("%s: %v", code, l.problems)
		}
	}
}
