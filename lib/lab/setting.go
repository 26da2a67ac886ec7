// Settings of experiments and the names made of them.

package lab

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Setting says which model has to forget which records. The zero value is RULER's main
// experiment: its network on Breast Cancer, 50 epochs of Adam, and a random 5 % of the
// train part to forget.
type Setting struct {
	Data   Data          // nil: Table{}, Breast Cancer
	Forget ForgetSet     // nil: Random{}, 5 % of the train part
	Model  model.Network // nil: tabular.MLP{}, RULER's; of texts text.SmallClassifier()
	Fit    train.Config  // its seed is Seed
	Seed   int           // draws the initial weights and dropout
	// Goal is what the training minimises; nil: Labels.
	Goal Goal
	// ShadowSplit is the model's place among shadow models; nil: it is none.
	ShadowSplit *ShadowSplit
	// Augment crops and flips images in training.
	Augment bool
	// Keep are the epochs, ascending and before the last, after which checkpoints of every
	// training are kept. nil: for images the start of the last epoch, which some methods
	// need; for tables none.
	Keep []int
}

// withDefaults replaces every zero by its default.
func (s Setting) withDefaults() Setting {
	s.Data, s.Forget = dataWithDefaults(s.Data), forgetWithDefaults(s.Forget)
	if s.Model == nil {
		s.Model = defaultNetwork(s.Data)
	}
	if s.ShadowSplit != nil {
		half := *s.ShadowSplit
		half.Seed = cmp.Or(half.Seed, ShadowSplitSeed)
		s.ShadowSplit = &half
	}
	s.Goal = goalWithDefaults(s.Goal)
	s.Fit = s.Fit.WithDefaults()
	s.Fit.Seed = 0 // each model has its own
	if s.Keep == nil && s.HasImages() && s.Fit.Epochs > 1 && s.User().forTraining() == nil {
		s.Keep = []int{s.Fit.Epochs - 1}
	}
	return s
}

// defaultNetwork returns the network of a setting that names none.
func defaultNetwork(d Data) model.Network {
	if info, err := d.Info(); err == nil && info.Vocabulary > 0 {
		return text.SmallClassifier()
	}
	return tabular.MLP{}
}

// reseeded returns a setting (with defaults) whose seeds are shifted; see Lab.Shift.
func (s Setting) reseeded(shift int) Setting {
	s.Seed += shift
	if f, drawn := s.Forget.(SeededForgetSet); drawn {
		s.Forget = f.Reseed(shift)
	}
	if s.ShadowSplit != nil {
		half := *s.ShadowSplit
		half.Seed += uint32(shift)
		s.ShadowSplit = &half
	}
	return s
}

// DataSet returns the name of the data.
func (s Setting) DataSet() string { return dataWithDefaults(s.Data).Name() }

// HasImages reports whether the data are images.
func (s Setting) HasImages() bool {
	info, err := dataWithDefaults(s.Data).Info()
	return err == nil && info.Shape[0] > 0
}

// HasPixels reports whether the data are images whose pixels are not normalised.
func (s Setting) HasPixels() bool {
	d, is := s.Data.(Images)
	return is && d.Pixels
}

// trainRecords returns the number of records of the train part without reading its files.
func trainRecords(info datasets.Info) int {
	if info.TestRows > 0 {
		return info.Rows - info.TestRows
	}
	return int((1 - TestFraction) * float64(info.Rows))
}

// coordinates are hashed into the ID of a model: all that is known without the data. Two
// models with equal coordinates are the same work. The JSON names are recorded and must not
// change.
type coordinates struct {
	DataSet           string
	MaxRows, TestRows int
	Cells             *cells.Preparation `json:",omitempty"`
	Texts             *texts.Preparation `json:",omitempty"`
	Faces             *images.Identities `json:",omitempty"`
	Backdoor          *Backdoor          `json:",omitempty"`
	Pixels            bool               `json:",omitempty"`
	Data              string             `json:",omitempty"` // key of data that Lethe does not know by name
	Network           namedConfig
	Fit               train.Config
	Goal              namedConfig
	Augment           bool
	Keep              []int
	Rows              TrainedOn    `json:"Origin"`
	Forget            any          // nil where a model is trained on all records
	ShadowSplit       *ShadowSplit `json:"Half,omitempty"`
	User              *User        `json:"Shards,omitempty"`
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

// setData fills in what identifies data.
func (c *coordinates) setData(d Data) (err error) {
	c.DataSet = d.Name()
	switch d := d.(type) {
	case Table:
		c.MaxRows = d.MaxRows
	case Images:
		c.MaxRows, c.TestRows, c.Pixels = d.MaxTrain, d.MaxTest, d.Pixels
	case Cells:
		c.Cells = &d.Preparation
	case Texts:
		p := d.Preparation.WithContent()
		c.Texts = &p
	case Faces:
		c.Faces = &d.Identities
	default:
		c.Data, err = dataKey(d)
	}
	return err
}

// network returns the architecture for the data, with its defaults.
func (s Setting) network(info datasets.Info) (model.Architecture, error) {
	return s.fit(model.Sizes{Features: info.Features, Classes: info.ClassCount(), Shape: info.Shape, Vocabulary: info.Vocabulary})
}

// fit returns the architecture for records of these sizes. It refuses a network that would read the
// numbers of tokens as measurements.
func (s Setting) fit(sizes model.Sizes) (model.Architecture, error) {
	arch, err := model.Fit(s.Model, sizes)
	if err != nil {
		return nil, err
	}
	if _, is := arch.(model.TokenReader); sizes.Vocabulary > 0 && !is {
		return nil, fmt.Errorf("%s reads measurements, and the data are texts: numbers of tokens; networks for texts are %s, %s and %s",
			arch.Name(), text.Classifier{}.Name(), text.BERT{}.Name(), text.Decoder{}.Name())
	}
	return arch, nil
}

// Architecture returns the network for the setting's data, with its defaults.
func (s Setting) Architecture() (model.Architecture, error) {
	s = s.withDefaults()
	info, err := s.Data.Info()
	if err != nil {
		return nil, err
	}
	return s.network(info)
}

// ID returns the name of the work that makes a model: readable settings and a hash of all
// others. It needs no data.
func (s Setting) ID(o ModelSpec) (string, error) {
	s = s.withDefaults()
	if err := checkData(s.Data); err != nil {
		return "", fmt.Errorf("data set %s: %w", s.DataSet(), err)
	}
	info, err := s.Data.Info()
	if err != nil {
		return "", err
	}
	arch, err := s.network(info)
	if err != nil {
		return "", fmt.Errorf("data set %s: %w", s.DataSet(), err)
	}
	c := coordinates{
		Network: namedConfig{Name: arch.Name(), Setting: arch},
		Fit:     s.Fit, Goal: goalKey(s.Goal), Augment: s.Augment, Keep: s.Keep, Rows: o.Rows, Seed: o.Seed,
		ShadowSplit: s.ShadowSplit, User: s.User().forTraining(), Backdoor: s.Backdoor(),
	}
	if err := c.setData(s.Data); err != nil {
		return "", fmt.Errorf("data set %s: %w", s.DataSet(), err)
	}
	kind, set, forgetSet := "train", string(o.Rows), s.Forget.Name()
	asked := o.Rows == RetainedRecords || o.Method != nil || s.ShadowSplit != nil
	if asked {
		c.User = s.User()
	}
	if asked || c.Backdoor != nil || c.User != nil {
		c.Forget = forgetCoordinates(s.Forget)
	}
	switch {
	case o.Rows == RetainedRecords:
		set = "without-" + forgetSet
	case s.ShadowSplit != nil:
		set = "half-of-" + s.ShadowSplit.assignedName(forgetSet)
	}
	end := ""
	if m := o.Method; m != nil {
		info := m.Info()
		kind, set, end = "unlearn", forgetSet, "/"+info.Name
		c.Method, c.Version = &namedConfig{Name: info.Name, Setting: defaults.Fill(m)}, cmp.Or(info.Version, 1)
	}
	b, err := json.Marshal(c)
	if err == nil {
		c.Code, err = store.CodeOf(c)
	}
	if err == nil && c.Code != nil {
		b, err = json.Marshal(c)
	}
	if err != nil {
		return "", fmt.Errorf("lab: the coordinates of a case on %s: %w", s.DataSet(), err)
	}
	hash := sha256.Sum256(b)
	return fmt.Sprintf("%s/%s/%s/seed-%d%s/%s", kind, s.DataSet(), set, o.Seed, end, hex.EncodeToString(hash[:4])), nil
}

// ForgetSetName returns the name of the forget set, as the IDs of jobs have it.
func (s Setting) ForgetSetName() string { return forgetWithDefaults(s.Forget).Name() }

// cost estimates the work for a model, in CostUnit. A network that does not fit the data is none.
func (s Setting) cost(o ModelSpec) int64 {
	s = s.withDefaults()
	info, err := s.Data.Info()
	if err != nil {
		return 0
	}
	arch, err := s.network(info)
	if err != nil {
		arch = nil
	}
	n := trainRecords(info)
	if s.ShadowSplit != nil && s.ShadowSplit.Whole {
		n /= 2
	}
	met, epochs := n, s.Fit.Epochs
	if h := s.User(); h != nil && !h.Central {
		epochs = h.Users.Rounds * h.Users.LocalEpochs
	}
	forget := forgetCount(s.Forget, n)
	if o.Rows == RetainedRecords {
		met -= forget
	}
	if o.Method != nil {
		m := defaults.Fill(o.Method)
		epochs, met = methodEpochs(m), methodRecords(m, s.Fit.Batch, n-forget, forget)
	}
	return Cost(arch, 3*met*epochs)
}

// Cost is what so many records cost in a network's forward pass, in CostUnit; in training a record counts as three.
func Cost(network model.Architecture, records int) int64 {
	return int64(math.Ceil(model.Work(network, records)))
}

// methodRecords returns roughly how many records a method passes through the network in an epoch. A
// method whose field Batched says how it takes the forget set passes it with every mini-batch of the
// retain set, whole or as many records as a mini-batch has. A teacher passes them too, forward alone: a third
// of the cost.
func methodRecords(m unlearn.Method, batch, retain, forget int) int {
	sees := m.Info().Sees
	switch {
	case !sees.Retain:
		return forget
	case !sees.Forget:
		return retain
	}
	met, v := retain+forget, reflect.Indirect(reflect.ValueOf(m))
	if v.Kind() != reflect.Struct {
		return met
	}
	if batched := v.FieldByName("Batched"); batched.IsValid() && batch > 0 {
		each := forget
		if batched.Bool() {
			each = min(forget, batch)
		}
		met = retain + (1+(retain-1)/batch)*each
	}
	if m.Info().Distils {
		met += met / 3
	}
	return met
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
			u = defaults.Fill(u)
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
