// The learning of a vocabulary from texts.

package bpe

import (
	"fmt"
	"slices"
	"strings"
)

// minOccurrences is how often a pair of tokens must occur to become a token.
const minOccurrences = 2

// MinTokens is the size of a vocabulary without a merge: End and the bytes.
const MinTokens = 257

// Learn returns a vocabulary of at most size tokens for texts: End, the bytes in the order of their
// letters, then again and again the pair of neighbours that occurs most often in the words of the
// texts, at least twice. Of pairs that occur equally often the one with the lower first number, then
// second number, comes first. It depends on the texts only, not on their order. Errors name the
// text, counted from 0.
//
// It is the training of Hugging Face's BpeTrainer (tokenizers 0.23.3, with the alphabet of all
// bytes and a least frequency of 2), but for one thing: a pair whose text is a token already stays
// two tokens.
func Learn(texts []string, size int) (*Vocabulary, error) {
	if size < MinTokens || size > MaxTokens {
		return nil, fmt.Errorf("a vocabulary of %d tokens; possible are %d to %d", size, MinTokens, MaxTokens)
	}
	entries := []string{End}
	for _, r := range slices.Sorted(slices.Values(lettersOfBytes[:])) {
		entries = append(entries, string(r))
	}
	base, err := New(entries)
	if err != nil {
		return nil, err
	}
	l, err := newLearner(texts, base)
	if err != nil {
		return nil, err
	}
	for len(entries) < size {
		pair, found := l.best()
		if !found {
			break
		}
		entries = append(entries, l.tokens[pair[0]]+" "+l.tokens[pair[1]])
		l.merge(pair)
	}
	return New(entries)
}

// learner has the distinct words of the texts as pieces, and how often pairs of pieces occur.
type learner struct {
	words  [][]int32
	counts []int // of the words
	tokens []string
	known  map[string]bool
	pairs  map[[2]int32]int
	in     map[[2]int32][]int // words that a pair was in
}

func newLearner(texts []string, base *Vocabulary) (*learner, error) {
	counts := map[string]int{}
	for i, text := range texts {
		if err := checkUTF8(text); err != nil {
			return nil, fmt.Errorf("text %d: %w", i, err)
		}
		for _, w := range Words(text) {
			counts[w]++
		}
	}
	l := &learner{known: map[string]bool{}, pairs: map[[2]int32]int{}, in: map[[2]int32][]int{}}
	for i := range base.Size() {
		l.tokens = append(l.tokens, base.Token(i))
		l.known[base.Token(i)] = true
	}
	for word, n := range counts {
		var pieces []int32
		for i := range len(word) {
			pieces = append(pieces, base.bytes[word[i]])
		}
		l.words, l.counts = append(l.words, pieces), append(l.counts, n)
		l.count(len(l.words)-1, n)
	}
	return l, nil
}

// count adds n for every pair of a word.
func (l *learner) count(word, n int) {
	pieces := l.words[word]
	for i := 1; i < len(pieces); i++ {
		p := [2]int32{pieces[i-1], pieces[i]}
		l.pairs[p] += n
		if n > 0 {
			l.in[p] = append(l.in[p], word)
		}
	}
}

// best returns the pair that occurs most often.
func (l *learner) best() (best [2]int32, found bool) {
	most := minOccurrences - 1
	for p, n := range l.pairs {
		if n < most || n < minOccurrences || n == most && slices.Compare(p[:], best[:]) > 0 || l.known[l.tokens[p[0]]+l.tokens[p[1]]] {
			continue
		}
		best, most, found = p, n, true
	}
	return best, found
}

// merge makes a pair a token in all words.
func (l *learner) merge(pair [2]int32) {
	token := strings.Join([]string{l.tokens[pair[0]], l.tokens[pair[1]]}, "")
	number := int32(len(l.tokens))
	l.tokens, l.known[token] = append(l.tokens, token), true
	words := l.in[pair]
	slices.Sort(words)
	for _, w := range slices.Compact(words) {
		l.count(w, -l.counts[w])
		l.words[w] = replaced(l.words[w], pair, number)
		l.count(w, l.counts[w])
	}
	delete(l.pairs, pair)
	delete(l.in, pair)
}
