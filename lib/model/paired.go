// A network on two records at a time, for losses that compare what it says of both.

package model

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/nn"
)

// SecondPrefix begins the names of the outputs for the second record of a pair.
const SecondPrefix = "second-"

// Paired is a network on pairs of records. A row of its data has the numbers of both, one record after
// the other. It has the network's outputs for the first record and, under SecondPrefix and their names,
// those for the second. Its weights are the network's; dropout draws for each record of a pair on its
// own.
//
// A network whose normalisation uses the batch cannot be used so: the first record's running means
// would be lost.
type Paired struct {
	Of Architecture
}

var _ Architecture = Paired{}

// Name implements Architecture.
func (m Paired) Name() string { return m.Of.Name() + "-paired" }

// Inputs implements Architecture.
func (m Paired) Inputs() int { return 2 * m.Of.Inputs() }

// Returns implements Architecture.
func (m Paired) Returns() []Output { return returnsTwice(m.Of, SecondPrefix) }

// Check implements Architecture.
func (m Paired) Check() error {
	return checkTwice(m.Of, "the first record's running means would be lost")
}

// MaxBatch implements MaxBatch.
func (m Paired) MaxBatch() int { return halfBatch(m.Of) }

// Build implements Architecture.
func (m Paired) Build(b *nn.Builder, x *Node) Trace {
	one := m.Of.Inputs()
	out := m.Of.Build(b, Slice(x, AxisRange(0, one), AxisRange()))
	second := m.Of.Build(b.Reuse().RandomPrefix(SecondPrefix), Slice(x, AxisRange(one), AxisRange()))
	for name, value := range second.Outputs {
		out.Outputs[SecondPrefix+name] = value
	}
	return out
}
