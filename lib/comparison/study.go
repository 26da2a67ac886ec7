// A study: what is compared, and its computation.

package comparison

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/internal/panics"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// The units of a seed's progress, beside one per method: about as many trainings take as long.
const (
	trainingUnits = 2 // the original and the retrained model
	controlUnits  = 2
	readingUnits  = 2
)

// DefaultSeeds is the number of seeds of a study that names none.
const DefaultSeeds = 5

// minHeldOut is the smallest number of held-out records: half of them may guide methods, and the
// others are non-members.
const minHeldOut = 8

// Study says what is compared.
type Study struct {
	Lab     *lab.Lab
	Setting lab.Setting
	Methods []unlearn.Method // nil: Methods()
	Seeds   int              // 0: DefaultSeeds
	Lenses  []audit.Lens     // nil: Lenses()
	// Words says what was found in the data in the words of whoever asked: flags of a command in place of options of a program. nil: as it is.
	Words func(text string) string
	// Warn gets what keeps the study from verdicts before anything is trained, a sentence without its full stop. nil: nobody is told.
	Warn func(text string)
}

// Methods returns the methods that a study compares unless it names others: RULER's five,
// and two that need no retained records.
func Methods() []unlearn.Method {
	return []unlearn.Method{
		unlearn.GradientAscent{}, unlearn.NegGrad{}, unlearn.FineTuning{}, unlearn.SCRUB{}, unlearn.BadTeacher{},
		unlearn.RandomLabel{}, unlearn.SSD{},
	}
}

// Lenses returns the lenses that a study reads with unless it names others: those of audit.DefaultLenses,
// with all losses of non-members in place of the half that an attack does not choose its threshold by.
func Lenses() []audit.Lens {
	return []audit.Lens{audit.Loss{}, audit.AgainstOracle{}, audit.Neighbours{}}
}

// AllMethods returns every method that is not a control and that needs nothing but the data
// and the trained model: no federation, no bottleneck, and no weights from during the
// training, which are not kept unless Setting.Keep names their epochs.
func AllMethods() (out []unlearn.Method) {
	for _, m := range unlearn.All() {
		_, federated := m.(unlearn.HBFU)
		if !lab.IsControl(m) && !federated && !m.Info().Sees.Earlier {
			out = append(out, m)
		}
	}
	return out
}

// Result is what a study found.
type Result struct {
	Study Study // with its defaults
	Name  string
	Runs  []Run
}

// Run is the comparison of one seed.
type Run struct {
	Seed                 int
	DataHash             string
	Caveat               string   // on how the data were read, see datasets.About
	Forget, Retain, Test int      // numbers of records
	Judged               int      // held-out records that no method has seen, which lenses read
	Copies               int      // forgotten records whose inputs a retained record has too
	HeldOutCopies        int      // records of Judged whose inputs a training record has
	namedHeldOut         int      // held-out records that the condition names too: the data have a test part of their own
	forgotten            string   // what the records to forget are, "" if their forget set does not say it
	notHeldOut           []string // the classes of which no record is held out
	units                string   // what intervals count: "records", "persons"
	fewGroups            string   // why intervals count records and no groups, "" if there are none or enough
	Models               []Model
}

// Model is what was found of one model.
type Model struct {
	Label    string
	Control  bool
	Readings []audit.Reading // one per lens
	Calls    []audit.Call
	// Forgotten, Retained and HeldOut are accuracies; nil where the model is no classifier.
	Forgotten, Retained, HeldOut *float64
	// Missing says why there is no model: it diverged, or the method does not fit.
	Missing string
}

// withDefaults returns the study with its defaults, or an error for a study that cannot be
// computed.
func (s Study) withDefaults() (Study, error) {
	if s.Methods == nil {
		s.Methods = Methods()
	}
	if s.Lenses == nil {
		s.Lenses = Lenses()
	}
	if s.Seeds == 0 {
		s.Seeds = DefaultSeeds
	}
	if s.Words == nil {
		s.Words = func(text string) string { return text }
	}
	seen := map[string]bool{}
	for _, control := range audit.ControlVariants() {
		seen[control.Label] = true
	}
	for i, m := range s.Methods {
		name, err := nameOf(m)
		if err != nil {
			return s, fmt.Errorf("comparison: method %d %w", i, err)
		}
		if seen[name] {
			return s, fmt.Errorf("comparison: two methods or controls are called %s; a study has one row per name", name)
		}
		seen[name] = true
	}
	switch {
	case s.Lab == nil || s.Lab.Engine == nil || s.Lab.Store == nil:
		return s, errors.New("comparison: the study has no lab with an engine and a store")
	case s.Seeds < 1 || s.Seeds > 1000:
		return s, fmt.Errorf("comparison: %d seeds; want 1 to 1000", s.Seeds)
	}
	return s, nil
}

// nameOf returns the name of a method with its defaults. Later these are asked for in goroutines of ours, where a
// panic of a method from elsewhere would end the program; here it is an error.
func nameOf(m unlearn.Method) (name string, err error) {
	if m == nil {
		return "", errors.New("is nil")
	}
	err = panics.Catch(fmt.Sprintf("(%T), before it began,", m), func() error {
		name = defaults.Fill(m).Info().Name
		return nil
	})
	return name, err
}

// Run computes the study. Everything is checked before the first model is trained: the
// data and the forget set of every seed.
func (s Study) Run(ctx context.Context) (*Result, error) {
	s, err := s.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Result{Study: s, Name: s.Setting.DataSet()}
	if s.Setting.Data != nil {
		r.Name = DataTitle(s.Setting.Data)
	}
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	ctx, task := progress.Start(ctx, "comparing methods on "+r.Name, s.Seeds)
	defer task.Done()
	for seed := range s.Seeds {
		run, err := s.run(ctx, seed)
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
		r.Runs = append(r.Runs, *run)
		task.Add(1)
	}
	return r, nil
}

// check makes the case of every seed, and warns where the smallest one has too few records for a verdict.
func (s Study) check(ctx context.Context) error {
	forget, judged := math.MaxInt, math.MaxInt
	for seed := range s.Seeds {
		c, err := s.Lab.Reseed(seed).Case(ctx, s.Setting)
		if err != nil {
			return err
		}
		if n := c.Test.X.Rows; n < minHeldOut {
			return tooFewHeldOut(c, n)
		}
		forget, judged = min(forget, len(c.Forget)), min(judged, len(c.EvalRows()))
	}
	if s.Warn == nil {
		return nil
	}
	if few := audit.TooFewRecords(forget, "records to forget"); few.Call != "" {
		s.Warn("no lens will have a verdict: " + few.Why)
	} else if few := audit.TooFewRecords(judged, "held-out records that lenses read"); few.Call != "" {
		s.Warn("no lens that reads held-out records will have a verdict: " + few.Why)
	}
	return nil
}

// tooFewHeldOut is the error for a case that leaves too few non-members.
func tooFewHeldOut(c *lab.Case, n int) error {
	if _, named := c.Setting.Forget.(lab.NamedForgetSet); named && n+len(c.Forget) >= minHeldOut {
		return fmt.Errorf("data set %s: %d of %d records are to be forgotten, and only %d are left to be held out; attacks need at least %d: "+
			"name fewer records to forget", c.DataSet(), len(c.Forget), n+c.Problem.Train.X.Rows, n, minHeldOut)
	}
	return fmt.Errorf("data set %s: %d records are held out; attacks need at least %d, so about %d in all", c.DataSet(), n, minHeldOut, 5*minHeldOut)
}

// run computes one seed.
func (s Study) run(ctx context.Context, seed int) (*Run, error) {
	ctx, task := progress.Start(ctx, fmt.Sprintf("seed %d of %d", seed+1, s.Seeds), trainingUnits+controlUnits+len(s.Methods)+readingUnits)
	defer task.Done()
	c, err := audit.Open(task.Part(ctx, trainingUnits), s.Lab.Reseed(seed), s.Setting)
	if err != nil {
		return nil, err
	}
	task.Add(trainingUnits)
	c.Lenses = s.Lenses
	few := c.CountFewGroups()
	models, missing, err := s.models(ctx, c, task)
	if err != nil {
		return nil, err
	}
	calls, found, err := c.Calls(models...)
	if err != nil {
		return nil, err
	}
	task.Add(readingUnits)
	train, test := audit.RowHashes(c.Problem.Train.X), audit.RowHashes(c.Problem.Test.X)
	run := &Run{
		Seed: seed, DataHash: c.DataHash(), Caveat: c.Problem.About.Caveat, Forget: len(c.Forget), Retain: len(c.Retain), Test: c.Test.X.Rows,
		Judged: len(c.EvalRows()), fewGroups: few, units: c.IntervalUnits(), notHeldOut: notHeldOut(c),
		Copies: copies(hashesAt(train, c.Forget), hashesAt(train, c.Retain)), HeldOutCopies: copies(hashesAt(test, c.EvalRows()), train),
	}
	run.namedHeldOut = lab.HeldOutNamed(c.Setting.Forget, c.Problem.Prepared)
	run.forgotten = lab.DescribeForgetSet(c.Setting.Forget, c.Problem.Prepared, len(c.Forget)) + windows(c)
	for i, m := range models {
		row := Model{Label: m.Label, Control: m.Control, Calls: calls[i], Readings: found[i*len(s.Lenses) : (i+1)*len(s.Lenses)]}
		if err := row.addAccuracy(c, m); err != nil {
			return nil, err
		}
		run.Models = append(run.Models, row)
	}
	run.Models = append(run.Models, missing...)
	return run, nil
}

// notHeldOut names the classes that are in training and of which no record is held out.
func notHeldOut(c *audit.Case) (names []string) {
	for code, name := range c.About.Classes {
		if slices.Contains(c.Train.Y, code) && !slices.Contains(c.Test.Y, code) {
			names = append(names, name)
		}
	}
	return names
}

// windows says of how many texts the forgotten records are windows, where a text is several.
func windows(c *audit.Case) string {
	ids := c.Train.Gather(c.Forget).IDs
	documents, err := lab.DocumentsOf(c.Problem.Prepared, ids)
	if err != nil || len(documents) == len(ids) {
		return ""
	}
	return fmt.Sprintf(" (windows of %s)", report.Plural(len(documents), "text"))
}

// copies returns how many hashes of some records are among those of others.
func copies(some, others []uint64) (n int) {
	known := map[uint64]bool{}
	for _, h := range others {
		known[h] = true
	}
	for _, h := range some {
		if known[h] {
			n++
		}
	}
	return n
}

func hashesAt(hashes []uint64, rows []int) (out []uint64) {
	for _, i := range rows {
		out = append(out, hashes[i])
	}
	return out
}

// models returns the controls and the unlearned models of a case, and the methods that left
// no model. It counts them in the task.
func (s Study) models(ctx context.Context, c *audit.Case, task *progress.Task) (models []*audit.Model, missing []Model, err error) {
	if models, err = c.Controls(ctx); err != nil {
		return nil, nil, err
	}
	task.Add(controlUnits)
	errs, err := c.PrecomputeEach(ctx, func() { task.Add(1) }, s.Methods...)
	if err != nil {
		return nil, nil, err
	}
	for k, m := range s.Methods {
		var found *audit.Model
		if errs[k] == nil {
			found, errs[k] = c.Unlearn(ctx, m)
		}
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if file := (*fs.PathError)(nil); errors.As(errs[k], &file) { // of the store, not of the method
			return nil, nil, errs[k]
		}
		if errs[k] != nil {
			missing = append(missing, Model{Label: m.Info().Name, Missing: lab.WhyFailed(m, errs[k])})
			continue
		}
		models = append(models, found)
	}
	return models, missing, nil
}

// addAccuracy adds the accuracies of a classifier.
func (m *Model) addAccuracy(c *audit.Case, of *audit.Model) error {
	if _, is := c.Problem.Arch.(model.Classifier); !is {
		return nil
	}
	a, err := c.Accuracy(of)
	if err != nil {
		return err
	}
	m.Forgotten, m.Retained, m.HeldOut = &a.Forget.Value, &a.Retain.Value, &a.Test.Value
	return nil
}

// find returns the model with a label, nil if there is none.
func (r *Run) find(label string) *Model {
	for i := range r.Models {
		if r.Models[i].Label == label {
			return &r.Models[i]
		}
	}
	return nil
}
