// Random inputs drawn inside a graph, so that no mask travels to a device.

package nn

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// The constants of SplitMix64; see package kernels.
const (
	splitMixGolden = uint64(0x9E3779B97F4A7C15)
	splitMixFirst  = uint64(0xBF58476D1CE4E5B9)
	splitMixSecond = uint64(0x94D049BB133111EB)
)

// Graph returns the numbers of Fill for records 0 ... n-1 as a node [Units, n]. key is a
// scalar of type uint64. A dropout mask has Fill's bits. Normal numbers agree with Fill's to
// the rounding of the engine's logarithm, root, sine and cosine.
func (d RandomInput) Graph(key *Node, n int) *Node {
	if d.Distribution == Normal {
		return d.graphNormal(key, n)
	}
	quads := (n + 3) / 4 // four records share one number
	bits := splitMixGraph(Add(d.unitKeys(key, quads), iota64(key, 1, d.Units, quads)))
	bits = BroadcastToDims(Reshape(bits, d.Units, quads, 1), d.Units, quads, 4)
	part := Mul(iota64(key, 2, d.Units, quads, 4), Const(key.Graph(), uint64(16)))
	v := BitwiseAnd(BitwiseShiftRightLogical(bits, part), Const(key.Graph(), uint64(0xFFFF)))
	keep := GreaterOrEqual(v, Const(key.Graph(), uint64(math.Round(d.Rate*65536))))
	return firstRecords(MulScalar(ConvertDType(keep, dtypes.Float32), 1/(1-d.Rate)), d.Units, quads*4, n)
}

// graphNormal draws normal numbers in float64, two from each pair of uniform ones.
func (d RandomInput) graphNormal(key *Node, n int) *Node {
	pairs := (n + 1) / 2
	first := Add(d.unitKeys(key, pairs), Mul(iota64(key, 1, d.Units, pairs), Const(key.Graph(), uint64(2))))
	uniform := func(counter *Node) *Node {
		bits := BitwiseShiftRightLogical(splitMixGraph(counter), Const(key.Graph(), uint64(11)))
		return ConvertDType(bits, dtypes.Float64)
	}
	u1 := DivScalar(AddScalar(uniform(first), 0.5), 1<<53)
	u2 := DivScalar(uniform(Add(first, Const(key.Graph(), uint64(1)))), 1<<53)
	r, angle := Sqrt(MulScalar(Log(u1), -2)), MulScalar(u2, 2*math.Pi)
	both := Stack([]*Node{Mul(r, Cos(angle)), Mul(r, Sin(angle))}, 2)
	return firstRecords(ConvertDType(both, dtypes.Float32), d.Units, pairs*2, n)
}

// unitKeys returns the key of every unit, [Units, n].
func (d RandomInput) unitKeys(key *Node, n int) *Node {
	own := Mul(iota64(key, 0, d.Units, n), Const(key.Graph(), splitMixGolden))
	return Add(BitwiseShiftLeft(own, Const(key.Graph(), uint64(20))), key)
}

// splitMixGraph is kernels.SplitMix64 on a node.
func splitMixGraph(z *Node) *Node {
	c := func(v uint64) *Node { return Const(z.Graph(), v) }
	mix := func(z *Node, shift uint64) *Node { return BitwiseXor(z, BitwiseShiftRightLogical(z, c(shift))) }
	z = Add(z, c(splitMixGolden))
	z = Mul(mix(z, 30), c(splitMixFirst))
	z = Mul(mix(z, 27), c(splitMixSecond))
	return mix(z, 31)
}

// iota64 returns the index along an axis.
func iota64(like *Node, axis int, dims ...int) *Node {
	return Iota(like.Graph(), shapes.Make(dtypes.Uint64, dims...), axis)
}

// firstRecords returns the first n columns of x, which has as many elements as [units, all].
func firstRecords(x *Node, units, all, n int) *Node {
	x = Reshape(x, units, all)
	if n == all {
		return x
	}
	return Slice(x, AxisRange(), AxisRange(0, n))
}
