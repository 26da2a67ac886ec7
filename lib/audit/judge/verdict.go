package judge

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Calls of an audit that lacks what the calls of package audit rest on.
const (
	// Unseen: like a model that never had the records, but no original is there to show
	// that the judgement sees a memory on these data.
	Unseen audit.Call = "nothing seen"
	// Unmoved: like the original. Whether that is memory only a retrained model can say.
	Unmoved audit.Call = "unmoved"
	// Moved: unlike the original. Whether that is forgetting only a retrained model can say.
	Moved audit.Call = "moved"
	// Unplaced: a number, and nothing to compare it with.
	Unplaced audit.Call = "unplaced"
)

// Reference says who stands for a model that never had the records.
type Reference string

// The references.
const (
	RetrainedReference Reference = "retrained model"
	NullReference      Reference = "null"
	NoReference        Reference = "nobody"
)

// Verdict is what one judgement says of one unlearned model.
type Verdict struct {
	Lens      Lens
	Layer     string // named activation; empty: the embedding, or no layer at all
	Reading   audit.Reading
	Original  *audit.Reading  // of the first original; nil: none
	Retrained []audit.Reading // of every retrained model
	Reference Reference
	Call      audit.Call
	// Why is the reason of a call of audit.TooFew or audit.CannotTell; empty for others.
	Why string
	// Smallest is the smallest distance from the reference that an audit like this one
	// tells in four cases of five; NaN where no law and no interval is known. By says
	// what it was computed from.
	Smallest     float64
	SmallestFrom string
}

// Name is the judgement's, with the layer.
func (v Verdict) Name() string {
	if v.Layer == "" {
		return v.Lens.Name()
	}
	return v.Lens.Name() + " at " + v.Layer
}

// fileOfRow compares the readings, calls them and computes the power.
func (v *Verdict) place() { v.placeAs(v.likeness()) }

// likeness says which of original and reference the reading is like, as far as they are
// there.
func (v *Verdict) likeness() (l audit.Likeness) {
	if o := v.original(); o != nil {
		l.Original = audit.Alike(v.Reading, *o)
	}
	if ref := v.reference(); ref != nil {
		l.Oracle = audit.Alike(v.Reading, *ref)
	}
	return l
}

// placeAs is place for a likeness that is known otherwise.
func (v *Verdict) placeAs(l audit.Likeness) {
	ref := v.reference()
	v.Call, v.Why = v.call(ref, l)
	v.Smallest, v.SmallestFrom = smallestSeen(v.Reading, ref, v.Reference)
	if v.Why != "" {
		v.Smallest, v.SmallestFrom = math.NaN(), ""
	}
}

// original is the original's reading, where it has an interval.
func (v *Verdict) original() *audit.Reading {
	if v.Original == nil || !v.Original.HasInterval() {
		return nil
	}
	return v.Original
}

// reference is the reading of a model that never had the records: of several retrained
// models their mean, and an interval that holds all of theirs. Two models may differ by
// their seed alone; an interval that holds several shows how far.
func (v *Verdict) reference() *audit.Reading {
	switch {
	case len(v.Retrained) > 0:
		v.Reference = RetrainedReference
		out := v.Retrained[0]
		sum := 0.0
		for _, r := range v.Retrained {
			sum += r.Value
			out.Low, out.High = min(out.Low, r.Low), max(out.High, r.High)
			if out.NoEvidence.Call == "" && r.NoEvidence.Call != "" {
				out.NoEvidence, out.Model = r.NoEvidence, r.Model
			}
		}
		out.Value = sum / float64(len(v.Retrained))
		return &out
	case v.Lens.About().Null == NonmemberNull && v.Reading.Null != nil:
		v.Reference = NullReference
		null := *v.Reading.Null
		return &audit.Reading{Estimate: stats.Estimate{Value: null, Low: null, High: null}, Memory: v.Reading.Memory}
	}
	v.Reference = NoReference
	return nil
}

// call is audit.CallOf where all three readings are there, and the reason of a call that
// has one. A reading that is no evidence, or is compared with one, is called so before
// anything else.
func (v *Verdict) call(ref *audit.Reading, l audit.Likeness) (call audit.Call, why string) {
	m, o := v.Reading, v.original()
	if reason := v.withheldReason(); reason.Call != "" {
		return reason.Call, reason.Why
	}
	switch {
	case !m.HasInterval() || ref != nil && !ref.HasInterval(), ref == nil && o == nil:
		return Unplaced, ""
	case ref == nil && l.Original:
		return Unmoved, ""
	case ref == nil:
		return Moved, ""
	case o == nil && l.Oracle:
		return Unseen, ""
	case o == nil:
		return audit.CallBySide(m, *ref), ""
	}
	return l.Call(m, *o, *ref), ""
}

// withheldReason is why a reading of the verdict is no evidence.
func (v *Verdict) withheldReason() audit.Reason {
	var ends []audit.Reading
	for _, end := range []*audit.Reading{v.Original, v.reference()} {
		if end != nil {
			ends = append(ends, *end)
		}
	}
	return audit.WithheldReason(v.Reading, ends...)
}

// contrary reports whether a judgement of coordinates has the original unlike the
// reference on the side away from memory.
func (v *Verdict) contrary() bool {
	o, ref := v.original(), v.reference()
	return o != nil && ref != nil && audit.Contrary(*o, *ref)
}

// Sentences is the verdict in words.
func (v Verdict) Text() string {
	stranger := "a model that never had the records (the null)"
	if v.Reference == RetrainedReference {
		stranger = "the retrained model"
		if len(v.Retrained) > 1 {
			stranger = fmt.Sprintf("the %d retrained models", len(v.Retrained))
		}
	}
	if v.Call == audit.Blind && v.contrary() {
		return "The original is unlike " + stranger + " on the side away from memory: it is another seed that differs here."
	}
	switch v.Call {
	case audit.TooFew:
		return "Too few records: " + v.Why + "."
	case audit.CannotTell:
		return "The number is no evidence: " + v.Why + "."
	case audit.Blind:
		return "The original itself looks like " + stranger + ": there is nothing here that this judgement could see go."
	case audit.Forgotten:
		return "Like " + stranger + " and unlike the original."
	case audit.Remembered:
		if v.Original == nil || !v.likeness().Original {
			return "Unlike " + stranger + ", on the side of memory."
		}
		return "Like the original and unlike " + stranger + "."
	case audit.Between:
		return "On the way from the original to " + stranger + ", unlike both."
	case audit.Beyond:
		return "Unlike " + stranger + ", on the far side from memory: the records stand out because they were pushed away."
	case audit.Backwards:
		return "Unlike both, and farther from " + stranger + " than the original is."
	case audit.Unclear:
		return "Like the original and like " + stranger + ": it can be told from neither."
	case Unseen:
		return "Like " + stranger + ". Without the original nothing shows that a memory would have been seen."
	case Unmoved:
		return "Like the original. Only a retrained model can say whether that is memory."
	case Moved:
		return "Unlike the original. Only a retrained model can say whether that is forgetting."
	}
	return "A number without anything to compare it with."
}

// Memory reports whether the verdict speaks for a memory that is left.
func (v Verdict) Memory() bool {
	return v.Call == audit.Remembered || v.Call == audit.Between || v.Call == audit.Backwards
}

// The quantiles behind the power: of a test at 5 % on two sides, and of four cases of five.
const (
	twoSided   = 1.959963984540054
	fourOfFive = 0.8416212335729143
)

// smallestSeen is the smallest distance from the reference at which a reading is unlike it in
// four cases of five,
//
//	(1.96 + 0.84) sqrt(s^2 + t^2)
//
// with the standard errors s of the reading and t of the reference; t is 0 for a null,
// and s then the standard deviation under it, where that is known.
func smallestSeen(m audit.Reading, ref *audit.Reading, by Reference) (smallest float64, from string) {
	half := func(r audit.Reading) float64 { return (r.High - r.Low) / 2 }
	switch {
	case ref == nil || !m.HasInterval():
		return math.NaN(), ""
	case by == NullReference && !math.IsNaN(m.Floor.P95):
		return m.Floor.P95 * (1 + fourOfFive/twoSided), "the law of the number under its null, at these numbers of records"
	}
	return math.Hypot(half(m), half(*ref)) * (1 + fourOfFive/twoSided), "the widths of the intervals"
}
