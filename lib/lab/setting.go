// Settings of experiments and the names made of them.

package lab

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/internal/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Setting says which model has to forget which records. The zero value is RULER's main
// experiment: its network on Breast Cancer, 50 epochs of Adam, and a random 5 % of the
// train part to forget.
type Setting struct {
	DataSet string // "": breast_cancer
	MaxRows int    // greatest number of rows, 0: all; for an image set, training images
	// TestRows is the number of test images of an image set, 0: all. For a table the test
	// part is a fifth of the rows.
	TestRows int
	// Cells says how a set of single cells is prepared; it is ignored for other data.
	Cells cells.Preparation
	// Fraction of the train part is forgotten, drawn with ForgetSeed.
	Fraction   float64 // 0: 0.05
	ForgetSeed uint32  // 0: 999
	// Planted names a group that the data set's generator planted, such as "outliers"; its
	// rows in the train part are forgotten instead.
	Planted string
	// Class names a class; its records in the train part are forgotten instead.
	Class string
	// Scattered forgets this many random records of the train part instead: the first of a
	// permutation by RandomState(ForgetSeed), by default 42, of the train part in the order
	// in which it was drawn (cells.Split.Scattered).
	Scattered int
	// Series forgets the last of a series of sets of these sizes instead: the rarest
	// classes as a whole, filled up with random records of the next one
	// (cells.Split.Series).
	Series []int
	// Backdoor plants a backdoor in the train part and forgets its records instead; nil:
	// none.
	Backdoor *Backdoor
	// Shards splits the train part between the users of a federation and forgets what one
	// of them requests instead; nil: no federation.
	Shards *Shards
	// Pixels leaves the pixels of images between 0, black, and 1: they are not normalised.
	Pixels bool
	// ShadowSplit is the model's place among shadow models; nil: it is none.
	ShadowSplit *ShadowSplit
	Seed        int          // draws the initial weights and dropout
	Fit         train.Config // its seed is Seed
	// Goal is what the training minimises; nil: Labels.
	Goal Goal
	// Arch builds the network for a number of features and classes; nil: RULER's MLP.
	Arch func(features, classes int) model.Architecture
	// Augment crops and flips images in training.
	Augment bool
	// Keep are the epochs, ascending and before the last, after which checkpoints of every
	// training are kept. nil: for images the start of the last epoch, which some methods
	// need; for tables none.
	Keep []int
}

// withDefaults replaces every zero by its default.
func (s Setting) withDefaults() Setting {
	if s.DataSet == "" {
		s.DataSet = "breast_cancer"
	}
	switch {
	case s.hasNamedForgetSet(): // the group fixes the forget set
		s.Fraction, s.ForgetSeed = 0, 0
	case s.Scattered != 0:
		s.Fraction, s.ForgetSeed = 0, cmp.Or(s.ForgetSeed, CellsSeed)
	case s.Backdoor != nil, s.Shards != nil:
		s.Fraction, s.ForgetSeed = 0, cmp.Or(s.ForgetSeed, ForgetSeed)
	default:
		s.Fraction, s.ForgetSeed = cmp.Or(s.Fraction, 0.05), cmp.Or(s.ForgetSeed, ForgetSeed)
	}
	if s.HasCells() {
		s.Cells = s.Cells.WithDefaults()
	} else {
		s.Cells = cells.Preparation{}
	}
	if s.Arch == nil {
		s.Arch = func(f, c int) model.Architecture { return tabular.MLP{Features: f, Outputs: c} }
	}
	if s.Backdoor != nil {
		b := s.Backdoor.withDefaults()
		s.Backdoor = &b
	}
	if s.Shards != nil {
		h := s.Shards.withDefaults()
		s.Shards = &h
	}
	if s.ShadowSplit != nil {
		half := *s.ShadowSplit
		half.Seed = cmp.Or(half.Seed, ShadowSplitSeed)
		s.ShadowSplit = &half
	}
	s.Goal = goalWithDefaults(s.Goal)
	s.Fit = s.Fit.WithDefaults()
	s.Fit.Seed = 0 // each model has its own
	if s.Keep == nil && s.HasImages() && s.Fit.Epochs > 1 && s.Shards.forTraining() == nil {
		s.Keep = []int{s.Fit.Epochs - 1}
	}
	if info, err := datasets.Lookup(s.DataSet); err == nil && info.Rows <= s.MaxRows {
		s.MaxRows = 0
	}
	return s
}

// reseeded returns a setting (with defaults) whose seeds are shifted; see Lab.Shift.
func (s Setting) reseeded(shift int) Setting {
	s.Seed += shift
	if !s.hasNamedForgetSet() {
		s.ForgetSeed += uint32(shift)
	}
	if s.ShadowSplit != nil {
		half := *s.ShadowSplit
		half.Seed += uint32(shift)
		s.ShadowSplit = &half
	}
	return s
}

// hasNamedForgetSet reports whether the forget set is a named group, which no seed draws.
func (s Setting) hasNamedForgetSet() bool {
	return s.Planted != "" || s.Class != "" || len(s.Series) > 0
}

// HasImages reports whether the data are images.
func (s Setting) HasImages() bool {
	_, err := images.Lookup(s.DataSet)
	return err == nil
}

// HasCells reports whether the data are single cells.
func (s Setting) HasCells() bool {
	_, err := cells.Lookup(s.DataSet)
	return err == nil
}

// dataInfo returns what is known of the data before a file is read.
func (s Setting) dataInfo() (datasets.Info, error) {
	for _, lookup := range []func(string) (datasets.Info, error){images.Lookup, cells.Lookup} {
		if info, err := lookup(s.DataSet); err == nil {
			return info, nil
		}
	}
	return datasets.Lookup(s.DataSet)
}

// trainRecords returns the number of records of the train part without reading its files.
func (s Setting) trainRecords(info datasets.Info) int {
	switch n := info.Rows - info.TestRows; {
	case s.HasImages() && s.MaxRows > 0:
		return min(n, s.MaxRows)
	case s.HasImages():
		return n
	case s.HasCells():
		return int(s.Cells.WithDefaults().TrainFraction * float64(n))
	case s.MaxRows > 0:
		return int((1 - TestFraction) * float64(min(n, s.MaxRows)))
	default:
		return int((1 - TestFraction) * float64(n))
	}
}

// coordinates are hashed into the ID of a model: all that is known without the data. Two
// models with equal coordinates are the same work. The JSON names are recorded and must not
// change.
type coordinates struct {
	DataSet           string
	MaxRows, TestRows int
	Cells             *cells.Preparation `json:",omitempty"`
	Backdoor          *Backdoor          `json:",omitempty"`
	Pixels            bool               `json:",omitempty"`
	Network           namedConfig
	Fit               train.Config
	Goal              namedConfig
	Augment           bool
	Keep              []int
	Rows              Rows         `json:"Origin"`
	Forget            any          // nil where a model is trained on all records
	ShadowSplit       *ShadowSplit `json:"Half,omitempty"`
	Shards            *Shards      `json:",omitempty"`
	Seed              int
	Method            *namedConfig
	Version           int
	Code              []string `json:",omitempty"` // hashes of code from outside this module
}

// namedConfig is an interface value together with its name.
type namedConfig struct {
	Name    string `json:"name"`
	Version int    `json:"version,omitempty"`
	Setting any    `json:"setting"`
}

// ID returns the name of the work that makes a model: readable settings and a hash of all
// others. It needs no data.
func (s Setting) ID(o ModelSpec) (string, error) {
	s = s.withDefaults()
	info, err := s.dataInfo()
	if err != nil {
		return "", err
	}
	features, classes := info.Features, info.ClassCount()
	var prepared *cells.Preparation
	switch {
	case s.HasImages():
		features = info.Shape[0] * info.Shape[1] * info.Shape[2]
	case s.HasCells():
		if features, classes, prepared = s.Cells.Variable.Top, classes+1, &s.Cells; s.Cells.Types {
			features += classes
		}
	}
	arch := s.Arch(features, classes)
	arch = defaults.InForce(arch, arch.WithDefaults())
	c := coordinates{
		DataSet: s.DataSet, MaxRows: s.MaxRows, TestRows: s.TestRows, Cells: prepared, Network: namedConfig{Name: arch.Name(), Setting: arch},
		Fit: s.Fit, Goal: goalKey(s.Goal), Augment: s.Augment, Keep: s.Keep, Rows: o.Rows, Seed: o.Seed,
		ShadowSplit: s.ShadowSplit, Shards: s.Shards.forTraining(), Backdoor: s.Backdoor, Pixels: s.Pixels,
	}
	kind, set := "train", string(o.Rows)
	asked := o.Rows == RetainedRecords || o.Method != nil || s.ShadowSplit != nil
	if asked {
		c.Shards = s.Shards
	}
	if asked || s.Backdoor != nil || c.Shards != nil {
		forget := []any{s.Planted + s.Class, s.Fraction, s.ForgetSeed}
		if s.Scattered != 0 || len(s.Series) > 0 {
			forget = append(forget, s.Scattered, s.Series)
		}
		c.Forget = forget
	}
	switch {
	case o.Rows == RetainedRecords:
		set = "without-" + s.forgetSetName()
	case s.ShadowSplit != nil:
		set = "half-of-" + s.ShadowSplit.assignedName(s.forgetSetName())
	}
	end := ""
	if m := o.Method; m != nil {
		kind, set, end = "unlearn", s.forgetSetName(), "/"+m.Name()
		c.Method, c.Version = &namedConfig{Name: m.Name(), Setting: defaults.InForce(m, m.WithDefaults())}, unlearn.VersionOf(m)
	}
	b, err := json.Marshal(c)
	if err == nil {
		c.Code, err = store.CodeOf(c)
	}
	if err == nil && c.Code != nil {
		b, err = json.Marshal(c)
	}
	if err != nil {
		return "", fmt.Errorf("lab: the coordinates of a case on %s: %w", s.DataSet, err)
	}
	hash := sha256.Sum256(b)
	return fmt.Sprintf("%s/%s/%s/seed-%d%s/%s", kind, s.DataSet, set, o.Seed, end, hex.EncodeToString(hash[:4])), nil
}

// ForgetSetName returns the name of the forget set, as the IDs of jobs have it.
func (s Setting) ForgetSetName() string { return s.withDefaults().forgetSetName() }

// forgetSetName names the forget set of a setting with defaults: "0.05-999", the planted
// group or the class, "scattered-35-42", "series-10-50", "backdoor-0.06-999",
// "user-3-of-10-999".
func (s Setting) forgetSetName() string {
	switch {
	case len(s.Series) > 0:
		return "series" + strings.ReplaceAll(strings.Trim(fmt.Sprint("-", s.Series), "[]"), " ", "-")
	case s.hasNamedForgetSet():
		return cmp.Or(s.Planted, strings.ReplaceAll(s.Class, "/", "-"))
	case s.Scattered != 0:
		return fmt.Sprintf("scattered-%d-%d", s.Scattered, s.ForgetSeed)
	case s.Shards != nil:
		return s.Shards.forgetSetName(s.ForgetSeed)
	case s.Backdoor != nil:
		return fmt.Sprintf("%s-%g-%d", backdoorGroup, s.Backdoor.Fraction, s.ForgetSeed)
	}
	return fmt.Sprintf("%g-%d", s.Fraction, s.ForgetSeed)
}

// cost estimates how many records the work for a model processes.
func (s Setting) cost(o ModelSpec) int64 {
	s = s.withDefaults()
	info, err := s.dataInfo()
	if err != nil {
		return 0
	}
	n := s.trainRecords(info)
	if s.ShadowSplit != nil && s.ShadowSplit.Whole {
		n /= 2
	}
	share := s.Fraction
	if s.Backdoor != nil {
		share = s.Backdoor.Fraction
	}
	met, epochs := n, s.Fit.Epochs
	if h := s.Shards; h != nil {
		share = cmp.Or(h.Share, 1) / float64(max(1, h.Users.Count))
		if !h.Central {
			epochs = h.Users.Rounds * h.Users.LocalEpochs
		}
	}
	forget := max(1, int(share*float64(n)))
	if o.Rows == RetainedRecords {
		met -= forget
	}
	if o.Method != nil {
		epochs = methodEpochs(o.Method.WithDefaults())
		if !o.Method.Sees().Retain {
			met = forget
		}
	}
	return int64(met) * int64(epochs)
}

// methodEpochs returns the number of epochs of a method with defaults, 1 if it has none.
// For a method that wraps another it is roughly the inner one's, for a federated one an
// upper bound.
func methodEpochs(m unlearn.Method) int {
	v := reflect.Indirect(reflect.ValueOf(m))
	if v.Kind() != reflect.Struct {
		return 1
	}
	if f := v.FieldByName("Epochs"); f.IsValid() && f.CanInt() {
		return int(f.Int())
	}
	if f := v.FieldByName("Users"); f.IsValid() {
		if u, ok := f.Interface().(unlearn.Users); ok {
			u = u.WithDefaults()
			return u.Rounds * u.LocalEpochs
		}
	}
	for _, inside := range []string{"Of", "Tune"} {
		f := v.FieldByName(inside)
		if !f.IsValid() {
			continue
		}
		if inner, ok := f.Interface().(unlearn.Method); ok {
			return methodEpochs(inner)
		}
	}
	return 1
}
