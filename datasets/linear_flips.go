package datasets

// linearFlips returns the toy set of SDE's appendix A.4: a binary task of 10,000 points with ten
// independent standard normal features. The class follows a noisy linear rule, and one label in
// five is flipped,
//
//	y = 1[w.x + 0.5 e > 0],  flipped with probability 0.2,
//
// with w and e standard normal, w drawn once. The flipped rows are the planted group "flipped": a
// model can only memorise them.
//
// The paper states "a binary classification task with 10,000 data points and 10-dimensional
// features". The rule, the noise and the flips are this package's choice.
func linearFlips() set {
	return set{
		info: Info{
			Name: "linear_flips", Title: "A linear rule with flipped labels", Task: "a noisy linear rule, one label in five flipped",
			Rows: 10000, Features: 10, Classes: []string{"no", "yes"}, Synthetic: true,
			Licence: "Apache-2.0", Description: "10,000 Gaussian points in ten dimensions; a fifth of the labels can only be memorised.",
		},
		load: func(r *loader) (*Table, error) {
			const noise, flips = 0.5, 0.2
			s := newGenerator(5)
			w := s.gaussian(make([]float64, r.info.Features), 1)
			for range r.info.Rows {
				x := s.gaussian(make([]float64, r.info.Features), 1)
				score := float64(noise * s.rng.NormFloat64())
				for j, v := range x {
					score += float64(w[j] * v)
				}
				y := 0
				if score > 0 {
					y = 1
				}
				if s.rng.Float64() < flips {
					s.addToGroup("flipped", s.add(1-y, x...))
				} else {
					s.add(y, x...)
				}
			}
			return s.table(plainFeatures(r.info.Features), r.info.Classes), nil
		},
	}
}
