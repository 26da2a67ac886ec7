package attack_test

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/lethe-ml/lethe/lib/attack"
)

// Forgotten records whose losses look like those of retained records.
func ExampleLossThreshold() {
	retain := []float64{0.10, 0.12, 0.08, 0.11, 0.09, 0.13}
	forget := []float64{0.11, 0.10, 0.14}
	test := []float64{0.40, 0.90, 0.60, 0.30, 0.50, 0.70}
	r, err := attack.LossThreshold{}.Run(attack.Losses{Retained: retain, Forgotten: forget, HeldOut: test})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("balanced accuracy %.2f [%.2f, %.2f], chance alone reaches 0.5 + %.2f\n",
		r.BalancedAccuracy.Value, r.BalancedAccuracy.Low, r.BalancedAccuracy.High, r.Chance.P95)
	fmt.Printf("member below a loss of %.3f, AUC %.2f\n", r.Threshold, r.AUC.Value)
	// Output:
	// balanced accuracy 1.00 [0.61, 1.00], chance alone reaches 0.5 + 0.33
	// member below a loss of 0.260, AUC 1.00
}

func ExampleScore() {
	r, err := attack.Score(attack.Samples{Members: []float64{0.9, 0.8, 0.4}, Nonmembers: []float64{0.7, 0.3, 0.2, 0.1}}, 0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	json.NewEncoder(os.Stdout).Encode(r.TPRAtFPR)
	fmt.Printf("AUC %.3f, advantage %.3f; chance alone averages %.3f\n", r.AUC.Value, r.Advantage.Signed, r.Advantage.ChanceMean)
	// Output:
	// {"0.001":0.6666666666666666,"0.01":0.6666666666666666,"0.05":0.6666666666666666,"0.1":0.6666666666666666}
	// AUC 0.917, advantage 0.833; chance alone averages 0.381
}
