// How long networks take, roughly.

package model

import (
	"encoding/json"
	"fmt"
	"sync"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/nn"
)

// WorkUnit is the unit of [Work]: a million operations on floating-point numbers.
const WorkUnit = "MFLOP"

// perRecord are the operations that a record costs beside the products of its network: it is gathered, normalised, its loss
// is taken. Small networks spend their time on them.
const perRecord = 1e5

// worked are the operations per record of networks, by their type and settings.
var worked sync.Map

// Work estimates what so many records cost in a network's forward pass, in WorkUnit. Training costs three times as much: its
// backward pass makes every product twice. A network that cannot be built counts as one without products.
func Work(a Architecture, records int) float64 {
	return float64(records) * operations(a) / 1e6
}

func operations(a Architecture) float64 {
	a = defaults.Fill(a)
	if a == nil || a.Check() != nil {
		return perRecord
	}
	settings, err := json.Marshal(a)
	if err != nil {
		return perRecord + products(a)
	}
	name := fmt.Sprintf("%T %s", a, settings)
	if known, ok := worked.Load(name); ok {
		return known.(float64)
	}
	n := perRecord + products(a)
	worked.Store(name, n)
	return n
}

// products are the operations of a network's products, 0 where building it panics, which training says better.
func products(a Architecture) float64 {
	defer func() { _ = recover() }()
	return 2 * nn.MultiplyAdds(a.Inputs(), func(b *nn.Builder, x *Node) { a.Build(b, x) })
}
