package language

// What is measured on a model.

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// Row holds what one model says: a variant of one seed, with weights of so many bits.
type Row struct {
	Variant string `json:"arm"`
	Control bool   `json:"control"`
	Seed    int    `json:"seed"`
	Bits    int    `json:"bits"` // of every weight; 32: as trained
	// Numbers of answers: to be forgotten, retained, and about people of whom no model read.
	Forget  int `json:"n_forget"`
	Retain  int `json:"n_retain"`
	HeldOut int `json:"n_heldout"`
	Weights int `json:"n_weights"`

	// Probabilities are means over answers, normalised by their length.
	Probability        float64 `json:"probability_forget"`
	RetainProbability  float64 `json:"probability_retain"`
	HeldOutProbability float64 `json:"probability_heldout"`
	TruthRatio         float64 `json:"log_truth_ratio"` // mean of ln R of the forgotten questions
	Exact              float64 `json:"exact_memorisation"`
	Extraction         float64 `json:"extraction_strength"`
	MinK               float64 `json:"min_k_auc"`
	// Right are shares of questions that are answered right, with the most probable tokens.
	Right       float64 `json:"right_forget"`
	RetainRight float64 `json:"right_retain"`

	Displacement float64 `json:"displacement"`
	Note         string  `json:"note,omitempty"`     // what the method chose: its rate
	Diverged     string  `json:"diverged,omitempty"` // if set, the numbers above are invalid
}

// lensValues are the lenses whose values are in a row.
func (r *Row) lensValues() []lensValue {
	return []lensValue{
		{audit.Probability{}, &r.Probability}, {audit.TruthRatio{}, &r.TruthRatio}, {audit.ExactMemorisation{}, &r.Exact},
		{audit.ExtractionStrength{}, &r.Extraction}, {audit.MinK{}, &r.MinK},
	}
}

type lensValue struct {
	audit.Lens
	to *float64
}

// measurements are the rows of every seed at these numbers of bits.
func measurements(e *paper.Env, s Study, recipe string, bits ...int) (out []paper.Measurement[Row]) {
	l := e.Lab()
	for seed := range s.Seeds {
		at := s.settingAt(seed)
		out = append(out, paper.Measurement[Row]{
			ID: fmt.Sprintf("evidence/%s/%s/seed-%d", recipe, s.Scale, seed), About: fmt.Sprintf("%s, seed %d", recipe, seed),
			Setting: at, Methods: s.methods(),
			Key:     func(c *lab.Case) store.Key { return s.key(l, c, recipe, bits) },
			Cost:    func(c *lab.Case) int64 { return int64(len(bits) * len(s.variants()) * c.Problem.Train.X.Rows) },
			Measure: func(ctx context.Context, _ *lab.Case) ([]Row, error) { return s.measure(ctx, l, seed, bits) },
		})
	}
	return out
}

// evidenceKey is the configuration of rows in the store.
type evidenceKey struct {
	lab.NetworkKey
	Goal      lab.Goal     `json:"goal"`
	Fit       train.Config `json:"fit"`
	Forget    string       `json:"forget"`
	Questions string       `json:"questions"` // hash of what is asked, which no model is trained on
	Variants  []variantKey `json:"arms"`
	Asked     int          `json:"asked"`
	Measured  any          `json:"measured"` // what a recipe measures beside
	Results   int          `json:"results"`
}

// variantKey is a variant in a key.
type variantKey struct {
	Label string `json:"label"`
	lab.MethodKey
}

func (s Study) key(l *lab.Lab, c *lab.Case, recipe string, measured any) store.Key {
	k := evidenceKey{
		NetworkKey: lab.NetworkKeyOf(c.Problem.Arch), Goal: c.Goal, Fit: c.Fit, Forget: lab.RowsKey(c.Forget),
		Questions: store.ContentHash(c.About.Questions), Asked: s.Asked, Measured: measured, Results: Results,
	}
	for _, v := range s.variants() {
		k.Variants = append(k.Variants, variantKey{v.Label, lab.MethodKeyOf(v.Method)})
	}
	return l.Key("evidence/"+recipe, c.Problem, k, map[string]int64{"train": int64(c.Seed), "unlearn": lab.UnlearnSeed})
}

// measure measures every variant of a seed.
func (s Study) measure(ctx context.Context, l *lab.Lab, seed int, bits []int) (out []Row, err error) {
	c, err := audit.Open(ctx, l, s.settingAt(seed))
	if err != nil {
		return nil, err
	}
	for _, v := range s.variants() {
		m, lost, err := modelOf(ctx, c, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Label, err)
		}
		for _, b := range bits {
			r := Row{Variant: v.Label, Control: v.Control, Seed: seed, Bits: b, Diverged: lost, Note: noteOf(m)}
			if lost == "" {
				if err := s.readRounded(ctx, c, m, &r); err != nil {
					return nil, fmt.Errorf("%s, %d bits: %w", v.Label, b, err)
				}
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// noteOf returns what a model's method chose.
func noteOf(m *audit.Model) string {
	if m == nil || m.Report == nil {
		return ""
	}
	return m.Report.Note
}

// modelOf returns a variant's model, or why it has none: an unlearning method that diverged.
func modelOf(ctx context.Context, c *audit.Case, v lab.Variant) (m *audit.Model, lost string, err error) {
	m, err = c.Variant(ctx, v)
	if d := (*train.Diverged)(nil); errors.As(err, &d) && !v.Control {
		return nil, d.Error(), nil
	}
	return m, "", err
}

// readRounded fills in the numbers of a model with its weights rounded to the row's bits.
func (s Study) readRounded(ctx context.Context, c *audit.Case, m *audit.Model, r *Row) error {
	rounded, err := Rounded(c, m, r.Bits)
	if err != nil {
		return err
	}
	return s.read(ctx, c, rounded, r)
}

// read fills in the numbers of a model.
func (s Study) read(ctx context.Context, c *audit.Case, m *audit.Model, r *Row) error {
	heldOut := testRows(c)
	r.Forget, r.Retain, r.HeldOut, r.Weights = len(c.Forget), len(c.Retain), len(heldOut), m.Weights.Size()
	for _, v := range r.lensValues() {
		reading, err := c.Read(v.Lens, m)
		if err != nil {
			return fmt.Errorf("through the lens %q: %w", v.Name(), err)
		}
		*v.to = reading.Value
	}
	var err error
	if r.RetainProbability, err = meanScore(m, language.Probability{}, c.Retain); err != nil {
		return err
	}
	if r.HeldOutProbability, err = meanScore(m, language.Probability{}, heldOut); err != nil {
		return err
	}
	if r.Right, err = shareRight(ctx, c, m, c.Forget); err != nil {
		return err
	}
	if r.RetainRight, err = shareRight(ctx, c, m, spread(c.Retain, s.Asked)); err != nil {
		return err
	}
	r.Displacement, err = m.Weights.Displacement(c.Original.Weights)
	return err
}

// testRows returns the held-out rows in the numbering of a model's tokens: behind the train part.
func testRows(c *audit.Case) (out []int) {
	for _, i := range c.EvalRows() {
		out = append(out, c.Train.X.Rows+i)
	}
	return out
}

// meanScore returns the mean of a score of tokens over records.
func meanScore(m *audit.Model, by language.Score, rows []int) (float64, error) {
	tokens, err := m.Tokens()
	if err != nil {
		return 0, err
	}
	some, err := tokens.Select(rows)
	if err != nil {
		return 0, err
	}
	return meanOf(by, some)
}

// meanOf returns the mean of a score over texts.
func meanOf(by language.Score, some *language.Tokens) (float64, error) {
	scores, err := by.Scores(language.Evidence{Target: some})
	if err != nil {
		return 0, err
	}
	total := 0.0
	for _, v := range scores {
		total += v
	}
	return total / float64(len(scores)), nil
}

// shareRight returns the share of questions of rows of the train part that a model answers right.
func shareRight(ctx context.Context, c *audit.Case, m *audit.Model, rows []int) (float64, error) {
	part := c.Train.Gather(rows)
	questions, err := c.Questions(part)
	if err != nil {
		return 0, err
	}
	answers, err := c.Ask(ctx, m.Weights, part)
	if err != nil {
		return 0, err
	}
	return rightShare(questions, answers), nil
}

func rightShare(questions []datasets.Question, answers []string) float64 {
	n := 0
	for k, q := range questions {
		if q.Answered(answers[k]) {
			n++
		}
	}
	return float64(n) / float64(len(questions))
}

// spread returns at most n of the rows, evenly spread.
func spread(rows []int, n int) []int {
	if len(rows) <= n {
		return rows
	}
	out := make([]int, n)
	for k := range out {
		out[k] = rows[int(math.Floor(float64(k)*float64(len(rows))/float64(n)))]
	}
	return out
}
