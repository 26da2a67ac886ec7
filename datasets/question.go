package datasets

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Question is a question with its right answer, of a record that is that answer. What is not known
// is empty.
type Question struct {
	Text   string // the question
	Answer string // what a model is trained on
	// Value is what is to be known, in the words of every right answer: "Tromsø".
	Value string
	// Paraphrase is the answer in other words, and Wrong are wrong answers in the words of Paraphrase.
	Paraphrase string
	Wrong      []string
}

// Answered reports whether a text is a right answer: whether it has the value as whole words, or, of
// a question without a value, whether it is the answer. A text that names a wrong value too is right
// all the same.
func (q Question) Answered(text string) bool {
	if q.Value == "" {
		return strings.TrimSpace(text) == strings.TrimSpace(q.Answer)
	}
	for from := 0; ; {
		at := strings.Index(text[from:], q.Value)
		if at < 0 {
			return false
		}
		begin := from + at
		before, _ := utf8.DecodeLastRuneInString(text[:begin])
		after, _ := utf8.DecodeRuneInString(text[begin+len(q.Value):])
		if !isWordRune(before) && !isWordRune(after) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[begin:])
		from = begin + size
	}
}

// isWordRune reports whether a rune is part of a word or a number.
func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsNumber(r))
}
