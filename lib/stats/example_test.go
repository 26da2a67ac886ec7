package stats_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Scores of an attack: higher means "was in the training set".
var (
	members    = []float64{0.91, 0.84, 0.77, 0.62, 0.60, 0.55, 0.41, 0.33}
	nonMembers = []float64{0.80, 0.58, 0.52, 0.47, 0.41, 0.36, 0.29, 0.21, 0.15, 0.12}
)

func ExampleDeLong() {
	auc, err := stats.DeLong(members, nonMembers, 0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(auc)
	fmt.Println("beyond chance:", auc.ExcludesNull())
	// Output:
	// 0.8063 [0.5958, 1.0000] (95% over records, n = 18)
	// beyond chance: true
}

func ExampleAUC() {
	_, err := stats.AUC(members, nil)
	fmt.Println(err)
	// Output: stats.AUC: neg is empty
}

// An advantage of 0.2 means nothing at these sample sizes: a perfect unlearner
// shows as much.
func ExampleChanceFloor() {
	f := stats.ChanceFloor(30, 50)
	fmt.Printf("mean %.3f, 95th percentile %.3f\n", f.Mean, f.P95)
	// Output: mean 0.107, 95th percentile 0.263
}

func ExampleAdvantage() {
	a, err := stats.Advantage(nonMembers, members)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("signed %.3f, unsigned %.3f, best threshold %.3f\n", a.Signed, a.Unsigned, a.Best)
	// Output: signed -0.613, unsigned 0.613, best threshold 0.000
}

func ExampleAdvantageInterval() {
	rng := rand.New(rand.NewPCG(1, 2))
	a, err := stats.AdvantageInterval(members, nonMembers, 0.95, 2000, rng)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Value > a.Low && a.Value < a.High, *a.Null)
	// Output: true 0
}

func ExampleTPRAtFPR() {
	tpr, err := stats.TPRAtFPR(members, nonMembers, 0.1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tpr)
	// Output: 0.625
}

func ExampleWilcoxon() {
	r, err := stats.Wilcoxon([]float64{0.11, 0.08, 0.02, 0.14, 0.05, 0.09, 0.01, 0.12, 0.03, 0.07})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.W, r.P, r.RankBiserial, r.Exact)
	// Output: 0 0.001953125 1 true
}

func ExampleBenjaminiHochberg() {
	fmt.Printf("%.4f\n", stats.BenjaminiHochberg([]float64{.001, .01, .04, .2}))
	// Output: [0.0040 0.0200 0.0533 0.2000]
}

// M4 of three data sets with three seeds each, against its null value 0.5.
func ExampleRandomIntercept() {
	y := []float64{0.61, 0.60, 0.63, 0.55, 0.56, 0.53, 0.71, 0.70, 0.73}
	set := []int{0, 0, 0, 1, 1, 1, 2, 2, 2}
	m, err := stats.RandomIntercept(y, set, 0.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("mu %.4f [%.4f, %.4f], ICC %.2f\n", m.Mu, m.Low, m.High, m.ICC)
	fmt.Printf("Wald p %.4f, Student p %.4f with %g df\n", m.PZ, m.PT, m.DF)
	// Output:
	// mu 0.1244 [-0.0839, 0.3328], ICC 0.97
	// Wald p 0.0102, Student p 0.1239 with 2 df
}

func ExampleMeanInterval() {
	e := stats.MeanInterval([]float64{0.61, 0.58, 0.64}, 0.95, "seeds").WithNull(0.5, stats.NearNull)
	fmt.Println(e, e.ExcludesNull())
	// Output: 0.6100 [0.5355, 0.6845] (95% over seeds, n = 3) true
}

func ExampleBCa() {
	x := []float64{1.2, 0.4, 3.1, 0.9, 2.2, 0.3, 5.0, 1.1}
	mean := func(idx []int) float64 {
		s := 0.0
		for _, i := range idx {
			s += x[i]
		}
		return s / float64(len(idx))
	}
	e, err := stats.BCa(len(x), 2000, rand.New(rand.NewPCG(1, 2)), 0.9, mean)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f %t\n", e.Value, e.High-e.Value > e.Value-e.Low)
	// Output: 1.775 true
}

func ExampleJensenShannon() {
	js, err := stats.JensenShannon([]float64{0, 0, 1}, []float64{2, 3, 3}, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", js)
	// Output: 0.6931
}

// Three of five records were answered right.
func ExampleShare() {
	right := []bool{true, false, true, true, false}
	fmt.Println(stats.Share(right, "records", func(r bool) bool { return r }))
	// Output: 0.6000 [0.2307, 0.8824] (95% over records, n = 5)
}

// A histogram wants values, and has estimates.
func ExampleValues() {
	fmt.Println(stats.Values([]stats.Estimate{stats.Wilson(0.5, 10, 0.95), stats.Wilson(0.7, 10, 0.95)}))
	// Output: [0.5 0.7]
}
