// Which files of a folder hold which arrays, found by their standard names or named by a config.

package judge

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/files"
)

// layout says where all files are: a Config whose files are relative to dir.
type layout struct {
	dir string
	Config
	named      *Config // by a config; nothing where there is none
	config     string  // its file, relative to dir; empty: there is none
	problems   *Problems
	unexpected []Problem // arrays without a place, unless a config names them
}

// findLayout looks for the standard names in a folder and replaces them by what a config says. One
// of folder and config may be empty.
func findLayout(folder, config string) (*layout, error) {
	l := &layout{dir: folder, problems: &Problems{Folder: folder}}
	if folder == "" {
		l.dir, l.problems.Folder = filepath.Dir(config), config
	} else if err := l.discover(); err != nil {
		return nil, err
	}
	if config == "" && exists(filepath.Join(folder, "audit.json")) {
		config = filepath.Join(folder, "audit.json")
	}
	c := &Config{}
	if config != "" {
		var err error
		if c, err = readConfig(config); err != nil {
			l.problems.add(filepath.Base(config), "%v", withoutPath(err))
			c = &Config{}
		}
	}
	if l.config = config; config != "" {
		if rel, err := filepath.Rel(l.dir, config); err == nil {
			l.config = rel
		}
	}
	l.named = c.relativeTo(l.dir, filepath.Dir(config))
	l.overlay(l.named)
	l.checkNames()
	for _, p := range l.unexpected {
		if !c.namesFile(p.File) && !c.namesModelsLike(p.File) {
			l.problems.List = append(l.problems.List, p)
		}
	}
	return l, nil
}

// checkNames refuses names with control characters or invalid UTF-8. Names are printed in reports
// and on terminals, where control characters are commands and a line end starts a new line.
func (l *layout) checkNames() {
	check := func(what, name string) {
		if !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			l.problems.add("", "the %s %q holds control characters, or is no text", what, name)
		}
	}
	check("group_unit", l.GroupUnit)
	check("question", strings.NewReplacer("\n", " ", "\t", " ").Replace(l.Question))
	for _, name := range l.allFiles() {
		check("file", name)
	}
	for _, group := range l.models() {
		for _, m := range *group.of {
			check("model", m.Name)
			for _, name := range sortedKeys(m.Activations) {
				check("activation", name)
			}
		}
	}
}

// namesFile reports whether a config names a file, or a file inside a folder.
func (c *Config) namesFile(path string) bool {
	found := false
	c.eachFiles(func(f *Files) {
		for _, name := range *f {
			found = found || name == path || strings.HasPrefix(name, path+string(filepath.Separator))
		}
	})
	return found
}

// namesModelsLike reports whether a config names the files of the models that have a path's folder:
// then that folder is not read as a model, whatever else lies in it.
func (c *Config) namesModelsLike(path string) bool {
	folder, _, _ := strings.Cut(filepath.ToSlash(path), "/")
	word := roleName.FindStringSubmatch(folder)
	if word == nil {
		return false
	}
	for _, group := range c.models() {
		if group.role == Role(word[1]) {
			return *group.of != nil
		}
	}
	return false
}

// eachFiles calls visit for every list of files.
func (c *Config) eachFiles(visit func(f *Files)) {
	for _, f := range c.files() {
		visit(f)
	}
	for _, group := range c.models() {
		for i := range *group.of {
			m := &(*group.of)[i]
			for _, f := range m.files() {
				visit(f)
			}
			for name, f := range m.Activations {
				visit(&f)
				m.Activations[name] = f
			}
		}
	}
}

// allFiles returns the names of all files, sorted.
func (c *Config) allFiles() (names []string) {
	c.eachFiles(func(f *Files) { names = append(names, *f...) })
	slices.Sort(names)
	return names
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// withoutPath returns an error without the path, which is already printed before it.
func withoutPath(err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		return inner.Err
	}
	return err
}

// files returns the files that the folder itself may hold, by their names.
func (c *Config) files() map[string]*Files {
	return map[string]*Files{"labels": &c.Labels, "forget": &c.Forget, "retain": &c.Retain, "heldout": &c.HeldOut, "group": &c.Group,
		offsetArray: &c.Offset, "zlib": &c.Zlib, inputArray: &c.Inputs, inputTokenArray: &c.InputTokens, inputOffsetArray: &c.InputOffset}
}

// models returns the models of every role.
func (c *Config) models() []struct {
	role Role
	of   *Models
} {
	return []struct {
		role Role
		of   *Models
	}{{Unlearned, &c.Unlearned}, {Original, &c.Original}, {Retrained, &c.Retrained}, {Checkpoint, &c.Checkpoints}, {Quantised, &c.Quantised},
		{Shadow, &c.Shadows}, {ReferenceModel, &c.References}}
}

func (m *ModelFiles) files() map[string]*Files {
	return map[string]*Files{"outputs": &m.Outputs, "logits": &m.Logits, "probabilities": &m.Probabilities,
		"losses": &m.Losses, "embedding": &m.Embedding, "in": &m.In,
		"logprob": &m.LogProb, "logprob_mean": &m.Mean, "logprob_deviation": &m.Deviation, "correct": &m.Correct, "logprob_prefixed": &m.Prefixed,
		"answers": &m.Answers, "patched": &m.Patched}
}

// relativeTo makes the files of a config, which are relative to from, relative to dir.
func (c *Config) relativeTo(dir, from string) *Config {
	c.eachFiles(func(f *Files) {
		for i, name := range *f {
			if name == Rest || filepath.IsAbs(name) {
				continue
			}
			path := filepath.Join(from, filepath.FromSlash(name))
			if rel, err := filepath.Rel(dir, path); err == nil {
				path = rel
			} else if whole, err := filepath.Abs(path); err == nil { // one of the two is relative
				path = whole
			}
			(*f)[i] = path
		}
	})
	return c
}

func (l *layout) overlay(c *Config) {
	l.Question, l.Date, l.GroupUnit, l.GroupsMayMix = c.Question, c.Date, c.GroupUnit, c.GroupsMayMix
	mine := l.files()
	for name, f := range c.files() {
		if *f != nil {
			*mine[name] = *f
		}
	}
	to := l.models()
	for i, group := range c.models() {
		for k, m := range *group.of {
			if m.Name == "" {
				(*group.of)[k].Name = string(group.role)
				if len(*group.of) > 1 {
					(*group.of)[k].Name += fmt.Sprintf("-%d", k+1)
				}
			}
		}
		if *group.of != nil {
			*to[i].of = *group.of
		}
	}
}

// roles are the names of models without their numbers.
var roles = []string{"unlearned", "original", "retrained", "checkpoint", "quantised", "shadow", "reference"}

// roleName matches the folders of models: unlearned, retrained-2, retrained_b, shadow7, shadows.
var roleName = regexp.MustCompile(`^(` + strings.Join(roles, "|") + `)s?([-_. ].*|[0-9]+)?$`)

// roleNames are examples of each role.
var roleNames = []string{"unlearned", "original", "retrained", "checkpoint-1", "quantised-int4", "shadow-1", "reference"}

// discover looks for the standard names. An array in an unknown place is a problem, because it
// would otherwise be ignored silently.
func (l *layout) discover() error {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return err
	}
	files := l.files()
	for _, entry := range entries {
		name := entry.Name()
		switch word, array := strings.CutSuffix(name, ".npy"); {
		case strings.HasPrefix(name, "."):
		case array && files[word] != nil:
			*files[word] = Files{name}
		case array:
			l.addUnexpected(name, "no array of this name is known%s", suggestion(word, sortedKeys(files)))
		case isDir(filepath.Join(l.dir, name)):
			l.addFolder(name)
		case capitalEnding(name):
			l.addUnexpected(name, "the names of arrays end in .npy%s", endingSuggestion(name, sortedKeys(files)))
		case files[strings.ToLower(stem(name))] != nil:
			l.otherFormat(name)
		}
	}
	for _, group := range l.models() {
		slices.SortStableFunc(*group.of, func(a, b ModelFiles) int { return compareNatural(a.Name, b.Name) })
	}
	return nil
}

func (l *layout) addUnexpected(file, format string, args ...any) {
	l.unexpected = append(l.unexpected, Problem{file, fmt.Sprintf(format, args...)})
}

// capitalEnding reports whether a file's name ends in .npy in other capitals: such files are not read.
func capitalEnding(path string) bool {
	end := filepath.Ext(path)
	return end != ".npy" && strings.EqualFold(end, ".npy")
}

// endingSuggestion is suggestion for a file with a capitalEnding.
func endingSuggestion(path string, known []string) string {
	word := stem(path)
	if k := nearest(word, known); k != "" {
		return fmt.Sprintf("; did you mean %s.npy?", k)
	}
	return suggestion(word, known)
}

// otherFormat reports files such as heldout.npz and Labels.csv, which are not read.
func (l *layout) otherFormat(path string) {
	l.addUnexpected(path, "arrays are read from %s.npy alone, as numpy.save writes them", stem(path))
}

// stem returns a file's name up to its first dot.
func stem(path string) string {
	word, _, _ := strings.Cut(filepath.Base(path), ".")
	return word
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// addFolder adds a folder of one model, or of one folder per model.
func (l *layout) addFolder(name string) {
	word := roleName.FindStringSubmatch(filepath.Base(name))
	if word == nil {
		if name != reportFolder && holdsArrays(filepath.Join(l.dir, name)) {
			l.addUnexpected(name, "holds arrays, and no model has this name%s", roleSuggestion(name))
		}
		return
	}
	m, inner := l.readModelFolder(name)
	if m == nil && len(inner) == 0 {
		l.problems.add(name, "an empty model: there is no .npy file in it")
		return
	}
	for _, sub := range inner {
		one, _ := l.readModelFolder(sub)
		if one == nil {
			l.problems.add(sub, "an empty model: there is no .npy file in it")
			continue
		}
		l.addModel(Role(word[1]), *one)
	}
	if m != nil {
		l.addModel(Role(word[1]), *m)
	}
}

func (l *layout) addModel(r Role, m ModelFiles) {
	for _, group := range l.models() {
		if group.role == r {
			*group.of = append(*group.of, m)
		}
	}
}

// readModelFolder reads a model's folder; nil: it holds no array. inner are folders that may be
// models themselves.
func (l *layout) readModelFolder(name string) (m *ModelFiles, inner []string) {
	entries, err := os.ReadDir(filepath.Join(l.dir, name))
	if err != nil {
		l.problems.add(name, "%v", withoutPath(err))
		return nil, nil
	}
	m = &ModelFiles{Name: filepath.ToSlash(name), Activations: map[string]Files{}}
	files, found := m.files(), false
	for _, entry := range entries {
		path := filepath.Join(name, entry.Name())
		switch word, array := strings.CutSuffix(entry.Name(), ".npy"); {
		case strings.HasPrefix(entry.Name(), "."):
		case array && files[word] != nil:
			*files[word], found = Files{path}, true
		case array:
			found = true
			l.addUnexpected(path, "no array of a model has this name%s", suggestion(word, sortedKeys(files)))
		case entry.Name() == "activations":
			l.activations(m, path)
			found = true
		case isDir(filepath.Join(l.dir, path)):
			inner = append(inner, path)
		case capitalEnding(path):
			found = true
			l.addUnexpected(path, "the names of arrays end in .npy%s", endingSuggestion(path, sortedKeys(files)))
		case files[strings.ToLower(stem(path))] != nil:
			found = true
			l.otherFormat(path)
		}
	}
	if !found {
		return nil, inner
	}
	for _, sub := range inner {
		if holdsArrays(filepath.Join(l.dir, sub)) {
			l.addUnexpected(sub, "a folder of arrays inside a model; named activations lie in %s", filepath.Join(name, "activations"))
		}
	}
	return m, nil
}

func (l *layout) activations(m *ModelFiles, dir string) {
	entries, err := os.ReadDir(filepath.Join(l.dir, dir))
	if err != nil {
		l.problems.add(dir, "%v", withoutPath(err))
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		switch word, array := strings.CutSuffix(entry.Name(), ".npy"); {
		case strings.HasPrefix(word, "."):
		case array:
			m.Activations[word] = Files{path}
		case isDir(filepath.Join(l.dir, path)):
			l.addUnexpected(path, "named activations are .npy files, and no folder")
		default:
			l.otherFormat(path)
		}
	}
}

func holdsArrays(dir string) bool {
	found, err := files.List(dir, "", ".npy")
	return err == nil && len(found) > 0
}

// compareNatural orders shadow-2 before shadow-10, and checkpoint-0.5 before checkpoint-1.
func compareNatural(a, b string) int {
	wordA, x := numberedName(a)
	wordB, y := numberedName(b)
	return cmp.Or(cmp.Compare(wordA, wordB), cmp.Compare(x, y), cmp.Compare(a, b))
}

// numberedName splits a model's name into its word and the number at its end; -1: it has none.
func numberedName(name string) (word string, number float64) {
	start := len(strings.TrimRight(name, "0123456789."))
	number, err := strconv.ParseFloat(name[start:], 64)
	if err != nil {
		return name, -1
	}
	return name[:start], number
}

// suggestion names the known name that a wrong one resembles most, or else all known names.
func suggestion(word string, known []string) string {
	if k := nearest(word, known); k != "" {
		return fmt.Sprintf("; did you mean %s?", k)
	}
	return "; there are " + strings.Join(known, ", ")
}

// nearest returns the known name that resembles a word, of several the one whose length is nearest; empty: there
// is none.
func nearest(word string, known []string) string {
	best, distance := "", 0
	for _, k := range known {
		if d := max(len(k)-len(word), len(word)-len(k)); datasets.Similar(word, k) && (best == "" || d < distance) {
			best, distance = k, d
		}
	}
	return best
}

// roleSuggestion is suggestion for the folder of a model, of which it keeps the number: checkpoint-3 for chekpoint-3.
func roleSuggestion(name string) string {
	end := strings.IndexAny(name, "-_. 0123456789")
	if end < 0 {
		end = len(name)
	}
	if role := nearest(name[:end], roles); role != "" && roleName.MatchString(role+name[end:]) {
		return fmt.Sprintf("; did you mean %s?", role+name[end:])
	}
	return suggestion(name, roleNames)
}
