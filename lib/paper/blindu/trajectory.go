package blindu

// Figures 5 and 8: accuracies during unlearning.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Step is the state after one epoch, or round, of an unlearning. Epoch 0 is the original.
type Step struct {
	Case    string  `json:"case"`
	Variant string  `json:"arm"`
	Seed    int     `json:"seed"`
	Epoch   int     `json:"epoch"`
	Erased  float64 `json:"erased"` // as in Row
	Retain  float64 `json:"retain"`
	Test    float64 `json:"test"`
	// Bound is the mean estimate of BlindU's critic in the epoch, in nats, on the pairs that it
	// learns from. Nil without a critic.
	Bound *float64 `json:"bound"`
}

// trajectoryVersion changes when the measurement changes.
const trajectoryVersion = 1

// trajectories is the data behind the figures on trajectories.
type trajectories struct {
	Study
	env *paper.Env
	*paper.Evidence[Step]
}

// differences are those of the cases.
func (s *trajectories) differences() []string {
	return append(differences(s.Cases, uncounted), stoppingNotes(s.Cases)...)
}

func (s *trajectories) provenance(id string) report.Provenance {
	return s.Provenance(s.env, id, s.Scale, Results, s.Seeds)
}

// trajectoryStudy has a scale's first two cases with the methods of the figures.
func trajectoryStudy(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	s.Cases = s.Cases[:2]
	for i := range s.Cases {
		s.Cases[i].Only = []string{VBU, VBUCoded, HBFU, HBFUCoded, WithReplacement, WithoutReplacement, Unaware}
	}
	return s, nil
}

// trajectoryRecipe is a recipe on trajectories.
func trajectoryRecipe(r paper.Recipe, show func(*trajectories) *paper.Output) paper.Recipe {
	return paper.StudyRecipe(r, trajectoryStudy, trajectoryMeasurements, func(e *paper.Env, s Study, found *paper.Evidence[Step]) *paper.Output {
		out := show(&trajectories{s, e, found})
		out.Runs = report.NewRecords(found.Rows)
		return out
	})
}

func trajectoryMeasurements(e *paper.Env, s Study) []paper.Measurement[Step] {
	l := e.Lab()
	return paper.ForSeeds(s.Cases, s.Seeds, func(of Case, seed int) paper.Measurement[Step] {
		return paper.Measurement[Step]{
			ID:    fmt.Sprintf("evidence/blindu/courses/%s/%s/seed-%d", of.DataSet(), of.coordinates(), seed),
			About: fmt.Sprintf("epoch by epoch, %s, seed %d", of.Label, seed), Setting: of.setting(seed), File: "steps.json",
			Methods: []unlearn.Method{unlearn.NoOp{}},
			Key:     func(c *lab.Case) store.Key { return trajectoryKey(l, c, of) },
			Cost:    func(c *lab.Case) int64 { return int64(20 * c.Problem.Train.X.Rows * len(of.variants())) },
			Measure: func(ctx context.Context, c *lab.Case) ([]Step, error) { return measureTrajectories(ctx, c, of) },
		}
	})
}

func trajectoryKey(l *lab.Lab, c *lab.Case, of Case) store.Key {
	config := struct {
		lab.NetworkKey
		Case     string       `json:"case"`
		Goal     lab.Goal     `json:"goal"`
		Fit      train.Config `json:"fit"`
		Forget   string       `json:"forget"`
		Variants []variantKey `json:"arms"`
		Version  int          `json:"version"`
	}{
		NetworkKey: lab.NetworkKeyOf(c.Problem.Arch), Case: of.Label, Goal: c.Goal, Fit: c.Fit, Forget: lab.RowsKey(c.Forget), Version: trajectoryVersion,
	}
	for _, a := range of.variants() {
		config.Variants = append(config.Variants, variantKey{a.Label, lab.MethodKeyOf(a.Method)})
	}
	return l.Key("evidence/blindu/courses", c.Problem, config, map[string]int64{"train": int64(c.Seed), "unlearn": lab.UnlearnSeed})
}

// measureTrajectories records the steps of every variant of a case. A diverging method is
// recorded until it diverges.
func measureTrajectories(ctx context.Context, c *lab.Case, of Case) (out []Step, err error) {
	original, err := c.TrainedModel(ctx, c.Original())
	if err != nil {
		return nil, err
	}
	for _, a := range of.variants() {
		recordStep := func(epoch int, m *lab.Model) error {
			row := &Row{}
			err := row.addAccuracies(c, of, m.Weights)
			out = append(out, Step{Case: of.Label, Variant: a.Label, Seed: c.Seed, Epoch: epoch, Erased: row.Erased, Retain: row.Retain, Test: row.Test})
			return err
		}
		if err := recordStep(0, c.NewModel(a.Label, original.Final)); err != nil {
			return nil, err
		}
		_, blind := a.Method.(unlearn.BlindU)
		_, err := c.Watch(ctx, a.Method, func(e train.Epoch, m *lab.Model) error {
			err := recordStep(e.Epoch, m)
			if blind && len(e.Players) == 2 {
				bound := -e.Players[0]
				out[len(out)-1].Bound = &bound
			}
			return err
		})
		if d := (*train.Diverged)(nil); err != nil && !errors.As(err, &d) {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
	}
	return out, nil
}

var figure5 = paper.Recipe{
	ID:    "blindu/figure5",
	Title: "BlindU Fig. 5. What its critic finds, epoch by epoch",
	Doc: "The bound of the information between codes to be forgotten and auxiliary codes, in nats, on the pairs that the critic learns from, mean over " +
		"models. The true value is 0 before and after, because the two are drawn independently: what a critic finds are accidents of these pairs. " +
		"'labels only' has a critic whose gradient is not used. The paper draws a fall and reads it as forgetting. A model that has stopped stays " +
		"where it is.",
}

var figure8 = paper.Recipe{
	ID:    "blindu/figure8",
	Title: "BlindU Fig. 8. The forget set and the retain set, epoch by epoch",
	Doc: "Shares of right answers on the records to be forgotten, as they are and with the label that they were taught, above, and on the retain set, " +
		"below; epochs of VBU and BlindU, rounds of HBFU. A point is the mean over models; one that has stopped stays where it is.",
}

// curve is the mean of a value of a variant's models by epoch. A model that has stopped keeps
// its last value.
func (s *trajectories) curve(c Case, variant string, value func(Step) *float64) plot.Curve {
	way, begins, ends := map[int]map[int]float64{}, 1<<30, 0 // by seed and epoch
	for _, x := range s.Rows {
		if v := value(x); x.Case == c.Label && x.Variant == variant && v != nil {
			if way[x.Seed] == nil {
				way[x.Seed] = map[int]float64{}
			}
			way[x.Seed][x.Epoch] = *v
			begins, ends = min(begins, x.Epoch), max(ends, x.Epoch)
		}
	}
	line, last := plot.Curve{Name: variant}, map[int]float64{}
	for epoch := begins; epoch <= ends; epoch++ {
		sum := 0.0
		for _, seed := range slices.Sorted(maps.Keys(way)) {
			if v, at := way[seed][epoch]; at {
				last[seed] = v
			}
			sum += last[seed]
		}
		line.X, line.Y = append(line.X, float64(epoch)), append(line.Y, sum/float64(len(way)))
	}
	return line
}

func (s *trajectories) panel(c Case, title string, y plot.Axis, value func(Step) *float64, variants ...string) plot.Curves {
	panel := plot.Curves{Meta: plot.Meta{Title: title}, X: plot.Axis{Label: "epoch or round"}, Y: y}
	for _, variant := range variants {
		if line := s.curve(c, variant, value); len(line.X) > 0 {
			panel.Curves = append(panel.Curves, line)
		}
	}
	return panel
}

func (s *trajectories) figure5() *paper.Output {
	about := plot.Meta{Title: figure5.Title, Caption: withCellsNote(figure5.Doc, s.differences()), Source: s.provenance(figure5.ID).Line()}
	f := plot.Panels{Meta: about, Columns: 2}
	for _, c := range s.Cases {
		f.Figures = append(f.Figures, s.panel(c, c.Label, plot.Axis{Label: "nats"}, func(x Step) *float64 { return x.Bound },
			WithReplacement, WithoutReplacement, Unaware))
	}
	return &paper.Output{Figure: f}
}

func (s *trajectories) figure8() *paper.Output {
	about := plot.Meta{Title: figure8.Title, Caption: withCellsNote(figure8.Doc, s.differences()), Source: s.provenance(figure8.ID).Line()}
	f := plot.Panels{Meta: about, Columns: 2}
	for _, p := range []struct {
		label string
		value func(Step) *float64
	}{{"forget set", func(x Step) *float64 { return &x.Erased }}, {"retain set", func(x Step) *float64 { return &x.Retain }}} {
		for _, c := range s.Cases {
			f.Figures = append(f.Figures, s.panel(c, c.Label+", "+p.label, plot.ShareAxis("share right"), p.value, VBU, VBUCoded, HBFU, HBFUCoded,
				WithReplacement, WithoutReplacement))
		}
	}
	return &paper.Output{Figure: f}
}
