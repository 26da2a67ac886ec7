package nn

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// The logarithm of the moved average of exp(s), by hand; also where exp(s) and the
// average are above and below all float32. In inference it is the state.
func TestMovingLogMeanMovesAndDoesNotOverflow(t *testing.T) {
	p := MovingLogMeanInit("m")
	if !p.State || !p.Latest || len(p.Data) != 1 || p.Data[0] != 0 {
		t.Errorf("the average begins as %+v", p)
	}
	const rate = 0.25
	for _, c := range []struct {
		s           []float32
		state, want float64
	}{
		{[]float32{0, 1, -1, 2}, 0.5, math.Log(0.75*math.Exp(0.5) + 0.25*(1+math.E+1/math.E+math.E*math.E)/4)},
		{[]float32{1000, 1000, 1000, 1000}, 0, 1000 + math.Log(0.25)},
		{[]float32{-1000, -1000, -1000, -1000}, 0, math.Log(0.75)},
		{[]float32{3, 3, 3, 3}, 500, 500 + math.Log(0.75)},
	} {
		in := []*tensors.Tensor{
			tensors.FromFlatDataAndDimensions(c.s, 2, 2), tensors.FromFlatDataAndDimensions([]float32{float32(c.state)}, 1),
		}
		out := execute(t, func(in []*Node) []*Node {
			tape, asked := &Tape{Training: true}, &Tape{}
			m, still := MovingLogMean(tape, in[0], in[1], rate), MovingLogMean(asked, in[0], in[1], rate)
			return []*Node{m, tape.Statistic(in[1]), still}
		}, in...)
		checkClose(t, "in training", out[0], []float64{c.want}, 1e-6)
		checkClose(t, "the state", out[1], []float64{c.want}, 1e-6)
		checkClose(t, "in inference", out[2], []float64{c.state}, 0)
	}
}
