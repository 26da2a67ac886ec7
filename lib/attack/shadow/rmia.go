// RMIA, the robust membership inference attack (Zarifzadeh, Liu and Shokri 2024),
// online and offline.

package shadow

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/defaults"
)

// RMIA is the robust membership inference attack (Zarifzadeh, Liu and Shokri 2024): the share of
// records z of a population whose likelihood the target raises less than that of a record x,
//
//	score  = share of z with  R(x) / R(z) > Gamma
//	R(x)   = p(x | target) / p(x)
//	online:  p(x) = 1/2 (mean over models with x + mean over models without x)
//	offline: p(x) = 1/2 ((1 + A) mean over models without x + (1 - A))
//
// Scores are log-likelihoods: log softmax of the label for a classifier, a log-density or ELBO for
// a generative model. The population was in no model's training set, so that its p(z) is the mean
// over all shadow models, online, and the offline formula offline. The zero value is online with
// Gamma 1, as in the authors' program; offline it takes their A = 0.3.
//
// The offline formula assumes that a model that had a record gives it a likelihood of at most 1. A
// likelihood above 1, of a density, is refused unless A is 1, where p(x) is the mean over models
// without x.
//
// Differs from the authors' program (Privacy Meter), which takes, offline, for the population the
// half of the shadow models that fit each record best, and for records those models without the
// record that fit it best. Here all are used.
//
// Null: AUC 0.5. Direction: nearest to the null. A share of a population of n takes n + 1 values: a
// small population has many ties.
type RMIA struct {
	Offline bool     `json:"offline,omitempty"`
	A       *float64 `json:"a,omitempty" default:"0.3"` // offline
	Gamma   float64  `json:"gamma,omitempty" default:"1"`
}

var _ Attack = RMIA{}

// Name implements Attack.
func (a RMIA) Name() string {
	if a.Offline {
		return "rmia-offline"
	}
	return "rmia-online"
}

// About implements Attack.
func (a RMIA) About() string {
	if a.Offline {
		return "share of the population whose likelihood the target raises less, by models without the record"
	}
	return "share of the population whose likelihood the target raises less"
}

// Mutual implements Attack.
func (RMIA) Mutual() bool { return false }

// Scores implements Attack.
func (a RMIA) Scores(e Evidence) ([]float64, error) {
	a = defaults.Fill(a)
	scores, err := a.Ratios(e)
	if err != nil {
		return nil, err
	}
	if err := a.checkPopulation(e); err != nil {
		return nil, err
	}
	population := make([]float64, len(e.Population.Target))
	for k, t := range e.Population.Target {
		population[k] = t - a.logEvidence(nil, column(e, k))
	}
	slices.Sort(population)
	bar := math.Log(a.Gamma)
	for i, r := range scores {
		below, _ := slices.BinarySearch(population, r-bar)
		scores[i] = float64(below) / float64(len(population))
	}
	return scores, nil
}

// Ratios returns log R(x) of every record, which Scores compares with a population. They order
// records as the scores do, except for records that a small population cannot tell apart, and need
// no population.
func (a RMIA) Ratios(e Evidence) ([]float64, error) {
	a = defaults.Fill(a)
	if err := a.check(e); err != nil {
		return nil, err
	}
	out := make([]float64, len(e.Target))
	for i, t := range e.Target {
		with, without := e.Shadows.scoresFor(i)
		if len(without) == 0 || len(with) == 0 && !a.Offline {
			return nil, inapplicable("record %d: shadow models with it: %d, without it: %d", i, len(with), len(without))
		}
		out[i] = t - a.logEvidence(with, without)
	}
	return out, nil
}

func column(e Evidence, k int) []float64 {
	out := make([]float64, e.Population.Shadows.Rows)
	for m := range out {
		out[m] = e.Population.Shadows.Row(m)[k]
	}
	return out
}

// logEvidence returns log p(x). For records of the population in is nil.
func (a RMIA) logEvidence(in, out []float64) float64 {
	switch {
	case a.Offline && *a.A == 1:
		return logMeanExp(out)
	case a.Offline:
		return logSumExp([]float64{math.Log((1+*a.A)/2) + logMeanExp(out), math.Log((1 - *a.A) / 2)})
	case in == nil:
		return logMeanExp(out)
	}
	return logSumExp([]float64{logMeanExp(in), logMeanExp(out)}) - math.Ln2
}

func (a RMIA) check(e Evidence) error {
	if err := e.Check(); err != nil {
		return err
	}
	switch {
	case !(*a.A >= 0 && *a.A <= 1):
		return fmt.Errorf("the share a is %v, not inside [0, 1]", *a.A)
	case !(a.Gamma > 0) || math.IsInf(a.Gamma, 1):
		return fmt.Errorf("gamma is %v, not a positive number", a.Gamma)
	}
	return a.checkProbabilities(e.Target, e.Shadows.Scores.Data)
}

func (a RMIA) checkPopulation(e Evidence) error {
	p := e.Population
	switch {
	case p == nil || len(p.Target) == 0:
		return inapplicable("there is no population")
	case p.Shadows.Rows != e.Shadows.Scores.Rows || p.Shadows.Cols != len(p.Target):
		return fmt.Errorf("shadow scores of the population are %d x %d, want %d x %d", p.Shadows.Rows, p.Shadows.Cols, e.Shadows.Scores.Rows, len(p.Target))
	}
	if err := errors.Join(asRow(p.Target).Check("target scores of the population"), p.Shadows.Check("shadow scores of the population")); err != nil {
		return err
	}
	return a.checkProbabilities(p.Target, p.Shadows.Data)
}

// checkProbabilities refuses values that are no logarithm of a probability, where one is needed.
func (a RMIA) checkProbabilities(of ...[]float64) error {
	if !a.Offline || *a.A == 1 {
		return nil
	}
	for _, x := range of {
		if top := slices.Max(x); top > slack {
			return inapplicable("a log-likelihood is %.4g: no probability; offline densities need A = 1", top)
		}
	}
	return nil
}

// slack is how far the logarithm of a float32 probability may be above 0.
const slack = 1e-5
