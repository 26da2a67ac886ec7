package sdepaper

// The models of a cell and their activations.

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// modelKey identifies the trainings of a cell in the store's keys.
type modelKey struct {
	Label string `json:"label"` // as in the rows
	lab.NetworkKey
	Fit      train.Config `json:"fit"`
	Augment  bool         `json:"augment"`
	Fraction float64      `json:"fraction"`
	Forget   string       `json:"forget"` // rows
}

func (k cell) modelKey(c *lab.Case) modelKey {
	return modelKey{k.Label, lab.NetworkKeyOf(c.Problem.Arch), c.Fit.WithDefaults(), k.Augment, k.fraction, lab.RowsKey(c.Forget)}
}

// checkpointEpochs are the epochs after which weights are kept: those of the checkpoints, and
// the start of the last epoch, which Unroll needs.
func (s Setting) checkpointEpochs(checkpoints []int) []int {
	var out []int
	for _, percent := range checkpoints {
		out = append(out, s.epochAt(percent))
	}
	out = append(out, s.Fit.Epochs-1)
	slices.Sort(out)
	return slices.Compact(out)
}

// epochAt is the epoch that ends after the given per cent of the training, at least the first
// and before the last.
func (s Setting) epochAt(percent int) int {
	return min(max(1, int(math.Round(float64(s.Fit.Epochs*percent)/100))), s.Fit.Epochs-1)
}

// layers are the layers of figure 4, from the first stage to the logits.
func (s Setting) layers() []string {
	if s.Layers != nil {
		return s.Layers
	}
	if strings.HasPrefix(s.Net, "small") {
		return []string{"h1", "h2", "hp", "h"}
	}
	return []string{"h1", "h2", "h3", "h4", "hp", "h"}
}

// activations are one layer's activations for the training and the test images.
type activations struct{ train, test sde.Matrix }

// activations runs a model once over all images for the named layers.
func (j *judgeRun) activations(w nn.Params, names ...string) (map[string]activations, error) {
	a, err := j.c.Problem.Runner.PredictNamed(w, j.c.Train.X, names...)
	if err != nil {
		return nil, err
	}
	b, err := j.c.Problem.Runner.PredictNamed(w, j.c.Test.X, names...)
	if err != nil {
		return nil, err
	}
	out := map[string]activations{}
	for _, n := range names {
		out[n] = activations{array.Convert[float64](a.Layers[n]), array.Convert[float64](b.Layers[n])}
	}
	return out, nil
}

// bandwidth is the paper's for a layer: sqrt(dim), and 128 for ten logits (appendix D).
func (j *judgeRun) bandwidth(layer string) sde.Bandwidth {
	if layer == "h" && j.c.Problem.Classes() <= 10 {
		return sde.Fixed(sde.LogitSigma)
	}
	return sde.SqrtDim()
}

// outputs are a model's outputs for the training and the test images.
func (j *judgeRun) outputs(w nn.Params) (onTrain, onTest *model.Prediction, err error) {
	if onTrain, err = j.c.Problem.Runner.Predict(w, j.c.Train.X); err != nil {
		return nil, nil, err
	}
	onTest, err = j.c.Problem.Runner.Predict(w, j.c.Test.X)
	return onTrain, onTest, err
}

// ImageAccuracies are those of a model on the three kinds of images. A retrained model was trained on
// the retained ones only.
type ImageAccuracies struct {
	Retain float64 `json:"acc_retain"`
	Forget float64 `json:"acc_forget"`
	Test   float64 `json:"acc_test"`
}

func (j *judgeRun) accuracies(onTrain, onTest *model.Prediction) ImageAccuracies {
	on := func(rows []int) float64 {
		return train.Accuracy(onTrain.Logits().Gather(rows), j.c.Problem.Records(rows).Y)
	}
	return ImageAccuracies{Retain: on(j.c.Retain), Forget: on(j.c.Forget), Test: train.Accuracy(onTest.Logits(), j.c.Test.Y)}
}

// Training is what became of a training, in the epoch after which the paper judges its model.
type Training struct {
	Loss      float64 `json:"loss"` // cross-entropy in nats
	LastBatch int     `json:"last_batch"`
	ImageAccuracies
}

func (j *judgeRun) training() (*Training, error) {
	onTrain, onTest, err := j.outputs(j.weightsAt(JudgedAt))
	if err != nil {
		return nil, err
	}
	return &Training{j.trajectory.History[j.epochAt(JudgedAt)-1].Loss, j.lastBatch(len(j.c.Retain)), j.accuracies(onTrain, onTest)}, nil
}

// Learned are the accuracies of a retrained model after some per cent of its epochs.
type Learned struct {
	Setting  string  `json:"setting"`
	Fraction float64 `json:"fraction"`
	Seed     int     `json:"seed"`
	Percent  int     `json:"course"`
	ImageAccuracies
}

// learnedKey is the configuration of the accuracies in the store.
type learnedKey struct {
	Model      modelKey `json:"model"`
	Trajectory []int    `json:"course"`
	Version    int      `json:"version"`
}

// learning measures the accuracies of a cell's retrained model along its training.
func learning(e *paper.Env, k cell) []paper.Measurement[Learned] {
	m := measurement[Learned](k, "sde-accuracies/"+k.name(), "accuracies of "+k.about(), unlearn.Retrain{})
	m.Key = func(c *lab.Case) store.Key {
		return e.Lab().Key("evidence/sde-accuracies", c.Problem, learnedKey{k.modelKey(c), k.Checkpoints, 1}, map[string]int64{"train": int64(c.Seed)})
	}
	m.Measure = func(ctx context.Context, c *lab.Case) (out []Learned, err error) {
		trained, err := c.TrainedModel(ctx, c.Oracle())
		if err != nil {
			return nil, err
		}
		j := &judgeRun{k, c, trained}
		for _, percent := range append(slices.Clone(k.Checkpoints), 100) {
			onTrain, onTest, err := j.outputs(j.weightsAt(percent))
			if err != nil {
				return nil, err
			}
			out = append(out, Learned{k.Label, k.fraction, k.seed, percent, j.accuracies(onTrain, onTest)})
		}
		return out, nil
	}
	return []paper.Measurement[Learned]{m}
}
