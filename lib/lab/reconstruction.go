// The goal of autoencoders of single cells.

package lab

import (
	"cmp"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/utility"
)

// Likelihood says what a reconstruction of single cells is compared with, and how.
type Likelihood string

// The likelihoods.
const (
	SquaredError     Likelihood = "mse"  // of the log-normalised expression; see loss.LibrarySquaredError
	NegativeBinomial Likelihood = "nb"   // of the counts; see loss.NegativeBinomial
	ZeroInflated     Likelihood = "zinb" // of the counts; see loss.ZeroInflated
)

// Reconstruction is the goal of a variational autoencoder of single cells, a negative
// evidence lower bound:
//
//	mean over cells of -log likelihood + beta divergence
//
// A record of the problem is a cell's log-normalised expression log(1 + PerTotal
// count/total) of the network's genes and, for a conditional network, its cluster after it.
// The zero value is the training of the baseline in the program of "Fishing for Privacy":
// the squared error, with the sum of the expression over the genes as the library size;
// beta rises from 0 to 1 in 20 epochs, and a divergence below 0.03 per cell and latent
// variable is free.
//
// Counts are recovered exactly from the expression and the cell's total in the column
// datasets.Library of the records. The library size is the sum of the counts over the
// network's genes, since the network's proportions are shares of that sum.
type Reconstruction struct {
	Likelihood Likelihood `json:"likelihood,omitempty" default:"mse"`
	Beta       *float64   `json:"beta,omitempty" default:"1"` // new(0.0): none
	WarmUp     int        `json:"warm_up,omitempty"`          // epochs in which beta rises, 0: 20
	FreeBits   *float64   `json:"free_bits,omitempty"`        // nil: 0.03, new(0.0): none
	// Plain switches warm-up and free bits off: that program trains its other models this
	// way, and all of its unlearning.
	Plain    bool    `json:"plain,omitempty"`
	PerTotal float64 `json:"per_total,omitempty" default:"10000"`
}

var (
	_ FinalGoal     = Reconstruction{}
	_ PerRecordLoss = Reconstruction{}
	_ VersionedGoal = Reconstruction{}
)

// Name implements Goal.
func (Reconstruction) Name() string { return "reconstruction" }

// Version implements VersionedGoal. Version 2 computes the three log-gammas of a count
// likelihood together, which changes the last bit; version 3 corrects sums over more than
// 512 counts.
func (g Reconstruction) Version() int {
	if defaults.Fill(g).Likelihood == SquaredError {
		return 0
	}
	return 3
}

// FinalGoal implements FinalGoal.
func (g Reconstruction) FinalGoal() Goal {
	g.Plain = true
	return defaults.Fill(g)
}

// SetDefaults implements defaults.Setter.
func (g *Reconstruction) SetDefaults() {
	g.WarmUp, g.FreeBits = cmp.Or(g.WarmUp, 20), cmp.Or(g.FreeBits, new(0.03))
	if g.Plain {
		g.WarmUp, g.FreeBits = 0, nil
	}
}

// Objective implements Goal.
func (g Reconstruction) Objective(p *Problem, rows []int) (train.Objective, error) {
	g = defaults.Fill(g)
	genes := model.OutputWidths(p.Arch)[loss.Proportion]
	if d := p.Train.X.Cols; genes == 0 || genes > d {
		return nil, fmt.Errorf("the network %s has proportions of %d genes, a record has %d features", p.Arch.Name(), genes, d)
	}
	part := p.Train.Gather(rows)
	target, law := part.X.FirstColumns(genes), loss.Loss(loss.LibrarySquaredError{})
	switch g.Likelihood {
	case SquaredError:
	case NegativeBinomial, ZeroInflated:
		if law = (loss.NegativeBinomial{}); g.Likelihood == ZeroInflated {
			law = loss.ZeroInflated{}
		}
		if err := g.toCounts(target, part.Extra[datasets.Library]); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("unknown likelihood %q; there are %q, %q and %q", g.Likelihood, SquaredError, NegativeBinomial, ZeroInflated)
	}
	inputs := map[string]array.Matrix[float32]{loss.Target: target, loss.Library: rowSums(target)}
	targets := []train.Target{{Loss: law, Inputs: inputs, Weight: 1}}
	if *g.Beta != 0 {
		targets = append(targets, train.Target{Loss: loss.LatentDivergence{FreeBits: g.freeBits()}, Weight: *g.Beta, WarmUp: g.WarmUp})
	}
	return train.Objective{{Name: "cells", X: part.X, IDs: rows, Targets: targets}}, nil
}

// RecordLosses implements PerRecordLoss: the negative evidence lower bound of a cell at the
// mean of its posterior, i.e. the squared error plus beta times the divergence, without
// free bits and warm-up. It refuses the other likelihoods.
func (g Reconstruction) RecordLosses(p *model.Prediction, records datasets.Part) ([]float64, error) {
	g = defaults.Fill(g)
	if g.Likelihood != SquaredError {
		return nil, fmt.Errorf("lab: there is no per-cell loss for the likelihood %q, only for %q", g.Likelihood, SquaredError)
	}
	proportion := p.Outputs[loss.Proportion]
	if proportion.Cols == 0 || proportion.Cols > records.X.Cols {
		return nil, fmt.Errorf("lab: proportions of %d genes, a record has %d features", proportion.Cols, records.X.Cols)
	}
	x := records.X.FirstColumns(proportion.Cols)
	out, err := utility.SquaredErrors(proportion, x, utility.LibrarySizes(x))
	if err != nil || *g.Beta == 0 {
		return out, err
	}
	divergences, err := utility.Divergences(p.Outputs[loss.LatentMean], p.Outputs[loss.LatentLogVar])
	for i, d := range divergences {
		out[i] += float64(*g.Beta * d)
	}
	return out, err
}

// freeBits returns the free bits, 0 where they are off.
func (g Reconstruction) freeBits() float64 {
	if g.FreeBits == nil {
		return 0
	}
	return *g.FreeBits
}

// toCounts turns the expression x of cells into counts, in place.
func (g Reconstruction) toCounts(x array.Matrix[float32], totals []float64) error {
	if len(totals) != x.Rows {
		return fmt.Errorf("counts need the column %q of the records, the cells' total counts; it has %d of %d", datasets.Library, len(totals), x.Rows)
	}
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			exact := math.Expm1(float64(v)) * totals[i] / g.PerTotal
			count := math.Round(exact)
			if !(count >= 0) || math.Abs(exact-count) > 0.1 {
				return fmt.Errorf("the expression %v of gene %d in record %d means %v counts of a total of %v, which is not an integer",
					v, j, i, exact, totals[i])
			}
			x.Row(i)[j] = float32(count)
		}
	}
	return nil
}

// rowSums returns the sums of the rows as one column.
func rowSums(x array.Matrix[float32]) array.Matrix[float32] {
	totals := utility.LibrarySizes(x)
	return array.Convert[float32](array.Matrix[float64]{Rows: x.Rows, Cols: 1, Data: totals})
}
