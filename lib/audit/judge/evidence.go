package judge

import (
	"math/rand/v2"
	"time"

	"github.com/lethe-ml/lethe/lib/array"
)

// Evidence is what a folder holds, admitted: every array is finite, has a row per
// record, and fits the others. What is large stays in its file until it is asked for.
type Evidence struct {
	Records int   // rows of every array
	Classes int   // columns of outputs; 0 where no model has any
	Labels  []int // nil: none
	// The sets share no record; nil: not given.
	Forget, Retain, HeldOut []int
	// Models are all of them, in the order of roles.
	Models []*Model
	Seed   uint64 // of everything that judgements draw

	Folder   string
	Question string
	Date     string   // of the unlearned model, as audit.json gives it: 2026-05-17
	Files    []File   // every file that was read
	Notes    []string // what looks odd and is not wrong in itself
}

// File is where a number comes from.
type File struct {
	Name   string `json:"name"`  // below the folder
	Array  string `json:"array"` // type and shape
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`

	checkpoint bool // of a checkpoint
	modified   time.Time
}

// Role says what a model is in the question.
type Role string

// The roles, in the order of a report.
const (
	Unlearned Role = "unlearned"
	Original  Role = "original"
	Retrained Role = "retrained"
	// A Checkpoint was saved along unlearning, on the way from the original to the
	// unlearned model; they are in their order.
	Checkpoint Role = "checkpoint"
	Shadow     Role = "shadow"
)

// Model is one model's arrays.
type Model struct {
	Name string // of its folder: "retrained-2"
	Role Role
	// Losses are finite, lower for a record that the model fits better: those of a file,
	// or -log p of the label. nil: neither is there.
	Losses []float64
	// Scaled are LiRA's scaled confidences, or -Losses where there are no outputs; nil as
	// Losses.
	Scaled []float64
	// Correct says which records are classified as labelled; nil without outputs and labels.
	Correct []bool
	// In says which records a shadow model was trained on.
	In []bool

	outputs   *stack            // nil: none
	embedding *stack            // nil: none
	layers    map[string]*stack // named activations
	logits    bool              // outputs are logits, not probabilities
	saved     time.Time         // when the newest of its files was written
	keys      []uint64          // of the rows of outputs: audit.RowHashes
}

// ModelsOf returns the models of a role.
func (e *Evidence) ModelsOf(r Role) []*Model {
	var out []*Model
	for _, m := range e.Models {
		if m.Role == r {
			out = append(out, m)
		}
	}
	return out
}

// Peers returns all models of m's role, m among them.
func (e *Evidence) Peers(m *Model) []*Model { return e.ModelsOf(m.Role) }

// OtherModel is the first model of a role that is not m, or m where there is no other one;
// nil where there is none of the role.
func (e *Evidence) OtherModel(r Role, m *Model) *Model {
	var same *Model
	for _, o := range e.ModelsOf(r) {
		if o.Name != m.Name {
			return o
		}
		same = o
	}
	return same
}

// Rand is a generator for one purpose; the same purpose draws the same numbers for
// every model, so that readings differ by the models alone.
func (e *Evidence) Rand(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(e.Seed, purpose)) }

// Embedding is what the judged layer makes of every record: the embedding, or the
// named activation whose turn it is. It is read from the file each time.
func (m *Model) Embedding() (array.Rows, error) { return m.embedding.read() }

// Probabilities are the softmax outputs of some records, a row each, summing to 1.
func (m *Model) Probabilities(records []int) (array.Matrix[float64], error) {
	x, err := m.outputs.read()
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
