// Folders of arrays from TOFU's published logs.

package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/lethe-ml/lethe/datasets/logs"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/files"
)

// tofuQuestions is the number of questions that TOFU asks about an author.
const tofuQuestions = 20

// WriteTOFU writes what logs of the TOFU benchmark, its own or open-unlearning's, say of models as a new
// folder that Open reads: losses of the true answers, answers (the paraphrase and the wrong ones), what
// the model generated, the sets of forgotten and retained questions,
// and their authors, in groups of 20 questions. Logs have no held-out questions of the same kind.
// Models have the names of folders, such as "unlearned" and "retrained-1". It returns the files,
// relative to the folder. It refuses a folder that holds something, models without "unlearned", and
// logs of other questions than the unlearned model's. The folder is complete or absent.
func WriteTOFU(folder string, models map[string]*logs.TOFU) (written []string, err error) {
	if entries, err := os.ReadDir(folder); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s holds files already; audit them without the logs, or name a new folder", folder)
	}
	if err := checkTOFU(models); err != nil {
		return nil, err
	}
	sets, err := tofuSets(models["unlearned"])
	if err != nil {
		return nil, err
	}
	err = files.WriteFolder(folder, func(dir string) error {
		written, err = writeTOFU(dir, sets, models)
		return err
	})
	return written, err
}

// writeTOFU writes sets and models into a folder that is there.
func writeTOFU(dir string, sets map[string][]int, models map[string]*logs.TOFU) (written []string, err error) {
	at := func(name string) string {
		written = append(written, name+".npy")
		return filepath.Join(dir, filepath.FromSlash(name)+".npy")
	}
	for _, name := range sortedKeys(sets) {
		if err := npy.WriteIndices(at(name), sets[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range sortedKeys(models) {
		losses, answers := tofuArrays(models[name])
		err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.FromSlash(name)), 0o755),
			npy.WriteVector(at(name+"/losses"), losses), npy.Write(at(name+"/answers"), answers))
		if err == nil {
			err = writeGenerated(filepath.Join(dir, filepath.FromSlash(name)), models[name])
			written = append(written, name+"/"+generatedFile)
		}
		if err != nil {
			return nil, err
		}
	}
	return written, files.WriteFile(filepath.Join(dir, "audit.json"), []byte(`{"group_unit": "author"}`+"\n"))
}

// checkTOFU refuses models without an unlearned one, and logs of other questions, tokenizers or numbers
// of wrong answers than its. open-unlearning's logs hold no numbers of tokens, so that another tokenizer is not seen there.
func checkTOFU(models map[string]*logs.TOFU) error {
	first := models["unlearned"]
	if first == nil {
		return errors.New("no log of the unlearned model: unlearned=FILE")
	}
	var list []error
	for _, name := range sortedKeys(models) {
		for _, set := range []struct {
			name         string
			first, other logs.TOFUSet
		}{{"forget", first.Forget, models[name].Forget}, {"retain", first.Retain, models[name].Retain}} {
			err := logs.SameQuestions(set.first, set.other)
			if err == nil {
				err = logs.SameTokens(set.first, set.other)
			}
			if err != nil {
				list = append(list, fmt.Errorf("%s set of %s and %s: %w", set.name, logName("unlearned", first), logName(name, models[name]), err))
			}
		}
	}
	return errors.Join(list...)
}

// logName names a model and the file of its log, as they are given.
func logName(model string, t *logs.TOFU) string {
	if t.Path == "" {
		return model
	}
	return model + "=" + t.Path
}

// tofuSets returns the rows of the two sets, the forgotten questions first, and the author of every
// question.
func tofuSets(t *logs.TOFU) (map[string][]int, error) {
	forget, retain := t.Forget.Questions(), t.Retain.Questions()
	authors, err := logs.Authors(forget, tofuQuestions)
	if err != nil {
		return nil, fmt.Errorf("forget set of %s: %w", logName("unlearned", t), err)
	}
	others, err := logs.Authors(retain, tofuQuestions)
	if err != nil {
		return nil, fmt.Errorf("retain set of %s: %w", logName("unlearned", t), err)
	}
	for _, a := range others {
		authors = append(authors, authors[forget-1]+1+a)
	}
	return map[string][]int{"forget": countFrom(0, forget), "retain": countFrom(forget, retain), "group": authors}, nil
}

// tofuArrays returns the losses of the forgotten and the retained questions, and the mean
// log-probabilities of their answers.
func tofuArrays(t *logs.TOFU) (losses []float64, answers array.Matrix[float64]) {
	sets, columns, rows := []logs.TOFUSet{t.Forget, t.Retain}, 1, 0
	for _, s := range sets {
		losses = append(losses, s.True...)
		rows += s.Questions()
		for _, wrong := range s.Wrong {
			columns = max(columns, 1+len(wrong))
		}
	}
	answers, rows = array.New[float64](rows, columns), 0
	for _, s := range sets {
		for q, right := range s.Paraphrase {
			row := answers.Row(rows)
			rows++
			row[0] = -right
			for k := range row[1:] {
				row[1+k] = math.NaN()
				if k < len(s.Wrong[q]) {
					row[1+k] = -s.Wrong[q][k]
				}
			}
		}
	}
	return losses, answers
}

// writeGenerated writes what a model answers, and the true answers.
func writeGenerated(dir string, t *logs.TOFU) error {
	return files.Write(filepath.Join(dir, generatedFile), func(w io.Writer) error {
		lines := json.NewEncoder(w)
		for _, s := range []logs.TOFUSet{t.Forget, t.Retain} {
			for _, text := range s.Texts {
				if err := lines.Encode(generatedLine{Generated: &text.Generated, True: &text.True}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func countFrom(first, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = first + i
	}
	return out
}

// ReadTOFU reads TOFU's own logs of models by their names.
func ReadTOFU(paths map[string]string) (map[string]*logs.TOFU, error) {
	return readLogs(paths, logs.ReadTOFU)
}

// ReadOpenUnlearning reads open-unlearning's logs of models, files or folders, by the models' names.
func ReadOpenUnlearning(paths map[string]string) (map[string]*logs.TOFU, error) {
	return readLogs(paths, logs.ReadOpenUnlearning)
}

// readLogs reads every log, and names all that are wrong.
func readLogs(paths map[string]string, read func(path string) (*logs.TOFU, error)) (map[string]*logs.TOFU, error) {
	out, list := map[string]*logs.TOFU{}, []error(nil)
	for _, name := range sortedKeys(paths) {
		if err := CheckName(name); err != nil {
			list = append(list, err)
			continue
		}
		t, err := read(paths[name])
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s=%s: there is no such file%s", name, paths[name], insideFolder(err, paths[name]))
		}
		if err != nil {
			list = append(list, err)
		}
		out[name] = t
	}
	if err := errors.Join(list...); err != nil {
		return nil, err
	}
	return out, nil
}

// insideFolder names the file that a folder lacks; empty where it is the path itself that is not there.
func insideFolder(err error, path string) string {
	var lacks *fs.PathError
	if !errors.As(err, &lacks) || filepath.Clean(lacks.Path) == filepath.Clean(path) {
		return ""
	}
	return fmt.Sprintf(" as %s in this folder", filepath.Base(lacks.Path))
}
