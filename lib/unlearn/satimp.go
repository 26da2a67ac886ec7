// SatImp: ascent weighted by saturation and importance.

package unlearn

import "context"

// SatImp weights the ascent on a forgotten answer's tokens by saturation and importance (Yang et al.
// 2025): p^Saturation (1 - p)^Importance for a token of probability p, so that neither tokens that
// are improbable already nor those that anybody would guess are raised much. In TextFit F has the
// gradient of the mean over the forget set and an answer's tokens of that weight, kept out of the
// gradient, times log p; see loss.WeightedAscent.
//
// Differences: (1) Importance is a whole number, 0 to 8; (2) the printed loss is another function of
// the same gradient; the others are those of TextFit.
type SatImp struct {
	Saturation float64 `json:"saturation,omitempty" default:"5"` // beta_1
	Importance *int    `json:"importance,omitempty" default:"1"` // beta_2; new(0): WGA
	TextFit
}

// Info implements Method.
func (SatImp) Info() Info {
	return Info{
		Name: "satimp", Sees: Sees{Original: true, Forget: true, Retain: true}, NextToken: true,
		Does: "raises the loss of those tokens of forgotten texts that are probable but not certain, while it trains on retained ones",
		From: "Yang et al. 2025",
	}
}

// SetDefaults implements defaults.Setter.
func (m *SatImp) SetDefaults() { m.setDefaults(5, 0.1) }

// AtRate implements Rated.
func (m SatImp) AtRate(lr float64) SatImp {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m SatImp) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	return m.run(ctx, r, weightedAscent(m.Saturation, *m.Importance), nil, false)
}
