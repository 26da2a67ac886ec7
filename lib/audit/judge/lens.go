package judge

import "github.com/lethe-ml/lethe/lib/audit"

// Lens asks one question of a model's arrays and answers with one number. One
// file holds one judgement, whose zero value is the setting of its paper; a new one
// adds one line to All.
type Lens interface {
	// Name is a word or two: "outputs".
	Name() string
	// About says what the judgement asks, how, and whose it is.
	About() About
	// Needs are what the evidence must hold. Judge is not called without them.
	Needs() Needs
	// Read reads one model. The evidence holds the models alone that have the arrays
	// needed. It is called for the unlearned models, the originals and
	// the retrained ones in turn, which makes readings that can be compared. A judgement
	// that needs several models of one role (Needs.Peers) is called once for the role,
	// with the first of e.Peers(m). It must not change anything, and what it draws comes
	// from e.Rand. An error is shown in the report in place of the verdict.
	Read(e *Evidence, m *Model) (*audit.Reading, error)
}

// About is what a report says of a judgement.
type About struct {
	Asks   string // one sentence: what is compared with what
	How    string // how the number is made: formula, null, floor
	Source string // the paper, with the section
	Null   Null   // what the null is worth without a retrained model
	// Family are the judgements that look at the same numbers and err together; empty: a
	// family of its own, by the name of the judgement.
	Family Family
}

// Family are judgements whose errors go together: in an answer they count once.
type Family string

// The families of All and Along.
const (
	OutputFamily         Family = "outputs"            // what the model answers: losses, entropies, correctness
	CalibratedFamily     Family = "calibrated outputs" // answers beside those of shadow models
	RepresentationFamily Family = "representations"    // embeddings and activations, record by record
	SubsetFamily         Family = "subsets"            // embeddings, as a set
	ParameterFamily      Family = "parameters"         // weights and gradients; none of All
)

// Null says who stands at a judgement's null.
type Null int

// The kinds of nulls.
const (
	// Nominal: a model that never had the records may stand elsewhere, so that only a
	// retrained model can place a reading.
	Nominal Null = iota
	// NonmemberNull: a model that never had the records stands there, if forget and
	// held-out records were drawn alike. Without a retrained model the null takes its
	// place.
	NonmemberNull
)

// Needs are the things without which a judgement cannot be made.
type Needs struct {
	Arrays []Array // of every model that is read, and of the shadows
	Sets   []Set   // of records; the forget set is always there
	// How many models must be there: retrained and original ones to compare with,
	// shadow models, and models of the role that is judged (0: one).
	Original, Retrained, Shadows, Peers int
}

// Array is something that a model says of every record.
type Array string

// The arrays. Losses come from outputs and labels where no file has them.
const (
	Losses    Array = "losses"
	Outputs   Array = "outputs"
	Labelled  Array = "outputs and labels"
	Embedding Array = "embedding" // or a named activation in its place: each gets a verdict
)

// Set is a set of records.
type Set string

// The sets.
const (
	Forget  Set = "forget"
	Retain  Set = "retain"
	HeldOut Set = "heldout"
)

// All returns every judgement, in the order of a report.
func All() []Lens {
	return []Lens{
		Loss{}, Threshold{}, Entropy{}, ModifiedEntropy{},
		LiRA{}, OfflineLiRA{}, RMIA{},
		AgainstRetrained{}, Movement{}, Neighbours{}, Subsets{},
	}
}
