// Package shadow holds membership attacks by shadow models. An attacker trains models of the same
// kind, each on a random part of the records under attack, and compares the target's score of a
// record with the scores by models that were, and were not, trained on it. Everything is on plain
// arrays of scores, so that classifiers, autoencoders and other models are attacked alike.
package shadow

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
)

// Attack is an attack by shadow models.
type Attack interface {
	attack.Attack[Evidence]
	// Mutual reports whether a score is a product of the target's and the shadows' scores. Then
	// what model j, as a shadow, contributes to model k is what k contributes to j, which matters
	// if every model is attacked in turn (Models).
	Mutual() bool
}

// All returns every attack at its zero value, and those of the published programs, in alphabetical
// order.
func All() []Attack {
	return []Attack{CodedLiRA{Offline: true}, CodedLiRA{}, LiRA{Offline: true}, LiRA{}, RMIA{Offline: true}, RMIA{}, ULiRA{}}
}

// Target holds the scores of the model under attack, one per record, higher for records that a
// model was trained on: ScaledConfidences for a classifier and LiRA, a log-likelihood (or ELBO, or
// -loss) for RMIA.
type Target []float64

// Shadows holds the same scores by the attacker's models.
type Shadows struct {
	Scores array.Matrix[float64] // a row per model, a column per record
	In     [][]bool              // In[m][i]: model m was trained on record i
}

// Population holds the same scores of records that no model was trained on, neither the target nor
// a shadow; RMIA compares with them.
type Population struct {
	Target  []float64
	Shadows array.Matrix[float64] // a row per shadow model, in the same order
}

// Evidence is the input of an attack.
type Evidence struct {
	Target     Target
	Shadows    Shadows
	Population *Population // nil where the attack needs none
}

// Check returns an error that says "target" or "shadow", and which, if scores are missing or not
// finite, if the shadow models and their training sets are of another size than the scores, or if a shadow model is the
// target itself, which would then be likely under its own membership whatever it is.
func (e Evidence) Check() error {
	if len(e.Target) == 0 {
		return errors.New("there are no target scores")
	}
	if err := asRow(e.Target).Check("target scores"); err != nil {
		return err
	}
	if err := e.Shadows.check(len(e.Target)); err != nil {
		return err
	}
	for m := range e.Shadows.Scores.Rows {
		if sameScores(e.Target, e.Shadows.Scores.Row(m)) {
			return fmt.Errorf("shadow model %d has the scores of the target: no model is a shadow of itself; leave it out", m)
		}
	}
	return nil
}

// minForSame is the number of records from which scores that are all the same are those of one model.
const minForSame = 10

// sameScores reports whether two models have the same scores, up to the rounding of float32. Scores of a few values, such as
// right and wrong, say nothing.
func sameScores(a, b []float64) bool {
	values := map[float64]bool{}
	for i, x := range a {
		if math.Abs(x-b[i]) > 1e-6*max(1, math.Abs(x)) {
			return false
		}
		values[x] = true
	}
	return len(a) >= minForSame && 2*len(values) > len(a)
}

func asRow(x []float64) array.Matrix[float64] {
	return array.Matrix[float64]{Rows: 1, Cols: len(x), Data: x}
}

func (s Shadows) check(records int) error {
	if s.Scores.Rows == 0 || s.Scores.Cols != records {
		return fmt.Errorf("shadow scores of %d models and %d records, want at least one model and %d records", s.Scores.Rows, s.Scores.Cols, records)
	}
	if err := s.Scores.Check("shadow scores"); err != nil {
		return err
	}
	if len(s.In) != s.Scores.Rows {
		return fmt.Errorf("%d shadow models, training sets of %d", s.Scores.Rows, len(s.In))
	}
	for m, in := range s.In {
		if len(in) != records {
			return fmt.Errorf("shadow model %d: membership of %d records, want %d", m, len(in), records)
		}
	}
	return nil
}

// scoresFor returns record i's scores by the models that had it and by those that had not.
func (s Shadows) scoresFor(i int) (in, out []float64) {
	for m, had := range s.In {
		if v := s.Scores.Row(m)[i]; had[i] {
			in = append(in, v)
		} else {
			out = append(out, v)
		}
	}
	return in, out
}

const level = 0.95

// Inapplicable is the error of an attack for which valid evidence is too little, or of the wrong
// kind. Other attacks may apply.
type Inapplicable struct{ Why string }

// Error implements error.
func (e *Inapplicable) Error() string { return e.Why }

func inapplicable(format string, args ...any) error {
	return &Inapplicable{fmt.Sprintf(format, args...)}
}

// ScaledConfidences turns a classifier's logits into LiRA's scaled confidences (Carlini et al.
// 2022, section VI),
//
//	log p_y - log(1 - p_y) = z_y - log sum over c not y of exp(z_c),
//
// one per record. Over models they are nearly normal, unlike p_y itself. From logits they are exact
// even where p_y rounds to 1.
func ScaledConfidences(logits array.Matrix[float32], y []int) ([]float64, error) {
	if err := logits.Check("logits"); err != nil {
		return nil, fmt.Errorf("shadow: %w", err)
	}
	if len(y) != logits.Rows || logits.Cols < 2 {
		return nil, fmt.Errorf("shadow: %d labels for %d x %d logits", len(y), logits.Rows, logits.Cols)
	}
	out, row := make([]float64, len(y)), make([]float64, logits.Cols)
	for i, label := range y {
		if label < 0 || label >= logits.Cols {
			return nil, fmt.Errorf("shadow: record %d has label %d of %d classes", i, label, logits.Cols)
		}
		out[i] = scaledConfidence(logits.Read(row, i), label)
	}
	return out, nil
}

// ScaledConfidence is ScaledConfidences for the logits of one record. It refuses fewer than two classes and a label that
// is none of them.
func ScaledConfidence(logits []float64, label int) (float64, error) {
	if len(logits) < 2 || label < 0 || label >= len(logits) {
		return 0, fmt.Errorf("shadow: label %d of %d classes, at least two are needed", label, len(logits))
	}
	return scaledConfidence(logits, label), nil
}

func scaledConfidence(logits []float64, label int) float64 {
	others := make([]float64, 0, len(logits)-1)
	others = append(append(others, logits[:label]...), logits[label+1:]...)
	return logits[label] - logSumExp(others)
}

// logSumExp is log sum exp, without overflow.
func logSumExp(x []float64) float64 {
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, v)
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

func logMeanExp(x []float64) float64 { return logSumExp(x) - math.Log(float64(len(x))) }
