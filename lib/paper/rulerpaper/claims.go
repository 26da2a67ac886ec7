package rulerpaper

// The table of the paper's claims.

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

var claims = Recipe{
	ID:    "ruler/claims",
	Title: "RULER. The paper's claims beside the controls",
	Doc: "Each claim as the paper makes it, what this run measures, and what the control says to it. 'Reproduced' is about the number only. " +
		"Where a model of which nothing was unlearned, or one that never saw the forget set, shows the same, the number is real and yet no evidence of memory.",
}

func init() {
	claims.studies = oneStudy(mainStudy)
	claims.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		t := e.table(claims, s, c)
		rows, err := c.claims()
		if err != nil {
			return nil, err
		}
		addClaims(t, rows)
		return &Output{Table: t}, nil
	}
}

// addClaims adds the columns and rows of claims.
func addClaims(t *report.Table, rows []checked) {
	t.Columns = []report.Column{{Name: "claim"}, {Name: "printed", Paper: true}, {Name: "here"}, {Name: "reproduced"}, {Name: "the control says"}}
	for _, x := range rows {
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{report.Str(x.claim), report.Str(x.paper), report.Str(x.here),
			report.Str(string(x.reproduced)), report.Str(x.control)}})
	}
}

// checked is one claim of the paper with its measured value.
type checked struct {
	claim, paper, here, control string
	reproduced                  outcome
}

// outcome says whether a claim holds here.
type outcome string

const (
	reproduced outcome = "yes"
	refuted    outcome = "no"
	open       outcome = "open" // none of its tests could be run
)

// untested is what is measured of an open claim.
const untested = "no test on fewer than 5 data sets"

func outcomeOf(holds bool) outcome {
	if holds {
		return reproduced
	}
	return refuted
}

// outcomeOfTests is outcomeOf for a claim about a number of tests.
func outcomeOfTests(holds bool, run int) outcome {
	if run == 0 {
		return open
	}
	return outcomeOf(holds)
}

// ofTests writes how many of the tests that were run show something, and what.
func ofTests(n, run int, what string) string {
	if run == 0 {
		return untested
	}
	return fmt.Sprintf("%d of %d%s", n, run, what)
}

// tally counts, over the four methods and all fractions, how often a condition
// holds.
func (c *Collected) tally(m metric, holds func(effect) bool) (n, of int) {
	for _, f := range c.Study.Fractions {
		for _, a := range methods() {
			n += count(holds(c.effect(a.Label, f, m)))
			of++
		}
	}
	return n, of
}

func (c *Collected) effect(variant string, f float64, m metric) effect {
	return newEffect(rowsOf(c.Rows, variant, f), m)
}

// variantTally is the count for one variant.
func (c *Collected) variantTally(variant string, m metric, holds func(effect) bool) int {
	n := 0
	for _, f := range c.Study.Fractions {
		n += count(holds(c.effect(variant, f, m)))
	}
	return n
}

func (c *Collected) claims() ([]checked, error) {
	out := []checked{c.claimSign(), c.claimSignificance(), c.claimGrowth(), c.claimNull(), c.claimShift(), c.claimRank(), c.claimICC(),
		c.claimCosine(), c.claimOutputs(), c.claimTeacher()}
	pairs, err := c.claimPairs()
	return append(out, pairs...), err
}

func (c *Collected) claimSign() checked {
	n, all := c.tally(m2, func(e effect) bool { return e.mean() < 0 })
	idle := c.variantTally(NoOp, m2, func(e effect) bool { return e.mean() < 0 })
	return checked{
		"M2 is negative after every method at every fraction", "12 of 12", fmt.Sprintf("%d of %d", n, all),
		fmt.Sprintf("the original model, never unlearned, is negative at %d of %d fractions too", idle, len(c.Study.Fractions)), outcomeOf(n == all),
	}
}

func (c *Collected) claimSignificance() checked {
	byZ := func(e effect) bool { return e.significant() && e.mean() < 0 }
	byT := func(e effect) bool { return e.significantT() && e.mean() < 0 }
	z, all := c.tally(m2, byZ)
	t, _ := c.tally(m2, byT)
	n := len(c.Study.Fractions)
	return checked{
		"M2 is significantly negative (mixed model, Wald's z)", "10 of 12", fmt.Sprintf("%d of %d", z, all),
		fmt.Sprintf("without unlearning it is at %d of %d fractions; by Student's t the methods in %d of %d, without unlearning at %d of %d",
			c.variantTally(NoOp, m2, byZ), n, t, all, c.variantTally(NoOp, m2, byT), n), outcomeOf(z >= 10*all/12),
	}
}

func (c *Collected) claimGrowth() checked {
	var r, idle []float64
	for _, f := range c.Study.Fractions {
		var found []float64
		for _, a := range methods() {
			if e := c.effect(a.Label, f, m2); e.ranked() {
				found = append(found, e.Wilcoxon.RankBiserial)
			}
		}
		r = append(r, mean(found))
		size := math.NaN()
		if e := c.effect(NoOp, f, m2); e.ranked() {
			size = e.Wilcoxon.RankBiserial
		}
		idle = append(idle, size)
	}
	grows := true
	for i := 1; i < len(r); i++ {
		grows = grows && r[i] >= r[i-1]
	}
	sized := len(r)
	if math.IsNaN(mean(r)) {
		sized = 0
	}
	return checked{
		"the effect size of M2 (r, mean over methods) grows with the fraction", "grows, largest at 10 %", sizes(r),
		"no unlearning: " + sizes(idle), outcomeOfTests(grows, sized),
	}
}

// sizes formats effect sizes by fraction.
func sizes(r []float64) string {
	if math.IsNaN(mean(r)) {
		return untested
	}
	return fmt.Sprintf("%.2f", r)
}

func (c *Collected) claimNull() checked {
	e := newEffect(filter(c.Rows, func(r Row) bool { return r.Variant == OtherOracle && r.Fraction == c.middleFraction() }), m2)
	if e.Summary == nil {
		return checked{claim: "the null of M2 is centred on zero", here: e.err.Error(), reproduced: open}
	}
	effects := 0.0
	for _, a := range methods() {
		effects += math.Abs(c.effect(a.Label, c.middleFraction(), m2).mean()) / float64(len(methods()))
	}
	return checked{
		"M2 between oracles of different seeds is centred on zero", "approximately zero", e.Mean.String(),
		fmt.Sprintf("its spread over runs (SD %.4f) is %.0f times the mean effect of the methods (%.5f)", e.SD, e.SD/effects, effects),
		outcomeOf(e.Mean.Low <= 0 && e.Mean.High >= 0),
	}
}

// middleFraction is the study's middle fraction, the paper's 5 %.
func (c *Collected) middleFraction() float64 { return c.Study.Fractions[len(c.Study.Fractions)/2] }

func (c *Collected) claimShift() checked {
	n, all := c.tally(m3, func(e effect) bool { return e.mean() < 0 })
	ft := c.variantTally(Matched, m3, func(e effect) bool { return e.mean() < 0 })
	return checked{
		"M3: unlearning moves the forget set away from the oracle's place", "negative for all methods", fmt.Sprintf("%d of %d negative", n, all),
		fmt.Sprintf("fine-tuning for 5 epochs, which never sees the forget set, is negative at %d of %d fractions", ft, len(c.Study.Fractions)),
		outcomeOf(n == all),
	}
}

func (c *Collected) claimRank() checked {
	n, all := c.tally(m4, func(e effect) bool { return e.mean() > 0.5 })
	d, _ := c.tally(deltaM4, effect.significantT)
	own := c.variantTally(Oracle, m4, func(e effect) bool { return e.mean() > 0.5 })
	return checked{
		"mean M4 is above 0.5 in every condition", "12 of 12", fmt.Sprintf("%d of %d", n, all),
		fmt.Sprintf("the oracle's own M4 is above 0.5 at %d of %d fractions; M4 differs from it (t, 5 %%) in %d of %d", own, len(c.Study.Fractions),
			d, all), outcomeOf(n == all),
	}
}

func (c *Collected) claimICC() checked {
	var icc []float64
	for _, f := range c.Study.Fractions {
		for _, a := range methods() {
			if e := c.effect(a.Label, f, m4); e.Summary != nil && e.Mixed != nil {
				icc = append(icc, e.Mixed.ICC)
			}
		}
	}
	oracle := math.NaN()
	if e := c.effect(Oracle, c.middleFraction(), m4); e.Summary != nil && e.Mixed != nil {
		oracle = e.Mixed.ICC
	}
	v := mean(icc)
	return checked{
		"the variance of M4 lies between data sets (ICC)", "0.89", fmt.Sprintf("%.2f, mean over conditions", v),
		fmt.Sprintf("the oracle's own M4: %.2f; the data set decides, not the method", oracle), outcomeOf(math.Abs(v-0.89) < 0.1),
	}
}

func (c *Collected) claimCosine() checked {
	m1 := func(variant string) float64 {
		return mean(values(filter(c.Rows, func(r Row) bool { return r.Variant == variant }), func(r Row) float64 { return r.M1 }))
	}
	same, other := m1(NoOp), m1(OtherOracle)
	return checked{
		"cosine of original and oracle on the forget set, same seed against other seed", "about 0.99 against 0.43",
		fmt.Sprintf("%.3f against %.3f", same, other),
		"M1 to M3 only mean something under paired seeds", outcomeOf(same > 0.97 && math.Abs(other-0.43) < 0.1),
	}
}

func (c *Collected) claimOutputs() checked {
	pass := func(e effect) bool { return math.Abs(e.mean()-0.5) < 0.05 }
	n, all := c.tally(mia, pass)
	return checked{
		"all methods pass at the outputs: mean attack accuracy within 0.05 of 0.5", "12 of 12", fmt.Sprintf("%d of %d", n, all),
		fmt.Sprintf("the original model passes at %d of %d fractions, so passing does not show forgetting", c.variantTally(NoOp, mia, pass),
			len(c.Study.Fractions)), outcomeOf(n == all),
	}
}

func (c *Collected) claimTeacher() checked {
	neg := c.variantTally(BT, m2, func(e effect) bool { return e.significant() && e.mean() < 0 })
	rank := c.variantTally(BT, m4, effect.significant)
	n := len(c.Study.Fractions)
	return checked{
		"Bad Teacher: M2 significantly negative at every fraction, M4 at none", "3 of 3 and 0 of 3", fmt.Sprintf("%d of %d and %d of %d", neg, n, rank, n),
		"see Table 10 for other teachers", outcomeOf(neg == n && rank == 0),
	}
}

// claimPairs counts the tests between methods that were run: one that was not says nothing of a difference.
func (c *Collected) claimPairs() ([]checked, error) {
	var same, better, sameOf, betterOf int
	for _, f := range c.Study.Fractions {
		family, err := c.family([]float64{f}, []metric{m2, m4, mia, retain}, ruler.OnDataSets)
		if err != nil {
			return nil, err
		}
		for _, x := range family {
			if x.Test == nil {
				continue
			}
			differs := *x.Adjusted < 0.05
			crosses := (x.A == GA || x.A == NG) && (x.B == FT || x.B == SC)
			switch {
			case x.Metric != retain.Name:
				sameOf++
				same += count(!differs)
			case crosses:
				betterOf++
				better += count(differs && x.Difference < 0)
			}
		}
	}
	idle, idleOf, err := c.againstNoOp()
	if err != nil {
		return nil, err
	}
	control := untested
	if idleOf > 0 {
		control = fmt.Sprintf("different (p < 0.05, uncorrected) in %d of %d", idle, idleOf)
	}
	return []checked{
		{
			"no two methods differ on M2, M4 or the attack after correction", "no pair", ofTests(same, sameOf, " tests without a difference"),
			"method against no unlearning on M2: " + control, outcomeOfTests(same == sameOf, sameOf),
		},
		{
			"Fine-Tuning and SCRUB keep more retain accuracy than Gradient Ascent and NegGrad", "all 4 cross pairs",
			ofTests(better, betterOf, " tests"), "Table 3 shows by how much", outcomeOfTests(better == betterOf, betterOf),
		},
	}, nil
}

// againstNoOp counts the tests of the methods against no unlearning on M2, and those with a difference.
func (c *Collected) againstNoOp() (differ, run int, err error) {
	for _, f := range c.Study.Fractions {
		for _, a := range methods() {
			if c.diverged(a.Label, f) {
				continue
			}
			pair, err := ruler.Pairwise([]ruler.Series{c.series(f, m2, a.Label), c.series(f, m2, NoOp)}, ruler.OnDataSets)
			if err != nil {
				return 0, 0, err
			}
			if test := pair[0].Test; test != nil {
				run++
				differ += count(test.P < 0.05)
			}
		}
	}
	return differ, run, nil
}
