// What a model that never had the records is like, from retrained models.

package audit

import (
	"cmp"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/stats"
)

// seedWeight is the weight, in degrees of freedom, of the expectation that a seed moves a reading as much
// as the choice of records does. At 2 lenses accuse about one retrained network in 20 or fewer, on average
// over the cases of the table of alarms (package lib/paper/alarms). At 1 it would find few originals beside one
// retrained model; at 4 it would accuse more.
const seedWeight = 2

// ReferenceOf returns the reading by a lens of a model that never had the records, from those of
// retrained models: their mean, with an interval as wide as theirs are on average, or as wide as holds 95 of
// 100 models of further seeds. How far a seed moves a reading is taken from their spread and, because they are few, from
// the width of their intervals over records (stats.NextValue), with three exceptions:
//
//  1. A value that compares forgotten with other records (Reading.Contrast), where forgotten and held-out ones are drawn alike
//     as far as all retrained models show (Reading.DrawnAlike, and the lens's own null of non-members within 95 %): a seed
//     moves both together, and nothing speaks for forgotten records that it moves alone. What it does to each of them is in the
//     intervals over records. A mean over forgotten records alone moves with every seed.
//  2. Lenses that compare coordinates, and intervals over draws, say nothing of seeds: the spread alone
//     counts, if it is known (SeedReason).
//  3. A reading without an interval gives none.
//
// It is no evidence where one of the readings is none, and without readings.
func ReferenceOf(l Lens, retrained ...Reading) Reading {
	if len(retrained) == 0 {
		return *NoReading(l.Name(), "", Reason{CannotTell, "there is no retrained model"})
	}
	out, values := retrained[0], make([]float64, len(retrained))
	below, above, drawnAlike := 0.0, 0.0, true
	for i, r := range retrained {
		values[i] = r.Value
		below, above = below+(r.Value-r.Low)/float64(len(retrained)), above+(r.High-r.Value)/float64(len(retrained))
		drawnAlike = drawnAlike && r.DrawnAlike && r.Contrast && (l.Info().Null != NonmemberNull || r.AtLevel(level).LikeNull())
		if out.NoEvidence.Call == "" && r.NoEvidence.Call != "" {
			out.NoEvidence, out.Model = r.NoEvidence, r.Model
		}
	}
	out.Value = stats.MeanInterval(values, level, "models").Value
	out.Low, out.High = out.Value-below, out.Value+above
	weight := float64(seedWeight)
	switch {
	case out.Coordinates || out.Overlapping():
		weight, values = 0, seedValues(retrained)
	case drawnAlike:
		return out
	}
	to := cmp.Or(out.Level, level)
	errors := normal95 * stats.Widening(level, to)
	low, _ := stats.NextValue(values, square(below/errors), weight, to)
	_, high := stats.NextValue(values, square(above/errors), weight, to)
	if !math.IsNaN(low) && !math.IsNaN(high) {
		out.Low, out.High = min(out.Low, low), max(out.High, high)
	}
	return out
}

// normal95 is the half of a 95 % interval in standard errors.
const normal95 = 1.959963984540054

// SeedReason returns the reason against a reading that is compared with retrained models which do not show
// what a seed does to it; empty where they do. One number between two models, coordinate by coordinate, does
// not, nor does one interval over draws of the same records.
func SeedReason(m Reading, retrained ...Reading) Reason {
	switch {
	case len(retrained) == 0:
		return Reason{}
	case m.Overlapping() && len(retrained) < 2:
		return Reason{CannotTell, "its interval is over draws that share the forgotten records, so that only two or more retrained models show how far " +
			"a model that never had them may lie"}
	case m.Coordinates && len(retrained) < 2:
		return Reason{CannotTell, "one retrained model does not show what another seed does to it"}
	case m.Coordinates && len(seedValues(retrained)) < 2:
		return Reason{CannotTell, "two retrained models have one reading between them, which does not show what another seed does; a third one does"}
	}
	return Reason{}
}

// seedValues are the values of readings; where a lens compares coordinates, without those that two models
// have in common.
func seedValues(of []Reading) (out []float64) {
	for _, r := range of {
		if !r.Coordinates || !slices.Contains(out, r.Value) {
			out = append(out, r.Value)
		}
	}
	return out
}

// DrawnAlike reports whether the losses of a model that never had the records do not tell the forgotten
// from the held-out ones. Without losses, or with too few records, nothing is known.
func (e *Evidence) DrawnAlike(m *Arrays) bool {
	if m.Losses == nil || len(e.HeldOut) < MinRecords || len(e.Forget) < MinRecords {
		return false
	}
	r, err := Loss{}.Read(e, m)
	return err == nil && r.LikeNull()
}

func square(x float64) float64 { return x * x }
