package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// MovingLogMean is log m, [1], for a moving average m of exp(s) over all elements of s and
// over the steps of a training. In training m is first updated,
//
//	m = (1 - rate) m + rate mean(exp(s))
//
// and replaces the state (Param.Latest), which is log m to avoid overflow. In inference the
// state does not change. m is not differentiated. The mean is over the whole batch, so a
// network with this layer implements model.UsesBatchStats.
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

// MovingLogMeanInit returns the initial state of a MovingLogMean, m = 1.
func MovingLogMeanInit(name string) Param {
	p := NewParam(name, 1)
	p.State, p.Latest = true, true
	return p
}
