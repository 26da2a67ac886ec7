// Verdicts: one lens on one unlearned model, compared with the original and the
// retrained models or the null.

package judge

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Calls of an audit that lacks the original or a reference.
const (
	// Unseen: like a model that never had the records, but there is no original to show that the
	// lens sees a memory on these data.
	Unseen audit.Call = "nothing seen"
	// Unmoved: like the original. Only a retrained model can say whether that is memory.
	Unmoved audit.Call = "unmoved"
	// Moved: unlike the original. Only a retrained model can say whether that is forgetting.
	Moved audit.Call = "moved"
	// Unplaced: a number with nothing to compare it with.
	Unplaced audit.Call = "unplaced"
)

// Reference says what stands for a model that never had the records.
type Reference string

// A verdict compares with a retrained model, with the lens's null value, or with neither.
const (
	RetrainedReference Reference = "retrained model"
	NullReference      Reference = "null"
	// BlindReference stands for the null where the sets differ by themselves.
	BlindReference Reference = "blind attack"
	NoReference    Reference = "nobody"
)

// Verdict is the result of one lens for one unlearned model.
type Verdict struct {
	Lens      Lens
	Layer     string // named activation; empty: the embedding, or no layer at all
	Reading   audit.Reading
	Original  *audit.Reading  // of the first original; nil: none
	Retrained []audit.Reading // of every retrained model
	Reference Reference
	// Blind is what inputs or classes alone reach without any model, where the sets differ by themselves; nil: they
	// are not known to.
	Blind *audit.Reading
	// Gone says that no record of the forgotten records' classes is retained.
	Gone bool
	Call audit.Call
	// Why is the reason of the calls audit.TooFew and audit.CannotTell; empty for others.
	Why string
	// Smallest is the smallest distance from the reference that an audit like this one detects in
	// four cases of five; NaN where no distribution and no interval is known. SmallestFrom says
	// what it was computed from.
	Smallest     float64
	SmallestFrom string
	// Weak says of a call that accuses the model that it does not stand where all lenses that were asked about
	// the model are taken together (Report.markWeak).
	Weak bool
}

// Name is the lens's name, with the layer.
func (v Verdict) Name() string {
	if v.Layer == "" {
		return v.Lens.Name()
	}
	return v.Lens.Name() + " at " + v.Layer
}

// place compares the readings, sets the call and computes the power.
func (v *Verdict) place() { v.placeAs(v.likeness()) }

// likeness says which of original and reference the reading is like, as far as they exist. A null has
// no interval of its own, and DeLong's is too short for few records: within the chance floor, which
// is exact there, a reading is like the null too.
func (v *Verdict) likeness() (l audit.Likeness) {
	if o := v.original(); o != nil {
		l.Original = audit.Alike(v.Reading, *o)
	}
	if ref := v.reference(); ref != nil {
		l.Oracle = audit.Alike(v.Reading, *ref)
	}
	if v.Reference == NullReference {
		l.Oracle = l.Oracle || v.Reading.WithinChance()
		l.Ends = v.original() != nil && v.original().WithinChance()
	}
	return l
}

// placeAs is place with a likeness that was determined in another way.
func (v *Verdict) placeAs(l audit.Likeness) {
	ref := v.reference()
	v.Call, v.Why = v.call(ref, l)
	v.Smallest, v.SmallestFrom = smallestSeen(v.Reading, ref, v.Reference)
	if v.Why != "" {
		v.Smallest, v.SmallestFrom = math.NaN(), ""
	}
}

// atLevel is the verdict with intervals of another coverage.
func (v Verdict) atLevel(level float64) Verdict {
	v.Reading = v.Reading.AtLevel(level)
	of := func(r *audit.Reading) *audit.Reading {
		if r == nil {
			return nil
		}
		out := r.AtLevel(level)
		return &out
	}
	v.Original, v.Blind, v.Retrained = of(v.Original), of(v.Blind), slices.Clone(v.Retrained)
	for k, r := range v.Retrained {
		v.Retrained[k] = r.AtLevel(level)
	}
	v.place()
	return v
}

// original is the original's reading, if it has an interval.
func (v *Verdict) original() *audit.Reading {
	if v.Original == nil || !v.Original.HasInterval() {
		return nil
	}
	return v.Original
}

// reference is the reading of a model that never had the records: of retrained models, by
// audit.ReferenceOf, or else the lens's null.
func (v *Verdict) reference() *audit.Reading {
	switch {
	case len(v.Retrained) > 0:
		v.Reference = RetrainedReference
		out := audit.ReferenceOf(v.Lens, v.Retrained...)
		return &out
	case v.Lens.Info().Null == audit.NonmemberNull && v.Reading.Null != nil:
		v.Reference = NullReference
		null := *v.Reading.Null
		if v.Blind != nil && null == *v.Blind.Null && !v.Lens.Info().AnySets {
			v.Reference = BlindReference
			return v.blindReference()
		}
		return &audit.Reading{Estimate: stats.Estimate{Value: null, Low: null, High: null}, Memory: v.Reading.Memory}
	}
	v.Reference = NoReference
	return nil
}

// blindReference is what inputs alone reach, on the side of the null on which the reading lies: what sets
// differ by may make the forgotten records easier or harder.
func (v *Verdict) blindReference() *audit.Reading {
	null := *v.Blind.Null
	out := audit.Reading{Model: audit.BlindAttackName, Memory: v.Reading.Memory, Estimate: v.Blind.Estimate}
	if (v.Reading.Value-null)*(v.Blind.Value-null) < 0 {
		out.Value, out.Low, out.High = 2*null-v.Blind.Value, 2*null-v.Blind.High, 2*null-v.Blind.Low
	}
	return &out
}

// setsDiffer returns the reason against a reading that is compared with its null although the sets
// differ by themselves: it is no farther from the null than inputs alone reach, or the null is of another
// scale.
func (v *Verdict) setsDiffer(ref *audit.Reading) audit.Reason {
	if v.Lens.Info().AnySets && v.Reference == NullReference && v.Gone {
		return audit.Reason{Call: audit.CannotTell, Why: "no record of the forgotten classes is retained: shadow models that have not met a record know " +
			"its class from others, and a model that never had the class does not, so that the null does not hold"}
	}
	if v.Blind == nil || v.Lens.Info().AnySets || v.Reference != NullReference && v.Reference != BlindReference {
		return audit.Reason{}
	}
	farther := math.Abs(v.Reading.Value-*v.Reading.Null) > math.Abs(ref.Value-*v.Reading.Null)
	if v.Reference == BlindReference && farther && !audit.Alike(v.Reading, *ref) {
		return audit.Reason{}
	}
	return audit.Reason{Call: audit.CannotTell, Why: fmt.Sprintf("the sets differ by themselves, so that the null does not hold: guessing "+
		"without any model tells forgotten from held-out records with an AUC of %.2f (%.2f to %.2f)", v.Blind.Value, v.Blind.Low, v.Blind.High)}
}

// call is audit.CallOf if all three readings exist, with the reason of a call that has one. A
// reading that is no evidence, or is compared with one, takes precedence.
func (v *Verdict) call(ref *audit.Reading, l audit.Likeness) (call audit.Call, why string) {
	m, o := v.Reading, v.original()
	if reason := v.withheldReason(); reason.Call != "" {
		return reason.Call, reason.Why
	}
	if reason := v.setsDiffer(ref); reason.Call != "" {
		return reason.Call, reason.Why
	}
	if !m.HasInterval() || ref != nil && !ref.HasInterval() || ref == nil && o == nil {
		return Unplaced, ""
	}
	if reason := audit.SeedReason(m, v.Retrained...); reason.Call != "" {
		return reason.Call, reason.Why
	}
	switch {
	case ref == nil && l.Original:
		return Unmoved, ""
	case ref == nil:
		return Moved, ""
	case o == nil && l.Oracle:
		return Unseen, ""
	case o == nil && v.Lens.Info().BothSides && audit.CallBySide(m, *ref) == audit.Beyond:
		return audit.CannotTell, "without the original nothing says whether the records were pushed away or are still a memory, which this lens may " +
			"find on either side"
	case o == nil:
		return audit.CallBySide(m, *ref), ""
	}
	return l.Call(m, *o, *ref), ""
}

// withheldReason returns why a reading of the verdict is no evidence.
func (v *Verdict) withheldReason() audit.Reason {
	var ends []audit.Reading
	for _, end := range []*audit.Reading{v.Original, v.reference()} {
		if end != nil {
			ends = append(ends, *end)
		}
	}
	return audit.WithheldReason(v.Reading, ends...)
}

// contrary reports whether the original is unlike the reference on the side away from memory.
func (v *Verdict) contrary() bool {
	o, ref := v.original(), v.reference()
	return o != nil && ref != nil && !v.likeness().Ends && audit.Contrary(*o, *ref)
}

// Text is the verdict in words.
func (v Verdict) Text() string {
	if v.Weak {
		return v.text() + " Among all lenses that were asked chance alone shows as much: the verdict does not stand."
	}
	return v.text()
}

func (v Verdict) text() string {
	reference := "a model that never had the records (the null)"
	if v.Reference == BlindReference {
		reference = "what guessing reaches without any model (the blind attack)"
	}
	if v.Reference == RetrainedReference {
		reference = "the retrained model"
		if len(v.Retrained) > 1 {
			reference = fmt.Sprintf("the %d retrained models", len(v.Retrained))
		}
	}
	if v.Call == audit.Blind && v.contrary() {
		return "The original is unlike " + reference + " on the side away from memory: " + v.insteadOfMemory() + "."
	}
	switch v.Call {
	case audit.TooFew:
		return "Too few records: " + v.Why + "."
	case audit.CannotTell:
		return "The number is no evidence: " + v.Why + "."
	case audit.Blind:
		return "The original itself looks like " + reference + ": this lens cannot show forgetting on these data."
	case audit.Forgotten:
		return "Like " + reference + " and unlike the original."
	case audit.Remembered:
		if v.Original == nil || !v.likeness().Original {
			return "Unlike " + reference + ", on the side of memory."
		}
		return "Like the original and unlike " + reference + "."
	case audit.Between:
		return "On the way from the original to " + reference + ", unlike both."
	case audit.Beyond:
		return "Unlike " + reference + ", on the far side from memory: the records stand out because they were pushed away."
	case audit.Backwards:
		if v.contrary() {
			return "Unlike " + reference + ", on the side of memory, where the original is not: the records stand out more than they did."
		}
		return "Unlike both, and farther from " + reference + " than the original is."
	case audit.Unclear:
		if !v.likeness().Original {
			return "Like " + reference + ", as far as chance and another seed reach, and yet nearer the original: it can be told from neither."
		}
		return "Like the original and like " + reference + ": it can be told from neither."
	case Unseen:
		return "Like " + reference + ". Without the original nothing shows that a memory would have been seen."
	case Unmoved:
		return "Like the original. Only a retrained model can say whether that is memory."
	case Moved:
		return "Unlike the original. Only a retrained model can say whether that is forgetting."
	}
	return "A number without anything to compare it with."
}

// insteadOfMemory says what a lens reads where the original is on the wrong side.
func (v *Verdict) insteadOfMemory() string {
	switch {
	case v.Reading.Coordinates:
		return "the difference is that of another seed"
	case v.Reference == RetrainedReference:
		return "what this lens reads is no memory, or models or sets are exchanged"
	}
	return "the forgotten records differ from the held-out ones by themselves, or the sets are exchanged"
}

// Memory reports whether the verdict indicates a memory.
func (v Verdict) Memory() bool {
	return v.Call == audit.Remembered || v.Call == audit.Between || v.Call == audit.Backwards
}

// Normal quantiles of the power: a two-sided test at 5 %, and detection in four cases of five.
const (
	twoSided   = 1.959963984540054
	fourOfFive = 0.8416212335729143
)

// smallestSeen is the smallest distance from the reference at which a reading is unlike it in four
// cases of five,
//
//	(1.96 + 0.84) sqrt(s^2 + t^2)
//
// with the standard errors s of the reading and t of the reference. For a null, t is 0 and s the
// standard deviation under it, where that is known. An interval over draws of the same records has no
// standard error of another audit's number.
func smallestSeen(m audit.Reading, ref *audit.Reading, by Reference) (smallest float64, from string) {
	half := func(r audit.Reading) float64 { return (r.High - r.Low) / 2 }
	switch {
	case ref == nil || !m.HasInterval() || m.Overlapping():
		return math.NaN(), ""
	case by == NullReference && !math.IsNaN(m.Floor.P95):
		return m.Floor.P95 * (1 + fourOfFive/twoSided), "the distribution of the number under its null, at these numbers of records"
	}
	return math.Hypot(half(m), half(*ref)) * (1 + fourOfFive/twoSided), "the widths of the intervals"
}
