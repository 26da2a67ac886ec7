// What a lens is, and what it reads.

package audit

import (
	"cmp"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Lens reads one number from the arrays of a model, which says whether the model still remembers.
// It reads models of the laboratory (Case.Read, Case.Lenses) and models that exist only as saved
// arrays (package judge) alike. One file holds one lens, whose zero value is the setting of its
// paper; a new one adds one line to ArrayLenses, or to CaseLenses if arrays are not enough.
type Lens interface {
	// Name is a word or two: "outputs".
	Name() string
	// Info says what the lens asks, how, where it comes from, and what it needs.
	Info() Info
	// Read returns the reading of one model of the evidence, which holds what Info.Needs asks for.
	// Readings of several models of the same evidence can be compared. A lens that needs several
	// models of one role (Needs.Peers) is called once for the role, with the first of e.Peers(m).
	// It must not change anything, and it draws from e.Rand. A report shows an error in place of
	// the verdict.
	Read(e *Evidence, m *Arrays) (*Reading, error)
}

// Info describes a lens in tables and reports.
type Info struct {
	Measures string // one line: the number, and what is compared with what
	// The texts of a report; empty for lenses that no report has.
	Asks   string // one sentence: what is compared with what
	How    string // how the number is made: formula, null, floor
	Source string // the paper, with the section
	Null   Null   // what the null is worth without a retrained model
	// Family groups lenses that look at the same numbers and whose errors are related; empty: a
	// family of its own, with the name of the lens.
	Family Family
	// PerRecord says that readings have Scores: a report names single records by them.
	PerRecord bool
	// AnySets says that the null holds where forgotten and held-out records differ by themselves
	// (Evidence.BlindAttack).
	AnySets bool
	Needs   Needs
	// BothSides says that a memory may lie on either side of a retrained model's reading: only the
	// original shows which.
	BothSides bool
	// Cost says that the number is a cost of unlearning and no evidence of memory: it is read beside a
	// retrained model, below which the model has lost what it was to keep, and gets no verdict.
	Cost bool
	// Texts says that the lens is for language models although Needs has no array of theirs.
	Texts bool
	// Ungrouped says why groups of records (Evidence.Groups) do not enter the interval, in a
	// sentence without its full stop; empty: they do.
	Ungrouped string
	// Low and High are the bounds of the values, such as 0 and 1: intervals over seeds end there.
	// Both 0: no bounds.
	Low, High float64
}

// Family names lenses whose errors are related: in an answer they count once.
type Family string

// The families.
const (
	OutputFamily         Family = "outputs"            // what the model answers: losses, entropies, correctness
	CalibratedFamily     Family = "calibrated outputs" // answers beside those of shadow models
	RepresentationFamily Family = "representations"    // embeddings and activations, record by record
	SubsetFamily         Family = "subsets"            // embeddings, as a set
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
	// Verdict is the number of retrained models that a verdict requires, where a reading requires fewer; 0: as many.
	Verdict int
	// Reference is the number of reference models that are required.
	Reference int
	// Case says that the lens needs weights and data: it reads Evidence.Case and Arrays.Model.
	Case bool
}

// Array is a kind of array with a value or a row per record.
type Array string

// The arrays. Losses come from outputs and labels where there is no file of losses.
const (
	LossArray      Array = "losses"
	OutputArray    Array = "outputs"
	LabelledArray  Array = "outputs and labels"
	EmbeddingArray Array = "embedding" // or a named activation in its place: each gets a verdict
	LabelArray     Array = "labels"
	// SpaceArray is where distances between records are measured: the inputs, or the embedding of a
	// retrained model or the original.
	SpaceArray Array = "inputs or an embedding"
)

// The arrays of language models.
const (
	TokenArray      Array = "log-probabilities of tokens"
	MomentArray     Array = "their means and deviations"
	CorrectArray    Array = "marks of correct tokens"
	PrefixedArray   Array = "log-probabilities behind a prefix"
	CompressedArray Array = "compressed lengths"
	AnswerArray     Array = "answers"
	PatchedArray    Array = "patched layers"
)

// ArrayLenses returns the lenses that arrays of any model are enough for, in the order of a report:
// reports of saved arrays have all of them, and each reads a case too.
func ArrayLenses() []Lens {
	return []Lens{
		Loss{}, Threshold{}, Entropy{}, ModifiedEntropy{},
		LiRA{}, OfflineLiRA{}, ShadowRMIA{},
		AgainstRetrained{}, Movement{}, Neighbours{}, Prototypes{}, Subsets{},
	}
}

// CostLenses returns the lenses on what unlearning cost (Info.Cost), in the order of a report.
func CostLenses() []Lens { return []Lens{NearAccuracy{}} }

// TextLenses returns the lenses on the arrays of language models, in the order of a report.
func TextLenses() []Lens {
	return []Lens{
		MinK{}, MinKPlusPlus{}, Zlib{}, ReferenceModel{}, ReCaLL{}, DatasetInference{},
		Probability{}, ExactMemorisation{}, ExtractionStrength{}, TruthRatio{}, PairedTruthRatio{}, Depth{},
	}
}

// FolderLenses returns all lenses on saved arrays.
func FolderLenses() []Lens { return append(append(ArrayLenses(), TextLenses()...), CostLenses()...) }

// Lenses returns the lenses that a report of the evidence has: TextLenses are among them where there
// are arrays of language models, or a reference model.
func (e *Evidence) Lenses() []Lens {
	if e.hasText() {
		return FolderLenses()
	}
	return append(ArrayLenses(), CostLenses()...)
}

// CaseLenses returns the lenses for cases alone: those that need weights and data, and the forms of
// other lenses that the tables of cases have (Outputs of Loss, AgainstOracle of AgainstRetrained,
// and RMIA of ShadowRMIA, under the same name).
func CaseLenses() []Lens {
	return []Lens{Outputs{}, AgainstOracle{}, FisherOverlap{}, Reconstruction{}, RMIA{}, Relearning{}, Confusion{}, Trigger{}}
}

// AllLenses returns the lenses, each name once: ShadowRMIA stands for RMIA too.
func AllLenses() []Lens {
	cases := slices.DeleteFunc(CaseLenses(), func(l Lens) bool { return l.Name() == ShadowRMIA{}.Name() })
	return append(cases, FolderLenses()...)
}

// TableLenses returns the columns of the table of lenses.
func TableLenses() []Lens { return append(Lenses(), RMIA{}, Relearning{}, Confusion{}, Trigger{}) }

// Lenses returns the lenses of TableLenses that need no further training and no special case.
func Lenses() []Lens { return append(DefaultLenses(), Subsets{}, FisherOverlap{}, Reconstruction{}) }

// DefaultLenses returns the lenses that a case uses unless Case.Lenses is set.
func DefaultLenses() []Lens { return []Lens{Outputs{}, AgainstOracle{}, Neighbours{}} }

// Side is the side of the null on which a lens reads memory.
type Side int

// Above and Below say that values above or below the null speak for a memory.
const (
	Above Side = 1
	Below Side = -1
)

// Reading is the result of a lens for one model.
type Reading struct {
	Lens, Model string
	// Estimate has the value, its interval over records and the null.
	stats.Estimate
	// Memory is the side of the null on which the lens reads memory.
	Memory Side
	// Floor is the distance from the null that a perfect unlearner has by chance, on average and in
	// 95 of 100 cases, at these numbers of records. Both are NaN where the distribution is not
	// known.
	Floor stats.Floor
	// Coordinates says that the lens compares two models coordinate by coordinate. Another seed of
	// the initial weights moves such a reading as memory does, but to either side.
	Coordinates bool
	// Towards says that the value is how like a retrained model the model is: what lies beyond retrained models is nearer to
	// one of them than they are to each other, as a model from the same initial weights is, and is no trace of the records.
	Towards bool
	// Membership says that the value is of scores that training on a record raises: a model that is on the
	// side away from memory has not learned the records there.
	Membership bool
	// Contrast says that the value compares forgotten records with others of the same model, as an AUC does: what a seed does to
	// all records alike does not move it.
	Contrast bool
	// DrawnAlike says of a model without memory that its losses do not tell the forgotten from the held-out
	// records (LikeNull), as if they had been drawn alike. See ReferenceOf.
	DrawnAlike bool `json:"-"`
	// NoEvidence is the reason why the number is no evidence; its zero value: there is none.
	NoEvidence Reason
	// Absent says why the lens has no reading of the case; then there is no estimate.
	Absent string
	// Scores are those of single records; nil for lenses without (Info.PerRecord).
	Scores *Scores `json:"-"`
}

// unknownFloor is the floor of a number whose distribution under the null is not known.
var unknownFloor = stats.Floor{Mean: math.NaN(), P95: math.NaN()}

// absentReading is the reading of a lens that does not apply to a case.
func absentReading(lens Lens, model, why string) *Reading {
	r := NoReading(lens.Name(), model, Reason{})
	r.Absent = why
	return r
}

// NoReading returns a reading without a number, with the reason for it.
func NoReading(lens, model string, why Reason) *Reading {
	none := stats.Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	return &Reading{Lens: lens, Model: model, Memory: Above, Estimate: none, Floor: unknownFloor, NoEvidence: why, Absent: why.Why}
}

// AtLevel returns the reading with an interval and a chance floor of another coverage
// (stats.Estimate.AtLevel). ReferenceOf works at the coverage of the readings that it is given.
func (r Reading) AtLevel(to float64) Reading {
	freedom := 0.0 // a floor is Student's over groups alone
	if r.Clustered != nil {
		freedom = r.Clustered.Freedom
	}
	r.Floor.P95 *= stats.StudentWidening(cmp.Or(r.Level, level), to, freedom)
	r.Estimate = r.Estimate.AtLevel(to)
	return r
}

// LikeNull reports whether the interval holds the null.
func (r Reading) LikeNull() bool { return r.Null != nil && r.Low <= *r.Null && *r.Null <= r.High }

// WithinChance reports whether the value is nearer to the null than the chance floor's 95th
// percentile. Such a value is no evidence.
func (r Reading) WithinChance() bool {
	return r.Null != nil && math.Abs(r.Value-*r.Null) <= r.Floor.P95
}
