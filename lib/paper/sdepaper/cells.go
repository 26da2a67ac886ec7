package sdepaper

// Cells, and the recipes that are made of measurements on them.

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// cell is a model of a study: a setting, a fraction R and a seed.
type cell struct {
	Study
	Setting
	fraction float64
	seed     int
}

// cells are those of every setting, fraction and seed, in that order.
func cells(s Study, fractions []float64) (out []cell) {
	for _, x := range s.Settings {
		for _, r := range fractions {
			for seed := range s.Seeds {
				out = append(out, cell{s, x, r, seed})
			}
		}
	}
	return out
}

// allCells are the cells of the controlled protocol.
func allCells(s Study) []cell { return cells(s, s.Fractions) }

// unlearnedCells are those of the unlearned models at the given fractions.
func unlearnedCells(fractions func(Study) []float64) func(Study) []cell {
	return func(s Study) []cell {
		s.Settings = filter(s.Settings, func(x Setting) bool { return !x.JudgedOnly })
		return cells(s, fractions(s))
	}
}

// firstCells are those of every setting's first seed, at the fraction of table 4.
func firstCells(s Study) []cell {
	s.Seeds = 1
	return cells(s, []float64{s.fraction()})
}

// name names a cell in the ID of a job.
func (k cell) name() string {
	return fmt.Sprintf("%s/%s/%g/seed-%d", k.Scale, k.Label, k.fraction, k.seed)
}

// about describes a cell to a reader.
func (k cell) about() string { return fmt.Sprintf("%s, R %g, seed %d", k.Label, k.fraction, k.seed) }

// labSetting is the cell's setting in the lab. plannedAt has checked that its network exists.
func (k cell) labSetting() lab.Setting {
	network, _ := k.imageNetwork()
	return lab.Setting{
		Data: lab.Images{Set: k.DataSet, MaxTrain: k.Images, MaxTest: k.Held}, Forget: lab.Random{Fraction: k.fraction}, Seed: k.seed,
		Fit: k.Fit, Model: network, Augment: k.Augment, Keep: k.checkpointEpochs(k.Checkpoints),
	}
}

// measurement is the common part of the measurements on a cell, which need the models of methods.
// Their cost is that of a look at all images, and of the sets that are judged.
func measurement[R any](k cell, id, about string, methods ...unlearn.Method) paper.Measurement[R] {
	return paper.Measurement[R]{
		ID: "evidence/" + id, About: about, Setting: k.labSetting(), Methods: methods, Required: true, Parallel: sideBySide,
		Cost: func(c *lab.Case) int64 {
			return int64(c.Problem.Train.X.Rows + c.Test.X.Rows + len(k.Sizes)*k.Subsets*k.Draws)
		},
	}
}

// plan is a study with the settings, fractions and cells of a recipe.
type plan struct {
	Study
	cells []cell
}

// plannedAt is the plan of a scale.
func plannedAt(scale string, choose func(Study) []cell) (plan, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return plan{}, err
	}
	return planned(s, choose)
}

func planned(s Study, choose func(Study) []cell) (plan, error) {
	p := plan{s, choose(s)}
	if len(p.cells) == 0 {
		return p, fmt.Errorf("at scale %s no models are unlearned; it has tables 1 to 3 and 7 and the figures", s.Scale)
	}
	p.Settings, p.Fractions, p.Seeds = nil, nil, p.cells[0].Seeds
	for _, k := range p.cells {
		if _, err := k.imageNetwork(); err != nil {
			return p, fmt.Errorf("%s: %w", k.Label, err)
		}
		if !slices.ContainsFunc(p.Settings, func(x Setting) bool { return x.Label == k.Label }) {
			p.Settings = append(p.Settings, k.Setting)
		}
		if !slices.Contains(p.Fractions, k.fraction) {
			p.Fractions = append(p.Fractions, k.fraction)
		}
	}
	return p, nil
}

// measurementsOf makes the measurements of every cell.
type measurementsOf[R any] func(e *paper.Env, k cell) []paper.Measurement[R]

func (m measurementsOf[R]) in(e *paper.Env, p plan) (out []paper.Measurement[R]) {
	for _, k := range p.cells {
		out = append(out, m(e, k)...)
	}
	return out
}

// sideBySide is the number of parallel jobs. A convolutional network takes up to a gigabyte and
// keeps most cores busy; two jobs use the rest.
const sideBySide = 2

// define sets the functions of a recipe that measures cells and shows the result.
func define[R any](r *paper.Recipe, choose func(Study) []cell, measure measurementsOf[R], show func(ev *evidence[R]) *paper.Output) {
	*r = paper.StudyRecipe(*r,
		func(scale string) (plan, error) { return plannedAt(scale, choose) }, measure.in,
		func(e *paper.Env, p plan, found *paper.Evidence[R]) *paper.Output {
			return show(&evidence[R]{p.Study, e, found})
		})
}
