// A case as evidence: the arrays that a lens needs, of the model that is read and of those that it
// is compared with.

package audit

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/internal/panics"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// Read reads a model of the case through a lens. The reading is absent where the case has not what
// the lens needs.
func (c *Case) Read(l Lens, m *Model) (*Reading, error) {
	switch {
	case l == nil:
		return nil, errors.New("audit: the lens is nil")
	case m == nil:
		return nil, errors.New("audit: the model is nil; the models of a case are made with Open and Unlearn")
	}
	n := l.Info().Needs
	if len(c.Shadows) < n.Shadows {
		return absentReading(l, m.Label, "no shadow models"), nil
	}
	e, err := c.Evidence(n, m)
	if errors.Is(err, lab.ErrNoAnswers) {
		return absentReading(l, m.Label, "no classifier"), nil
	}
	if err != nil {
		return nil, err
	}
	if lacks := e.lacksText(n); lacks != "" {
		return absentReading(l, m.Label, "no "+lacks), nil
	}
	return e.ReadBy(l, e.Models[0])
}

// ReadBy reads a model of the evidence through a lens. It refuses sets and arrays that do not fit the evidence's records, and
// a lens that returns neither a reading nor an error; one that panics is an error too, so that the other lenses keep their
// readings.
func (e *Evidence) ReadBy(l Lens, m *Arrays) (r *Reading, err error) {
	switch {
	case l == nil:
		return nil, errors.New("audit: the lens is nil")
	case m == nil:
		return nil, fmt.Errorf("audit: the lens %q: the arrays of the model are nil", l.Name())
	}
	if err := cmp.Or(e.check(), m.fits(e)); err != nil {
		return nil, err
	}
	err = panics.Catch(fmt.Sprintf("audit: the lens %q", l.Name()), func() (err error) {
		r, err = l.Read(e, m)
		return err
	})
	if err == nil && r == nil {
		return nil, fmt.Errorf("audit: the lens %q returned neither a reading nor an error of the model %q", l.Name(), m.Name)
	}
	return r, err
}

// lacksText names the first of the needs of lenses on language models that a case does not meet; empty:
// it meets all.
func (e *Evidence) lacksText(n Needs) string {
	for _, a := range n.Arrays {
		if isText(a) && !e.Models[0].Has([]Array{a}, e) {
			return string(a)
		}
	}
	if n.Reference > len(e.ModelsOf(Reference)) {
		return "reference model"
	}
	return ""
}

func isText(a Array) bool {
	return slices.Contains([]Array{TokenArray, MomentArray, CorrectArray, PrefixedArray, CompressedArray, AnswerArray, PatchedArray}, a)
}

// Evidence returns what a lens needs to read a model, the first of Models. Records are those of the
// training part, followed by those of the test part; held out are those that no method may use
// (lab.Case.EvalRows). Groups are those that the split kept together, unless CountRecords says otherwise. It returns
// lab.ErrNoAnswers if outputs are needed of a model that is no classifier.
func (c *Case) Evidence(n Needs, m *Model) (*Evidence, error) {
	from := c.Train.X.Rows
	e := &Evidence{
		Records: from + c.Test.X.Rows, Labels: slices.Concat(c.Train.Y, c.Test.Y), Forget: c.Forget, Retain: c.Retain,
		HeldOut: testRowNumbers(c.EvalRows(), from), Seed: uint64(drawSeed + c.Shift), Case: c,
		Inputs: caseInputs{c},
	}
	if !c.CountRecords {
		e.Groups, e.GroupUnit = c.Groups()
	}
	if arch, is := c.Problem.Arch.(model.Classifier); is {
		e.Classes = arch.Classes()
	}
	if _, is := c.Problem.Arch.(text.Decoder); is && slices.Contains(n.Arrays, CompressedArray) {
		var err error
		if e.Compressed, err = c.compressedLengths(); err != nil {
			return nil, err
		}
	}
	models := []*Model{m}
	roles := []Role{Unlearned}
	add := func(r Role, m *Model) { models, roles = append(models, m), append(roles, r) }
	if n.Original > 0 {
		add(Original, c.Original)
	}
	if n.Retrained > 0 {
		add(Retrained, c.Oracle)
	}
	if n.Retrained > 1 {
		second, err := c.secondOracle()
		if err != nil {
			return nil, err
		}
		add(Retrained, second)
	}
	for k, m := range models {
		a, err := c.arrays(n, m)
		if err != nil {
			return nil, err
		}
		a.Role = roles[k]
		e.Models = append(e.Models, a)
	}
	if n.Shadows > 0 {
		e.Models = append(e.Models, c.Shadows...)
	}
	return e, nil
}

// countGroups is the number of groups among the forgotten records and among the held-out records that lenses read, and their unit;
// without groups the unit is "".
func (c *Case) countGroups() (forgotten, read int, unit string) {
	groups, unit := c.Groups()
	if groups == nil {
		return 0, 0, ""
	}
	e := &Evidence{Groups: groups}
	return e.CountGroups(c.Forget), e.CountGroups(testRowNumbers(c.EvalRows(), c.Train.X.Rows)), unit
}

// CountFewGroups sets CountRecords where fewer than MinRecords groups are forgotten, or among the held-out records that lenses read, and
// says so in a sentence; "": intervals count what they did.
func (c *Case) CountFewGroups() string {
	forgotten, read, unit := c.countGroups()
	if unit == "" || min(forgotten, read) >= MinRecords {
		return ""
	}
	c.CountRecords = true
	return fewGroups(forgotten, read, unit)
}

// fewGroups says which groups are few.
func fewGroups(forgotten, read int, unit string) string {
	e, few := &Evidence{GroupUnit: unit}, []string(nil)
	if forgotten < MinRecords {
		few = append(few, fmt.Sprintf("the records to forget are of %s only", e.Unit(forgotten)))
	}
	if read < MinRecords {
		few = append(few, fmt.Sprintf("those held-out records that lenses read, about half of all, are of %s only", e.Unit(read)))
	}
	return fmt.Sprintf("The split kept the records of one %s together. Intervals of a seed count records all the same, because %s: they are about these "+
		"records, and about no others.", unit, strings.Join(few, ", and "))
}

// IntervalUnits names what intervals count: records, or the groups that the split kept together.
func (c *Case) IntervalUnits() string {
	if groups, unit := c.Groups(); groups != nil && !c.CountRecords {
		return (&Evidence{GroupUnit: unit}).Units()
	}
	return "records"
}

// Accuracy returns a model's accuracies with intervals over what IntervalUnits says, or lab.ErrNoAnswers.
func (c *Case) Accuracy(m *Model) (lab.Accuracy, error) {
	e := &Evidence{}
	if !c.CountRecords {
		e.Groups, e.GroupUnit = c.Groups()
	}
	return c.AccuracyOver(m, e.Groups, e.Units())
}

// arrays returns the arrays of a model that are needed.
func (c *Case) arrays(n Needs, m *Model) (*Arrays, error) {
	a := &Arrays{Name: m.Label, Model: m, Embedding: caseLayer{m, func(p *model.Prediction) array.Matrix[float32] { return p.Embedding }}}
	if slices.Contains(n.Arrays, OutputArray) || slices.Contains(n.Arrays, LabelledArray) {
		if err := c.addOutputs(a); err != nil {
			return nil, err
		}
	}
	if slices.Contains(n.Arrays, LossArray) {
		if err := c.addLosses(a); err != nil {
			return nil, err
		}
	}
	if _, is := c.Problem.Arch.(text.Decoder); is {
		return a, c.addTexts(n, a)
	}
	return a, nil
}

// addTexts adds the arrays of a language model that are needed.
func (c *Case) addTexts(n Needs, a *Arrays) (err error) {
	if slices.ContainsFunc([]Array{TokenArray, MomentArray, CorrectArray}, func(of Array) bool { return slices.Contains(n.Arrays, of) }) {
		if a.Tokens, err = a.Model.Tokens(); err != nil {
			return err
		}
	}
	if slices.Contains(n.Arrays, AnswerArray) {
		if err = c.addAnswers(a); errors.Is(err, lab.ErrNoQuestions) {
			return nil
		}
	}
	return err
}

// addAnswers adds the answers to the forgotten questions.
func (c *Case) addAnswers(a *Arrays) error {
	forgotten, err := c.Answers(a.Model.Weights, c.Train.Gather(c.Forget))
	if err != nil {
		return err
	}
	n := c.Train.X.Rows + c.Test.X.Rows
	a.Answers = &language.Answers{Right: slices.Repeat([]float64{math.NaN()}, n), Wrong: make([][]float64, n)}
	for k, i := range c.Forget {
		a.Answers.Right[i], a.Answers.Wrong[i] = forgotten.Right[k], forgotten.Wrong[k]
	}
	return nil
}

// compressedLengths returns the lengths in bytes under zlib of what the tokens to predict of all
// records say.
func (c *Case) compressedLengths() ([]int, error) {
	var out []int
	for _, part := range []datasets.Part{c.Train, c.Test} {
		texts, err := c.PredictedTexts(part)
		if err != nil {
			return nil, err
		}
		for _, t := range texts {
			n, err := zlibLength(t)
			if err != nil {
				return nil, err
			}
			out = append(out, n)
		}
	}
	return out, nil
}

// zlibLength returns the number of bytes of a text under zlib at its default level.
func zlibLength(text string) (int, error) {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		return 0, err
	}
	err := w.Close()
	return b.Len(), err
}

// addOutputs adds a classifier's outputs and what follows from them and the labels.
func (c *Case) addOutputs(a *Arrays) error {
	if _, is := c.Problem.Arch.(model.Classifier); !is {
		return lab.ErrNoAnswers
	}
	a.Outputs, a.Logits = caseLayer{a.Model, (*model.Prediction).Logits}, true
	x, err := a.Outputs.Read()
	if err != nil {
		return err
	}
	return a.Summarise(x, slices.Concat(c.Train.Y, c.Test.Y))
}

// addLosses adds the losses of the records of the three sets.
func (c *Case) addLosses(a *Arrays) error {
	losses, err := c.Losses(a.Model)
	if err != nil {
		return err
	}
	from := c.Train.X.Rows
	a.Losses = slices.Repeat([]float64{math.NaN()}, from+c.Test.X.Rows)
	for _, set := range []struct {
		rows   []int
		losses []float64
	}{{c.Retain, losses.Retained}, {c.Forget, losses.Forgotten}, {testRowNumbers(c.EvalRows(), from), losses.HeldOut}} {
		for k, i := range set.rows {
			a.Losses[i] = set.losses[k]
		}
	}
	if a.Scaled == nil {
		a.Scaled = negated(a.Losses)
	}
	return nil
}

// caseInputs are the records of a case.
type caseInputs struct{ c *Case }

// Width implements Matrix.
func (i caseInputs) Width() int { return i.c.Train.X.Cols }

// Read implements Matrix.
func (i caseInputs) Read() (array.Rows, error) { return stackRows(i.c.Train.X, i.c.Test.X), nil }

// caseLayer is a layer of a model of a case.
type caseLayer struct {
	m  *Model
	of func(*model.Prediction) array.Matrix[float32]
}

// Width implements Matrix.
func (caseLayer) Width() int { return 0 }

// Read implements Matrix.
func (l caseLayer) Read() (array.Rows, error) {
	o, err := l.m.Outputs()
	if err != nil {
		return nil, err
	}
	return stackRows(l.of(o.Train), l.of(o.Test)), nil
}

// secondOracle returns the case's second oracle, from the store or trained now.
func (c *Case) secondOracle() (*Model, error) {
	if c.SecondOracle != nil {
		return c.SecondOracle, nil
	}
	m, err := c.Variant(context.Background(), secondOracle)
	if err != nil {
		return nil, fmt.Errorf("the second retrained model: %w", err)
	}
	return m, nil
}
