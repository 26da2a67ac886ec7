package power

// The table and the figure of the smallest memory that each lens finds.

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// collectReadings collects the readings of a lens on a case; nil if there are none.
func collectReadings(s Study, ev *paper.Evidence[LensReading], label, lens string) (f *lensReadings, forget int) {
	at := map[PlantedMemory]int{}
	for i, p := range s.Memories {
		at[p] = i
	}
	f = &lensReadings{memories: s.Memories, excess: make([][]float64, len(s.Memories)), detected: make([][]bool, len(s.Memories))}
	for _, r := range ev.Rows {
		if r.Case == label && r.Lens == lens {
			i := at[r.PlantedMemory]
			if f.excess[i], forget = append(f.excess[i], r.Excess), r.Forget; r.Detected != nil {
				f.detected[i] = append(f.detected[i], *r.Detected)
			}
		}
	}
	if len(f.excess[0]) < 3 {
		return nil, 0
	}
	return f, forget
}

func showTable(e *paper.Env, s Study, ev *paper.Evidence[LensReading]) *paper.Output {
	t := &report.Table{
		ID: id, Title: title, Caption: doc,
		Columns: []report.Column{
			{Name: "lens"},
			{Name: "smallest share", Note: "found by retraining in 80 of 100 models; 95 % interval over seeds"},
			{Name: "power at 0.1", Note: "share of seeds, by retraining; Wilson's interval"},
			{Name: "at 0.4"},
			{Name: "repeats", Note: "how often a twentieth of the forget set has to be in the training to be found in 80 of 100 models, by retraining"},
			{Name: "accused by its null", Note: "retrained models whose interval is beyond the null on memory's side; at most 0.025 is what intervals promise"},
			{Name: "smallest share by its null", Note: "without any retrained model, where at most one in ten of these is accused"},
		},
		Provenance: ev.Provenance(e, id, s.Scale, Results, s.Seeds),
	}
	for _, c := range s.Cases {
		for _, lens := range lensNames() {
			f, forget := collectReadings(s, ev, c.Label, lens)
			if f == nil {
				continue
			}
			n := len(f.excess[0])
			all := make([]int, n)
			for k := range all {
				all[k] = k
			}
			rng := engine.Root(e.Shift).Stream(engine.StreamPlanted, 1)
			share := func(p PlantedMemory) float64 { return p.Share }
			row := report.Row{Group: fmt.Sprintf("%s (%d to forget, %d seeds)", c.Label, forget, n), Cells: []report.Cell{
				report.Str(lens), smallestCell(f.smallestByRule(f.powerByRetraining, f.onceIndices(), share, rng), "> 1", 2),
				report.Est(seedShare(f.powerByRetraining(f.onceIndex(0.1), all), n), 2), report.Est(seedShare(f.powerByRetraining(f.onceIndex(0.4),
					all), n), 2),
				smallestCell(f.smallestByRule(f.powerByRetraining, f.repeatedIndices(), func(p PlantedMemory) float64 { return float64(p.Times) },
					rng), "> 16", 1),
			}}
			row.Cells = append(row.Cells, f.nullCells(all, rng)...)
			t.Rows = append(t.Rows, row)
		}
	}
	t.Notes = append(t.Notes, "A share that was planted stands for so many records that a method did not reach, in a model that was trained "+
		"like the others: what is left of all records a little is another memory.",
		fmt.Sprintf("One retrained model for reference, %d others for what chance does; these have other forget sets where they are drawn.", s.Seeds-1),
		fmt.Sprintf("The last two rows of a case have %d more retrained models to compare with: how far each forgotten record lies above what they "+
			"say of it, in standard deviations (offline LiRA).", s.Shadows),
		"The models have another seed than the retrained one for reference. It is 'against the oracle', which compares embeddings one by one, that this "+
			"costs most; a method begins with the original and may be nearer to it.",
		"A lens on ensembles (table attacks distances) has many models of the method to look at, and is not in this table.")
	t.Notes = append(t.Notes, ev.MissingNotes()...)
	return &paper.Output{Table: t, Figure: curves(s, ev, t.Provenance.Line())}
}

// nullCells are the cells of a lens without a retrained model.
func (f lensReadings) nullCells(all []int, rng *rand.Rand) []report.Cell {
	if len(f.detected[0]) == 0 {
		return []report.Cell{report.Gap("needs retrained models"), report.Gap("needs retrained models")}
	}
	own := report.Gap("accuses retrained models")
	if f.powerByNull(0, all) <= 0.10 {
		own = smallestCell(f.smallestByRule(f.powerByNull, f.onceIndices(), func(p PlantedMemory) float64 { return p.Share }, rng), "> 1", 2)
	}
	return []report.Cell{report.Est(seedShare(f.powerByNull(0, all), len(all)), 2), own}
}

// onceIndex is the position of the memory with that share, each record once.
func (f lensReadings) onceIndex(share float64) int {
	for i, p := range f.memories {
		if p.Share == share && p.Times == 1 {
			return i
		}
	}
	return 0
}

// smallestCell is the cell of the smallest memory.
func smallestCell(s Smallest, none string, digits int) report.Cell {
	word := func(v float64) string {
		if math.IsInf(v, 1) {
			return none
		}
		return fmt.Sprintf("%.*f", digits, v)
	}
	return report.Str(fmt.Sprintf("%s [%s, %s]", word(s.Value), word(s.Low), word(s.High)))
}

func showFigure(e *paper.Env, s Study, ev *paper.Evidence[LensReading]) *paper.Output {
	return &paper.Output{Figure: curves(s, ev, ev.Provenance(e, id+"/"+paper.Figure, s.Scale, Results, s.Seeds).Line())}
}

// curves show the power by share, a panel per case.
func curves(s Study, ev *paper.Evidence[LensReading], source string) plot.Panels {
	out := plot.Panels{Meta: plot.Meta{Title: title, Caption: figureDoc, Source: source, Width: 1080}, Columns: 2}
	low, high := 0.0, 1.0
	for _, c := range s.Cases {
		panel := plot.Curves{
			Meta: plot.Meta{Title: c.Label}, X: plot.Axis{Label: "share of the forget set that stayed", Min: &low, Max: &high},
			Y: plot.Axis{Label: "share of models found", Min: &low, Max: &high}, Null: &plot.Null{Value: wantedPower, Label: "80 of 100"},
		}
		for _, lens := range lensNames() {
			f, _ := collectReadings(s, ev, c.Label, lens)
			if f == nil {
				continue
			}
			curve := plot.Curve{Name: lens}
			all := make([]int, len(f.excess[0]))
			for k := range all {
				all[k] = k
			}
			for _, i := range f.onceIndices() {
				curve.X, curve.Y = append(curve.X, f.memories[i].Share), append(curve.Y, f.powerByRetraining(i, all))
			}
			panel.Curves = append(panel.Curves, curve)
		}
		if len(panel.Curves) > 0 {
			out.Figures = append(out.Figures, panel)
		}
	}
	return out
}
