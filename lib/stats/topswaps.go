// Counts above a few negatives by several models: does one model count more than the others by more than chance?

package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// TopSwaps asks whether the first of some models counts more positives above its (spared+1)-th largest negative
// than the others do above theirs, and returns the probability that the first one's lead over the mean of the
// others is at least as large by chance. pos and neg hold the scores of each model, in one order of records.
//
// The null is that the models are alike: which model gave a record which of its scores is chance, for each
// positive and each negative by itself. Under it P is exact whatever the scores' distribution, and however unlike
// positives and negatives are: the scores of every record are dealt to the models again, and each model counts above
// its own threshold. A threshold is of a model, and decides over all its positives together; a sign test of the
// records that only one model counts takes these as independent, and its P is too small. P is (1 + draws with such a
// lead) / (1 + draws), as if the models seen were one of the draws (Phipson and Smyth 2010, equation 2).
//
// A model that scores all records higher, or on another increasing scale, has the same counts and the same lead; the
// draws mix the scales, and P is near, not exact. Negatives are dealt for this: with thresholds as seen P would be
// exact under the null too, and far too small beside a model on another scale.
//
// P matters where it is at most limit: there are 20 / limit draws, at least 2,000, and the draws end where P is sure
// to be larger. It refuses fewer than two models, records that not all models score, NaN, a limit outside (0, 1),
// a nil rng, and a spared outside [0, n_neg).
func TopSwaps(pos, neg [][]float64, spared int, limit float64, rng *rand.Rand) (float64, error) {
	if err := checkSwaps(pos, neg, spared, limit, rng); err != nil {
		return 0, err
	}
	ours, theirs := contested(pos, neg, spared)
	seen := lead(ours, theirs, spared, len(pos))
	draws := max(2000, int(math.Ceil(20/limit)))
	asLarge := 1
	for done := range draws {
		deal(ours, rng)
		deal(theirs, rng)
		if lead(ours, theirs, spared, len(pos)) >= seen {
			asLarge++
		}
		if float64(asLarge) > limit*float64(draws+1) {
			return float64(asLarge) / float64(done+2), nil
		}
	}
	return float64(asLarge) / float64(draws+1), nil
}

func checkSwaps(pos, neg [][]float64, spared int, limit float64, rng *rand.Rand) error {
	if len(pos) < 2 || len(neg) != len(pos) {
		return fmt.Errorf("stats.TopSwaps: positives of %d models and negatives of %d, want two or more of both", len(pos), len(neg))
	}
	for j := range pos {
		if len(pos[j]) != len(pos[0]) || len(neg[j]) != len(neg[0]) {
			return fmt.Errorf("stats.TopSwaps: model %d scores %d and %d records, model 0 %d and %d", j, len(pos[j]), len(neg[j]), len(pos[0]), len(neg[0]))
		}
		if err := checkScores("TopSwaps", pos[j], neg[j]); err != nil {
			return err
		}
	}
	if spared < 0 || spared >= len(neg[0]) {
		return fmt.Errorf("stats.TopSwaps: spared is %d, want 0 <= spared < %d, the number of negatives", spared, len(neg[0]))
	}
	if !(limit > 0 && limit < 1) || rng == nil {
		return fmt.Errorf("stats.TopSwaps: limit is %v, want one inside (0, 1), and rng must not be nil", limit)
	}
	return nil
}

// contested returns, by records, the scores of those positives and negatives that matter however scores are dealt:
// no threshold is below the (spared+1)-th largest of the negatives' least scores.
func contested(pos, neg [][]float64, spared int) (ours, theirs [][]float64) {
	ours, theirs = byRecord(pos), byRecord(neg)
	least := make([]float64, len(theirs))
	for i, of := range theirs {
		least[i] = slices.Min(of)
	}
	slices.Sort(least)
	floor := least[len(least)-1-spared]
	below := func(of []float64) bool { return slices.Max(of) < floor }
	return slices.DeleteFunc(ours, below), slices.DeleteFunc(theirs, below)
}

// byRecord turns the scores of each model into those of each record.
func byRecord(models [][]float64) [][]float64 {
	out := make([][]float64, len(models[0]))
	for i := range out {
		for _, scores := range models {
			out[i] = append(out[i], scores[i])
		}
	}
	return out
}

// lead is what the first model counts more than the mean of the others, times their number.
func lead(pos, neg [][]float64, spared, models int) int {
	out := 0
	column := make([]float64, len(neg))
	for j := range models {
		for i, of := range neg {
			column[i] = of[j]
		}
		threshold, weight := nth(column, len(column)-1-spared), -1
		if j == 0 {
			weight = models - 1
		}
		for _, of := range pos {
			if of[j] > threshold {
				out += weight
			}
		}
	}
	return out
}

// deal gives the scores of each record to the models in a random order.
func deal(records [][]float64, rng *rand.Rand) {
	for _, of := range records {
		rng.Shuffle(len(of), func(a, b int) { of[a], of[b] = of[b], of[a] })
	}
}
