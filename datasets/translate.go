package datasets

import "fmt"

// translate replaces the codes of some columns by their words, in place. A
// missing value stays; a code without a word is an error.
func translate(record []string, words map[int]map[string]string, file string, line int) error {
	for j, text := range record {
		dictionary, ok := words[j]
		if !ok || text == missing {
			continue
		}
		word, ok := dictionary[text]
		if !ok {
			return fmt.Errorf("datasets: %s:%d: column %d: unknown code %q", file, line, j+1, clip(text))
		}
		record[j] = word
	}
	return nil
}
