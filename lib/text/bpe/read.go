// The reading of Hugging Face's files.

package bpe

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

// maxFile is the largest file that is read; GPT-2's have 1 MB and 0.5 MB.
const maxFile = 1 << 26

// Read reads a vocabulary from Hugging Face's vocab.json and merges.txt, such as GPT-2's. Every
// token but the bytes and End must have one line of merges.txt, and their numbers must be in the
// order of these lines. Errors name the file, and the line or the token.
func Read(vocabulary, merges string) (*Vocabulary, error) {
	b, err := files.Read(vocabulary, maxFile)
	if err != nil {
		return nil, err
	}
	lines, err := files.Read(merges, maxFile)
	if err != nil {
		return nil, err
	}
	var numbers map[string]int
	if err := json.Unmarshal(b, &numbers); err != nil {
		return nil, fmt.Errorf("%s: %w", vocabulary, err)
	}
	entries := make([]string, len(numbers))
	for token, number := range numbers {
		if number < 0 || number >= len(entries) || entries[number] != "" {
			return nil, fmt.Errorf("%s: the token %q has the number %d; numbers go from 0 to %d, each once", vocabulary, token, number, len(entries)-1)
		}
		entries[number] = token
	}
	if err := addMerges(entries, numbers, string(lines)); err != nil {
		return nil, fmt.Errorf("%s: %w", merges, err)
	}
	v, err := New(entries)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", vocabulary, merges, err)
	}
	return v, nil
}

// addMerges puts a space between the parts of the tokens that lines of merges.txt make.
func addMerges(entries []string, numbers map[string]int, lines string) error {
	before := -1
	for i, line := range strings.Split(strings.TrimSuffix(lines, "\n"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if i == 0 && strings.HasPrefix(line, "#version") {
			continue
		}
		number, known := numbers[strings.Replace(line, " ", "", 1)]
		switch {
		case strings.Count(line, " ") != 1:
			return fmt.Errorf("line %d: %q is no pair of tokens", i+1, line)
		case !known:
			return fmt.Errorf("line %d: what %q becomes is no token of the vocabulary", i+1, line)
		case number <= before:
			return fmt.Errorf("line %d: %q becomes token %d, and the line before it token %d: only numbers in the order of the lines are understood",
				i+1, line, number, before)
		}
		entries[number], before = line, number
	}
	return nil
}
