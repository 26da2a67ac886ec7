// What gradients per record need of a network's graph.

package model

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// CheckPerRecord panics (as graph building does on errors) unless per-record gradients are
// defined for every weight. The error names the weight and says whether its layer mixes the
// records of a batch.
func CheckPerRecord(a Architecture, t *nn.Tape, p []*Node, like nn.Params) {
	for _, i := range t.WithoutPerExample(p) {
		switch {
		case like[i].State:
		case t.UsesBatchStats(p[i]):
			panic(fmt.Errorf("%s of %s belongs to a layer that mixes the records of a batch: there are no per-record gradients", like[i].Name, a.Name()))
		default:
			panic(fmt.Errorf("the per-record gradient of %[2]s in %[1]s is unknown: it belongs to no layer, or to several", a.Name(), like[i].Name))
		}
	}
}

// Adjoints turns a loss's derivatives with respect to outputs into derivatives with respect
// to nodes, each times the record's weight [1, n].
func (tr Trace) Adjoints(v loss.Value, weight *Node) nn.Adjoints {
	from := nn.Adjoints{}
	for name, d := range v.Adjoints {
		from[tr.Outputs[name]] = Mul(d, weight)
	}
	return from
}
