// The result in sentences: what the lenses found, which cannot tell, and which to take with care.

package comparison

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// oracleLabel is the row of the retrained model.
const oracleLabel = "retrained (oracle)"

// otherSeed is the row of the model that was retrained from another seed.
const otherSeed = "retrained, other seed"

// againstCopies names the option that keeps equal records in one part, if the data have it.
func (r *Result) againstCopies() string {
	if t, is := r.Study.Setting.Data.(*own.Table); !is || t.KeepsCopies() {
		return ""
	}
	return " The option CopiesTogether (--copies-together) keeps equal rows in one part."
}

// Answers says in a sentence per method what the lenses found that can tell the original from
// the retrained model. Before that it says which lenses cannot and why: the two look alike, or
// there is no evidence. It warns of lenses that take two retrained models for different, or an
// untrained one for the original.
//
// First comes how many forgotten records the retained ones hold too, and which classes are not held out. Every sentence on a
// classifier ends with what it and the retrained model answer right: a
// verdict compares numbers with wide intervals where few records are held out.
func (r *Result) Answers() (out []string) {
	if n := r.overSeeds(func(run Run) int { return run.Copies }); n != "" {
		out = append(out, fmt.Sprintf("Of the %s %s can be found among the retained ones too, with the same inputs: who keeps the copy keeps the record.",
			r.records(func(run Run) int { return run.Forget }, "forgotten record"), n))
	}
	if n := r.overSeeds(func(run Run) int { return run.HeldOutCopies }); n != "" {
		out = append(out, fmt.Sprintf("Of the %s that lenses read, %s can be found in training too, with the same inputs: these are no records that the "+
			"models never had, so that less of a memory is seen than there is, and held-out records are answered right more often than new ones would be.",
			r.records(func(run Run) int { return run.Judged }, "held-out record"), n)+r.againstCopies())
	}
	if s := r.notHeldOut(); s != "" {
		out = append(out, s)
	}
	able, blind, silent, split := r.sortedLenses()
	if len(blind) > 0 {
		out = append(out, fmt.Sprintf("Cannot tell the original from the retrained models here%s. What differs there may be chance or "+
			"the seed, which does not mean that there is no memory%s.", r.inSeeds(blind), r.rightAnswers("the original is ", r.original())))
	}
	if len(silent) > 0 {
		out = append(out, r.silentAnswer(silent))
	}
	if len(split) > 0 {
		out = append(out, fmt.Sprintf("Tell the original from the retrained models in some seeds only, and say little of any method: %s.",
			strings.Join(r.originalCalls(split), ", ")))
	}
	for _, k := range able {
		if call := r.verdict(unlearn.RandomWeights{}.Info().Name, k).Call; call == audit.Remembered {
			out = append(out, fmt.Sprintf("Take care with %q: a model of random weights, which never met any record, is called %s. So this verdict of the "+
				"lens is no sign of memory here.", r.Study.Lenses[k].Name(), call))
		}
		if call := r.verdict(otherSeed, k).Call; call.Found() {
			out = append(out, fmt.Sprintf("Take care with %q: a model that was retrained from another seed, and never met these records either, is called %s. "+
				"So a verdict of this lens can come from chance in the training, not from memory.", r.Study.Lenses[k].Name(), call))
		}
	}
	for _, label := range r.labels() {
		found := r.found(label)
		if len(found) == 0 || found[0].Control || len(able) == 0 {
			continue
		}
		var parts []string
		for _, k := range able {
			parts = append(parts, r.answer(label, k))
		}
		out = append(out, label+": "+strings.Join(parts, ", ")+r.rightAnswers("", found)+".")
	}
	return out
}

// spread is the least and the largest of a number of the runs.
func (r *Result) spread(of func(Run) int) (least, most int) {
	for i, run := range r.Runs {
		if n := of(run); i == 0 {
			least, most = n, n
		} else {
			least, most = min(least, n), max(most, n)
		}
	}
	return least, most
}

// records names a number of records of the runs: "32 forgotten records", "32 to 41 forgotten records".
func (r *Result) records(of func(Run) int, name string) string {
	least, most := r.spread(of)
	if least == most {
		return report.Plural(least, name)
	}
	return fmt.Sprintf("%d to %s", least, report.Plural(most, name))
}

// overSeeds is a number of the runs: one, or the least and the largest; empty where it is 0 in all.
func (r *Result) overSeeds(of func(Run) int) string {
	switch least, most := r.spread(of); {
	case most == 0:
		return ""
	case least == most:
		return fmt.Sprint(least)
	default:
		return fmt.Sprintf("%d to %d (by the seed)", least, most)
	}
}

// rightAnswers says how many forgotten and how many held-out records a classifier and the retrained one
// answer right: what was forgotten, and what it cost. subject is what the sentence calls the first, if it
// does not say so before.
func (r *Result) rightAnswers(subject string, found []*Model) string {
	oracle := r.found(oracleLabel)
	forgotten, held := func(m *Model) *float64 { return m.Forgotten }, func(m *Model) *float64 { return m.HeldOut }
	shares := []float64{mean(found, forgotten), mean(found, held), mean(oracle, forgotten), mean(oracle, held)}
	if slices.ContainsFunc(shares, math.IsNaN) {
		return ""
	}
	return fmt.Sprintf("; %sright on %.2f of the forgotten records and %.2f of the held-out ones, the retrained model on %.2f and %.2f", subject, shares[0],
		shares[1], shares[2], shares[3])
}

// mean is the mean accuracy of models on some records; NaN if they are no classifiers.
func mean(of []*Model, accuracy func(*Model) *float64) float64 {
	sum := 0.0
	for _, m := range of {
		share := accuracy(m)
		if share == nil {
			return math.NaN()
		}
		sum += *share
	}
	return sum / float64(len(of))
}

// silentAnswer says why lenses gave no evidence. That is no sign of forgetting.
func (r *Result) silentAnswer(lenses []int) string {
	var parts []string
	for _, k := range lenses {
		call := r.verdict(r.originalLabel(), k).Call
		says := string(call)
		if why := r.withheld(k, call); why != "" {
			says += ": " + why
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", r.Study.Lenses[k].Name(), says))
	}
	in := ", in most seeds"
	if len(r.Runs) == 1 {
		in = ""
	}
	return "No evidence for or against" + in + ": " + strings.Join(parts, "; ") + ". That does not mean that the records are forgotten."
}

// withheld is the reason of a lens's call on the original or a model of the same seed that it is compared
// with; empty if none is given.
func (r *Result) withheld(lens int, call audit.Call) string {
	for i, m := range r.original() {
		if m.Calls[lens] != call {
			continue
		}
		for _, of := range r.Runs[i].Models {
			if len(of.Readings) > lens {
				if reason := audit.WithheldReason(of.Readings[lens]); reason.Call == call {
					return reason.Why
				}
			}
		}
	}
	return ""
}

// originalCalls are the names of lenses with the numbers of their calls on the original.
func (r *Result) originalCalls(lenses []int) (out []string) {
	for _, k := range lenses {
		out = append(out, fmt.Sprintf("%s (%s)", r.Study.Lenses[k].Name(), callCounts(r.original(), k)))
	}
	return out
}

// answer says what a lens found of a model.
func (r *Result) answer(label string, lens int) string {
	v, name := r.verdict(label, lens), r.Study.Lenses[lens].Name()
	switch {
	case v.Call == "":
		return fmt.Sprintf("no majority (%s; seeds: %s)", name, callCounts(r.found(label), lens))
	case len(r.Runs) == 1:
		return fmt.Sprintf("%s (%s)", v.Call, name)
	case v.Paired():
		return fmt.Sprintf("%s (%s, %s)", v.Call, name, r.support(v, label))
	}
	return fmt.Sprintf("%s (%s) %s", v.Call, name, r.support(v, label))
}

// sortedLenses returns the lenses that tell the original from the retrained models, those that do not, those without
// evidence, and those of which no majority of seeds says the same.
func (r *Result) sortedLenses() (able, blind, silent, split []int) {
	if len(r.original()) == 0 {
		return nil, nil, nil, nil
	}
	for k := range r.Study.Lenses {
		switch r.verdict(r.originalLabel(), k).Call {
		case audit.Remembered:
			able = append(able, k)
		case audit.Blind:
			blind = append(blind, k)
		case "":
			split = append(split, k)
		default:
			silent = append(silent, k)
		}
	}
	return able, blind, silent, split
}

// originalLabel is the label of the model of which nothing was unlearned: the first of every run.
func (r *Result) originalLabel() string { return r.Runs[0].Models[0].Label }

// original returns the models of which nothing was unlearned.
func (r *Result) original() []*Model {
	if len(r.Runs) == 0 || len(r.Runs[0].Models) == 0 {
		return nil
	}
	return r.found(r.originalLabel())
}

func (r *Result) lensNames(lenses []int) (out []string) {
	for _, k := range lenses {
		name := r.Study.Lenses[k].Name()
		if v := r.verdict(r.originalLabel(), k); v.Paired() {
			name += " (" + r.support(v, r.originalLabel()) + ")"
		}
		out = append(out, name)
	}
	return out
}

// inSeeds names lenses and the seeds in which they found what is said of the original: those that compare models within each seed
// in all of them together, others in most. Of one seed there is nothing to say.
func (r *Result) inSeeds(lenses []int) string {
	if len(r.Runs) == 1 {
		return ": " + strings.Join(r.lensNames(lenses), ", ")
	}
	var together, most []int
	for _, k := range lenses {
		if r.verdict(r.originalLabel(), k).Paired() {
			together = append(together, k)
		} else {
			most = append(most, k)
		}
	}
	var parts []string
	if together != nil {
		parts = append(parts, "in all seeds together: "+strings.Join(r.lensNames(together), ", "))
	}
	if most != nil {
		parts = append(parts, "in most seeds: "+strings.Join(r.lensNames(most), ", "))
	}
	return ", " + strings.Join(parts, "; ")
}

// notHeldOut says of which classes no record is held out, and in how many seeds; "" if every class has some in all.
func (r *Result) notHeldOut() string {
	seeds := map[string]int{}
	for _, run := range r.Runs {
		for _, class := range run.notHeldOut {
			seeds[class]++
		}
	}
	var parts []string
	for _, class := range slices.Sorted(maps.Keys(seeds)) {
		part := fmt.Sprintf("%q", class)
		if n := seeds[class]; n < len(r.Runs) {
			part += fmt.Sprintf(" (in %d of %d seeds)", n, len(r.Runs))
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("No record of the class %s is held out: what is said of held-out records is said of the others alone.", strings.Join(parts, ", "))
}
