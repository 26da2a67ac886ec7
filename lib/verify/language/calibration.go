// Where an unlearned model lies among retrained ones.

package language

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Contrast is a distance of two models by their values (ln R) of the same questions, at least 0 and
// the same both ways.
type Contrast struct {
	Name string
	Of   func(a, b []float64) float64
}

// The contrasts: the magnitude of the mean difference, the root of the mean squared difference, which
// sees changes that cancel, and the distance of forget quality, which sees no pairs.
var (
	MeanContrast   = Contrast{"mean difference", func(a, b []float64) float64 { return math.Abs(meanDifference(a, b)) }}
	SquareContrast = Contrast{"root mean squared difference", rootSquaredDifference}
	KSContrast     = Contrast{"Kolmogorov-Smirnov distance", ksContrast}
)

// CalibrationEvidence holds the values of the forgotten questions under the model that unlearned and
// under retrained ones: models that never had the questions and differ in their seed.
type CalibrationEvidence struct {
	Unlearned []float64
	Retrained [][]float64 // at least two
}

// Calibration says where an unlearned model lies among retrained ones: is it further from them than
// they are from each other? Questions are the same for all models, so that their number and their
// groups do not matter here; what is drawn at random is the model.
type Calibration struct {
	Between   []float64 `json:"between"`   // the contrast of every two retrained models
	Unlearned []float64 `json:"unlearned"` // that of the unlearned model with each retrained one
	// P is the share of all models, the unlearned one among them, whose mean contrast with the others
	// is at least the unlearned model's: a valid p-value if that is one more draw of retraining.
	P        float64 `json:"p"`
	Smallest float64 `json:"smallest"` // the smallest P that so many models can give: 1/(m+1)
	// Shift is the unlearned model's mean value less that of the retrained ones, with the interval
	// that a further retrained model's would have with the null 0 (Student, m-1 degrees of freedom):
	// shift -+ t s sqrt(1 + 1/m).
	Shift stats.Estimate `json:"shift"`
}

// Calibrate compares an unlearned model with retrained ones by a contrast. With m retrained models P
// is at least 1/(m+1): it takes 19 to reject at 5 %, and Smallest says what is possible. Retrained
// models of one recipe are nearer to each other than models of different recipes would be.
// Exchanging the unlearned model with a retrained one changes both lists.
func Calibrate(e CalibrationEvidence, by Contrast) (Calibration, error) {
	if by.Of == nil {
		return Calibration{}, errors.New("calibration: the contrast is missing")
	}
	if err := e.check(); err != nil {
		return Calibration{}, fmt.Errorf("calibration: %w", err)
	}
	m := len(e.Retrained)
	out, totals := Calibration{Smallest: 1 / float64(m+1)}, make([]float64, m+1)
	for i, a := range e.Retrained {
		d := by.Of(e.Unlearned, a)
		out.Unlearned = append(out.Unlearned, d)
		totals[i], totals[m] = totals[i]+d, totals[m]+d
		for j := i + 1; j < m; j++ {
			d := by.Of(a, e.Retrained[j])
			out.Between = append(out.Between, d)
			totals[i], totals[j] = totals[i]+d, totals[j]+d
		}
	}
	reached := 0
	for _, t := range totals {
		if t >= totals[m]*(1-1e-12) {
			reached++
		}
	}
	out.P = float64(reached) / float64(m+1)
	out.Shift = e.shift()
	return out, nil
}

// shift returns the unlearned model's mean among the retrained ones', with a prediction interval.
func (e CalibrationEvidence) shift() stats.Estimate {
	means := make([]float64, len(e.Retrained))
	for i, r := range e.Retrained {
		means[i] = mean(r)
	}
	of := stats.MeanInterval(means, 0.95, stats.OverModels)
	wider := (of.High - of.Value) * math.Sqrt(float64(len(means))+1) // t s/sqrt(m) becomes t s sqrt(1 + 1/m)
	v := mean(e.Unlearned) - of.Value
	return stats.Estimate{Value: v, Low: v - wider, High: v + wider, Level: 0.95, Over: stats.OverModels, N: len(means)}.WithNull(0, stats.NearNull)
}

func (e CalibrationEvidence) check() error {
	if len(e.Retrained) < 2 {
		return fmt.Errorf("%d retrained models: it takes two to know how far retraining is from retraining", len(e.Retrained))
	}
	if len(e.Unlearned) == 0 {
		return errors.New("the unlearned model's values are missing")
	}
	for q, v := range e.Unlearned {
		if what := notFinite(v); what != "" {
			return fmt.Errorf("question %d: the unlearned model's value is %s", q, what)
		}
	}
	for i, r := range e.Retrained {
		if len(r) != len(e.Unlearned) {
			return fmt.Errorf("retrained model %d has %d questions, the unlearned one %d", i, len(r), len(e.Unlearned))
		}
		for q, v := range r {
			if what := notFinite(v); what != "" {
				return fmt.Errorf("question %d: the value of retrained model %d is %s", q, i, what)
			}
		}
	}
	return nil
}

func meanDifference(a, b []float64) float64 { return mean(a) - mean(b) }

func rootSquaredDifference(a, b []float64) float64 {
	squares := make([]float64, len(a))
	for q, v := range a {
		squares[q] = (v - b[q]) * (v - b[q])
	}
	return math.Sqrt(mean(squares))
}

func ksContrast(a, b []float64) float64 {
	d, _, _ := stats.KSTwoSample(a, b) // it refuses only what Calibrate has refused
	return d
}
