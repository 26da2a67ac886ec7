package nn

import (
	"math"
	"strings"
	"testing"
)

// torch.optim.Adam of PyTorch 2.15.0 on one float64 parameter, five steps with
// the gradients given; the third element is so small that epsilon counts.
func TestAdamIsPyTorchs(t *testing.T) {
	grads := [][]float64{{0.1, -2, 1e-9, 0}, {0.3, 1, 1e-9, 0}, {-0.2, 0.5, -3e-9, 5}, {0.05, -0.25, 2e-9, 0}, {0, 4, 1e-9, 0}}
	for name, c := range map[string]struct {
		adam Adam
		want [][]float64
	}{
		"defaults":        {Adam{}, [][]float64{{0.9990000001, -0.499000000005, 0.249909090909, 2}, {0.998082219022, -0.498733662967, 0.249818181818, 2}, {0.997824315229, -0.498672274105, 0.249858130853, 1.999361186403}, {0.997537880866, -0.498559168708, 0.249837693101, 1.998837909175}, {0.997295778516, -0.498984360054, 0.249801338483, 1.998395620596}}},
		"unlearning rate": {Adam{LR: 5e-4}, [][]float64{{0.99950000005, -0.499500000002, 0.249954545455, 2}, {0.999041109511, -0.499366831484, 0.249909090909, 2}, {0.998912157614, -0.499336137052, 0.249929065427, 1.999680593201}, {0.998768940433, -0.499279584354, 0.249918846551, 1.999418954587}, {0.998647889258, -0.499492180027, 0.249900669242, 1.999197810298}}},
		"everything else": {Adam{LR: 0.1, Beta1: 0.5, Beta2: 0.9, Eps: 1e-3}, [][]float64{{0.90099009901, -0.400049975012, 0.2499999, 2}, {0.799215930889, -0.400049975012, 0.2499998, 2}, {0.805731288307, -0.422480697029, 0.249999928571, 1.905961946188}, {0.79502330801, -0.422480697029, 0.249999881905, 1.853855217354}, {0.789068293786, -0.516775884176, 0.249999807711, 1.824855565318}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := Params{{Name: "w", Shape: []int{4}, Data: []float32{1, -0.5, 0.25, 2}}}
			s := NewOptimizerState(Adam{}, p)
			for k, g := range grads {
				if err := c.adam.Step(p, [][]float64{g}, s, nil); err != nil {
					t.Fatal(err)
				}
				for j, v := range p[0].Data {
					// Five roundings of a float32 near 2, and 1e-6 of the step.
					if math.Abs(float64(v)-c.want[k][j]) > 6e-7 {
						t.Errorf("step %d, element %d: %v, PyTorch %v", k+1, j, v, c.want[k][j])
					}
				}
			}
			if s.T != len(grads) {
				t.Errorf("%d steps were counted", s.T)
			}
		})
	}
}

// The moments are PyTorch's to float32 rounding: 1-float32(0.999) in place of
// float32(1-0.999) would be 1.3e-5 off.
func TestAdamsMomentsAreAsPreciseAsPyTorchs(t *testing.T) {
	p := Params{{Name: "w", Shape: []int{1}, Data: []float32{1}}}
	s := NewOptimizerState(Adam{}, p)
	for _, g := range []float64{0.1, 0.3, -0.2, 0.05, 0} {
		if err := (Adam{}).Step(p, [][]float64{{g}}, s, nil); err != nil {
			t.Fatal(err)
		}
	}
	checkClose(t, "first moment", []float64{float64(s.Slots[0][0].Data[0])}, []float64{0.016731}, 5e-7)
	checkClose(t, "second moment", []float64{float64(s.Slots[1][0].Data[0])}, []float64{0.00014210786987001013}, 5e-7)
}

func TestAGradientThatIsNotFiniteNamesItsTensorAndChangesNothing(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		p := Params{NewParam("first", 2), NewParam("second", 3)}
		s := NewOptimizerState(Adam{}, p)
		if err := (Adam{}).Step(p, [][]float64{{1, 1}, {1, 1, 1}}, s, nil); err != nil {
			t.Fatal(err)
		}
		before := p.Hash() + s.Slots[0].Hash() + s.Slots[1].Hash()
		err := (Adam{}).Step(p, [][]float64{{1, 1}, {1, 1, bad}}, s, nil)
		if err == nil {
			t.Fatalf("%v is accepted", bad)
		}
		for _, want := range []string{"gradient of second", "element 2", "step 2"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		}
		if p.Hash()+s.Slots[0].Hash()+s.Slots[1].Hash() != before || s.T != 1 {
			t.Errorf("%v: weights or state have changed", bad)
		}
	}
}
