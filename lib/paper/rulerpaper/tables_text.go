package rulerpaper

// Texts: M4 of a masked language model, and the copies among the documents (section 5.5).

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// TextScale is how much of the experiment on texts a scale computes. The zero value but for the
// network is the published size.
type TextScale struct {
	Set       string // "": mtsamples
	Documents int    // 0: all
	Tokens    int    // of a record, 0: 64
	// Weights are the published weights that the training begins with; "": random weights of a
	// network of Layers layers and this width, and a vocabulary that is learned from the texts.
	Weights                   string
	Vocabulary, Layers, Width int
	Epochs                    int       // 0: 3
	Rate                      float64   // of the training, 0: 2e-5
	Fractions                 []float64 // nil: 1, 5 and 10 %
	Seeds                     int       // 0: 5
	// CopyDocuments is the number of documents in the table of copies, 0: Documents. Of few documents, drawn with
	// all of their copies, all that are forgotten at a small fraction keep a copy, or none does.
	CopyDocuments int
}

// The settings of the experiment on texts in the paper.
const (
	textBatch      = 16
	textEpochs     = 3
	textRate       = 2e-5
	unlearningRate = 5e-5
	textDecay      = 0.01
	textSeeds      = 5
)

// lossRecords is the largest number of records of each set whose loss is measured: the scores of
// all tokens at every hidden one take long.
const lossRecords = 2000

func (s TextScale) withDefaults() TextScale {
	s.Set, s.Tokens = cmp.Or(s.Set, "mtsamples"), cmp.Or(s.Tokens, 64)
	s.Epochs, s.Rate, s.Seeds = cmp.Or(s.Epochs, textEpochs), cmp.Or(s.Rate, textRate), cmp.Or(s.Seeds, textSeeds)
	if s.Fractions == nil {
		s.Fractions = fractions
	}
	return s
}

// predicted is the number of tokens of a record that are hidden at most: 15 %, rounded up.
func (s TextScale) predicted() int { return (15*s.Tokens + 99) / 100 }

// bert returns the network's sizes.
func (s TextScale) bert() text.BERT {
	m := text.BERT{Tokens: s.Tokens, Predicted: s.predicted()}
	switch s.Weights {
	case "":
		m.Layers, m.Width, m.Heads, m.Vocabulary = s.Layers, s.Width, 2, s.Vocabulary
	case texts.BioClinicalBERT:
		m.Layers, m.Width, m.Heads, m.Vocabulary = 12, 768, 12, 28996
	}
	return m
}

// network returns the network, and the path of its vocabulary, "" for a learned one.
func (s TextScale) network() (n model.Network, vocabulary string, err error) {
	if s.Weights == "" {
		return s.bert(), "", nil
	}
	info, err := texts.LookupWeights(s.Weights)
	if err != nil {
		return nil, "", err
	}
	path, err := texts.WeightsPath(info, texts.WeightsFile)
	if err != nil {
		return nil, "", err
	}
	sum := texts.WeightsSHA256(info, texts.WeightsFile)
	if sum == "" && info.Present() { // the user's own file
		if sum, err = text.FileSHA256(path); err != nil {
			return nil, "", err
		}
	}
	vocabulary, err = texts.WeightsPath(info, texts.VocabularyFile)
	return text.Pretrained{BERT: s.bert(), SHA256: sum, Path: path}, vocabulary, err
}

// textMethods are the paper's methods with its optimiser for texts.
func textMethods() []Variant {
	return []Variant{
		{Label: GA, Method: unlearn.GradientAscent{LR: unlearningRate, WeightDecay: textDecay}},
		{Label: NG, Method: unlearn.NegGrad{LR: unlearningRate, WeightDecay: textDecay, Batched: true}},
		{Label: FT, Method: unlearn.FineTuning{LR: unlearningRate, WeightDecay: textDecay}},
		{Label: SC, Method: unlearn.SCRUB{LR: unlearningRate, WeightDecay: textDecay, Batched: true}},
		{Label: BT, Method: unlearn.BadTeacher{LR: unlearningRate, WeightDecay: textDecay, Batched: true}},
	}
}

// textControls are the controls with the optimiser for texts.
func textControls() []Variant {
	out := controls()
	for i := range out {
		if out[i].Label == Matched {
			out[i].Method = unlearn.FineTuning{Epochs: 5, LR: unlearningRate, WeightDecay: textDecay}
		}
	}
	return out
}

// The two readings of the experiment: which documents are split and forgotten together.
const (
	asPublished = "as published"
	groupedText = "grouped by identical text"
)

// What the names of the studies begin with: those of the table of copies are measured otherwise.
const (
	textsOf  = "texts "
	copiesOf = "copies of "
)

// textStudies are the experiment in both readings.
func textStudies(_ context.Context, s Scale) (out []Study, err error) {
	size := s.Texts.withDefaults()
	n, _, err := size.network()
	if err != nil {
		return nil, err
	}
	for _, of := range []struct {
		name string
		by   texts.GroupBy
	}{{asPublished, texts.ByDocument}, {groupedText, texts.ByText}} {
		out = append(out, Study{
			Name: textsOf + of.name, DataSets: []string{size.Set}, Seeds: indices(size.Seeds), Fractions: size.Fractions,
			ForgetSeeds: []uint32{lab.ForgetSeed}, Variants: append(textMethods(), textControls()...), Model: n, Texts: &size, GroupBy: of.by,
			Fit: train.Config{Epochs: size.Epochs, Batch: textBatch, Optimizer: nn.AdamW{LR: size.Rate, WeightDecay: textDecay}},
		})
	}
	return out, nil
}

// copyStudies are originals and oracles of the experiment in both readings. Without methods to wait for,
// a small network has the paper's fractions at every scale. Where a scale draws documents, their copies are
// counted among all documents too, for which no model is needed. M4 searches all retained records, so that every copy is found.
func copyStudies(ctx context.Context, s Scale) ([]Study, error) {
	if s.Texts.Weights == "" {
		s.Texts.Fractions = nil
	}
	s.Texts.Documents = cmp.Or(s.Texts.CopyDocuments, s.Texts.Documents)
	out, err := textStudies(ctx, s)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Name, out[i].Gallery = copiesOf+out[i].Name, ruler.NoCap
		out[i].Variants = slices.DeleteFunc(out[i].Variants, func(v Variant) bool { return v.Label != NoOp && v.Label != Oracle })
	}
	if s.Texts.Documents > 0 {
		all, whole := out[0], *out[0].Texts
		whole.Documents, all.Gallery = 0, 0
		all.Name, all.Texts, all.Variants, all.Seeds = textsOf+asPublished+", all documents", &whole, nil, []int{0}
		for i := range countedDraws {
			all.ForgetSeeds = append(all.ForgetSeeds[:i:i], lab.ForgetSeed+uint32(i))
		}
		out = append(out, all)
	}
	return out, nil
}

// countedDraws is the number of forget sets among which copies are counted.
const countedDraws = 5

// countsOnly says that the study counts copies and compares no models.
func (s Study) countsOnly() bool { return s.Texts != nil && len(s.Variants) == 0 }

// countMeasurement counts the copies of a cell's forgotten documents.
func (e *Env) countMeasurement(s Study, k cellKey, m paper.Measurement[Row]) paper.Measurement[Row] {
	m.Methods = nil
	m.Cost = func(c *lab.Case) int64 { return int64(c.Problem.Train.X.Rows/countedPerRecord + 1) }
	m.Measure = func(_ context.Context, c *lab.Case) ([]Row, error) {
		row := (&cell{cellKey: k, Case: c, study: s}).newRow(Variant{Label: noModel})
		out := &TextEvidence{}
		row.TextEvidence = out
		_, err := out.count(c)
		return []Row{row}, err
	}
	return m
}

// countedPerRecord is the number of texts that are looked up in the time in which a network trains on one.
const countedPerRecord = 1000

// noModel is the variant of a row that counts copies.
const noModel = "no model"

// count counts the documents and records with and without a copy.
func (t *TextEvidence) count(c *lab.Case) (texts.Copies, error) {
	copies, err := texts.CountCopies(c.Prepared, c.Forget)
	t.Documents, t.InRetain, t.InTest = copies.Documents, copies.InRetain, copies.InTest
	t.WithCopy, t.Without = len(copies.Rows), len(copies.Without)
	return copies, err
}

// textSetting is the setting of a cell of texts.
func (s Study) textSetting(k cellKey) lab.Setting {
	t := s.Texts
	p := texts.Preparation{Tokens: t.Tokens, Predicted: t.predicted(), Vocabulary: t.Vocabulary, MaxDocuments: t.Documents, GroupBy: s.GroupBy}
	if _, file, err := t.network(); err == nil && file != "" { // textStudies has returned the error
		p.VocabularyFile = file
	}
	column := texts.ColumnDocument
	if s.GroupBy == texts.ByText {
		column = texts.ColumnText
	}
	return lab.Setting{
		Data: lab.Texts{Set: k.dataSet, Preparation: p}, Forget: lab.RandomGroups{Column: column, Fraction: k.fraction, Seed: k.forgetSeed},
		Goal: lab.MaskedLanguage{}, Seed: k.seed, Fit: s.Fit, Model: s.Model,
	}
}

// TextEvidence is the part of a Row that only texts have.
type TextEvidence struct {
	ForgetLoss float64 `json:"forget_loss"` // of masked language modelling, in nats per hidden token
	RetainLoss float64 `json:"retain_loss"`
	TestLoss   float64 `json:"test_loss"`

	Documents int `json:"n_documents"` // that are forgotten
	InRetain  int `json:"n_in_retain"` // of these with a copy in the retain set
	InTest    int `json:"n_in_test"`   // and in the test part
	WithCopy  int `json:"n_with_copy"` // forgotten records of documents with a copy in the retain set
	Without   int `json:"n_without"`   // and the others

	M4WithCopy float64 `json:"m4_with_copy"` // M4 of the records with a copy, 0 if there are none
	M4Without  float64 `json:"m4_without"`   // and of the others
}

// textEvidence adds the losses, the attack and what copies do.
func (e *Env) textEvidence(c *cell, row *Row, embedding array.Matrix[float64], weights nn.Params) error {
	out := &TextEvidence{}
	losses, err := c.textLosses(weights)
	if err != nil {
		return err
	}
	res, err := attack.LossThreshold{}.Run(losses)
	if err != nil {
		return err
	}
	row.MIA, row.MIAAUC = res.BalancedAccuracy.Value, res.AUC.Value
	out.ForgetLoss, out.RetainLoss, out.TestLoss = mean(losses.Forgotten), mean(losses.Retained), mean(losses.HeldOut)

	copies, err := out.count(c.Case)
	if err != nil {
		return err
	}
	for rows, to := range map[*[]int]*float64{&copies.Rows: &out.M4WithCopy, &copies.Without: &out.M4Without} {
		if len(*rows) == 0 {
			continue
		}
		m, _, err := ruler.M4(ruler.Evidence{Unlearned: &embedding, Forget: *rows, Retain: c.Retain}, e.options(c.study))
		if err != nil {
			return err
		}
		*to = m.Value
	}
	row.TextEvidence = out
	return nil
}

// textLosses returns the losses of at most lossRecords records of each set, the same for every
// model.
func (c *cell) textLosses(weights nn.Params) (out attack.Losses, err error) {
	for k, of := range []struct {
		part datasets.Part
		rows []int
		to   *[]float64
	}{{c.Train, c.Retain, &out.Retained}, {c.Train, c.Forget, &out.Forgotten}, {c.Test, c.unseen(), &out.HeldOut}} {
		rows := of.rows
		if len(rows) > lossRecords {
			drawn := engine.Root(lab.SplitSeed).Stream(engine.StreamLosses, uint64(k)).Perm(len(rows))[:lossRecords]
			rows = make([]int, lossRecords)
			for i, at := range drawn {
				rows[i] = of.rows[at]
			}
		}
		if *of.to, err = (lab.MaskedLanguage{}).LossesOf(c.Problem, weights, of.part.Gather(rows)); err != nil {
			return out, err
		}
	}
	return out, nil
}

var textRecipe = Recipe{
	ID:    "ruler/text",
	Title: "RULER on texts. M4 of a masked language model",
	Doc: "M4 of the original model and after unlearning, for documents that are forgotten with all of their sentences. The paper finds .537, .521 " +
		"and .501 for the original at 1, 5 and 10 % and reads it as no detectable memorisation. Read it beside the oracle, which it does not show, and in " +
		"two readings: as published, where a forgotten report can stay as an identical copy under another specialty, and with all copies forgotten together.",
	studies: textStudies,
}

var textCopies = Recipe{
	ID:    "ruler/text-duplicates",
	Title: "RULER on texts. Forgotten documents that stay as a copy",
	Doc: "How many of the forgotten documents keep an identical copy in the retain set and in the test part, and M4 of all forgotten records, of those " +
		"whose document keeps a copy in the retain set, and of the others. " +
		"A retrained model was trained on the text of every document with a copy: nothing of it can be forgotten while the copy stays.",
	studies: copyStudies,
}

// Metrics of texts.
var (
	forgetLoss = metric{"forget loss", func(r Row) float64 { return r.ForgetLoss }, 0, 3}
	retainLoss = metric{"retain loss", func(r Row) float64 { return r.RetainLoss }, 0, 3}
	testLoss   = metric{"test loss", func(r Row) float64 { return r.TestLoss }, 0, 3}
	lossGap    = metric{"loss gap", func(r Row) float64 { return r.ForgetLoss - r.TestLoss }, 0, 3}
)

func init() {
	textRecipe.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		all := []columns{seedShareColumn("M4", "mean over seeds, t interval over seeds, null 0.5", m4)}
		coded := metric{"M4, as coded", func(r Row) float64 { return r.M4AsCoded }, 0.5, 4}
		for _, m := range []metric{coded, deltaM4, mia, forgetLoss, retainLoss, testLoss, displacement} {
			all = append(all, meanColumn(m.Name, "", m))
		}
		t := e.variantTable(textRecipe, s, all, parts...)
		for _, c := range parts {
			addFractions(t, &Collected{c.Study, paper.Evidence[Row]{Rows: filter(c.Rows, measured)}}, c.reading()+", ", all)
		}
		t.Notes = append(t.Notes, m4Note(parts))
		t.Notes = append(t.Notes, textNotes(parts[0])...)
		return &Output{Table: t}, nil
	}
	textCopies.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		t := e.table(textCopies, s, parts...)
		t.Columns = []report.Column{{Name: "fraction"},
			{Name: "forgotten documents"}, {Name: "copy in the retain set"}, {Name: "copy in the test part"},
			{Name: "M4, original", Note: "of all forgotten records; mean over seeds, t interval over seeds, null 0.5"}, {Name: "M4, oracle"},
			{Name: "original, with copy", Note: "M4 of the forgotten records whose document keeps a copy in the retain set; means over seeds, null 0.5"},
			{Name: "oracle, with copy"}, {Name: "original, without"}, {Name: "oracle, without"},
			{Name: "loss gap, original", Note: "loss of hidden tokens of forgotten records less that of held-out ones, in nats, " +
				"so that how far a training came is not in it; means over seeds"}, {Name: "loss gap, oracle"},
			{Name: "gap, original less oracle", Note: "paired by seed, t interval over seeds, null 0; below 0: the original fits the forgotten records better"}}
		for _, c := range parts {
			for _, f := range c.Study.Fractions {
				if c.Study.countsOnly() {
					t.Rows = append(t.Rows, c.countsRow(f, len(t.Columns)))
					continue
				}
				t.Rows = append(t.Rows, c.textCopiesRow(f))
			}
		}
		t.Notes = append(t.Notes, fmt.Sprintf("The original is what ruler/text calls '%s', a model of which nothing was unlearned.", NoOp))
		if last := parts[len(parts)-1].Study; last.countsOnly() {
			t.Notes = append(t.Notes, fmt.Sprintf("'All documents' trains nothing: it counts in the whole set, divided in the same way; means over %s.",
				report.Plural(len(last.ForgetSeeds), "forget set")))
		}
		t.Notes = append(t.Notes, textNotes(parts[0])...)
		return &Output{Table: t}, nil
	}
}

// measured reports whether the row is that of a model that did not diverge.
func measured(r Row) bool { return r.TextEvidence != nil && r.Variant != noModel }

// reading names which documents a study of texts keeps together.
func (c *Collected) reading() string {
	return strings.TrimPrefix(strings.TrimPrefix(c.Study.Name, copiesOf), textsOf)
}

// textCopiesRow is the row of a fraction in the table of copies.
func (c *Collected) textCopiesRow(f float64) report.Row {
	original, oracle := filter(rowsOf(c.Rows, NoOp, f), measured), filter(rowsOf(c.Rows, Oracle, f), measured)
	share := func(n int) report.Cell {
		all := original[0].Documents
		return report.Str(fmt.Sprintf("%d (%.0f %%)", n, 100*float64(n)/float64(all)))
	}
	of := func(rows []Row, n int, value func(Row) float64) report.Cell {
		if n == 0 {
			return report.Gap("no such record")
		}
		return report.Num(mean(values(rows, value)), 4)
	}
	with, without := func(r Row) float64 { return r.M4WithCopy }, func(r Row) float64 { return r.M4Without }
	m4Of := func(rows []Row) report.Cell { return report.Est(seedMean(rows, m4).ClampedTo(0, 1), m4.Digits) }
	gapOf := func(rows []Row) report.Cell { return report.Num(mean(values(rows, lossGap.Value)), lossGap.Digits) }
	var gaps []float64
	for _, o := range (&Collected{c.Study, paper.Evidence[Row]{Rows: append(original, oracle...)}}).Differences(NoOp, Oracle, f, lossGap.Value) {
		gaps = append(gaps, o.Value)
	}
	gap := stats.MeanInterval(gaps, 0.95, "seeds").WithNull(lossGap.Null, stats.NearNull)
	first := original[0]
	return report.Row{Group: c.reading(), Cells: []report.Cell{
		report.Str(percent(f)), report.Str(fmt.Sprint(first.Documents)), share(first.InRetain), share(first.InTest), m4Of(original), m4Of(oracle),
		of(original, first.WithCopy, with), of(oracle, first.WithCopy, with), of(original, first.Without, without), of(oracle, first.Without, without),
		gapOf(original), gapOf(oracle), report.Est(gap, lossGap.Digits),
	}}
}

// countsRow is the row of a fraction in a study that counts copies only: means over forget sets.
func (c *Collected) countsRow(f float64, columns int) report.Row {
	rows := rowsOf(c.Rows, noModel, f)
	of := func(value func(Row) int) float64 {
		return mean(values(rows, func(r Row) float64 { return float64(value(r)) }))
	}
	all := of(func(r Row) int { return r.Documents })
	share := func(n float64) report.Cell { return report.Str(fmt.Sprintf("%.1f (%.0f %%)", n, 100*n/all)) }
	out := report.Row{Group: c.reading(), Cells: []report.Cell{report.Str(percent(f)), report.Str(fmt.Sprintf("%.1f", all)),
		share(of(func(r Row) int { return r.InRetain })), share(of(func(r Row) int { return r.InTest }))}}
	for len(out.Cells) < columns {
		out.Cells = append(out.Cells, report.Gap("no model"))
	}
	return out
}

// m4Note says how many methods' M4 differ from the oracle's, and how many oracles' of another seed do.
func m4Note(parts []*Collected) string {
	var methods, others []float64 // p of each comparison
	for _, c := range parts {
		for _, f := range c.Study.Fractions {
			for _, v := range c.Study.Variants {
				switch {
				case v.Label == OtherOracle:
					others = append(others, c.pOfM4(v.Label, f)...)
				case !v.Control:
					methods = append(methods, c.pOfM4(v.Label, f)...)
				}
			}
		}
	}
	below := func(p []float64, level float64) (n int) {
		for _, one := range p {
			if one < level {
				n++
			}
		}
		return n
	}
	return fmt.Sprintf("M4 of the methods differs from the oracle's (paired t test over seeds, 5 %%) in %d of %d comparisons, after Bonferroni's correction "+
		"for them in %d; that of the oracle of another seed, uncorrected, in %d of %d.", below(methods, 0.05), len(methods),
		below(methods, 0.05/float64(len(methods))), below(others, 0.05), len(others))
}

// pOfM4 is the p of a paired t test of a variant's M4 against the oracle's: 1 where they do not differ in any seed,
// none where the variant diverged in one, and no comparison is made.
func (c *Collected) pOfM4(variant string, fraction float64) []float64 {
	var diff []float64
	for _, o := range c.Differences(variant, Oracle, fraction, m4.Value) {
		diff = append(diff, o.Value)
	}
	if !slices.ContainsFunc(diff, func(d float64) bool { return d != 0 }) {
		return []float64{1}
	}
	r, err := stats.PairedT(diff, stats.OverModels)
	if err != nil {
		return nil
	}
	return []float64{r.P}
}

// textNotes say how the study differs from the paper's.
func textNotes(c *Collected) []string {
	s, size := c.Study, c.Study.Texts
	notes := append([]string{size.networkNote()}, size.weightsNotes()...)
	documents := "all documents"
	if size.Documents > 0 {
		documents = fmt.Sprintf("%d documents, drawn with all of their copies,", size.Documents)
	}
	notes = append(notes,
		fmt.Sprintf("%s of %s, about a fifth of them held out; a record is a sentence of at most %d tokens, a longer one is cut. The paper lists 30,000 "+
			"records and says neither how it draws nor how it divides them.", capital(documents), size.Set, size.Tokens),
		trainingNote(size))
	if slices.ContainsFunc(c.variants(), func(v Variant) bool { return !v.Control }) {
		notes = append(notes, textMethodNotes()...)
		if size.Weights != "" {
			notes = append(notes, "The untrained teacher of Bad Teacher begins with the published weights too.")
		}
	}
	if s.GroupBy == texts.ByDocument {
		notes = append(notes, fmt.Sprintf("In the reading %q copies of a text are on both sides of every split: held-out documents whose text was trained on "+
			"are no non-members, and the attack's accuracy, the loss on held-out documents and the difference from it are lower for that.", asPublished))
	}
	notes = append(notes,
		fmt.Sprintf("Losses and the attack are of at most %d records of each set, with the same hidden tokens for every model. M4 counts a tie as at or "+
			"below; identical sentences tie, and %q is what the published program computes.", lossRecords, "M4, as coded"),
		s.galleryNote()+" The forget set of a fraction is drawn once; intervals are over training seeds.")
	if size.Weights == "" {
		notes = append(notes, fmt.Sprintf("The vocabulary, at most %d tokens, is learned from the training texts, of which some are forgotten later: "+
			"the oracle has it too.", size.Vocabulary))
	} else if slices.ContainsFunc(c.variants(), func(v Variant) bool { return v.Label == Destroyed }) {
		notes = append(notes, fmt.Sprintf("%q are the weights before the training on these texts, and the oracle begins with them too.", Destroyed))
	}
	if !slices.Equal(s.Fractions, fractions) {
		var of []string
		for _, f := range s.Fractions {
			of = append(of, percent(f))
		}
		notes = append(notes, fmt.Sprintf("%s of the documents are forgotten; the paper has 1, 5 and 10 %%.", strings.Join(of, " and ")))
	}
	if len(s.Seeds) < textSeeds {
		notes = append(notes, fmt.Sprintf("%s; the paper has %d.", report.Plural(len(s.Seeds), "seed"), textSeeds))
	}
	return notes
}

// textMethodNotes say how the methods on texts differ from the paper's.
func textMethodNotes() []string {
	return []string{
		fmt.Sprintf("Unlearning as in the paper: AdamW at %g, weight decay %g, batches of %d; epochs as in its tables. Methods that use both sets take a "+
			"batch of the forget set with each of the retain set: all of it is too much at every step.", unlearningRate, textDecay, textBatch),
		"SCRUB and Bad Teacher compare the scores of hidden tokens with those of a teacher that sees the same hidden tokens; the paper does not say how.",
	}
}

// galleryNote says which retained records M4 searches.
func (s Study) galleryNote() string {
	if s.Gallery == ruler.NoCap {
		return fmt.Sprintf("M4 searches all retained records, so that every copy is found, and a record with a copy has 1 in every model. Where most retained "+
			"records have copies of their own, a record without one is far below 0.5 in every model: read it beside the oracle's. The paper searches at "+
			"most %d records of the 30,000 that it lists, so that most copies are not among them.", ruler.PaperGalleryCap)
	}
	return fmt.Sprintf("M4 searches at most %d of the retained records, as the paper does, the same for every model. A copy among the others is not found: "+
		"that is why M4 of records with a copy can be below 1.", cmp.Or(s.Gallery, ruler.PaperGalleryCap))
}

// networkNote says how the network differs from the paper's.
func (s TextScale) networkNote() string {
	const published = "The paper takes Bio_ClinicalBERT, 12 layers of width 768, trained on clinical notes."
	m := defaults.Fill(s.bert())
	switch s.Weights {
	case texts.BioClinicalBERT:
		return "Bio_ClinicalBERT, as in the paper. The tokenizer lowers case."
	case "":
		return fmt.Sprintf("%s Here it is a BERT of %s and width %d that begins with random weights.",
			published, report.Plural(m.Layers, "layer"), m.Width)
	}
	info, _ := texts.LookupWeights(s.Weights) // network has returned the error
	return fmt.Sprintf("%s Here it is %s: %d layers of width %d, general English, an encoder of sentences.",
		published, info.Title, m.Layers, m.Width)
}

// weightsNotes say what of the published file is not used and what it lacks, such as a head, which is drawn at random then.
func (s TextScale) weightsNotes() []string {
	if s.Weights == "" {
		return nil
	}
	n, _, err := s.network()
	var notes []string
	if m, is := n.(text.Pretrained); is && err == nil {
		if _, err = os.Stat(m.Path); err == nil { // before a network of its size is drawn
			notes, err = model.CheckPretrained(m)
		}
	}
	if err != nil {
		return []string{fmt.Sprintf("What the file of weights lacks is not known: %v.", err)}
	}
	return notes
}

// trainingNote says how the training differs from the paper's.
func trainingNote(s *TextScale) string {
	if s.Epochs == textEpochs && s.Rate == textRate {
		return fmt.Sprintf("Training as in the paper: %d epochs at %g, 15 %% of the tokens hidden. It names no schedule: the rate is constant.",
			s.Epochs, s.Rate)
	}
	why := "are for a network that can read already"
	if s.Weights != "" {
		why = "are for a network whose head for hidden tokens is trained already; here it begins with random weights"
	}
	return fmt.Sprintf("Training: %d epochs at %g; the paper's %d epochs at %g %s.", s.Epochs, s.Rate, textEpochs, textRate, why)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
