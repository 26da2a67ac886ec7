package fishing

// The table of methods with as many steps as in the paper.

import (
	"fmt"
	"math"
	"strings"

	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

var steps = paper.Recipe{
	ID:    "fishing/steps",
	Title: "Fishing. Did the methods have their steps? The paper's epochs beside the paper's steps",
	Doc: "An epoch of the paper is 110 steps, on 28,094 retained cells in batches of 256; on a smaller set it is fewer, so that the paper's numbers of " +
		"epochs leave a method less time than in the paper. Every method that counts epochs over the retained cells stands here twice: for the " +
		"paper's epochs, as in Table 2, and for as many epochs as take the paper's steps. Patience is stretched with them. " +
		"Every cell is then met more often than in the paper. What methods count in steps already, " +
		"SCRUB's 20 x 15, the ascent's 10 and the 100 of Fisher scrubbing, is as it was. " +
		"'way' is the share of the way to retraining that the forgotten cells' loss has gone: 0 at the original, 1 at the model that was retrained, by seed.",
}

// The paper's PBMC-33k, in which its epochs are counted.
const (
	paperTrain    = 28124
	paperRetained = 28094
	paperBatch    = 256
	paperEpochs   = 100
	paperRate     = 1e-4
)

// asManySteps marks a row with as many steps as in the paper.
const asManySteps = ", as many steps"

// bySteps is the first case of a scale with every method that counts epochs, once for the
// paper's epochs and once for the paper's steps.
func bySteps(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	c := s.Cases[0]
	all := c.variants()
	c.Part, c.Only = "steps", []string{Original, Retrained, OtherSeed}
	for _, a := range all {
		if m := stepMatched(a.Method); m != nil {
			c.Also = append(c.Also, a, lab.Variant{Label: a.Label + asManySteps, Method: m, Control: a.Control})
		}
	}
	s.Cases = []Case{c}
	return s, nil
}

// stepMatched is the method with as many steps as in the paper, nil if it does not count epochs
// over the retained cells. Frozen critics and private training also count them but are left out:
// see notStepMatched.
func stepMatched(m unlearn.Method) unlearn.Method {
	switch m := m.(type) {
	case unlearn.RetainTuning:
		return matchSteps(m)
	case unlearn.AscentTuning:
		return matchSteps(m)
	case unlearn.SSD:
		return matchSteps(m)
	case unlearn.SCRUBLatent:
		return matchSteps(m)
	case unlearn.LatentContrast:
		return matchSteps(m)
	case unlearn.FisherScrub:
		return matchSteps(m)
	}
	return nil
}

func matchSteps[M unlearn.Method](m M) unlearn.Method {
	return unlearn.StepMatched[M]{Of: m, Retained: paperRetained, Batch: paperBatch}
}

// notStepMatched says why some methods are not in the table.
const notStepMatched = "Not here: frozen critics, for their cost: 3,300 steps, each on 256 retained cells and four times on the forgotten ones. " +
	"Private training: its noise follows from its number of steps, so that more of them are another mechanism. " +
	"Extra-gradient: its epoch is one step in the paper's program too. Extra-gradient, true: the paper does not say how long it is played. " +
	"SSD of Foster et al.: it takes no step."

func (ev *evidence) steps() *paper.Output {
	loss := func(r Row) float64 { return r.ForgetRecon }
	t := ev.variantTable(steps, []column{
		paper.TextColumn("steps", "of the last stage, which counts epochs; fewer than others of its kind where patience ended it", "no method", stepsText),
		paper.MeanColumn("recon, forgotten", "reconstruction loss of the forgotten cells; mean over models with its 95 % interval", 1, loss),
		paper.MeanColumn("way", "(loss - original's) / (retrained's - original's) of the forgotten cells, by seed; 0: the original, 1: the retrained model", 2,
			ev.shareOfWay(loss)),
		elboColumn,
		paper.ShareColumn("AUC, cross-fitted", "Table 2's; null in the notes, near 0.5", ProtocolAUC(learned.CrossFitted(nil).Name)),
	})
	t.Notes = append(ev.notes(), ev.intervalNote())
	t.Notes = append(append(t.Notes, ev.beyondTraining(ev.shareOfWay(loss))...), notStepMatched)
	return &paper.Output{Table: t}
}

// beyondTraining compares methods with fine-tuning of as many epochs, and SCRUB, which takes steps
// of its own before its fine-tuning, with some of fewer and of more steps. What is left is the
// method's own.
func (ev *evidence) beyondTraining(way func(Row) float64) (out []string) {
	own := defaults.Fill(unlearn.SCRUBLatent{})
	many := func(label string) string { return label + asManySteps }
	for _, c := range ev.Cases {
		var texts []string
		for _, pair := range [][2]string{
			{Ascended, Thirty}, {many(Ascended), many(Thirty)}, {Dampened, Ten}, {many(Dampened), many(Ten)},
			{Scrubbed, Ten}, {Scrubbed, RetainTuned}, {many(Scrubbed), many(Ten)}, {many(Scrubbed), many(Thirty)},
		} {
			if len(ev.rowsOf(c.Label, pair[0])) > 0 && len(ev.rowsOf(c.Label, pair[1])) > 0 {
				texts = append(texts, ev.rowsIn(c.Label).compareText(quantity{"way", 2, way}, pair[0], pair[1]))
			}
		}
		if len(texts) > 0 {
			out = append(out, fmt.Sprintf("%s: does a method go further than training on? Differences of 'way': %s (%s). SCRUB takes %d steps "+
				"of its own before its fine-tuning.", c.Label, strings.Join(texts, "; "), pairedTestNote(len(ev.rowsOf(c.Label, Original))),
				own.Epochs*(own.Up+own.Down)))
		}
	}
	return out
}

// stepsText is the number of steps of a line's models, "" if they take none.
func stepsText(l line) string {
	if l.Models[0].Steps == 0 {
		return ""
	}
	return countRange(l.Models, func(r Row) int { return r.Steps })
}

// shareOfWay is the share of the distance from the original to the retrained model of the same
// seed that a value has covered.
func (ev *evidence) shareOfWay(value func(Row) float64) func(Row) float64 {
	type model struct {
		in   string
		seed int
	}
	from, to := map[model]float64{}, map[model]float64{}
	for _, r := range ev.Rows {
		switch r.Variant {
		case Original:
			from[model{r.Case, r.Seed}] = value(r)
		case Retrained:
			to[model{r.Case, r.Seed}] = value(r)
		}
	}
	return func(r Row) float64 {
		at := model{r.Case, r.Seed}
		if from[at] == to[at] {
			return math.NaN()
		}
		return (value(r) - from[at]) / (to[at] - from[at])
	}
}

// trainingNotes compare the steps of cases with another learning rate than the paper's with the
// steps on its PBMC-33k.
func (ev *evidence) trainingNotes() []string {
	return groupNotes(ev.Cases, func(c Case) string {
		rows := ev.rowsOf(c.Label, Original)
		if len(rows) == 0 {
			return ""
		}
		return trainingNote(c, rows[0].Sizes.Train, rows[0].Sizes.Train-rows[0].Forget)
	})
}

// joinCaption is a figure's caption followed by notes.
func joinCaption(caption string, notes []string) string {
	return strings.Join(append([]string{caption}, notes...), " ")
}

// groupNotes are notes on cases; cases with the same note share it, and "" is no note.
func groupNotes(cases []Case, note func(Case) string) []string {
	var notes []string
	labels := map[string][]string{}
	for _, c := range cases {
		text := note(c)
		if text != "" && labels[text] == nil {
			notes = append(notes, text)
		}
		labels[text] = append(labels[text], c.Label)
	}
	for i, text := range notes {
		notes[i] = strings.Join(labels[text], "; ") + ": " + text
	}
	return notes
}

// trainingNote compares a training on a number of cells with the paper's; "" at the paper's rate.
func trainingNote(c Case, cells, retained int) string {
	if c.LR == paperRate {
		return ""
	}
	const ten = 10
	tuning := defaults.Fill(unlearn.RetainTuning{})
	return fmt.Sprintf("trained at %g, %.3g times the paper's rate, for %d steps where the paper's PBMC-33k takes %d. "+
		"Methods keep the paper's rate, %g, and its numbers of epochs: %d epochs are %d steps where it takes %d. "+
		"The table 'steps' has them for as many steps as the paper's.",
		c.LR, c.LR/paperRate, c.Fit.Epochs*batchesOf(cells, c.Fit.Batch), paperEpochs*batchesOf(paperTrain, paperBatch),
		tuning.LR, ten, ten*batchesOf(retained, c.Fit.Batch), ten*batchesOf(paperRetained, paperBatch))
}

// batchesOf is the number of steps of an epoch; without batches it is one.
func batchesOf(records, batch int) int {
	if batch == 0 {
		return 1
	}
	return (records + batch - 1) / batch
}
