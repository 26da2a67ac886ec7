// How much a network computes.

package nn

import (
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
)

// MultiplyAdds estimates the multiplications of matrix products and convolutions that a network makes for
// one record in its forward pass; build is as in [Declare], and panics alike. A product of several matrices side by side
// counts for more than it is: by the root of their number.
func MultiplyAdds(inputs int, build func(b *Builder, x *Node)) (n float64) {
	declare(inputs, nil, build, func(g *Graph) {
		for _, node := range g.Nodes() {
			switch node.Type() {
			case NodeTypeDotGeneral:
				n += productWork(node)
			case NodeTypeConvGeneral:
				n += convolutionWork(node)
			}
		}
	})
	return n
}

// productWork of [m, k] by [k, n] is m k n, the root of the product of the three sizes.
func productWork(n *Node) float64 {
	size := float64(n.Shape().Size())
	for _, in := range n.Inputs() {
		size *= float64(in.Shape().Size())
	}
	return math.Sqrt(size)
}

// convolutionWork is the size of the output times that of the kernel of one of its channels. The kernel's axis of output
// channels comes first, as in this package, or last, as GoMLX's default has it.
func convolutionWork(n *Node) float64 {
	out, kernel := n.Shape(), n.Inputs()[1].Shape()
	channels := kernel.Dimensions[0]
	if last := kernel.Dimensions[kernel.Rank()-1]; !slices.Contains(out.Dimensions, channels) && slices.Contains(out.Dimensions, last) {
		channels = last
	}
	return float64(out.Size()) * float64(kernel.Size()) / float64(channels)
}
