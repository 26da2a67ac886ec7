// Folders of arrays from TOFU's published logs.

package judge

import (
	"errors"
	"fmt"
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

// WriteTOFU writes what TOFU's logs say of models as a folder that Open reads: losses of the true
// answers, answers (the paraphrase and the wrong ones), the sets of forgotten and retained questions,
// and their authors, in groups of 20 questions. Logs have no held-out questions of the same kind.
// Models have the names of folders, such as "unlearned" and "retrained-1". It returns the files,
// relative to the folder. It refuses a folder with an audit.json, models without "unlearned", and
// logs of other questions than the unlearned model's.
func WriteTOFU(folder string, models map[string]*logs.TOFU) (written []string, err error) {
	if exists(filepath.Join(folder, "audit.json")) {
		return nil, fmt.Errorf("%s: there is an audit.json, which may say otherwise; name a new folder", folder)
	}
	first := models["unlearned"]
	if first == nil {
		return nil, errors.New("no log of the unlearned model: unlearned=FILE")
	}
	for _, name := range sortedKeys(models) {
		for what, sets := range map[string][2]logs.TOFUSet{"forget": {first.Forget, models[name].Forget}, "retain": {first.Retain, models[name].Retain}} {
			if err := logs.SameQuestions(sets[0], sets[1]); err != nil {
				return nil, fmt.Errorf("%s set of unlearned and %s: %w", what, name, err)
			}
		}
	}
	forget, retain := first.Forget.Questions(), first.Retain.Questions()
	authors, err := logs.Authors(forget, tofuQuestions)
	if err != nil {
		return nil, fmt.Errorf("forget set: %w", err)
	}
	others, err := logs.Authors(retain, tofuQuestions)
	if err != nil {
		return nil, fmt.Errorf("retain set: %w", err)
	}
	for _, a := range others {
		authors = append(authors, authors[forget-1]+1+a)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	add := func(name string, write func(path string) error) error {
		written = append(written, name+".npy")
		path := filepath.Join(folder, filepath.FromSlash(name)+".npy")
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), write(path))
	}
	for name, rows := range map[string][]int{"forget": countFrom(0, forget), "retain": countFrom(forget, retain), "group": authors} {
		if err := add(name, func(path string) error { return npy.WriteIndices(path, rows) }); err != nil {
			return nil, err
		}
	}
	for _, name := range sortedKeys(models) {
		losses, answers := tofuArrays(models[name])
		err := errors.Join(add(name+"/losses", func(path string) error { return npy.WriteVector(path, losses) }),
			add(name+"/answers", func(path string) error { return npy.Write(path, answers) }))
		if err != nil {
			return nil, err
		}
	}
	return written, files.WriteFile(filepath.Join(folder, "audit.json"), []byte(`{"group_unit": "author"}`+"\n"))
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

func countFrom(first, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = first + i
	}
	return out
}

// ReadTOFU reads the logs of models by their names.
func ReadTOFU(paths map[string]string) (map[string]*logs.TOFU, error) {
	out := map[string]*logs.TOFU{}
	for _, name := range sortedKeys(paths) {
		if err := CheckName(name); err != nil {
			return nil, err
		}
		t, err := logs.ReadTOFU(paths[name])
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s=%s: there is no such file", name, paths[name])
		}
		if err != nil {
			return nil, err
		}
		out[name] = t
	}
	return out, nil
}
