// MINE's loss: minus the Donsker-Varadhan bound of mutual information, from scores of pairs.

package loss

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// PairScores is the name of the output of a critic of pairs, [1 + K, n]: the score of a
// record's pair (x, y), followed by the scores of x with K negative samples y', which are
// drawn independently of x.
const PairScores = "pair-scores"

// DonskerVaradhan is minus a lower bound, in nats, of the mutual information of the pairs
// that a critic scores, as a mean over records:
//
//	-s_0 + mean over k of exp(s_k) - 1
//
// For the scores s = T - log m its mean is -(E[T] - E'[exp T]/m - log m + 1). The bound
// holds for every m > 0 and is highest for m = E'[exp T], where it is that of Donsker and
// Varadhan, E[T] - log E'[exp T]. With m a moving average that is not differentiated, its
// gradient is that of MINE (Belghazi et al., ICML 2018, equation 12). A critic minimises
// the loss; maximising it makes x and y independent.
type DonskerVaradhan struct{}

var _ Loss = DonskerVaradhan{}

// Name implements Loss.
func (DonskerVaradhan) Name() string { return "donsker-varadhan" }

// About implements Loss.
func (DonskerVaradhan) About() string {
	return "minus a bound of the mutual information of pairs, by a critic (MINE)"
}

// Inputs implements Loss.
func (l DonskerVaradhan) Inputs(outputs map[string]int) (map[string]int, error) {
	return map[string]int{}, checkPairScores(l, outputs)
}

// checkPairScores returns an error if the network scores no negative samples.
func checkPairScores(l Loss, outputs map[string]int) error {
	w, err := OutputWidth(l, outputs, PairScores)
	if err == nil && w < 2 {
		err = fmt.Errorf("the loss %s needs the scores of a pair and of at least one negative sample, the network returns %d", l.Name(), w)
	}
	return err
}

// Check implements Loss.
func (DonskerVaradhan) Check(map[string]array.Matrix[float32]) error { return nil }

// Graph implements Loss.
func (DonskerVaradhan) Graph(g Batch) Value {
	s := g.Outputs[PairScores]
	own, ratios := Slice(s, AxisRange(0, 1)), Exp(Slice(s, AxisRange(1)))
	return Value{
		Losses:   AddScalar(Sub(ReduceAndKeep(ratios, ReduceMean, 0), own), -1),
		Adjoints: map[string]*Node{PairScores: Concatenate([]*Node{Neg(OnesLike(own)), DivScalar(ratios, float64(ratios.Shape().Dimensions[0]))}, 0)},
	}
}
