package representation

import (
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/privacy"
)

// On real images, with no compression at all between the user and the attacker: the
// program's setting draws worse than the mean of the class, from the whole image too;
// with patience masked images are drawn, the better the more of them is in clear.
func TestMaskedImagesNeedTheLongAttack(t *testing.T) {
	datatest.Dir(t)
	const known, seen = 600, 200
	numbers := make([]int, known+seen)
	for i := range numbers {
		numbers[i] = i
	}
	set, err := images.LoadRows(background, "mnist", numbers, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	x, y := set.Train.X, set.Train.Y
	of := func(codes array.Matrix[float32]) (Shadow, Victims) {
		own, others := numbers[:known], numbers[known:]
		return Shadow{own, codes.Gather(own), x.Gather(own), y[:known]}, Victims{others, codes.Gather(others), x.Gather(others), y[known:]}
	}
	e := open(t)
	whole, victims := of(x)
	if r := reconstruct(t, e, Reconstruction{}, whole, victims, 1); r.Gain.High > 0 {
		t.Errorf("the program's attacker, given whole images: gain %v of %v", r.Gain, r.Mean)
	}
	if testing.Short() {
		t.Skip("the persistent attacker takes long")
	}
	draws := func(record int) *rand.Rand { return engine.Root(1).Stream(engine.StreamMask, uint64(record)) }
	var errors []float64
	for _, m := range []privacy.Masking{{Rate: 1}, {}, {Replacement: true}} {
		masked, _, err := m.Mask(x, numbers, draws)
		if err != nil {
			t.Fatal(err)
		}
		s, v := of(masked)
		r := reconstruct(t, e, Persistent(), s, v, 1)
		if r.Gain.Low < 0 {
			t.Errorf("%+v: gain %v of %v", m, r.Gain, r.Mean)
		}
		errors = append(errors, r.SSE.Value)
	}
	if !(errors[0] < errors[1] && errors[1] < errors[2]) {
		t.Errorf("errors %v: whole, without replacement, with", errors)
	}
	t.Logf("SSE %v", errors)
}
