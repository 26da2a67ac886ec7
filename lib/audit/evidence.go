// What lenses read: the records, their sets, and the arrays of every model.

package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/verify/language"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// Evidence holds what lenses read: one table of records, as several models see it. Row i of every
// array is the same record. Package judge opens saved arrays as evidence, and Case.Evidence makes
// it of a case.
type Evidence struct {
	Records int   // rows of every array
	Classes int   // columns of outputs; 0 where no model has any
	Labels  []int // nil: none
	// The sets share no record; nil: not given.
	Forget, Retain, HeldOut []int
	// Groups holds the group of every record: its author, patient or document. Records of a group are
	// not independent of each other, so that intervals and floors are over groups. Sets may share
	// groups. nil: every record is a group of its own.
	Groups []int
	// GroupUnit says what a group is, in the singular: "author"; empty: "group".
	GroupUnit string
	// Compressed is the length in bytes of every record's text under zlib; nil: not given.
	Compressed []int
	// Inputs are what models are given of every record, a row of numbers each, and Texts the tokens of
	// every record's whole text in their place; nil: not given. Only one of them is there.
	Inputs Matrix
	Texts  [][]int
	// Models are all of them, in the order of roles.
	Models []*Arrays
	Seed   uint64 // of all random numbers of lenses
	// Case is the case of the lab whose models these are, with weights and data; nil: there are
	// arrays alone.
	Case *Case
}

// Set is a set of records.
type Set string

// Forget, Retain and HeldOut are the sets: to be forgotten, kept in training, and never in training.
const (
	Forget  Set = "forget"
	Retain  Set = "retain"
	HeldOut Set = "heldout"
)

// Adjective is the word for the records of a set in a sentence.
func (s Set) Adjective() string {
	return map[Set]string{Forget: "forgotten", Retain: "retained", HeldOut: "held-out"}[s]
}

// Role is the role of a model in an audit.
type Role string

// The roles, in the order of a report.
const (
	Unlearned Role = "unlearned"
	Original  Role = "original"
	Retrained Role = "retrained"
	// A Checkpoint was saved along unlearning, between the original and the unlearned model;
	// checkpoints are in their order.
	Checkpoint Role = "checkpoint"
	// A Quantised model is the unlearned one with rounded weights.
	Quantised Role = "quantised"
	Shadow    Role = "shadow"
	// A reference model was trained neither on the forgotten nor on the held-out records, or knows both alike,
	// such as a language model before fine-tuning.
	Reference Role = "reference"
)

// Arrays holds the arrays of one model.
type Arrays struct {
	Name string // of its folder, or its label in a case: "retrained-2"
	Role Role
	// Losses are finite, lower for records that the model fits better: those of a file, or -log p
	// of the label. nil: neither is available. In a case those of records in no set are NaN.
	Losses []float64
	// Scaled holds LiRA's scaled confidences, or -Losses where there are no outputs; nil as Losses.
	Scaled []float64
	// Correct says which records are classified as labelled; nil without outputs and labels.
	Correct []bool
	// In says which records a shadow model was trained on.
	In []bool
	// Outputs has a column per class; nil: none. Logits says that they are no probabilities.
	Outputs Matrix
	Logits  bool
	// OutputKeys are the RowHashes of Outputs.
	OutputKeys []uint64
	// Embedding holds the activations that are read: those before the output layer, or a named
	// layer that the report is at; nil: none.
	Embedding Matrix
	Layers    map[string]Matrix // named activations
	// The arrays of a language model, nil where not given. A record is a text, or a question with its
	// answer; tokens are those of the text, or of the answer alone.
	Tokens   *language.Tokens
	Prefixed *language.Tokens  // when a text that was not trained on stands before each
	Answers  *language.Answers // a right answer in other words, and wrong ones; in a case of the forgotten records alone
	// Patched holds the mean log-probability of every record's tokens in the original model with each
	// layer's state taken from this model, a column per layer.
	Patched Matrix
	Saved   time.Time // when the newest of its files was written
	// Model is the model of Evidence.Case; nil: there are arrays alone.
	Model *Model
}

// Matrix has a row per record. It is read when a lens asks for it, so that large ones stay in their
// files.
type Matrix interface {
	Read() (array.Rows, error)
	Width() int // the number of columns; 0: not known before Read
}

// Has reports whether a model has all the arrays.
func (m *Arrays) Has(arrays []Array, e *Evidence) bool {
	has := map[Array]bool{
		LossArray: m.Losses != nil, OutputArray: m.Outputs != nil, LabelledArray: m.Outputs != nil && e.Labels != nil,
		EmbeddingArray: m.Embedding != nil, LabelArray: e.Labels != nil, SpaceArray: e.space() != nil,
		TokenArray: m.Tokens != nil, MomentArray: m.Tokens != nil && m.Tokens.Mean != nil, CorrectArray: m.Tokens != nil && m.Tokens.Correct != nil,
		PrefixedArray: m.Prefixed != nil, CompressedArray: e.Compressed != nil, AnswerArray: m.Answers != nil, PatchedArray: m.Patched != nil,
	}
	return !slices.ContainsFunc(arrays, func(a Array) bool { return !has[a] })
}

// ModelsOf returns the models of a role.
func (e *Evidence) ModelsOf(r Role) []*Arrays {
	var out []*Arrays
	for _, m := range e.Models {
		if m.Role == r {
			out = append(out, m)
		}
	}
	return out
}

// Peers returns all models of m's role, including m.
func (e *Evidence) Peers(m *Arrays) []*Arrays { return e.ModelsOf(m.Role) }

// OtherModel returns the first model of a role other than m, or m if it is the only one; nil if
// there is none of the role.
func (e *Evidence) OtherModel(r Role, m *Arrays) *Arrays {
	var same *Arrays
	for _, o := range e.ModelsOf(r) {
		if o.Name != m.Name {
			return o
		}
		same = o
	}
	return same
}

// Rows returns the records of a set.
func (e *Evidence) Rows(s Set) []int {
	return map[Set][]int{Forget: e.Forget, Retain: e.Retain, HeldOut: e.HeldOut}[s]
}

// Rand returns a generator for one purpose. The same purpose draws the same numbers for every
// model, so that readings differ by the models alone.
func (e *Evidence) Rand(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(e.Seed, purpose)) }

// The purposes of random numbers: see Evidence.Rand.
const (
	purposeRMIA = iota + 1
	purposeSubsets
	purposeBlind
	purposePrototypes
	purposeInference
)

// Probabilities returns the softmax outputs of some records, a row each that sums to 1.
func (m *Arrays) Probabilities(records []int) (array.Matrix[float64], error) {
	x, err := m.Outputs.Read()
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	_, classes := x.Shape()
	out := array.New[float64](len(records), classes)
	buffer := make([]float64, classes)
	for k, i := range records {
		copy(out.Row(k), x.Read(buffer, i))
		m.normalise(out.Row(k))
	}
	return out, nil
}

// tinyProbability keeps logarithms finite.
const tinyProbability = 1e-30

// Summarise computes loss, scaled confidence and correctness of every record from outputs and
// labels. With the scaled confidence s the loss is -log p = log(1 + exp(-s)). It refuses labels that do not fit the
// outputs.
func (m *Arrays) Summarise(x array.Rows, labels []int) error {
	rows, cols := x.Shape()
	if len(labels) != rows {
		return fmt.Errorf("audit: %d labels for %d outputs of the model %q", len(labels), rows, m.Name)
	}
	m.Losses, m.Scaled, m.Correct = make([]float64, rows), make([]float64, rows), make([]bool, rows)
	buffer, z := make([]float64, cols), make([]float64, cols)
	for i, y := range labels {
		copy(z, x.Read(buffer, i))
		if !m.Logits {
			for c, p := range z {
				z[c] = math.Log(max(p, tinyProbability))
			}
		}
		s, err := shadow.ScaledConfidence(z, y)
		if err != nil {
			return fmt.Errorf("audit: the model %q, record %d: %w", m.Name, i, err)
		}
		m.Scaled[i], m.Losses[i] = s, max(0, -s)+math.Log1p(math.Exp(-math.Abs(s)))
		m.Correct[i] = slices.Index(z, slices.Max(z)) == y
	}
	return nil
}

// check returns an error for a set, groups or labels that do not fit the records of the evidence.
func (e *Evidence) check() error {
	for _, set := range []struct {
		name string
		rows []int
	}{{"Forget", e.Forget}, {"Retain", e.Retain}, {"HeldOut", e.HeldOut}} {
		for k, i := range set.rows {
			if i < 0 || i >= e.Records {
				return fmt.Errorf("audit: %s[%d] is row %d, the evidence has %d records", set.name, k, i, e.Records)
			}
		}
	}
	for _, v := range []struct {
		name string
		n    int
	}{{"Groups", len(e.Groups)}, {"Labels", len(e.Labels)}} {
		if v.n != 0 && v.n != e.Records {
			return fmt.Errorf("audit: %s has %d values, the evidence has %d records", v.name, v.n, e.Records)
		}
	}
	return nil
}

// fits returns an error for arrays of a model that are not those of all records of the evidence.
func (m *Arrays) fits(e *Evidence) error {
	for _, v := range []struct {
		name string
		n    int
	}{{"Losses", len(m.Losses)}, {"Scaled", len(m.Scaled)}, {"Correct", len(m.Correct)}, {"In", len(m.In)}} {
		if v.n != 0 && v.n != e.Records {
			return fmt.Errorf("audit: %s of the model %q has %d values, the evidence has %d records", v.name, m.Name, v.n, e.Records)
		}
	}
	return nil
}

// normalise turns a row of outputs into probabilities that sum to one.
func (m *Arrays) normalise(row []float64) {
	if m.Logits {
		top := slices.Max(row)
		for c, v := range row {
			row[c] = math.Exp(v - top)
		}
	}
	sum := 0.0
	for _, v := range row {
		sum += v
	}
	for c := range row {
		row[c] /= sum
	}
}

// rulerEvidence reads the embeddings of models, each once; nil models are left out.
func (e *Evidence) rulerEvidence(unlearned, retrained, original *Arrays) (*ruler.Evidence, error) {
	out := &ruler.Evidence{Forget: e.Forget, Retain: e.Retain, Groups: e.Groups, GroupUnit: e.Units()}
	read := map[*Arrays]array.Rows{}
	for _, p := range []struct {
		m  *Arrays
		to *array.Rows
	}{{unlearned, &out.Unlearned}, {retrained, &out.Oracle}, {original, &out.Original}} {
		if p.m == nil {
			continue
		}
		if read[p.m] == nil {
			x, err := p.m.Embedding.Read()
			if err != nil {
				return nil, err
			}
			read[p.m] = x
		}
		*p.to = read[p.m]
	}
	return out, nil
}
