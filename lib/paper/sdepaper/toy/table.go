package toy

// The toy's settings by scale, and the table of its contrasts with their tests.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// SettingAt is the experiment at a scale: "quick" is one seed and 30 epochs, all others are the
// full setting.
func SettingAt(scale string) Setting {
	if scale == "quick" {
		return Setting{Seeds: []int{0}, Epochs: []int{0, 1, 5, 10, 30}, Batches: 40, Permutations: 99}
	}
	return Setting{}
}

// WithSeedShift is the experiment with a shift added to its seeds.
func (t Setting) WithSeedShift(shift int) Setting {
	t = t.withDefaults()
	t.Seeds = slices.Clone(t.Seeds)
	for i := range t.Seeds {
		t.Seeds[i] += shift
	}
	return t
}

// Output makes the table and the figure at a scale.
func Output(ctx context.Context, l *lab.Lab, scale string) (*report.Table, plot.Figure, error) {
	toy := SettingAt(scale).WithSeedShift(l.Shift)
	r, err := toy.Run(ctx, l.Engine, l.Store)
	if err != nil {
		return nil, nil, err
	}
	return r.Table(scale), r.Figure(scale), nil
}

// contrastRow is a contrast as the table shows it.
type contrastRow struct {
	label    string
	contrast string
	fixed    bool
	control  bool
}

// rows lists the contrasts of an epoch. Before training fixed and fresh batches
// are the same network.
func (r *Result) rows(epoch int) []contrastRow {
	if epoch == 0 {
		return []contrastRow{
			{"untrained: same − across", Same, true, true},
			{"untrained: across − across", Null, true, true},
		}
	}
	out := []contrastRow{
		{"fixed batches: same − across", Same, true, false},
		{"fixed batches: across − across", Null, true, true},
		{"fresh batches: same − across", Same, false, true},
	}
	if epoch == r.Setting.last() {
		out = append(out,
			contrastRow{"planted: batches scaled by 5 %", Scaled, true, true},
			contrastRow{"planted: a shift shared by each batch", Shifted, true, true})
	}
	return out
}

// Contrasts are the pairs of sets of one contrast (Same, Null, Scaled, Shifted) on a layer (0:
// hidden activations, 1: logits) after an epoch, one Contrast per seed, in networks trained with
// fixed batches or with batches drawn anew. It is an error if that was not measured.
func (r *Result) Contrasts(layer, epoch int, name string, fixed bool) ([]Contrast, error) {
	if layer < 0 || layer >= len(layers) {
		return nil, fmt.Errorf("toy: layer %d is not one of the %d", layer, len(layers))
	}
	out := r.contrasts(layer, epoch, name, fixed)
	if len(out) == 0 {
		return nil, fmt.Errorf("toy: %q was not measured after epoch %d (fixed batches: %v)", name, epoch, fixed)
	}
	return out, nil
}

// Summary summarises the Contrasts of all seeds.
func (r *Result) Summary(layer, epoch int, name string, fixed bool) (*Summary, error) {
	parts, err := r.Contrasts(layer, epoch, name, fixed)
	if err != nil {
		return nil, err
	}
	s := summarise(parts)
	return &s, nil
}

// contrasts are one contrast in all runs.
func (r *Result) contrasts(layer, epoch int, name string, fixed bool) []Contrast {
	var out []Contrast
	for _, s := range r.Snapshots {
		if s.Epoch != epoch || s.Fixed != fixed {
			continue
		}
		for _, c := range s.Layers[layer].Contrasts {
			if c.Name == name {
				out = append(out, c)
			}
		}
	}
	return out
}

func (r *Result) summary(layer, epoch int, row contrastRow) Summary {
	return summarise(r.contrasts(layer, epoch, row.contrast, row.fixed))
}

// permutationTest compares the true batches with random permutations, in all runs of an order.
func (r *Result) permutationTest(layer, epoch int, fixed bool) permutationTest {
	var observed []float64
	var permuted [][]float64
	for _, s := range r.Snapshots {
		if s.Epoch == epoch && s.Fixed == fixed {
			observed = append(observed, mean(mapSets(s.Layers[layer].Contrasts[0].A, exact)))
			permuted = append(permuted, s.Layers[layer].Permuted)
		}
	}
	return poolPermutations(observed, permuted)
}

// Provenance is the provenance of the result.
func (r *Result) Provenance(scale string) report.Provenance {
	h := sha256.Sum256([]byte(strings.Join(r.Runs, "\n")))
	p := report.Provenance{
		Scale: scale, Engine: r.Engine.Kind, Kernel: r.Engine.Kernel, Device: r.Engine.Device.String(), ResultsVersion: fmt.Sprint(lab.ResultsVersion),
		Data: r.Data, Command: "lethe table sde toy --scale " + scale, Runs: len(r.Runs), RunsHash: hex.EncodeToString(h[:]),
	}
	for _, s := range r.Setting.Seeds {
		p.Seeds = append(p.Seeds, int64(s))
	}
	return p
}

const title = "SDE Fig. 5. The toy with fixed batches"

// Table has one row per layer, epoch and contrast.
func (r *Result) Table(scale string) *report.Table {
	t := &report.Table{
		ID: "sde/toy", Title: title,
		Caption: "The paper trains a small network with batches drawn once and reports H of records that shared a batch above H of " +
			"records that did not, p = 2.11e-54 on one pair of sets (appendix A.4). " +
			"Its test takes the 200 permutations of one pair as independent. Read 'single pairs' beside 'across − across', where " +
			"both sets are of the same kind and every difference is chance; then the tests with one number per batch.",
		Provenance: r.Provenance(scale),
		Columns: []report.Column{
			{Name: "A − B"},
			{Name: "H(A)", Unit: "1/1000", Note: "mean over batches and seeds of the exact mean of H, the product of the halves' spreads over n − 1"},
			{Name: "H(B)", Unit: "1/1000"},
			{Name: "difference", Unit: "%", Note: "A − B of the exact means, one number per batch, in per cent of the mean of B; " +
				"interval over the batches of all seeds"},
			{Name: "over seeds", Unit: "%", Note: "the same difference with one mean per seed; interval over seeds"},
			{Name: "Wilcoxon p", Note: "signed-rank test over all batches; in brackets the seeds whose own test has p < 0.05"},
			{Name: "sign p", Note: "sign test; in brackets the share of batches with A above B"},
			{Name: "permutation p", Note: "exact: the mean H of the true batches among random permutations of the same records over the batches, two-sided"},
			{Name: "single pairs, A above", Unit: "%", Note: fmt.Sprintf("the paper's test: share of pairs that Mann-Whitney on 200 "+
				"permutations each calls different at %g, one-sided", alpha)},
			{Name: "single pairs, A below", Unit: "%"},
		},
	}
	for layer, name := range layers {
		for _, epoch := range r.Setting.Epochs {
			for _, row := range r.rows(epoch) {
				t.Rows = append(t.Rows, r.row(layer, epoch, row, fmt.Sprintf("%s, epoch %d", name, epoch)))
			}
		}
	}
	t.Notes = r.findings()
	if len(r.Setting.Seeds) < 5 || r.Setting.last() < 200 {
		t.Notes = append(t.Notes, fmt.Sprintf("Scale %s: %d of 5 seeds, %d epochs, %d batches per seed. It shows the mechanism; the "+
			"full setting is the claim.", scale, len(r.Setting.Seeds), r.Setting.last(), r.batches()))
	}
	return t
}

// batches is the number of batches measured per seed.
func (r *Result) batches() int { return len(r.Snapshots[0].Layers[0].Contrasts[0].A) }

func (r *Result) row(layer, epoch int, row contrastRow, group string) report.Row {
	s := r.summary(layer, epoch, row)
	permuted := report.Gap("not permuted")
	if row.contrast == Same {
		permuted = report.PVal(r.permutationTest(layer, epoch, row.fixed).P)
	}
	wilcoxon := report.PVal(s.Wilcoxon)
	wilcoxon.Text += fmt.Sprintf(" (%d of %d)", s.WilcoxonBelow, s.Runs)
	sign := report.PVal(s.Sign)
	sign.Text = fmt.Sprintf("%s (%.2f)", sign.Text, s.Above.Value)
	kind := report.Method
	if row.control {
		kind = report.Control
	}
	return report.Row{Kind: kind, Group: group, Cells: []report.Cell{
		report.Str(row.label), report.Num(1000*s.A, 4), report.Num(1000*s.B, 4),
		report.Est(s.OverBatches, 2), report.Est(s.OverSeeds, 2), wilcoxon, sign, permuted,
		report.Num(100*s.SingleHigher, 1), report.Num(100*s.SingleLower, 1),
	}}
}
