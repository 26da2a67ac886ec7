// Prepared data whose parts do not fit each other.

package lab

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
)

func TestTornDataAreRefusedByTheirField(t *testing.T) {
	for words, tear := range map[string]func(p *datasets.Prepared){
		`"total" of Extra has 2 numbers for 16 records of the train`: func(p *datasets.Prepared) { p.Train.Extra = map[string][]float64{"total": {1, 2}} },
		`"total" of Extra has 1 numbers for 4 records of the test`:   func(p *datasets.Prepared) { p.Test.Extra = map[string][]float64{"total": {1}} },
		"About.Features describes 1 features, the records have 2":    func(p *datasets.Prepared) { p.About.Features = []datasets.Feature{{Name: "a"}} },
		"TestGroups has 2 numbers for 4 records":                     func(p *datasets.Prepared) { p.TestGroups = []int{1, 1} },
		"TestGroups has 0 numbers for 4 records":                     func(p *datasets.Prepared) { p.TestGroups = []int{} },
		"DrawOrder has 3 numbers for 16 records":                     func(p *datasets.Prepared) { p.DrawOrder = []int{0, 1, 2} },
		"DrawOrder[15] is 16":                                        func(p *datasets.Prepared) { p.DrawOrder = ascending(16); p.DrawOrder[15] = 16 },
		"DrawOrder[4] is 3":                                          func(p *datasets.Prepared) { p.DrawOrder = ascending(16); p.DrawOrder[4] = 3 },
		"DrawOrder[0] is -1":                                         func(p *datasets.Prepared) { p.DrawOrder = ascending(16); p.DrawOrder[0] = -1 },
		`"odd ones" names the ID 20, which no record has`:            func(p *datasets.Prepared) { p.About.Planted = map[string][]int{"odd ones": {3, 20}} },
		"Norm has 1 means (Mean) and 2 standard deviations (SD)":     func(p *datasets.Prepared) { p.Norm.Mean = p.Norm.Mean[:1] },
		"(Mean) and 0 standard deviations (SD) for 2 features":       func(p *datasets.Prepared) { p.Norm.SD = nil },
		"Norm.SD[1] is 0":                                            func(p *datasets.Prepared) { p.Norm.SD[1] = 0 },
		"Norm.SD[0] is -1":                                           func(p *datasets.Prepared) { p.Norm.SD[0] = -1 },
		"Norm.SD[0] is NaN":                                          func(p *datasets.Prepared) { p.Norm.SD[0] = math.NaN() },
		"Norm.SD[0] is +Inf":                                         func(p *datasets.Prepared) { p.Norm.SD[0] = math.Inf(1) },
		"Norm.Mean[1] is NaN":                                        func(p *datasets.Prepared) { p.Norm.Mean[1] = math.NaN() },
		"Norm has 0 means (Mean) and 0 standard deviations":          func(p *datasets.Prepared) { asImages(p); p.Norm = datasets.Normalisation{} },
		"deviations (SD) for 1 channels":                             func(p *datasets.Prepared) { asImages(p) },
		"": func(p *datasets.Prepared) {
			asImages(p)
			p.Norm = datasets.Normalisation{Mean: []float64{0}, SD: []float64{1}}
		},
		"nothing normalised": func(p *datasets.Prepared) { p.Norm = datasets.Normalisation{} },
		"all of it":          whole,
	} {
		p, err := parity{Records: 20}.Prepare(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		tear(p)
		info, _ := parity{Records: 20}.Info()
		info.Shape = p.About.Shape
		err = checkPrepared(p, info)
		if fits := !strings.ContainsAny(words, "0123456789"); fits != (err == nil) || err != nil && !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

func ascending(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// asImages makes images of one channel and 1 x 2 pixels of the records.
func asImages(p *datasets.Prepared) { p.About.Shape = [3]int{1, 1, 2} }

// whole has everything beside the records.
func whole(p *datasets.Prepared) {
	p.Train.Extra, p.Test.Extra = map[string][]float64{"total": make([]float64, 16)}, map[string][]float64{"total": make([]float64, 4)}
	p.About.Features = []datasets.Feature{{Name: "a"}, {Name: "b"}}
	p.TestGroups, p.DrawOrder = []int{1, 1, 2, 2}, ascending(16)
	p.About.Planted = map[string][]int{"odd ones": {3, 19}}
}
