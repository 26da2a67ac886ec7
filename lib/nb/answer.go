// Exercises with one right answer, which the notebook holds as a hash only.

package nb

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Answer checks a reader's answer against a sealed one, so that the notebook does not show
// the right answer. The zero value of T means "not answered yet", as in Exercise:
//
//	answer := 0.0 // your answer here
//	nb.Answer(1, answer, "0.001/e5b74e90", "what does a coin score?")
//
// A number is right if it lies within one step of the sealed number. A text is compared
// without regard to case, hyphens and surrounding blanks. Seal makes the seal.
func Answer[T float64 | int | string](number int, answer T, seal, hint string) {
	Exercise(number, answer, answerMatches(number, answer, seal), hint)
}

// Seal returns the seal of the right answer of an exercise. A number is rounded to a
// multiple of step; for a text step is 0. The seal only hides the answer from a reader of
// the cell: trying all answers finds it.
func Seal[T float64 | int | string](number int, answer T, step float64) string {
	text, isText := any(answer).(string)
	if isText {
		return digest(number, normalizeText(text))
	}
	return strconv.FormatFloat(step, 'g', -1, 64) + "/" + digest(number, roundToStep(answer, step, 0))
}

// answerMatches reports whether answer has this seal.
func answerMatches[T float64 | int | string](number int, answer T, seal string) bool {
	if text, isText := any(answer).(string); isText {
		return seal == digest(number, normalizeText(text))
	}
	before, want, _ := strings.Cut(seal, "/")
	step, err := strconv.ParseFloat(before, 64)
	if err != nil || !(step > 0) {
		return false
	}
	for _, off := range []int{-1, 0, 1} {
		if want == digest(number, roundToStep(answer, step, off)) {
			return true
		}
	}
	return false
}

// roundToStep returns the number of whole steps in a number, plus more, in decimal.
func roundToStep(answer any, step float64, more int) string {
	v, ok := answer.(float64)
	if !ok {
		v = float64(answer.(int))
	}
	return strconv.FormatFloat(math.Round(v/step)+float64(more), 'f', 0, 64)
}

// normalizeText returns a text in lower case, with blanks for hyphens and none at its ends.
func normalizeText(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToLower(text), "-", " "))
}

// digest returns the first 32 bits of a SHA-256 in hexadecimal. A wrong answer passes with
// probability 2^-32.
func digest(number int, answer string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "exercise %d: %s", number, answer))
	return hex.EncodeToString(sum[:4])
}
