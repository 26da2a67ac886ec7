package cells

// Leiden clustering.

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Leiden finds communities of an undirected weighted graph (Traag, Waltman and van Eck 2019) by
// the modularity with resolution r of Reichardt and Bornholdt (2006), leidenalg's RB
// configuration:
//
//	Q = 1/(2m) sum over communities C of (A_CC - r K_C^2 / (2m))
//
// A_CC is the sum of the weights between nodes of C in both directions, K_C the sum of their
// degrees, 2m that of all. Every round moves nodes to the best neighbouring community until no
// node gains (section 1 of the supplement, algorithm A.2). It then refines each community from
// single nodes, drawn with probability proportional to exp(gain/0.01) among those that do not
// lose, and continues with the parts as nodes. Rounds are repeated until Q does not grow. The
// zero value is the paper's: resolution 0.5, one start. More starts keep the best result.
//
// Communities are numbered by size, the largest 0. The result depends on the order of the nodes
// and on the seed, as in every implementation; its quality hardly does.
//
// Difference from leidenalg 0.12, whose refinement joins a node to a random part: here it joins
// the best part.
type Leiden struct {
	Resolution float64 `json:"resolution,omitempty" default:"0.5"`
	Rounds     int     `json:"rounds,omitempty"` // largest number; 0: until Q does not grow
	Starts     int     `json:"starts,omitempty" default:"1"`
}

// Clusters returns the community of every node. It refuses a matrix that is not
// square, symmetric, finite and without negative weights, one without any weight,
// a resolution that is not above 0, and no generator.
func (l Leiden) Clusters(graph array.Sparse[float64], rng *rand.Rand) ([]int, error) {
	l = defaults.Fill(l)
	if err := checkGraph("Leiden", graph); err != nil {
		return nil, err
	}
	if !(l.Resolution > 0) || l.Rounds < 0 || l.Starts < 0 {
		return nil, fmt.Errorf("cells.Leiden: resolution %v, %d rounds, %d starts: want a resolution above 0", l.Resolution, l.Rounds, l.Starts)
	}
	if rng == nil {
		return nil, errors.New("cells.Leiden: rng is nil")
	}
	g := newNetwork(graph)
	g.share = l.Resolution / g.total
	var best []int
	most := math.Inf(-1)
	task := progress.Begin("Leiden", l.Starts)
	defer task.Done()
	for range l.Starts {
		if of, q := l.runOnce(g, rng); q > most {
			best, most = of, q
		}
		task.Add(1)
	}
	return bySize(best), nil
}

// runOnce repeats rounds, starting with every node on its own.
func (l Leiden) runOnce(g *network, rng *rand.Rand) (of []int, q float64) {
	of = make([]int, g.Rows)
	for i := range of {
		of[i] = i
	}
	q = g.quality(of)
	for round := 0; l.Rounds == 0 || round < l.Rounds; round++ {
		next := g.iterate(slices.Clone(of), rng)
		better := g.quality(next)
		if better <= q+1e-12 {
			break
		}
		of, q = next, better
	}
	return of, q
}

// Modularity returns Q, as defined at Leiden, of the given communities: at most 1, and 0 if all
// nodes are in one community at resolution 1.
func Modularity(graph array.Sparse[float64], clusters []int, resolution float64) (float64, error) {
	if err := checkGraph("Modularity", graph); err != nil {
		return 0, err
	}
	if len(clusters) != graph.Rows {
		return 0, fmt.Errorf("cells.Modularity: %d clusters for %d nodes", len(clusters), graph.Rows)
	}
	g := newNetwork(graph)
	g.share = resolution / g.total
	names, dense := map[int]int{}, make([]int, len(clusters))
	for i, c := range clusters {
		if _, known := names[c]; !known {
			names[c] = len(names)
		}
		dense[i] = names[c]
	}
	return g.quality(dense), nil
}

func checkGraph(fn string, g array.Sparse[float64]) error {
	if err := g.Check("cells." + fn); err != nil {
		return err
	}
	if g.Rows != g.Cols || g.Rows == 0 {
		return fmt.Errorf("cells.%s: the graph is %d x %d, not square", fn, g.Rows, g.Cols)
	}
	some := false
	for i := range g.Rows {
		columns, values := g.Row(i)
		for k, j := range columns {
			if v, back := values[k], g.At(int(j), i); v < 0 || v != back {
				return fmt.Errorf("cells.%s: weight %v from %d to %d and %v back: want a symmetric graph without negative weights", fn, v, i, j, back)
			}
			some = some || values[k] > 0
		}
	}
	if !some {
		return fmt.Errorf("cells.%s: no edge among %d nodes", fn, g.Rows)
	}
	return nil
}

// network is a graph at one level: its nodes are communities of the level below.
type network struct {
	array.Sparse[float64]
	degree []float64
	total  float64 // 2m
	share  float64 // resolution / 2m
}

func newNetwork(g array.Sparse[float64]) *network {
	n := &network{Sparse: g, degree: make([]float64, g.Rows)}
	for i := range n.degree {
		_, values := g.Row(i)
		for _, v := range values {
			n.degree[i] += v
		}
		n.total += n.degree[i]
	}
	return n
}

// quality is Q of communities numbered from 0.
func (g *network) quality(of []int) float64 {
	inside, sum := 0.0, make([]float64, len(of))
	for i, c := range of {
		columns, values := g.Row(i)
		for k, j := range columns {
			if of[j] == c {
				inside += values[k]
			}
		}
		sum[c] += g.degree[i]
	}
	for _, k := range sum {
		inside -= float64(g.share * k * k)
	}
	return inside / g.total
}

// iterate moves, refines and aggregates until every community is one node, and returns the
// community of every node of g.
func (g *network) iterate(of []int, rng *rand.Rand) []int {
	level, node := g, make([]int, len(of)) // node of the level in which a node of g is
	for i := range node {
		node[i] = i
	}
	for {
		level.move(of, rng)
		of = renumber(of)
		parts := renumber(level.refine(of, rng))
		n := slices.Max(parts) + 1
		if n == level.Rows { // no part joins another: the communities are final
			break
		}
		above := make([]int, n)
		for i, p := range parts {
			above[p] = of[i]
		}
		for i, at := range node {
			node[i] = parts[at]
		}
		level, of = level.aggregated(parts, n), above
	}
	out := make([]int, len(node))
	for i, at := range node {
		out[i] = of[at]
	}
	return out
}

// move puts every node into the community with the largest gain, until no node gains. A node is
// visited again when a neighbour has moved.
func (g *network) move(of []int, rng *rand.Rand) {
	sum, size := make([]float64, g.Rows), make([]int, g.Rows)
	for i, c := range of {
		sum[c] += g.degree[i]
		size[c]++
	}
	var empty []int
	for c, n := range size {
		if n == 0 {
			empty = append(empty, c)
		}
	}
	queue, waits := rng.Perm(g.Rows), make([]bool, g.Rows)
	for i := range waits {
		waits[i] = true
	}
	t := newTally(g.Rows)
	for len(queue) > 0 {
		i := queue[0]
		queue, waits[i] = queue[1:], false
		own := of[i]
		sum[own] -= g.degree[i]
		if size[own]--; size[own] == 0 {
			empty = append(empty, own)
		}
		t.count(g, i, of, nil)
		t.mark(own)
		if size[own] > 0 {
			t.mark(empty[len(empty)-1]) // alone again
		}
		best, most := own, t.weight[own]-float64(g.share*g.degree[i]*sum[own])
		for _, c := range t.seen {
			if gain := t.weight[c] - float64(g.share*g.degree[i]*sum[c]); gain > most+1e-10 {
				best, most = c, gain
			}
		}
		of[i] = best
		sum[best] += g.degree[i]
		if size[best]++; size[best] == 1 {
			empty = empty[:len(empty)-1] // the only one that was offered
		}
		if best == own {
			continue
		}
		columns, _ := g.Row(i)
		for _, j := range columns {
			if !waits[j] && of[j] != best {
				queue, waits[j] = append(queue, int(j)), true
			}
		}
	}
}

// refine splits every community. It starts from single nodes; each node that is well connected
// to its community joins a well connected part of it, unless another node has joined it.
func (g *network) refine(of []int, rng *rand.Rand) []int {
	const randomness = 0.01
	part, alone := make([]int, g.Rows), make([]bool, g.Rows)
	whole, sum, cut := make([]float64, g.Rows), slices.Clone(g.degree), make([]float64, g.Rows)
	for i := range part {
		part[i], alone[i] = i, true
		whole[of[i]] += g.degree[i]
		columns, values := g.Row(i)
		for k, j := range columns { // weight to the rest of the community
			if int(j) != i && of[j] == of[i] {
				cut[i] += values[k]
			}
		}
	}
	connected := func(p int, community int) bool {
		return cut[p] >= float64(g.share*sum[p]*(whole[community]-sum[p]))
	}
	t := newTally(g.Rows)
	var gains []float64
	for _, i := range rng.Perm(g.Rows) {
		if !alone[i] || !connected(i, of[i]) {
			continue
		}
		t.count(g, i, part, of)
		t.mark(i)
		gains = gains[:0]
		for _, p := range t.seen {
			gain := t.weight[p] - float64(g.share*g.degree[i]*sum[p])
			if p == i {
				gain = 0 // staying alone
			} else if !connected(p, of[i]) {
				gain = -1
			}
			gains = append(gains, gain)
		}
		p := t.seen[draw(gains, randomness, rng)]
		if p == i {
			continue
		}
		part[i], alone[i], alone[p] = p, false, false
		sum[p] += g.degree[i]
		cut[p] += cut[i] - 2*t.weight[p]
	}
	return part
}

// draw chooses one of the gains that are not negative, with probability proportional to
// exp(gain/randomness).
func draw(gains []float64, randomness float64, rng *rand.Rand) int {
	top, sum := slices.Max(gains), 0.0
	weight := func(gain float64) float64 {
		if gain < 0 {
			return 0
		}
		return math.Exp((gain - top) / randomness)
	}
	for _, gain := range gains {
		sum += weight(gain)
	}
	u := rng.Float64() * sum
	for k, gain := range gains {
		if u -= weight(gain); u < 0 {
			return k
		}
	}
	return slices.Index(gains, top)
}

// aggregated is the graph whose nodes are the n parts.
func (g *network) aggregated(parts []int, n int) *network {
	members := make([][]int, n)
	for i, p := range parts {
		members[p] = append(members[p], i)
	}
	t := newTally(n)
	out := array.Sparse[float64]{Rows: n, Cols: n, Starts: make([]int, 1, n+1)}
	for _, nodes := range members {
		t.clear()
		for _, i := range nodes {
			columns, values := g.Row(i)
			for k, j := range columns {
				t.add(parts[j], values[k])
			}
		}
		slices.Sort(t.seen)
		for _, p := range t.seen {
			out.Columns, out.Values = append(out.Columns, int32(p)), append(out.Values, t.weight[p])
		}
		out.Starts = append(out.Starts, len(out.Columns))
	}
	above := newNetwork(out)
	above.total, above.share = g.total, g.share
	return above
}

// tally sums weights by community and lists the communities in the order of their first
// appearance.
type tally struct {
	weight []float64
	known  []bool
	seen   []int
}

func newTally(n int) *tally { return &tally{weight: make([]float64, n), known: make([]bool, n)} }

func (t *tally) clear() {
	for _, c := range t.seen {
		t.weight[c], t.known[c] = 0, false
	}
	t.seen = t.seen[:0]
}

func (t *tally) mark(c int) {
	if !t.known[c] {
		t.known[c] = true
		t.seen = append(t.seen, c)
	}
}

func (t *tally) add(c int, w float64) {
	t.mark(c)
	t.weight[c] += w
}

// count sums the weights from node i to the communities of its neighbours; if groups are given,
// only of neighbours in its own group.
func (t *tally) count(g *network, i int, of, group []int) {
	t.clear()
	columns, values := g.Row(i)
	for k, j := range columns {
		if int(j) != i && (group == nil || group[j] == group[i]) {
			t.add(of[j], values[k])
		}
	}
}

// renumber numbers communities 0, 1 ... in the order of their first node.
func renumber(of []int) []int {
	names, next := make([]int, len(of)), 0
	out := make([]int, len(of))
	for i, c := range of {
		if names[c] == 0 {
			next++
			names[c] = next
		}
		out[i] = names[c] - 1
	}
	return out
}

// bySize numbers communities by size, the largest 0; of equal sizes the one with the first node
// comes first.
func bySize(of []int) []int {
	of = renumber(of)
	size := make([]int, slices.Max(of)+1)
	for _, c := range of {
		size[c]++
	}
	rank := make([]int, len(size))
	for k, c := range ascendingBy(len(size), func(a, b int) int { return cmp.Compare(size[b], size[a]) }) {
		rank[c] = k
	}
	for i, c := range of {
		of[i] = rank[c]
	}
	return of
}
