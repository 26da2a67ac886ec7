package datasets

import "fmt"

// translate replaces the codes of some columns by names, in place. A missing value is kept; a code
// without a name is an error.
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
