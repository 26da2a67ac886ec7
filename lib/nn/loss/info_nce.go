// InfoNCE: minus a contrastive lower bound of mutual information, from scores of pairs.

package loss

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// InfoNCE is minus a lower bound, in nats, of the mutual information of the pairs that a
// critic scores (van den Oord et al. 2018). It contrasts the pair, score s_0, with K
// negative samples,
//
//	-s_0 + log mean over k = 0 ... K of exp(s_k)
//
// The bound is at most log(K + 1). It needs no average over records.
type InfoNCE struct{}

var _ Loss = InfoNCE{}

// Name implements Loss.
func (InfoNCE) Name() string { return "infonce" }

// About implements Loss.
func (InfoNCE) About() string {
	return "minus a bound of the mutual information of pairs, by contrast with negative samples"
}

// Inputs implements Loss.
func (l InfoNCE) Inputs(outputs map[string]int) (map[string]int, error) {
	return map[string]int{}, checkPairScores(l, outputs)
}

// Check implements Loss.
func (InfoNCE) Check(map[string]array.Matrix[float32]) error { return nil }

// Graph implements Loss.
func (InfoNCE) Graph(g Batch) Value {
	s := g.Outputs[PairScores]
	top := StopGradient(ReduceAndKeep(s, ReduceMax, 0))
	all := Add(Log(ReduceAndKeep(Exp(Sub(s, top)), ReduceSum, 0)), top)
	return Value{Losses: AddScalar(Sub(all, Slice(s, AxisRange(0, 1))), -math.Log(float64(s.Shape().Dimensions[0])))}
}
