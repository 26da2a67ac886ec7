package judge

import "github.com/lethe-ml/lethe/lib/audit"

// Lens reads one number from a model's saved arrays. One file holds one lens, whose zero value is
// the setting of its paper; a new one adds one line to All. For lenses on models of the lab, with
// weights and data, see audit.Lens.
type Lens interface {
	// Name is a word or two: "outputs".
	Name() string
	// About says what the lens asks, how, and where it comes from.
	About() About
	// Needs says what the evidence must hold. Read is not called without it.
	Needs() Needs
	// Read returns the reading of one model. The evidence holds only the models that have the
	// arrays needed. Read is called in turn for the unlearned models, the originals and the
	// retrained ones, so that the readings can be compared. A lens that needs several models of one
	// role (Needs.Peers) is called once for the role, with the first of e.Peers(m). It must not
	// change anything, and it draws from e.Rand. A report shows an error in place of the verdict.
	Read(e *Evidence, m *Model) (*audit.Reading, error)
}

// About describes a lens in a report.
type About struct {
	Asks   string // one sentence: what is compared with what
	How    string // how the number is made: formula, null, floor
	Source string // the paper, with the section
	Null   Null   // what the null is worth without a retrained model
	// Family groups lenses that look at the same numbers and whose errors are related; empty: a
	// family of its own, with the name of the lens.
	Family Family
}

// Family names lenses whose errors are related: in an answer they count once.
type Family string

// The families of All and TrackedLenses.
const (
	OutputFamily         Family = "outputs"            // what the model answers: losses, entropies, correctness
	CalibratedFamily     Family = "calibrated outputs" // answers beside those of shadow models
	RepresentationFamily Family = "representations"    // embeddings and activations, record by record
	SubsetFamily         Family = "subsets"            // embeddings, as a set
	ParameterFamily      Family = "parameters"         // weights and gradients; none of All
)

// Null says for which models a lens's null holds.
type Null int

// The kinds of nulls.
const (
	// Nominal: a model that never had the records may lie elsewhere, so that only a retrained model
	// can place a reading.
	Nominal Null = iota
	// NonmemberNull: a model that never had the records lies at the null, if forget and held-out
	// records have the same distribution. Without a retrained model the null takes its place.
	NonmemberNull
)

// Needs lists what a lens requires.
type Needs struct {
	Arrays []Array // of every model that is read, and of the shadows
	Sets   []Set   // of records; the forget set is always there
	// The numbers of models that are required: retrained and original models to compare with,
	// shadow models, and models of the role that is read (0: one).
	Original, Retrained, Shadows, Peers int
}

// Array is a kind of array with a value or a row per record.
type Array string

// The arrays. Losses come from outputs and labels where there is no file of losses.
const (
	Losses    Array = "losses"
	Outputs   Array = "outputs"
	Labelled  Array = "outputs and labels"
	Embedding Array = "embedding" // or a named activation in its place: each gets a verdict
)

// Set is a set of records.
type Set string

// Forget, Retain and HeldOut are the sets: to be forgotten, kept in training, and never in training.
const (
	Forget  Set = "forget"
	Retain  Set = "retain"
	HeldOut Set = "heldout"
)

// All returns every lens, in the order of a report.
func All() []Lens {
	return []Lens{
		Loss{}, Threshold{}, Entropy{}, ModifiedEntropy{},
		LiRA{}, OfflineLiRA{}, RMIA{},
		AgainstRetrained{}, Movement{}, Neighbours{}, Subsets{},
	}
}
