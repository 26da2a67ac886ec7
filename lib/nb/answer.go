package nb

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Answer checks a reader's answer against a sealed one, so that a question with
// one right answer does not hold it in clear. The zero value of T means that
// nobody has answered yet, as in Exercise:
//
//	answer := 0.0 // your answer here
//	nb.Answer(1, answer, "0.001/e5b74e90", "what does a coin score?")
//
// A number is right within one step of the seal's number, a text whatever its
// capitals, hyphens and blanks at its ends. Seal makes the seal.
func Answer[T float64 | int | string](number int, answer T, seal, hint string) {
	Exercise(number, answer, answerMatches(number, answer, seal), hint)
}

// Seal seals the right answer of an exercise. A number is rounded to a multiple
// of step; of a text step is 0. The seal keeps the answer out of the sight of
// somebody who reads the cell, no more: who wants to try all answers can.
func Seal[T float64 | int | string](number int, answer T, step float64) string {
	text, isText := any(answer).(string)
	if isText {
		return digest(number, normalizeText(text))
	}
	return strconv.FormatFloat(step, 'g', -1, 64) + "/" + digest(number, roundToStep(answer, step, 0))
}

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

// roundToStep says how many steps a number is, and some more.
func roundToStep(answer any, step float64, more int) string {
	v, ok := answer.(float64)
	if !ok {
		v = float64(answer.(int))
	}
	return strconv.FormatFloat(math.Round(v/step)+float64(more), 'f', 0, 64)
}

func normalizeText(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToLower(text), "-", " "))
}

// digest is short: a wrong answer passes once in four thousand million times.
func digest(number int, answer string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "exercise %d: %s", number, answer))
	return hex.EncodeToString(sum[:4])
}
