// A membership attack on a forgotten class, by the probability of its nearest other class.

package ensemble

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// ClassMembership is a membership attack on a class that was to be forgotten, after the
// class-membership attack of Ebrahimpour-Boroojeny, Wang and Sundaram ("Unlearning isn't
// forgetting", ICML 2026; "MIA-NN" in arXiv 2506.20893). A model retrained without a class assigns
// its records to the nearest classes; a method that only removes the class from the output may
// assign them to others. With the probabilities of the nearest class (NearestClassShares) the value
// is
//
//	value = | mean over unlearned models of A - mean over retrained models of A |
//	A     = mean over the class's records of the model's value
//
// The values per record are the differences of the records, with their sign.
//
// Null: the distance of retraining from retraining (Compare). Direction: lower.
//
// Only the paper's abstract and the published reviews were available, not the text of the
// algorithm. Known differences: (1) the paper trains a discriminator for each remaining class (an
// SVM on logits) and takes A to be the share of the class's records that the nearest class's
// discriminator accepts; here A is the mean share of probability of the nearest class. (2) It
// compares one unlearned model with retrained ones, and reports the gap without a null.
//
// On margins, which the other distances use, it is the difference of mean margins.
type ClassMembership struct{}

var _ Distance = ClassMembership{}

// Name implements Distance.
func (ClassMembership) Name() string { return "class-membership" }

// About implements Distance.
func (ClassMembership) About() string {
	return "difference of the mean share that the nearest class has of a forgotten class's records; null: retraining against retraining"
}

// Better implements Distance.
func (ClassMembership) Better() stats.Direction { return stats.LowerIsBetter }

// Between implements Distance.
func (ClassMembership) Between(unlearned, retrained array.Matrix[float64]) (float64, []float64, error) {
	if err := checkPair(unlearned, retrained); err != nil {
		return 0, nil, err
	}
	each := make([]float64, retrained.Cols)
	for k := range each {
		each[k] = mean(column(unlearned, k)) - mean(column(retrained, k))
	}
	return math.Abs(mean(each)), each, nil
}

// NearestClassShares turns probabilities of a forgotten class's records, a matrix of records x
// classes per model, into the input of ClassMembership: the nearest other class's share of the
// probability outside the forgotten class,
//
//	q(x) = p_n / (1 - p_forgotten)
//
// a row per model. The nearest class n is the one with the largest mean share in the reference
// models, which are retrained.
func NearestClassShares(models, reference []array.Matrix[float64], forgotten int) (shares array.Matrix[float64], nearest int, err error) {
	if len(models) == 0 || len(reference) == 0 {
		return shares, 0, fmt.Errorf("%d models, %d retrained ones for reference", len(models), len(reference))
	}
	classes := reference[0].Cols
	total := make([]float64, classes)
	for i, p := range reference {
		if err := checkProbabilities(p, reference[0], forgotten); err != nil {
			return shares, 0, fmt.Errorf("reference model %d: %w", i, err)
		}
		for c := range classes {
			for k := range p.Rows {
				total[c] += classShare(p.Row(k), c, forgotten)
			}
		}
	}
	nearest = (forgotten + 1) % classes
	for c, v := range total {
		if c != forgotten && v > total[nearest] {
			nearest = c
		}
	}
	shares = array.New[float64](len(models), reference[0].Rows)
	for i, p := range models {
		if err := checkProbabilities(p, reference[0], forgotten); err != nil {
			return shares, 0, fmt.Errorf("model %d: %w", i, err)
		}
		for k := range p.Rows {
			shares.Row(i)[k] = classShare(p.Row(k), nearest, forgotten)
		}
	}
	return shares, nearest, nil
}

// classShare returns the share of class c in the probability outside the forgotten class. If that
// probability is 0, all other classes have equal shares.
func classShare(p []float64, c, forgotten int) float64 {
	rest := 0.0
	for k, v := range p {
		if k != forgotten {
			rest += v
		}
	}
	if rest == 0 {
		return 1 / float64(len(p)-1)
	}
	return p[c] / rest
}

func checkProbabilities(p, like array.Matrix[float64], forgotten int) error {
	if p.Rows == 0 || p.Rows != like.Rows || p.Cols != like.Cols || p.Cols < 3 || forgotten < 0 || forgotten >= p.Cols {
		return fmt.Errorf("probabilities of %d x %d, want %d records of three or more classes; the forgotten class is %d", p.Rows, p.Cols, like.Rows, forgotten)
	}
	if err := p.Check("probabilities"); err != nil {
		return err
	}
	for k, v := range p.Data {
		if v < 0 {
			return fmt.Errorf("probabilities: row %d, column %d is %v", k/p.Cols, k%p.Cols, v)
		}
	}
	return nil
}
