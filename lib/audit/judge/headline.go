// Headlines: the verdicts on an unlearned model, grouped by family of lenses and
// summarised in an answer.

package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Headline summarises the verdicts on one unlearned model.
type Headline struct {
	Model  string `json:"model"`
	Answer Answer `json:"answer"`
	// Supposes is what the answer holds for and nothing in the evidence shows; empty: there is no such condition.
	Supposes string `json:"supposes,omitempty"`
	// Hides is what an answer without a memory would miss all the same; empty: records are judged one by one too.
	Hides string `json:"hides,omitempty"`
	// Doubt is why the arrays of the model, or of one that it is compared with, may not be those of the records, so that an
	// answer without a memory is withheld; empty: nothing is wrong with them.
	Doubt string `json:"doubt,omitempty"`
	// Groups are the verdicts that occur, each once, in the order of callOrder.
	Groups []VerdictGroup `json:"classes"`
}

// VerdictGroup is one verdict and the families of lenses that reach it; each family counts once.
type VerdictGroup struct {
	Call     audit.Call     `json:"verdict"`
	Families []FamilyLenses `json:"families"`
}

// FamilyLenses holds the lenses of one family with the same verdict. A family whose lenses differ
// is in several groups.
type FamilyLenses struct {
	Family audit.Family `json:"family"`
	Lenses []string     `json:"judgements"` // names of verdicts, in the order of the report
}

// Answer is the sentence that a headline begins with.
type Answer string

// The answers, from a memory that is seen to no answer.
const (
	StillRemembered Answer = "the records are still remembered"
	SomeMemory      Answer = "a memory of the records is left"
	Disagree        Answer = "the lenses disagree, and at least one of them sees a memory"
	BothWays        Answer = "the lenses disagree: by some a memory is left, by others the records were pushed away, and each gives them away"
	PushedAway      Answer = "the records are not remembered but pushed away, which gives them away too"
	NoMemory        Answer = "no memory is seen"
	NotShown        Answer = "no memory is seen, and there is no original to show that one would be"
	ByChance        Answer = "these arrays cannot tell: among so many lenses chance alone shows as much as is seen"
	SomeStandOut    Answer = "no memory is seen on the whole, and single records stand out"
	SomeMayStandOut Answer = "these arrays cannot tell: no memory is seen on the whole, and more single records stand out than chance explains, but too few " +
		"to be told from a retrained model's"
	NoPower  Answer = "these arrays cannot tell: no memory is seen, and one of the size in question would often be missed"
	NoAnswer Answer = "these arrays cannot tell"
)

// callOrder lists all verdicts, those that place a model first.
var callOrder = []audit.Call{
	audit.Remembered, audit.Backwards, audit.Between, audit.Beyond, audit.Forgotten, Unseen, Unmoved, Moved, audit.Unclear, audit.Blind,
	audit.CannotTell, audit.TooFew, audit.NotAsked, Unplaced,
}

// Headline summarises the verdicts on an unlearned model.
func (r *Report) Headline(model string) Headline {
	verdicts := r.verdictsOn(model)
	h := headline(model, verdicts)
	if !h.Answer.Accuses() && len(r.StandOut(model)) > 0 {
		h.Answer = SomeStandOut
	}
	if (h.Answer == NoMemory || h.Answer == NotShown) && r.MayStandOut(model) {
		h.Answer = SomeMayStandOut
	}
	if h.Doubt = r.Evidence.doubtOf(model); h.Doubt != "" {
		h.Answer = doubted(h.Answer, verdicts)
	}
	byNulls := slices.ContainsFunc(verdicts, Verdict.supposesAlike) || h.Answer == SomeStandOut && len(r.Evidence.ModelsOf(Retrained)) == 0
	if h.Answer.Tells() && byNulls {
		h.Supposes = r.Inputs.supposed()
	}
	if e := r.Evidence; e.Groups != nil && (h.Answer == NoMemory || h.Answer == NotShown) {
		h.Hides = fmt.Sprintf("A memory of a few of the %s would not show: means over all of them hide it, and records in groups are not judged one by one",
			e.Unit(e.CountGroups(e.Forget)))
	}
	return h
}

// supposesAlike reports whether a verdict rests on a null that holds for sets that were drawn alike.
func (v Verdict) supposesAlike() bool {
	null := v.Reference == NullReference || v.Reference == BlindReference
	return null && !v.Lens.Info().AnySets && (v.Call.Found() || v.Call == audit.Forgotten || v.Call == Unseen)
}

func headline(model string, verdicts []Verdict) Headline {
	h := Headline{Model: model, Groups: []VerdictGroup{}}
	for _, call := range callOrder {
		if c := groupOf(call, verdicts); len(c.Families) > 0 {
			h.Groups = append(h.Groups, c)
		}
	}
	firm := thatStand(verdicts)
	switch h.Answer = answerOf(firm); {
	case len(firm) < len(verdicts) && !slices.ContainsFunc(firm, func(v Verdict) bool { return v.Call.Found() }):
		h.Answer = ByChance
	case (h.Answer == NoMemory || h.Answer == NotShown) && !hasPower(verdicts):
		h.Answer = NoPower
	}
	return h
}

// statedSize is the distance of an AUC from 0.5 that an audit without an original must be able to see: an
// attacker is right in 60 of 100 cases, where guessing is right in 50.
const statedSize = 0.1

// soughtSize is the size of the memory that a verdict would have to see: the distance of the original from the
// reference, or statedSize where there is no original. NaN: a number of another scale, for which no
// size is stated.
func (v *Verdict) soughtSize() float64 {
	switch o, ref := v.original(), v.reference(); {
	case o != nil && ref != nil:
		return math.Abs(o.Value - ref.Value)
	case v.Reading.Null != nil && *v.Reading.Null == 0.5:
		return statedSize
	}
	return math.NaN()
}

// hasPower reports whether one of the verdicts without a memory would be one with a memory in four audits of five, if
// the model had one of soughtSize, and would stand among all verdicts.
func hasPower(verdicts []Verdict) bool {
	more := moreAmong(verdicts)
	return slices.ContainsFunc(verdicts, func(v Verdict) bool {
		return (v.Call == audit.Forgotten || v.Call == Unseen) && v.Smallest*more <= v.soughtSize()
	})
}

// moreAmong is how many times as large a memory must be to be seen among all verdicts as by one lens alone: of n families that
// were asked, markWeak leaves one that accuses alone an nth of the level.
func moreAmong(verdicts []Verdict) float64 {
	asked := make([]*Verdict, len(verdicts))
	for k := range verdicts {
		asked[k] = &verdicts[k]
	}
	families, _ := familiesAsked(asked)
	wider := stats.Widening(level, 1-(1-level)/float64(max(1, len(families))))
	return (twoSided*wider + fourOfFive) / (twoSided + fourOfFive)
}

// thatStand are verdicts without those that are weak.
func thatStand(verdicts []Verdict) []Verdict {
	return slices.DeleteFunc(slices.Clone(verdicts), func(v Verdict) bool { return v.Weak })
}

// groupOf collects the verdicts with a call.
func groupOf(call audit.Call, verdicts []Verdict) VerdictGroup {
	c := VerdictGroup{Call: call}
	for _, v := range verdicts {
		if v.Call != call {
			continue
		}
		k := slices.IndexFunc(c.Families, func(m FamilyLenses) bool { return m.Family == v.family() })
		if k < 0 {
			k, c.Families = len(c.Families), append(c.Families, FamilyLenses{Family: v.family()})
		}
		c.Families[k].Lenses = append(c.Families[k].Lenses, v.Name())
	}
	return c
}

// family is the lens's family; a lens without one is a family of its own.
func (v Verdict) family() audit.Family {
	return cmp.Or(v.Lens.Info().Family, audit.Family(v.Lens.Name()))
}

// answerOf is the answer of verdicts that stand. Lenses of one family use the same numbers: one of them that sees no
// memory contradicts no other.
func answerOf(verdicts []Verdict) Answer {
	has := func(calls ...audit.Call) bool {
		return slices.ContainsFunc(verdicts, func(v Verdict) bool { return slices.Contains(calls, v.Call) })
	}
	var remember []audit.Family
	for _, v := range verdicts {
		if v.Memory() {
			remember = append(remember, v.family())
		}
	}
	memory := len(remember) > 0
	switch {
	case memory && has(audit.Beyond):
		return BothWays
	case memory && slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Call == audit.Forgotten && !slices.Contains(remember, v.family()) }):
		return Disagree // Unseen contradicts nothing
	case has(audit.Remembered):
		return StillRemembered
	case memory:
		return SomeMemory
	case has(audit.Beyond):
		return PushedAway
	case has(audit.Forgotten):
		return NoMemory
	case has(Unseen):
		return NotShown
	}
	return NoAnswer
}

// Accuses reports whether an answer is that a memory, or its opposite, was found.
func (a Answer) Accuses() bool {
	return a.Memory() || a == PushedAway
}

// Memory reports whether an answer is that a memory is left.
func (a Answer) Memory() bool {
	return slices.Contains([]Answer{StillRemembered, SomeMemory, Disagree, BothWays, SomeStandOut}, a)
}

// Tells reports whether an answer is one to the question.
func (a Answer) Tells() bool {
	return !slices.Contains([]Answer{NoAnswer, NoPower, ByChance, SomeMayStandOut, Doubtful}, a)
}

// String is the headline in words: the answer, and every verdict that occurs with its families and
// lenses.
func (h Headline) String() string {
	var classes []string
	for _, c := range h.Groups {
		classes = append(classes, c.String())
	}
	s := fmt.Sprintf("%s: %s.", h.Model, h.Answer)
	if h.Supposes != "" {
		s = fmt.Sprintf("%s: %s, if %s.", h.Model, h.Answer, h.Supposes)
	}
	switch {
	case h.Answer == Doubtful:
		s = fmt.Sprintf("%s: %s: %s.", h.Model, h.Answer, h.Doubt)
	case h.Doubt != "":
		s += " But " + h.Doubt + "."
	}
	if h.Hides != "" {
		s += " " + h.Hides + "."
	}
	switch len(classes) {
	case 0:
		return s + " No lens could be used."
	case 1:
		return s + " All lenses that were used say " + classes[0] + "."
	}
	return s + " The verdicts are " + strings.Join(classes, "; ") + "."
}

// String names the verdict and the lenses that reach it: "between by outputs (loss, entropy)".
func (c VerdictGroup) String() string {
	var by []string
	for _, m := range c.Families {
		by = append(by, fmt.Sprintf("%s (%s)", m.Family, joinNames(m.Lenses)))
	}
	return fmt.Sprintf("%s by %s", c.Call, joinNames(by))
}
