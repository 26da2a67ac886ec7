// What language models answer, as strings.

package judge

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/lethe-ml/lethe/datasets/logs"
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
	var asked trueAnswers
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
		if recall, ok := a.recallOf(name, b, &asked); ok {
			if a.e.recall == nil {
				a.e.recall = map[string][]float64{}
			}
			a.e.recall[m.Name] = recall
			a.addFile(name, "texts")
		}
	}
}

// trueAnswers are the true answers to the records by the files read so far: models that were asked other
// questions, or in another order, are not compared.
type trueAnswers struct {
	text, file []string // of every record the answer, and the file that it is from; empty: there is none yet
}

// compare returns what differs between the lines of a file and the files before it.
func (t *trueAnswers) compare(file string, lines []*generatedLine) (differ occurrences) {
	if t.file == nil {
		t.text, t.file = make([]string, len(lines)), make([]string, len(lines))
	}
	for i, line := range lines {
		switch {
		case line == nil:
		case t.file[i] == "":
			t.text[i], t.file[i] = *line.True, file
		case !logs.SameText(t.text[i], *line.True):
			differ.add(fmt.Sprintf("record %d has the true answer %q, and %q in %s", i, *line.True, t.text[i], t.file[i]))
		}
	}
	return differ
}

// recallOf returns the recall of every line; NaN where a line is null. Files of other true answers than asked are
// refused.
func (a *loader) recallOf(name string, b []byte, asked *trueAnswers) (recall []float64, ok bool) {
	lines, ok := a.generatedLines(name, b)
	if !ok {
		return nil, false
	}
	if differ := asked.compare(name, lines); differ.n > 0 {
		a.problems.add(name, "%s%s: all models must be asked the same, in one order", differ.first, differ.moreText())
		return nil, false
	}
	for _, line := range lines {
		if line == nil {
			recall = append(recall, math.NaN())
			continue
		}
		recall = append(recall, language.ROUGE{}.Recall(language.TrueText(*line.True), language.GeneratedText(*line.Generated)))
	}
	return recall, true
}

// generatedLines reads a line per record; nil for one that is null.
func (a *loader) generatedLines(name string, b []byte) (out []*generatedLine, ok bool) {
	lines := bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
	if len(lines) != a.e.Records {
		a.problems.add(name, "%d lines, and there are %d records: a line per record is expected, null where there is no answer", len(lines), a.e.Records)
		return nil, false
	}
	for i, text := range lines {
		var line *generatedLine
		switch err := files.DecodeStrict(text, &line); {
		case err != nil:
			err = files.DecodeStrict(append(bytes.Repeat([]byte("\n"), i), text...), &line) // with the line of the file
			a.problems.add(name, "record %d: %v", i, err)
			return nil, false
		case line != nil && (line.Generated == nil || line.True == nil):
			a.problems.add(name, `record %d: "generated" and "true" are expected, or null in place of both`, i)
			return nil, false
		}
		out = append(out, line)
	}
	return out, true
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
