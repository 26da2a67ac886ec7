// The learning of a small vocabulary from texts.

package wordpiece

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Learn returns a vocabulary of at most size tokens for texts: the special tokens, then the
// characters that begin or continue a word, then whole words and the ends of words. It
// depends on the texts only, not on their order.
//
// Characters come by number of occurrences and take at most half of the room, so that texts
// in a script of many characters leave some to [UNK]. Of the words and ends of words with two
// characters or more, those come first that save the most tokens against single characters:
// occurrences times (characters - 1). Ties are in the order of the tokens' bytes.
//
// This is not the training of BERT's published vocabulary, which merges pairs of pieces; it
// is for networks that are trained from random weights.
func Learn(texts []string, size int) (*Vocabulary, error) {
	if size <= len(specials) || size > MaxTokens {
		return nil, fmt.Errorf("a vocabulary of %d tokens; possible are %d to %d", size, len(specials)+1, MaxTokens)
	}
	words := map[string]int{}
	for i, text := range texts {
		if err := checkUTF8(text); err != nil {
			return nil, fmt.Errorf("text %d: %w", i, err)
		}
		for _, w := range Words(text) {
			if utf8.RuneCountInString(w) <= maxWord {
				words[w]++
			}
		}
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%d texts have no word to learn a vocabulary from", len(texts))
	}
	characters, pieces := map[string]int{}, map[string]int{}
	for word, n := range words {
		count(word, n, characters, pieces)
	}
	tokens := slices.Clone(specials)
	tokens = appendBest(tokens, characters, (size-len(specials)+1)/2)
	tokens = appendBest(tokens, pieces, size-len(tokens))
	return New(tokens)
}

// count adds a word that occurs n times: its characters, and what its whole and its ends save.
func count(word string, n int, characters, pieces map[string]int) {
	total := utf8.RuneCountInString(word)
	k := 0
	for i, r := range word {
		character, end := string(r), word[i:]
		if i > 0 {
			character, end = continued+character, continued+end
		}
		characters[character] += n
		if left := total - k; left > 1 {
			pieces[end] += n * (left - 1)
		}
		k++
	}
}

// appendBest appends the most valuable tokens, at most room.
func appendBest(tokens []string, value map[string]int, room int) []string {
	all := make([]string, 0, len(value))
	for token := range value {
		all = append(all, token)
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(value[b], value[a]), cmp.Compare(a, b))
	})
	return append(tokens, all[:min(room, len(all))]...)
}
