package language

// What brings a memory back: the figure of relearning.

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

var relearningRecipe = paper.Recipe{
	ID:    "language/figurerelearning",
	Title: "What brings the forgotten answers back",
	Doc: "After unlearning a model is tuned on a quarter of the forgotten answers, or on as many retained ones, and asked for the other forgotten " +
		"answers, which it is not tuned on. A model that has forgotten learns these no sooner than the retrained model does; one that hides them lies " +
		"above its curve. Means over seeds, with a band of their 95 % interval for the retrained models.",
}

// Tuning says how models are tuned after unlearning: by the optimiser of their training, at its constant
// rate times Rate, on a quarter of the forgotten answers or on as many retained ones.
type Tuning struct {
	Epochs int     `json:"epochs"`
	Rate   float64 `json:"rate"`
}

// The records that a model is tuned on.
const (
	OnForgotten = "a quarter of the forgotten"
	OnRetained  = "as many retained"
)

// Point is the state of a model after so many steps of tuning, on the forgotten answers that it is not
// tuned on.
type Point struct {
	Variant string `json:"arm"`
	Control bool   `json:"control"`
	Seed    int    `json:"seed"`
	On      string `json:"on"` // OnForgotten, OnRetained
	Step    int    `json:"step"`
	Tuned   int    `json:"n_tuned"`
	Others  int    `json:"n_others"`
	// As in Row, of the other forgotten answers.
	Probability float64 `json:"probability"`
	Exact       float64 `json:"exact_memorisation"`
	Diverged    string  `json:"diverged,omitempty"` // if set, the numbers above are invalid
}

func relearningFigure() paper.Recipe {
	return paper.StudyRecipe(relearningRecipe, StudyAt, relearningMeasurements, showRelearning)
}

func relearningMeasurements(e *paper.Env, s Study) (out []paper.Measurement[Point]) {
	l := e.Lab()
	for seed := range s.Seeds {
		out = append(out, paper.Measurement[Point]{
			ID: fmt.Sprintf("evidence/language-relearning/%s/seed-%d", s.Scale, seed), About: fmt.Sprintf("relearning, seed %d", seed),
			Setting: s.settingAt(seed), Methods: s.methods(), File: "points.json",
			Key:     func(c *lab.Case) store.Key { return s.key(l, c, "language-relearning", s.Tuning) },
			Cost:    func(c *lab.Case) int64 { return int64(3 * len(relearned) * s.Tuning.Epochs * len(c.Forget)) },
			Measure: func(ctx context.Context, _ *lab.Case) ([]Point, error) { return s.relearn(ctx, l, seed) },
		})
	}
	return out
}

// relearned are the labels of the variants that are tuned: the ends of the scale, and one method of each
// idea.
var relearned = []string{"original (do nothing)", retrained(), "GradDiff", "NPO", "SimNPO", "UNDIAL, and retained answers", "RMU", "refusal tuning"}

func (s Study) tuned() []lab.Variant {
	return slices.DeleteFunc(s.variants(), func(v lab.Variant) bool { return !slices.Contains(relearned, v.Label) })
}

// relearn tunes the model of every variant of a seed.
func (s Study) relearn(ctx context.Context, l *lab.Lab, seed int) (out []Point, err error) {
	c, err := audit.Open(ctx, l, s.settingAt(seed))
	if err != nil {
		return nil, err
	}
	few, others := Quarter(c)
	retain := spread(c.Retain, len(few))
	for _, v := range s.tuned() {
		m, lost, err := modelOf(ctx, c, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Label, err)
		}
		for _, on := range []struct {
			name string
			rows []int
		}{{OnForgotten, few}, {OnRetained, retain}} {
			p := Point{Variant: v.Label, Control: v.Control, Seed: seed, On: on.name, Tuned: len(on.rows), Others: len(others), Diverged: lost}
			if lost != "" {
				out = append(out, p)
				continue
			}
			curve, err := s.Tuning.Curve(ctx, c, m, on.rows, others)
			if err != nil {
				return nil, fmt.Errorf("%s, tuned on %s: %w", v.Label, on.name, err)
			}
			for _, at := range curve {
				p.Step, p.Probability, p.Exact = at.Step, at.Probability, at.Exact
				out = append(out, p)
			}
		}
	}
	return out, nil
}

// Quarter returns a random quarter of a case's forgotten rows, at least one, and the others. It is the
// same for every model of the case.
func Quarter(c *audit.Case) (few, others []int) {
	n := max(1, len(c.Forget)/4)
	for k, i := range engine.Root(c.Seed).Stream(engine.StreamRelearn).Perm(len(c.Forget)) {
		if row := c.Forget[i]; k < n {
			few = append(few, row)
		} else {
			others = append(others, row)
		}
	}
	slices.Sort(few)
	slices.Sort(others)
	return few, others
}

// Curve tunes a copy of a model on rows of the train part and returns what it says of others before and
// after every epoch.
func (t Tuning) Curve(ctx context.Context, c *audit.Case, m *audit.Model, rows, others []int) ([]Point, error) {
	objective, err := c.Goal.Objective(c.Problem, rows)
	if err != nil {
		return nil, err
	}
	by, err := t.optimizer(c.Fit.Optimizer)
	if err != nil {
		return nil, err
	}
	var out []Point
	asked := c.Train.Gather(others)
	look := func(step int, w nn.Params) error {
		p := Point{Step: step}
		tokens, err := text.Measure(c.Runner, w, asked.X)
		if err != nil {
			return err
		}
		for _, of := range []struct {
			language.Score
			to *float64
		}{{language.Probability{}, &p.Probability}, {language.ExactMemorisation{}, &p.Exact}} {
			if *of.to, err = meanOf(of.Score, (*language.Tokens)(tokens)); err != nil {
				return err
			}
		}
		out = append(out, p)
		return nil
	}
	if err := look(0, m.Weights); err != nil {
		return nil, err
	}
	fit := train.Config{Epochs: t.Epochs, Batch: c.Fit.Batch, Optimizer: by, Seed: engine.Root(c.Seed)}
	_, _, err = train.Fit(ctx, c.Runner, m.Weights, objective, fit, train.Hooks{SaveEvery: 1, Save: func(s *train.State) error {
		return look(s.History[len(s.History)-1].Steps, s.Params[:len(m.Weights)])
	}})
	return out, err
}

// optimizer returns AdamW, which the models of this package are trained by, at the tuning's rate.
func (t Tuning) optimizer(by nn.Optimizer) (nn.Optimizer, error) {
	adam, is := by.(nn.AdamW)
	if !is {
		return nil, fmt.Errorf("models that are trained by %s are not tuned here", by.Name())
	}
	adam.LR *= t.Rate
	return adam, nil
}

func showRelearning(e *paper.Env, s Study, ev *paper.Evidence[Point]) *paper.Output {
	provenance := ev.Provenance(e, relearningRecipe.ID, s.Scale, Results, s.Seeds)
	f := plot.Panels{
		Meta: plot.Meta{Title: relearningRecipe.Title, Caption: relearningRecipe.Doc, Source: provenance.Line(), Width: 1080}, Columns: 2,
	}
	for _, p := range []struct {
		name  string
		value func(Point) float64
	}{{"exact memorisation", func(p Point) float64 { return p.Exact }}, {"probability", func(p Point) float64 { return p.Probability }}} {
		for _, on := range []string{OnForgotten, OnRetained} {
			panel := plot.Curves{Meta: plot.Meta{Title: "tuned on " + on}, X: plot.Axis{Label: "steps"}, Y: plot.ShareAxis(p.name + " of the others")}
			for _, v := range s.tuned() {
				if c := relearningCurve(ev.Rows, v, on, p.value); len(c.X) > 0 {
					panel.Curves = append(panel.Curves, c)
				}
			}
			f.Figures = append(f.Figures, panel)
		}
	}
	return &paper.Output{Figure: f}
}

// relearningCurve is the mean of a value over seeds by step, with its interval for the retrained models.
// Seeds whose model diverged are left out.
func relearningCurve(rows []Point, v lab.Variant, on string, value func(Point) float64) plot.Curve {
	at, steps := map[int][]float64{}, []int(nil)
	for _, p := range rows {
		if p.Variant != v.Label || p.On != on || p.Diverged != "" {
			continue
		}
		if at[p.Step] == nil {
			steps = append(steps, p.Step)
		}
		at[p.Step] = append(at[p.Step], value(p))
	}
	slices.Sort(steps)
	out := plot.Curve{Name: v.Label, Control: v.Control}
	for _, step := range steps {
		mean := stats.MeanInterval(at[step], 0.95, stats.OverModels).ClampedTo(0, 1)
		out.X, out.Y = append(out.X, float64(step)), append(out.Y, mean.Value)
		if v.Label == retrained() && len(at[step]) > 1 {
			out.Low, out.High = append(out.Low, mean.Low), append(out.High, mean.High)
		}
	}
	return out
}
