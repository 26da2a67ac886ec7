package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// MovingLogMean is log m, [1], for a moving average m of exp(s) over all elements of
// s and over the steps of a training. In training
//
//	m = (1 - rate) m + rate mean(exp(s))
//
// comes first and takes the place of the state (Param.Latest), which is log m so
// that nothing overflows; in inference the state stays as it is. Nothing is
// differentiated: m is a constant of the step. The mean is that of the whole batch,
// which must not be cut: a network with this layer is coupled (model.UsesBatchStats).
func MovingLogMean(t *Tape, s, state *Node, rate float64) *Node {
	if !t.Training {
		return state
	}
	top := Max(ReduceAllMax(s), Reshape(state))
	before, now := Exp(Sub(Reshape(state), top)), ReduceAllMean(Exp(Sub(s, top)))
	m := Add(MulScalar(before, 1-rate), MulScalar(now, rate))
	out := StopGradient(Reshape(Add(Log(m), top), 1))
	t.setStatistic(state, out)
	return out
}

// MovingLogMeanInit is the state of a MovingLogMean, where it begins with m = 1.
func MovingLogMeanInit(name string) Param {
	p := NewParam(name, 1)
	p.State, p.Latest = true, true
	return p
}
