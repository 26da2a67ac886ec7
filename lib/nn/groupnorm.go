package nn

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
)

// GroupNorm normalises each group of C/groups neighbouring channels of each record (Wu and
// He 2018), so that records do not mix:
//
//	y = gamma_c (x - mean) r + beta_c,  r = 1/sqrt(var + eps),
//
// Mean and variance are over the K pixels of a group in one record; the variance has the
// divisor K, as in torch.nn.GroupNorm. With a = x - mean, the gradient is
//
//	dx = gamma r v - r sum(gamma v)/K - a r^3 sum(gamma v a)/K,
//	dgamma = sum v a r,  dbeta = sum v.
func GroupNorm(t *Tape, m Image, groups int, gamma, beta *Node, eps float64) Image {
	if groups < 1 || m.C%groups != 0 {
		panic(fmt.Errorf("group norm: %d channels are not divisible into %d groups", m.C, groups))
	}
	m = m.channelsFirst(t)
	g := groupNorm{m: m, groups: groups, n: m.records()}
	return m.withNode(g.apply(t, gamma, beta, eps))
}

type groupNorm struct {
	m      Image
	groups int
	n      int // records
}

// pixels returns the number K of pixels of a group in one record.
func (g groupNorm) pixels() int { return g.m.C / g.groups * g.m.H * g.m.W }

// sumGroups adds up s [C, n] within groups: [groups, n].
func (g groupNorm) sumGroups(s *Node) *Node {
	return ReduceSum(Reshape(s, g.groups, -1, g.n), 1)
}

// perChannel repeats s [groups, n] for the channels of each group: [C, n].
func (g groupNorm) perChannel(s *Node) *Node {
	return Reshape(BroadcastToDims(Reshape(s, g.groups, 1, g.n), g.groups, g.m.C/g.groups, g.n), g.m.C, g.n)
}

func (g groupNorm) apply(t *Tape, gamma, beta *Node, eps float64) *Node {
	m, x, pixels := g.m, g.m.X, float64(g.pixels())
	mean := DivScalar(g.sumGroups(m.sumPixels(x)), pixels)
	centred := Sub(x, m.broadcastPixels(g.perChannel(mean)))
	variance := DivScalar(g.sumGroups(m.sumPixels(Square(centred))), pixels)
	r := Inverse(Sqrt(AddScalar(variance, eps))) // [groups, n]
	gammas := broadcastColumn(gamma, g.n)
	gain := m.broadcastPixels(Mul(g.perChannel(r), gammas))
	y := Add(Mul(centred, gain), broadcastColumn(beta, m.H*m.W*g.n))
	t.uses = append(t.uses, groupUse{g: g, centred: centred, r: r, gamma: gamma, beta: beta, y: y})
	return t.Op(y, []*Node{x, gamma, beta}, func(v *Node) []*Node {
		sum, slope := m.sumPixels(v), m.sumPixels(Mul(v, centred)) // [C, n]
		shift := DivScalar(Mul(r, g.sumGroups(Mul(gammas, sum))), pixels)
		pull := DivScalar(Mul(Mul(r, Square(r)), g.sumGroups(Mul(gammas, slope))), pixels)
		dx := Sub(Mul(v, gain), Add(Mul(centred, m.broadcastPixels(g.perChannel(pull))), m.broadcastPixels(g.perChannel(shift))))
		return []*Node{dx, sumColumns(Mul(slope, g.perChannel(r))), sumColumns(sum)}
	})
}

// groupUse is the paramUse of a group normalisation: gain and offset have one gradient per
// record and channel.
type groupUse struct {
	g                          groupNorm
	centred, r, gamma, beta, y *Node
}

func (u groupUse) params() []*Node { return []*Node{u.gamma, u.beta} }
func (u groupUse) output() *Node   { return u.y }

// squared returns the squared gradients of gain and offset, [C, n] each.
func (u groupUse) squared(v *Node) (gamma, beta *Node) {
	slope := Mul(u.g.m.sumPixels(Mul(v, u.centred)), u.g.perChannel(u.r))
	return Square(slope), Square(u.g.m.sumPixels(v))
}

func (u groupUse) normSquared(v *Node) *Node {
	gamma, beta := u.squared(v)
	return ReduceAndKeep(Add(gamma, beta), ReduceSum, 0)
}

func (u groupUse) squares(v, weight *Node) []*Node {
	gamma, beta := u.squared(v)
	return []*Node{sumColumns(Mul(gamma, weight)), sumColumns(Mul(beta, weight))}
}

// GroupNormInit returns the initial parameters of a group normalisation called name: gains
// 1, offsets 0.
func GroupNormInit(name string, channels int) Params { return LayerNormInit(name, channels) }
