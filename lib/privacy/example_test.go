package privacy_test

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/privacy"
)

// An upper bound of what a training of 50 epochs on 27,094 records in batches of 256 reveals
// about any one of them, and the noise for an epsilon of 10.
func ExampleHistory_RDP() {
	const delta, rate = 1e-5, 1. / 106
	noise, err := privacy.Noise(10, delta, rate, 50*106)
	if err != nil {
		fmt.Println(err)
		return
	}
	done := privacy.History{}.Add(privacy.Step{Rate: rate, Noise: noise, Times: 50 * 106})
	spent, err := done.RDP(delta)
	if err != nil {
		fmt.Println(err)
		return
	}
	bounds, err := done.PRV(delta, privacy.PRV{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("noise %.4f: epsilon %.2f by RDP (order %v), between %.2f and %.2f by the privacy loss\n",
		noise, spent.Epsilon, spent.Order, bounds.Low, bounds.High)
	// Output:
	// noise 0.7109: epsilon 10.00 by RDP (order 2.9), between 8.99 and 9.09 by the privacy loss
}

// BlindU's claims for MNIST's 784 pixels, and what is behind them: delta is the share of pixels
// that is sent as it is.
func ExampleMasking_Claim() {
	for _, m := range []privacy.Masking{{}, {Replacement: true}} {
		claim, err := m.Claim(784)
		if err != nil {
			fmt.Println(err)
			return
		}
		coverage, _ := m.Coverage(784)
		trigger, _ := m.SurvivalProbability(784, 4)
		fmt.Printf("(%.3f, %.3f): %.1f %% in clear, a trigger of four pixels whole in %.1f %%\n",
			claim.Epsilon, claim.Delta, 100*coverage, 100*trigger)
	}
	// Output:
	// (0.913, 0.599): 59.9 % in clear, a trigger of four pixels whole in 12.8 %
	// (0.599, 0.451): 45.1 % in clear, a trigger of four pixels whole in 4.1 %
}
