package language

import "strings"

// ROUGE is ROUGE-L recall (Lin 2004) of an answer against the true one: the length of the longest
// sequence of words that both have in the same order, over the number of words of the true answer.
//
//	recall = LCS(truth, generated)/words of truth
//
// As in rouge_score 0.1.2 with use_stemmer=True, which TOFU and open-unlearning call, words are runs of
// a-z and 0-9 of the text in lower case, and those of more than three characters are reduced to
// their stem by NLTK's PorterStemmer. Null: the retrained model's. Direction: higher is more like
// the true answer. 0 if either text has no word, as letters of other scripts are none.
//
// Lower case is Python's: of the letters whose lower case is not one letter, U+0130 alone has a part
// in a-z, an i that ends a word there.
type ROUGE struct {
	NoStemmer bool // rouge_score's own default
}

// TrueText and GeneratedText are the two roles of a text, which ROUGE does not treat alike.
type (
	TrueText      string
	GeneratedText string
)

// Recall returns the value of one answer, in [0, 1].
func (r ROUGE) Recall(truth TrueText, generated GeneratedText) float64 {
	want, got := r.words(string(truth)), r.words(string(generated))
	if len(want) == 0 || len(got) == 0 {
		return 0
	}
	return float64(longestCommon(want, got)) / float64(len(want))
}

// words returns the words of a text.
func (r ROUGE) words(text string) []string {
	text = strings.ToLower(strings.ReplaceAll(text, "\u0130", "i "))
	words := strings.FieldsFunc(text, func(c rune) bool { return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9') })
	if r.NoStemmer {
		return words
	}
	for i, w := range words {
		if len(w) > 3 {
			words[i] = stem(w)
		}
	}
	return words
}

// longestCommon returns the length of the longest common subsequence, in memory for one row.
func longestCommon(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}
