package rulerpaper

// The table of the paper's claims on images, faces and texts (section 5.5).

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/lethe-ml/lethe/lib/stats"
)

var recordClaims = Recipe{
	ID:    "ruler/claims-records",
	Title: "RULER. The paper's claims on images, faces and texts beside the controls",
	Doc: "Each claim of the paper's section 5.5 as the paper makes it, what this run measures, and what the control says to it. 'Reproduced' is about " +
		"the number only. Near is within 0.05 of the mean over seeds. Above and below are by Student's interval over seeds (95 %, not corrected " +
		"for their number), against the oracle by the paired difference. The notes of Tables 13 and 14 and of the table on texts say what stands " +
		"in for the paper's data and networks.",
	studies: recordStudies,
}

// recordStudies are those of images, faces and texts.
func recordStudies(ctx context.Context, s Scale) (all []Study, err error) {
	for _, part := range []func(context.Context, Scale) ([]Study, error){imageStudies, faceStudies, textStudies} {
		of, err := part(ctx, s)
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	return all, nil
}

func init() {
	recordClaims.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		t := e.table(recordClaims, s, parts...)
		addClaims(t, claimsOfRecords(parts))
		return &Output{Table: t}, nil
	}
}

// claimsOfRecords are the claims, in the order of the studies.
func claimsOfRecords(parts []*Collected) (out []checked) {
	for _, c := range parts {
		name := strings.TrimPrefix(c.Study.Name, imagesOf)
		switch of := c.conditions(); {
		case c.Study.Images != nil:
			out = append(out, of.nearHalf("images, "+name+": the original's M4 is near 0.5", "near 0.5"))
			if name == resNet {
				out = append(out, of.below("images, "+name+": NegGrad leaves M4 below 0.5", NG, "on every set"),
					of.below("images, "+name+": SCRUB leaves M4 below 0.5", SC, "on every set, down to 0.16"))
			}
		case c.Study.Faces != nil:
			out = append(out, of.aboveHalf("faces: the original's M4 is far above 0.5", "at every fraction, up to 0.94"), of.untouched())
		case c.Study.Texts != nil:
			out = append(out, of.nearHalf("texts, "+c.reading()+": the original's M4 is near 0.5", "0.537, 0.521, 0.501"))
		}
	}
	return out
}

// conditions are the cells of a study whose seeds are averaged: a data set at a fraction.
type conditions struct {
	*Collected
	of []condition
}

type condition struct {
	set      string
	fraction float64
	label    string
}

// conditions lists the conditions of a study, by data set if it has several and else by fraction.
func (c *Collected) conditions() conditions {
	out := conditions{Collected: c}
	for _, d := range c.Study.DataSets {
		for _, f := range c.Study.Fractions {
			label := d
			if len(c.Study.Fractions) > 1 {
				label = percent(f)
			}
			out.of = append(out.of, condition{d, f, label})
		}
	}
	return out
}

// m4Of is the mean of a variant's M4 over seeds in a condition.
func (c conditions) m4Of(variant string, k condition) stats.Estimate {
	return seedMean(inSet(rowsOf(c.Rows, variant, k.fraction), k.set), m4)
}

// overOracle is the mean difference of a variant's M4 to the oracle's over seeds in a condition.
func (c conditions) overOracle(variant string, k condition) stats.Estimate {
	return seedMean(inSet(rowsOf(c.Rows, variant, k.fraction), k.set), deltaM4)
}

// count counts the conditions where an estimate holds.
func (c conditions) count(variant string, of func(string, condition) stats.Estimate, holds func(stats.Estimate) bool) string {
	return fmt.Sprintf("%d of %d", c.number(variant, of, holds), len(c.of))
}

func (c conditions) number(variant string, of func(string, condition) stats.Estimate, holds func(stats.Estimate) bool) (n int) {
	for _, k := range c.of {
		n += count(holds(of(variant, k)))
	}
	return n
}

// list writes a variant's M4 by condition.
func (c conditions) list(variant string) string {
	var out []string
	for _, k := range c.of {
		out = append(out, fmt.Sprintf("%s %.2f", k.label, c.m4Of(variant, k).Value))
	}
	return strings.Join(out, ", ")
}

func isBelowNull(e stats.Estimate) bool { return e.ExcludesNull() && e.Value < *e.Null }
func isAboveNull(e stats.Estimate) bool { return e.ExcludesNull() && e.Value > *e.Null }

// nearHalf is the claim that the original's M4 is near one half, which the paper reads as no memory.
func (c conditions) nearHalf(claim, printed string) checked {
	holds := true
	for _, k := range c.of {
		holds = holds && math.Abs(c.m4Of(NoOp, k).Value-0.5) < 0.05
	}
	attacked := mean(values(filter(c.Rows, func(r Row) bool { return r.Variant == NoOp }), mia.Value))
	return checked{claim, printed, c.list(NoOp), fmt.Sprintf("the oracle: %s; M4 differs from it in %s; the loss attack on the original has a balanced "+
		"accuracy of %.2f (a guess: 0.5)", c.list(Oracle), c.count(NoOp, c.overOracle, stats.Estimate.ExcludesNull), attacked), outcomeOf(holds)}
}

// aboveHalf is the claim that the original's M4 is above one half, which the paper reads as memory.
func (c conditions) aboveHalf(claim, printed string) checked {
	return checked{claim, printed, c.list(NoOp), fmt.Sprintf("the oracle, which never saw them: %s; M4 is above it in %s", c.list(Oracle),
		c.count(NoOp, c.overOracle, isAboveNull)), outcomeOf(c.number(NoOp, c.m4Of, isAboveNull) == len(c.of))}
}

// below is the claim that a method leaves M4 below one half, which the paper calls over-displaced.
func (c conditions) below(claim, method, printed string) checked {
	return checked{claim, printed, fmt.Sprintf("in %s: %s", c.count(method, c.m4Of, isBelowNull), c.list(method)),
		fmt.Sprintf("the oracle is below 0.5 in %s (%s); the method is below the oracle in %s", c.count(Oracle, c.m4Of, isBelowNull), c.list(Oracle),
			c.count(method, c.overOracle, isBelowNull)), outcomeOf(c.number(method, c.m4Of, isBelowNull) == len(c.of))}
}

// untouched is the claim that no method erases what people leave, beside people whom no model saw.
func (c conditions) untouched() checked {
	above := func(variant string) (n int) {
		for _, k := range c.of {
			n += count(isAboveNull(seedMean(rowsOf(c.Rows, variant, k.fraction), m4Beyond)))
		}
		return n
	}
	left, all := 0, 0
	for _, v := range methods() {
		left += above(v.Label)
		all += len(c.of)
	}
	return checked{"faces: no method erases what is left of people fully", "M4 is above 0.5",
		fmt.Sprintf("M4 is above that of people no model saw in %d of %d", left, all),
		fmt.Sprintf("the oracle's is in %d of %d, that of the original in %d of %d", above(Oracle), len(c.of), above(NoOp), len(c.of)), outcomeOf(left == all)}
}
