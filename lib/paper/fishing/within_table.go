package fishing

// The table and figure of the within-cluster study.

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

func (s *shadowEvidence) table() *paper.Output {
	t := &report.Table{
		ID: within.ID, Title: within.Title, Caption: within.Doc, Provenance: s.provenance(),
		Columns: []report.Column{
			{Name: "attack"},
			{Name: "within, original", Note: "AUC, cells that the model had against cells of the group that it had not; null 0.5; " +
				"mean over models, 95 % interval over pairs"},
			{Name: "TPR at 1 %", Note: "share of the members above the score that one of 100 non-members of all models passes, original; null 0.01"},
		},
	}
	for _, variant := range s.unlearnedVariants() {
		t.Columns = append(t.Columns, report.Column{Name: "within, " + variant,
			Note: "after unlearning the half that the model had; the shadow models have unlearned theirs"})
	}
	t.Columns = append(t.Columns, []report.Column{
		{Name: "within, retrained", Note: "models that had none of the cells: the null, by which the others are to be judged"},
		{Name: "original less retrained", Note: "within, pair by pair; null 0"},
		{Name: "matched, original", Note: "the paper's protocol: cells that the model had against the unseen ones nearest to them; " +
			"the null is the next column, not 0.5"},
		{Name: "matched, retrained", Note: "the same of models that had none of them: what is not membership"},
		{Name: "features", Note: "numbers of a record in one model that the attack looks at"},
		{Name: "other models", Note: "that the attack learns from or compares with: all but the attacked one and its partner, " +
			"or the first of them that follow it"},
		{Name: "floor", Note: "the mean of |2 AUC - 1| of one model by chance, within the group"},
		{Name: "in", Note: "records of the group that a model had; its partner had the others"},
		{Name: "models", Note: "that are attacked in turn"},
	}...)
	for _, f := range s.Groups {
		for _, name := range f.Attacks() {
			if row, there := s.row(f, name); there {
				t.Rows = append(t.Rows, row)
			}
		}
	}
	t.Notes = s.notes()
	return &paper.Output{Table: t, Figure: s.figure(), Runs: report.NewRecords(s.records())}
}

// unlearnedVariants are the variants that start from the original models.
func (s *shadowEvidence) unlearnedVariants() (out []string) {
	for _, f := range s.Groups {
		for _, a := range f.variants() {
			if a.Label != Original && a.Label != Retrained && !slices.Contains(out, a.Label) {
				out = append(out, a.Label)
			}
		}
	}
	return out
}

// row is an attack's row.
func (s *shadowEvidence) row(f ShadowModels, name string) (report.Row, bool) {
	found := map[string]AttackResult{}
	for _, r := range s.Rows {
		if r.Case == f.Label && r.Attack == name {
			found[r.Variant] = r
		}
	}
	original, there := found[Original]
	if !there {
		return report.Row{}, false
	}
	in := original.Assigned / 2
	row := report.Row{Group: f.Label, Cells: []report.Cell{report.Str(name), withinCell(found, Original), tprCell(original)}}
	for _, variant := range s.unlearnedVariants() {
		row.Cells = append(row.Cells, withinCell(found, variant))
	}
	row.Cells = append(row.Cells, withinCell(found, Retrained), excessCell(found), matchedCell(found, Original), matchedCell(found, Retrained),
		report.Num(float64(original.Features), 0), report.Num(float64(original.Others), 0),
		report.Num(stats.ChanceFloor(in, original.Assigned-in).Mean, 2), report.Num(float64(in), 0), report.Num(float64(f.Models), 0))
	if name == TypeAlone {
		row.Kind = report.Control
	}
	return row, true
}

func withinCell(found map[string]AttackResult, variant string) report.Cell {
	f, there := found[variant]
	switch {
	case !there:
		return report.Gap("not asked")
	case f.Within == nil:
		return report.Gap(f.Why)
	}
	return report.Est(f.Within.AUC, 3)
}

// tprCell has no number for Own, whose scores are ranks within a fold: where in one fold of a few a non-member has the highest rank,
// that rank is the bar, and no member is above it. TypeAlone has one score for all.
func tprCell(f AttackResult) report.Cell {
	switch {
	case f.Within == nil:
		return report.Gap(f.Why)
	case f.Attack == Own:
		return report.Gap("ranks within a fold")
	case f.Attack == TypeAlone:
		return report.Gap("one score for all")
	case f.Within.PooledTPR01 == nil:
		return report.Gap("too few")
	}
	return report.Est(*f.Within.PooledTPR01, 3)
}

// excessCell is the AUC on the original models minus that on models without the records.
func excessCell(found map[string]AttackResult) report.Cell {
	original, null := found[Original], found[Retrained]
	switch {
	case null.Attack == "":
		return report.Gap("not asked")
	case original.Within == nil || null.Within == nil:
		return report.Gap(cmp.Or(original.Why, null.Why))
	}
	less := WithinAUCs(original)
	for k, v := range WithinAUCs(null) {
		less[k] -= v
	}
	return report.Est(shadow.MeanOverPairs(less, original.Mutual).WithNull(0, stats.NearNull), 3)
}

// matchedCell is tested against retrained models if there are any, because the null of this
// comparison is not known without them.
func matchedCell(found map[string]AttackResult, variant string) report.Cell {
	f, there := found[variant]
	switch {
	case !there:
		return report.Gap("not asked")
	case len(f.Matched) == 0 && f.Mutual && f.Features > 1:
		return report.Gap("learns within the group")
	case len(f.Matched) == 0:
		return report.Gap("needs models that had the record")
	}
	e := shadow.MeanOverPairs(f.Matched, false).ClampedTo(0, 1)
	if null := found[Retrained].Matched; variant != Retrained && len(null) > 0 {
		e = e.WithNull(shadow.MeanOverPairs(null, false).Value, stats.NearNull)
	}
	return report.Est(e, 3)
}

// records are the values behind the table, one per model, variant and attack.
func (s *shadowEvidence) records() []modelRecord {
	var out []modelRecord
	for _, f := range s.Rows {
		if f.Within == nil {
			continue
		}
		for m, r := range f.Within.Models {
			rec := modelRecord{Case: f.Case, Variant: f.Variant, Attack: f.Attack, Model: m, In: r.NMembers, Out: r.NNonmembers, Within: r.AUC.Value}
			if len(f.Matched) > 0 {
				rec.Matched = &f.Matched[m]
			}
			out = append(out, rec)
		}
	}
	return out
}

type modelRecord struct {
	Case    string   `json:"case"`
	Variant string   `json:"arm"`
	Attack  string   `json:"attack"`
	Model   int      `json:"model"`
	In      int      `json:"n_in"`
	Out     int      `json:"n_out"`
	Within  float64  `json:"auc_within"`
	Matched *float64 `json:"auc_matched"`
}

func (s *shadowEvidence) notes() []string {
	var cases []Case
	for _, f := range s.Groups {
		cases = append(cases, f.Case)
	}
	out := append(syntheticNotes(cases), s.MissingNotes()...)
	for _, f := range s.Groups {
		i := slices.IndexFunc(s.Rows, func(r AttackResult) bool { return r.Case == f.Label && r.Variant == Original && len(r.Matched) > 0 })
		if i < 0 {
			continue
		}
		r := s.Rows[i]
		out = append(out, fmt.Sprintf("%s: %d cells are assigned to halves; of %.1f matched unseen cells %.1f are of the group, on average over models.",
			f.Label, r.Assigned, r.Negatives, r.SameType))
	}
	out = append(out, "Models 2j and 2j+1 share the assigned records, so that what makes a record hard cancels in the mean over a pair; the other of a pair "+
		"is never a shadow of a model, and teaches no attacker of it. Intervals are Student's over pairs, wider where models teach one another "+
		"(see package shadow).",
		"LiRA and RMIA look at minus the reconstruction loss and divergence of a cell; of classifiers LiRA at the scaled confidence, RMIA at the "+
			"logarithm of the label's probability. RMIA's population are the unseen records. LiRA has one variance for all records; its rows with "+
			"few shadows show what their number buys.")
	if !slices.ContainsFunc(s.Groups, func(f ShadowModels) bool { return !f.Whole }) {
		return out
	}
	return append(slices.Concat(out, s.matchedNull()),
		"'"+Learned+"': the paper's features of a cell, which are both losses and their sum, latent means and log-variances, the lengths of these, and the "+
			"distance to the 5 nearest retained cells. The axes of one model mean nothing in another.",
		"'"+Aligned+"': every model's latent means are mapped onto the attacked one's by orthogonal Procrustes, without a change of scale (features "+
			"are standardised in every model, which takes scales out). The map is found on the cells that all models were trained on, never on assigned ones. "+
			"Of a rotated posterior's covariance the diagonal is taken. The lengths are the latent mean's and the logarithm of the covariance's trace, which "+
			"no rotation changes. '"+AlignedCCA+"': the same by canonical correlations, which undo a stretching of axes too.",
		"'"+Invariant+"': both losses and their sum, those two lengths, and the distance.",
		"'"+InvariantByCell+"', '"+AlignedByCell+"': those features, each less the mean of the same cell's over other models, of which half had "+
			"the cell. Attacks by shadow models compare so, with one number of a cell; the other learned attackers do not.",
		"'"+Own+"': the paper's features; the attacker knows of half of the model's assigned cells which it had, as few as half of column 'in' and as "+
			"many others, and judges the other half; then the other way round. Matched, it is cross-fitted as in Table 2.")
}

// matchedNull reports the result of the paper's protocol on models without membership.
func (s *shadowEvidence) matchedNull() (out []string) {
	for _, f := range s.Groups {
		for _, r := range s.Rows {
			if r.Case != f.Label || r.Variant != Retrained || r.Attack != Own || len(r.Matched) == 0 {
				continue
			}
			e := shadow.MeanOverPairs(r.Matched, false).ClampedTo(0, 1)
			out = append(out, fmt.Sprintf("%s: on matched cells 0.5 is not the null. '%s' has %.2f [%.2f, %.2f] on retrained models. Most of that is the "+
				"type; where members and unseen cells are drawn alike it is 0.50 to 0.53 (simulated), because a matched cell is judged together with "+
				"the member that it lies beside.", f.Label, Own, e.Value, e.Low, e.High))
		}
	}
	return out
}

// figure shows each attack on cells, within the group and on matched cells, for the original
// models and for those that never had the cells.
func (s *shadowEvidence) figure() plot.Figure {
	f := plot.Panels{Meta: plot.Meta{Title: within.Title, Caption: "A point is the mean AUC of a pair of models.", Source: s.provenance().Line()}, Columns: 1}
	for _, of := range s.Groups {
		if len(AttackResults(s.Rows).PairMeans(of.Label, Original, shadow.LiRA{Pooled: true}.Name(), WithinAUCs)) > 0 {
			f.Figures = append(f.Figures, AttackResults(s.Rows).Strips(of))
		}
	}
	return f
}

// AttackResults are the results of attacks on shadow models.
type AttackResults []AttackResult

// AUCs selects the AUCs of a result, one per model: WithinAUCs or MatchedAUCs.
type AUCs func(f AttackResult) []float64

// WithinAUCs are the AUCs against the other records of the group, one per model.
func WithinAUCs(f AttackResult) []float64 {
	var out []float64
	if f.Within == nil {
		return nil
	}
	for _, r := range f.Within.Models {
		out = append(out, r.AUC.Value)
	}
	return out
}

// MatchedAUCs are the AUCs against matched unseen records, by the paper's protocol; none if the
// attack does not allow it.
func MatchedAUCs(f AttackResult) []float64 { return f.Matched }

// WithinAUC is an attack's AUC on a variant against records of the same type, as in the table: its interval is wider for
// an attack in which every model is a shadow model of the others. Without a result it is no number.
func (c AttackResults) WithinAUC(label, variant, attack string) stats.Estimate {
	for _, f := range c {
		if f.Within != nil && f.Case == label && f.Variant == variant && f.Attack == attack {
			return f.Within.AUC
		}
	}
	return stats.Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
}

// PairMeans are the AUCs of an attack on a variant, averaged over each pair of models.
func (c AttackResults) PairMeans(label, variant, attack string, where AUCs) []float64 {
	for _, f := range c {
		if f.Case == label && f.Variant == variant && f.Attack == attack {
			return shadow.PairMeans(where(f))
		}
	}
	return nil
}

// figureAttacks are the attacks of a figure, learned ones beside LiRA.
func (f ShadowModels) figureAttacks() []string {
	if f.Whole {
		return f.Attacks()
	}
	offline := shadow.LiRA{Offline: true, Pooled: true}
	show := []string{TypeAlone, generative.Recon{}.Name(), Own, Learned, Aligned, AlignedByCell,
		shadow.LiRA{Pooled: true}.Name(), offline.Name(), shadowAttack{offline, 8}.name()}
	return slices.DeleteFunc(f.Attacks(), func(name string) bool { return !slices.Contains(show, name) })
}

// Strips shows the attacks on a set of shadow models, a point per pair.
func (c AttackResults) Strips(f ShadowModels) plot.Strips {
	out := plot.Strips{Meta: plot.Meta{Title: f.Label}, Y: plot.ShareAxis("AUC"), Null: &plot.Null{Value: 0.5, Label: "chance"}, Groups: f.figureAttacks()}
	for _, variant := range []string{Original, Retrained} {
		for what, where := range []AUCs{WithinAUCs, MatchedAUCs} {
			series := plot.StripSeries{Name: []string{"within, ", "matched, "}[what] + variant, Control: variant == Retrained}
			points := 0
			for _, attack := range out.Groups {
				x := c.PairMeans(f.Label, variant, attack, where)
				series.Values, points = append(series.Values, x), points+len(x)
			}
			if points > 0 {
				out.Series = append(out.Series, series)
			}
		}
	}
	return out
}
