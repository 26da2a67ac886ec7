// The learning of a small vocabulary from texts.

package wordpiece

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Learn returns a vocabulary of at most size tokens for texts: the special tokens, then the
// characters that begin or continue a word, then whole words, then ends of the other words.
// It depends on the texts only, not on their order.
//
// Characters come by number of occurrences and take at most half of the room, so that texts
// in a script of many characters leave some to [UNK]. Words take at most two thirds of the
// rest. Of words, and of ends of words with two characters or more, those come first that
// save the most tokens against single characters: occurrences times (characters - 1). Ties
// are in the order of the tokens' bytes.
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
	tokens := appendBest(slices.Clone(specials), characterCounts(words), (size-len(specials)+1)/2)
	first := len(tokens)
	tokens = appendBest(tokens, saved(words), (2*(size-len(tokens))+2)/3)
	for _, word := range tokens[first:] {
		delete(words, word)
	}
	tokens = appendBest(tokens, savedByEnds(words), size-len(tokens))
	return New(tokens)
}

// characterCounts returns how often a character begins or continues a word.
func characterCounts(words map[string]int) map[string]int {
	out := map[string]int{}
	for word, n := range words {
		for i, r := range word {
			if i == 0 {
				out[string(r)] += n
			} else {
				out[continued+string(r)] += n
			}
		}
	}
	return out
}

// saved returns the number of tokens that a word of two characters or more saves.
func saved(words map[string]int) map[string]int {
	out := map[string]int{}
	for word, n := range words {
		if characters := utf8.RuneCountInString(word); characters > 1 {
			out[word] = n * (characters - 1)
		}
	}
	return out
}

// savedByEnds is saved for the ends of words.
func savedByEnds(words map[string]int) map[string]int {
	out := map[string]int{}
	for word, n := range words {
		left := utf8.RuneCountInString(word)
		for i := range word {
			if i > 0 && left > 1 {
				out[continued+word[i:]] += n * (left - 1)
			}
			left--
		}
	}
	return out
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
