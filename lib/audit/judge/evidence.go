package judge

import (
	"math/rand/v2"
	"time"

	"github.com/lethe-ml/lethe/lib/array"
)

// Evidence holds the arrays of a folder after all checks: every array is finite, has a row per
// record, and fits the others. Large arrays stay in their files until they are needed.
type Evidence struct {
	Records int   // rows of every array
	Classes int   // columns of outputs; 0 where no model has any
	Labels  []int // nil: none
	// The sets share no record; nil: not given.
	Forget, Retain, HeldOut []int
	// Models are all of them, in the order of roles.
	Models []*Model
	Seed   uint64 // of all random numbers of lenses

	Folder   string
	Question string
	Date     string   // of the unlearned model, as audit.json gives it: 2026-05-17
	Files    []File   // every file that was read
	Notes    []string // warnings: what is suspicious and not wrong in itself
}

// File identifies a file that the audit read.
type File struct {
	Name   string `json:"name"`  // below the folder
	Array  string `json:"array"` // type and shape
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`

	checkpoint bool // of a checkpoint
	modified   time.Time
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
	Shadow     Role = "shadow"
)

// Model holds the arrays of one model.
type Model struct {
	Name string // of its folder: "retrained-2"
	Role Role
	// Losses are finite, lower for records that the model fits better: those of a file, or -log p
	// of the label. nil: neither is available.
	Losses []float64
	// Scaled holds LiRA's scaled confidences, or -Losses where there are no outputs; nil as Losses.
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

// Peers returns all models of m's role, including m.
func (e *Evidence) Peers(m *Model) []*Model { return e.ModelsOf(m.Role) }

// OtherModel returns the first model of a role other than m, or m if it is the only one; nil if
// there is none of the role.
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

// Rand returns a generator for one purpose. The same purpose draws the same numbers for every
// model, so that readings differ by the models alone.
func (e *Evidence) Rand(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(e.Seed, purpose)) }

// Embedding returns the activations that are read, a row per record: the embedding, or the named
// layer that the report is at. They are read from the file each time.
func (m *Model) Embedding() (array.Rows, error) { return m.embedding.read() }

// Probabilities returns the softmax outputs of some records, a row each that sums to 1.
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
