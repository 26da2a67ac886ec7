package power

// Attacks with several retrained models.

import (
	"context"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
)

// The attacks that use several retrained models: offline LiRA on every forgotten record,
// summarised by the mean over records and by the mean of the largest tenth.
const (
	allRecords = "LiRA by retrained models"
	topTenth   = "LiRA by retrained models, largest tenth"
)

// retrainedSeed is added to the seeds of the attacker's retrained models.
const retrainedSeed = 60_000

// lensNames are the rows of a case.
func lensNames() (out []string) {
	for _, lens := range lenses() {
		out = append(out, lens.Name())
	}
	return append(out, allRecords, topTenth)
}

// retrainedScores are the scores of the forgotten records in several retrained models.
func retrainedScores(ctx context.Context, c *audit.Case, models int) (out shadow.Shadows, err error) {
	scores := make([][]float64, models)
	var tasks []func(context.Context) error
	for k := range models {
		tasks = append(tasks, func(ctx context.Context) error {
			own, inner := *c, *c.Case
			own.Case = &inner
			fit := c.Fit
			fit.Seed = engine.Root(c.Seed + retrainedSeed + 1000*k)
			t, err := c.Lab.Train(ctx, lab.Training{Problem: c.Problem, Goal: c.Goal, Fit: fit, Rows: c.Retain})
			if err != nil {
				return err
			}
			scores[k], err = forgetScores(&own, c.NewModel("retrained", t.Final))
			return err
		})
	}
	if err := c.Lab.RunParallel(ctx, tasks...); err != nil {
		return out, err
	}
	for _, row := range scores {
		out.Scores = array.Matrix[float64]{Rows: out.Scores.Rows + 1, Cols: len(row), Data: append(out.Scores.Data, row...)}
		out.In = append(out.In, make([]bool, len(row)))
	}
	return out, nil
}

// forgetScores are a model's scores of the forgotten records: LiRA's scaled confidence of a
// classifier, minus the loss of another network.
func forgetScores(c *audit.Case, m *audit.Model) ([]float64, error) {
	o, err := m.Outputs()
	if err != nil {
		return nil, err
	}
	if _, is := c.Problem.Arch.(model.Classifier); is {
		return shadow.ScaledConfidences(o.Train.Logits().Gather(c.Forget), c.Records(c.Forget).Y)
	}
	losses, err := c.Losses(m)
	if err != nil {
		return nil, err
	}
	for i, v := range losses.Forgotten {
		losses.Forgotten[i] = -v
	}
	return losses.Forgotten, nil
}

// likelihoodRatios are the readings of the attacks with retrained models. Their excess needs no
// further reference, because it is relative to those models.
func likelihoodRatios(c *audit.Case, m *audit.Model, p PlantedMemory, by shadow.Shadows) ([]LensReading, error) {
	if by.Scores.Rows == 0 {
		return nil, nil
	}
	target, err := forgetScores(c, m)
	if err != nil {
		return nil, err
	}
	z, err := shadow.LiRA{Offline: true, Pooled: true}.Scores(shadow.Evidence{Target: target, Shadows: by})
	if err != nil {
		return nil, err
	}
	slices.Sort(z)
	top := z[len(z)-int(math.Ceil(float64(len(z))/10)):]
	return []LensReading{{Lens: allRecords, PlantedMemory: p, Excess: mean(z)}, {Lens: topTenth, PlantedMemory: p, Excess: mean(top)}}, nil
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}
