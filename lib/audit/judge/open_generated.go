// What language models answer, as strings.

package judge

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// generatedFile is the file in a model's folder with what it answers: a line of JSON per record.
const generatedFile = "generated.jsonl"

// maxGenerated bounds the size of such a file in bytes.
const maxGenerated = 1 << 28

// generatedLine is what a model answers to a record, and the true answer.
type generatedLine struct {
	Generated *string `json:"generated"`
	True      *string `json:"true"`
}

// generatedFiles returns the names of such files in a folder.
func (c *Config) generatedFiles(folder string) (names []string) {
	for _, group := range c.models() {
		for _, m := range *group.of {
			if name := filepath.Join(filepath.FromSlash(m.Name), generatedFile); exists(filepath.Join(folder, name)) {
				names = append(names, name)
			}
		}
	}
	return names
}

// loadGenerated reads the ROUGE-L recall of what the models of the folder answer, where they say it.
func (a *loader) loadGenerated() {
	for _, m := range a.e.Models {
		name := filepath.Join(filepath.FromSlash(m.Name), generatedFile)
		b, err := files.Read(a.path(name), maxGenerated)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			a.problems.add(name, "%v", withoutPath(err))
			continue
		}
		if recall, ok := a.recallOf(name, b); ok {
			if a.e.recall == nil {
				a.e.recall = map[string][]float64{}
			}
			a.e.recall[m.Name] = recall
			a.addFile(name, "texts")
		}
	}
}

// recallOf returns the recall of every line; NaN where a line is null.
func (a *loader) recallOf(name string, b []byte) (recall []float64, ok bool) {
	lines := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	if len(lines) != a.e.Records {
		a.problems.add(name, "%d lines, and there are %d records: a line per record is expected, null where there is no answer", len(lines), a.e.Records)
		return nil, false
	}
	for i, text := range lines {
		var line *generatedLine
		switch err := files.DecodeStrict(text, &line); {
		case err != nil:
			a.problems.add(name, "record %d: %v", i, err)
			return nil, false
		case line == nil:
			recall = append(recall, math.NaN())
		case line.Generated == nil || line.True == nil:
			a.problems.add(name, `record %d: "generated" and "true" are expected, or null in place of both`, i)
			return nil, false
		default:
			recall = append(recall, language.ROUGE{}.Recall(language.TrueText(*line.True), language.GeneratedText(*line.Generated)))
		}
	}
	return recall, true
}

// addFile records a file that is no array.
func (a *loader) addFile(name, what string) {
	f, err := fileOf(a.path(name))
	if err != nil {
		a.problems.add(name, "%v", withoutPath(err))
		return
	}
	f.Name, f.Array = filepath.ToSlash(name), what
	a.e.Files = append(a.e.Files, f)
}
