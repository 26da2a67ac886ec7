// Opening a folder of arrays as evidence: headers, shapes and hashes are checked,
// all problems listed.

package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Options are the options of OpenWith.
type Options struct {
	Config string // audit.json, where it does not lie in the folder
	Seed   uint64 // of all random numbers of lenses
}

// Open reads and checks a folder of arrays. If something is wrong with it, the error is a
// *Problems, which lists everything.
//
// Memory: five numbers of 8 bytes per record and model, and one file at a time.
func Open(folder string) (*Evidence, error) { return OpenWith(folder, Options{}) }

// OpenWith is Open with options. The folder may be empty if a config names all files.
func OpenWith(folder string, opt Options) (*Evidence, error) {
	defer progress.Begin("reading the folder", 0).Done()
	l, err := findLayout(folder, opt.Config)
	if err != nil {
		return nil, err
	}
	e := &Evidence{Folder: l.problems.Folder, Question: l.Question, Date: l.Date}
	e.Seed = opt.Seed
	a := &loader{layout: l, e: e, infos: map[string]npy.Info{}}
	a.checkDate()
	a.loadHeaders()
	a.loadSets()
	a.loadGroups()
	a.loadLabels()
	a.loadOffsets()
	a.loadCompressed()
	a.loadInputs()
	a.checkQuantised()
	a.loadModels()
	a.fillPatched()
	a.sameAnswers()
	a.hashFiles()
	a.loadGenerated()
	if len(l.problems.List) > 0 {
		return nil, l.problems
	}
	a.e.addWarnings()
	a.e.leaveOutCopies()
	return a.e, nil
}

// checkDate refuses an invalid date.
func (a *loader) checkDate() {
	if _, err := time.Parse(dateFormat, a.Date); a.Date != "" && err != nil {
		a.problems.add("audit.json", "date is %q; a day such as %s is expected", a.Date, dateFormat)
	}
}

// loader turns files into evidence and collects everything that is wrong.
type loader struct {
	*layout
	e     *Evidence
	infos map[string]npy.Info // of every file that has a readable header
	// offsets are where the tokens of every record begin, and the end; nil: none.
	offsets []int
	order   []string // the files of infos, in the order of reading
}

// recordArray is an array with a row per record.
type recordArray struct {
	what  string
	files Files
	dims  int // 1 or 2
}

func (a *loader) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.dir, name)
}

// recordArrays returns the arrays that have a row per record.
func (c *Config) recordArrays() []recordArray {
	out := []recordArray{{"labels", c.Labels, 1}, {groupArray, c.Group, 1}, {offsetArray, c.Offset, 1}, {"zlib", c.Zlib, 1},
		{inputArray, c.Inputs, 2}, {inputOffsetArray, c.InputOffset, 1}}
	for _, group := range c.models() {
		for _, m := range *group.of {
			for _, word := range sortedKeys(m.files()) {
				switch f := *m.files()[word]; {
				case word == "in", slices.Contains(tokenArrays, word):
				case word == "losses":
					out = append(out, recordArray{word, f, 1})
				default:
					out = append(out, recordArray{word, f, 2})
				}
			}
			for _, name := range sortedKeys(m.Activations) {
				out = append(out, recordArray{"activations", m.Activations[name], 2})
			}
		}
	}
	return slices.DeleteFunc(out, func(c recordArray) bool { return len(c.files) == 0 })
}

// loadHeaders reads the header of every file and sets the number of records to the one that most
// arrays have.
func (a *loader) loadHeaders() {
	votes := map[int]int{}
	total := map[int]int{} // place in claims -> rows
	claims := a.recordArrays()
	for k, c := range claims {
		n, ok := 0, true
		for _, name := range c.files {
			info, fine := a.headerOf(name, c.what)
			if ok = ok && fine && a.checkShape(name, c, info); ok {
				n += info.Shape[0]
			}
		}
		if c.what == offsetArray || c.what == inputOffsetArray {
			n-- // it ends with an end
		}
		if ok {
			total[k] = n
			votes[n]++
		}
	}
	best, such := 0, ""
	for k, c := range claims {
		if n, ok := total[k]; ok && votes[n] > votes[best] {
			best, such = n, strings.Join(c.files, " + ")
		}
	}
	a.e.Records = best
	for k, c := range claims {
		if n, ok := total[k]; ok && n != best {
			a.problems.add(strings.Join(c.files, " + "), "%d rows; %d of %d arrays have %d, %s among them: row i must be the same record in all of "+
				"them", n, votes[best], len(total), best, such)
		}
	}
	empty := func(p Problem) bool { return strings.HasPrefix(p.File, string(Unlearned)) }
	if len(a.Unlearned) == 0 && !slices.ContainsFunc(a.problems.List, empty) {
		a.problems.add("", "there is no unlearned model: a folder unlearned/ with outputs.npy, embedding.npy, losses.npy or logprob.npy")
	}
}

// header returns the header of a file of numbers and remembers it.
func (a *loader) header(name string) (npy.Info, bool) { return a.headerOf(name, "") }

// headerOf is header for an array of a kind; groups may be text.
func (a *loader) headerOf(name, what string) (npy.Info, bool) {
	if info, ok := a.infos[name]; ok {
		return info, true
	}
	read := npy.ReadInfo
	if what == groupArray {
		read = npy.ReadLabelInfo
	}
	info, err := read(a.path(name))
	if err != nil {
		a.problems.add(name, "%s", a.textWithoutPath(name, err))
		return info, false
	}
	a.infos[name] = info
	a.order = append(a.order, name)
	return info, true
}

// textWithoutPath returns an error's text without the path, which is already printed before it.
func (a *loader) textWithoutPath(name string, err error) string {
	if errors.Is(err, os.ErrNotExist) {
		return "there is no such file"
	}
	return strings.TrimPrefix(err.Error(), a.path(name)+": ")
}

// checkShape refuses arrays that are not numbers of the expected number of dimensions.
func (a *loader) checkShape(name string, c recordArray, info npy.Info) bool {
	shape := info.Shape
	switch {
	case c.what == "labels" && len(shape) == 2 && shape[1] > 1:
		a.problems.add(name, "labels of shape %s: one class per record is expected; save y.argmax(axis=1)", info)
	case c.what != "labels" && c.what != groupArray && info.Kind() == 'b':
		a.problems.add(name, "%s are bools, numbers are expected", c.what)
	case c.dims == 2 && len(shape) == 1 && info.Kind() != 'f':
		a.problems.add(name, "%s of shape %s look like predicted classes; a column per class is needed", c.what, info)
	case c.dims == 2 && len(shape) != 2:
		a.problems.add(name, "%s of shape %s, expected (records, columns); save x.reshape(len(x), -1)", c.what, info)
	case c.dims == 1 && !isVector(info):
		a.problems.add(name, "%s of shape %s, expected one number per record", c.what, info)
	case shape[0] == 0 || shape[len(shape)-1] == 0:
		a.problems.add(name, "%s of shape %s: there is nothing in it", c.what, info)
	case isOutput(c.what) && shape[1] == 1:
		a.problems.add(name, "one column; save a column per class, of two classes numpy.column_stack([1 - p, p]) of the second one's "+
			"probability p, or numpy.column_stack([numpy.zeros_like(z), z]) of its logit z")
	default:
		return true
	}
	return false
}

func isOutput(what string) bool {
	return what == "outputs" || what == "logits" || what == "probabilities"
}

// hashFiles records hash, size and date of every file, the config among them.
func (a *loader) hashFiles() {
	if a.config != "" {
		if f, err := fileOf(a.path(a.config)); err == nil { // a config that is no file was refused before
			f.Name, f.Array = filepath.ToSlash(a.config), configFile
			a.e.Files = append(a.e.Files, f)
		}
	}
	along := a.checkpointFiles()
	task := progress.Begin("hashing files", len(a.order))
	defer task.Done()
	for _, name := range a.order {
		task.Add(1)
		f, err := fileOf(a.path(name))
		if err != nil {
			a.problems.add(name, "%v", withoutPath(err))
			continue
		}
		f.Name, f.Array, f.checkpoint = filepath.ToSlash(name), a.infos[name].String(), along[name]
		a.e.Files = append(a.e.Files, f)
	}
	for _, m := range a.e.Models {
		for _, name := range a.filesOf(m.Name) {
			if k := slices.IndexFunc(a.e.Files, func(f File) bool { return f.Name == filepath.ToSlash(name) }); k >= 0 && a.e.Files[k].modified.After(m.Saved) {
				m.Saved = a.e.Files[k].modified
			}
		}
	}
}

// configFile stands for the array of a file that is a config.
const configFile = "names files"

// filesOf returns the files of a model.
func (a *loader) filesOf(model string) (out []string) {
	for _, group := range a.Config.models() {
		for _, m := range *group.of {
			if m.Name != model {
				continue
			}
			for _, f := range m.files() {
				out = append(out, *f...)
			}
			for _, f := range m.Activations {
				out = append(out, f...)
			}
		}
	}
	return out
}

// checkpointFiles returns the files of checkpoints.
func (a *loader) checkpointFiles() map[string]bool {
	out := map[string]bool{}
	for _, m := range a.Checkpoints {
		for _, f := range m.files() {
			for _, name := range *f {
				out[name] = true
			}
		}
	}
	return out
}

// fileOf returns a file's size, hash and time of writing.
func fileOf(path string) (File, error) {
	f, err := files.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		return File{}, fmt.Errorf("read %s: %w", path, err)
	}
	return File{Bytes: size, SHA256: hex.EncodeToString(h.Sum(nil)), modified: info.ModTime()}, nil
}
