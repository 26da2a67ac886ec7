// The graph of a run of steps: a loop from records and indices on the device to new weights.

package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store"
)

// runGraph is the source of a compiled run. It does not depend on records and weights, so all
// trainings of a form share the compiled run.
//
// Inputs: the numbers of the first step and of the step after the last; weights; slots by player;
// the fixed arrays; the arrays with one entry per step. Outputs: weights, slots, a 1 if all weights
// are finite, and the losses [steps, updates].
type runGraph struct {
	runner  *model.Runner
	plan    Plan
	chain   []GraphForm
	rule    Rule
	owned   [][]int // by player: tensors that it updates
	slots   []int   // by player: slots of its optimiser
	updates []updateGraph
	fixed   int      // number of fixed arrays, those of the chain last
	arrays  []string // names of the arrays with one entry per step
	uneven  bool     // whether some steps are not real; see active
}

// updateGraph is an update of a runGraph.
type updateGraph struct {
	player    int
	optimizer nn.GraphOptimizer
	terms     []termGraph
}

// termGraph is a term of an update.
type termGraph struct {
	program   *program // its gradient
	form      runTerm
	x         int            // number of its fixed array; -1: made in every step
	inputs    []int          // the same for the inputs of its losses, in order
	made      []string       // names of the arrays of those that are made in every step
	augmenter GraphAugmenter // of the records; nil: none
}

// graphOf returns the graph of a run and its fixed arrays. The names of the arrays of its steps are
// those that fill makes.
func (l *loop) graphOf(r deviceRun) (*runGraph, []source, error) {
	out := &runGraph{runner: l.g.runner, plan: l.plan, chain: l.device.chain, rule: r.rule, owned: l.device.owned}
	for _, o := range l.device.optimizers {
		out.slots = append(out.slots, len(o.Slots()))
	}
	var fixed []source
	for _, u := range r.updates {
		ug := updateGraph{player: u.player, optimizer: l.device.optimizers[u.player]}
		l.g.player = u.player
		for _, t := range u.terms {
			tg, err := l.termGraph(u.objective[t.term], t, &fixed)
			if err != nil {
				return nil, nil, err
			}
			ug.terms = append(ug.terms, tg)
		}
		out.updates = append(out.updates, ug)
	}
	for _, t := range out.chain {
		for i, v := range t.Fixed {
			fixed = append(fixed, source{m: array.Matrix[float32]{Rows: 1, Cols: len(v), Data: v}, rows: 1, shape: l.g.runner.WeightShapes()[i].Shape})
		}
	}
	out.fixed = len(fixed)
	return out, fixed, nil
}

// termGraph returns the graph of a term. Its records and loss inputs are fixed arrays, or those
// that its augmenter makes.
func (l *loop) termGraph(term Term, form runTerm, fixed *[]source) (termGraph, error) {
	p, err := l.g.program(term)
	out := termGraph{program: p, form: form, x: -1}
	if err != nil {
		return out, err
	}
	number := func(m array.Matrix[float32]) int {
		at := source{m: m, features: form.whole, rows: m.Rows}
		if form.whole {
			at.rows = form.size
		}
		k := slices.IndexFunc(*fixed, at.same)
		if k < 0 {
			k, *fixed = len(*fixed), append(*fixed, at)
		}
		return k
	}
	out.augmenter = term.graphAugmenter()
	if term.Augment == nil || out.augmenter != nil {
		out.x = number(term.X)
	}
	_, noisy := term.Augment.(NoiseAugmenter)
	for k, names := range p.inputs {
		for _, name := range names {
			at := -1
			if !noisy {
				at = number(term.Targets[k].Inputs[name])
			}
			out.inputs, out.made = append(out.inputs, at), append(out.made, "in."+name)
		}
	}
	return out, nil
}

// signature returns a text with everything that the graph depends on except the network.
func (r *runGraph) signature() (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, "run %d of players %v %v, fixed %d, arrays %v %t, private %v",
		r.rule, r.owned, r.slots, r.fixed, r.arrays, r.uneven, r.plan.Private)
	for _, t := range r.chain {
		fmt.Fprintf(&out, ", %s", t.Key)
	}
	if r.plan.Combiner != nil {
		fmt.Fprintf(&out, ", %T %s", r.plan.Combiner, store.ContentHash(r.plan.Combiner))
	}
	for _, u := range r.updates {
		fmt.Fprintf(&out, "; player %d by %T %s", u.player, u.optimizer, store.ContentHash(u.optimizer))
		for _, t := range u.terms {
			key, err := t.program.lossKey()
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&out, ", term %v %d %v %v %s %s", t.form, t.x, t.inputs, t.made, t.program.flags(), key)
			if t.augmenter != nil {
				fmt.Fprintf(&out, ", %T %s", t.augmenter, t.augmenter.GraphKey())
			}
		}
	}
	return out.String(), nil
}

// hideSizes makes the signature that of all runs whose batches can be padded to the same size.
func (r *runGraph) hideSizes() {
	for _, u := range r.updates {
		for k := range u.terms {
			u.terms[k].form.size = 0
		}
	}
}

// stepState is the part of the loop's state that steps change.
type stepState struct {
	weights []*graph.Node
	slots   [][]*graph.Node // by player, as in deviceState
}

func (s stepState) all() []*graph.Node {
	return append(slices.Clone(s.weights), slices.Concat(s.slots...)...)
}

// split reads a state from the front of nodes and returns the rest.
func (r *runGraph) split(in []*graph.Node) (s stepState, rest []*graph.Node) {
	n := len(r.runner.WeightShapes())
	s.weights, rest = in[:n:n], in[n:]
	for k, owned := range r.owned {
		n := len(owned) * r.slots[k]
		s.slots, rest = append(s.slots, rest[:n:n]), rest[n:]
	}
	return s, rest
}

// build builds the loop.
func (r *runGraph) build(in []*graph.Node) []*graph.Node {
	g := in[0].Graph()
	steps := in[len(in)-1].Shape().Dimensions[0]
	// Not graph.Zeros, whose scalar GoMLX would use again inside the loop, where XLA lacks it.
	losses := graph.ConstTensor(g, tensors.FromShape(shapes.Make(dtypes.Float32, steps, len(r.updates))))
	state := append([]*graph.Node{in[0], in[1], losses}, in[2:]...)
	parameters := func(g *graph.Graph, prefix string) []*graph.Node {
		out := make([]*graph.Node, len(state))
		for k, s := range state {
			out[k] = graph.Parameter(g, fmt.Sprintf("%s%d", prefix, k), s.Shape())
		}
		return out
	}
	more := graph.NewClosure(g, func(g *graph.Graph) []*graph.Node {
		at := parameters(g, "c")
		return []*graph.Node{graph.LessThan(at[0], at[1])}
	})
	body := graph.NewClosure(g, func(g *graph.Graph) []*graph.Node {
		at := parameters(g, "b")
		step := at[0]
		s, rest := r.split(at[3:])
		in := r.inputs(step, rest)
		next, own := r.step(s, in)
		if r.uneven {
			next = s.unless(in.own[active], next)
		}
		out := []*graph.Node{graph.AddScalar(step, 1), at[1], setEntry(at[2], step, own)}
		return append(append(out, next.all()...), rest...)
	})
	out := graph.While(more, body, state...)
	changed := len(in) - 2 - r.fixed - len(r.arrays)
	return append(out[3:3+changed:3+changed], finite(out[3:3+len(r.runner.WeightShapes())]), out[2])
}

// finite returns 1 if all weights are finite. A gradient that is not makes its weight so for good.
func finite(weights []*graph.Node) *graph.Node {
	var out *graph.Node
	for _, w := range weights {
		own := graph.ReduceAllMin(graph.ConvertDType(graph.IsFinite(w), dtypes.Float32))
		if out == nil {
			out = own
		} else {
			out = graph.Min(out, own)
		}
	}
	return out
}

// unless returns next where real is 1, and s where it is 0.
func (s stepState) unless(real *graph.Node, next stepState) stepState {
	choose := func(before, after []*graph.Node) []*graph.Node {
		out := make([]*graph.Node, len(before))
		for k := range out {
			out[k] = keepClosed(graph.BroadcastToDims(real, before[k].Shape().Dimensions...), before[k], after[k])
		}
		return out
	}
	out := stepState{weights: choose(s.weights, next.weights)}
	for k := range s.slots {
		out.slots = append(out.slots, choose(s.slots[k], next.slots[k]))
	}
	return out
}

// setEntry sets the entry of a step.
func setEntry(all, step, entry *graph.Node) *graph.Node {
	g, dims := all.Graph(), all.Shape().Dimensions
	here := graph.Equal(graph.Iota(g, shapes.Make(dtypes.Int32, dims...), 0), graph.BroadcastToDims(step, dims...))
	return graph.Where(here, graph.BroadcastToDims(graph.Reshape(entry, append([]int{1}, dims[1:]...)...), dims...), all)
}

// stepInputs are the inputs of a step.
type stepInputs struct {
	fixed []*graph.Node
	own   map[string]*graph.Node // entries of the step
}

// inputs returns the inputs of a step from the arrays.
func (r *runGraph) inputs(step *graph.Node, arrays []*graph.Node) stepInputs {
	in := stepInputs{arrays[:r.fixed], map[string]*graph.Node{}}
	for k, name := range r.arrays {
		in.own[name] = graph.Gather(arrays[r.fixed+k], graph.Reshape(step, 1))
	}
	return in
}

// step returns the state after a step, and the loss of every update.
func (r *runGraph) step(s stepState, in stepInputs) (stepState, *graph.Node) {
	losses := make([]*graph.Node, len(r.updates))
	switch r.rule {
	case Alternating:
		for i := range r.updates {
			got := r.gradient(i, s.weights, in)
			s, losses[i] = r.apply(i, s, got, in), got.loss
		}
	case Simultaneous:
		s, losses = r.stepTogether(s.weights, s, in)
	case ExtraGradient:
		trial, _ := r.stepTogether(s.weights, s, in)
		s, losses = r.stepTogether(trial.weights, s, in)
	}
	return s, graph.Stack(losses, 0)
}

// stepTogether computes the gradients of all players at the same weights and applies them. It
// returns the losses there.
func (r *runGraph) stepTogether(at []*graph.Node, s stepState, in stepInputs) (stepState, []*graph.Node) {
	got, losses := make([]updateGradient, len(r.updates)), make([]*graph.Node, len(r.updates))
	for i := range r.updates {
		got[i] = r.gradient(i, at, in)
		losses[i] = got[i].loss
	}
	for i := range r.updates {
		s = r.apply(i, s, got[i], in)
	}
	return s, losses
}

// updateGradient is the value and gradient of an update, and the statistics of its batches.
type updateGradient struct {
	loss       *graph.Node
	grads      []*graph.Node // nil for state
	statistics [][]*graph.Node
}

// gradient returns the gradient of an update at weights w, after the transforms.
func (r *runGraph) gradient(i int, w []*graph.Node, in stepInputs) updateGradient {
	parts := make([]updateGradient, len(r.updates[i].terms))
	for k, t := range r.updates[i].terms {
		parts[k] = r.termGradient(i, k, t, w, in)
	}
	got := r.combine(parts)
	for k, t := range r.chain {
		s := r.transformStep(i, k, in)
		s.Weights, s.Grads, s.Loss = w, got.grads, got.loss
		t.Transform(s)
		got.loss = s.Loss
	}
	return got
}

// transformStep returns a step of an update with the arrays of transform k, without a gradient.
func (r *runGraph) transformStep(i, k int, in stepInputs) *GraphStep {
	from := len(in.fixed)
	for _, t := range r.chain[k:] {
		from -= len(t.Fixed)
	}
	s := &GraphStep{Fixed: in.fixed[from : from+len(r.chain[k].Fixed)], Arrays: map[string]*graph.Node{}}
	for name := range r.chain[k].Arrays {
		s.Arrays[name] = in.own[transformName(i, k, name)]
	}
	return s
}

// termGradient returns the gradient of a term.
func (r *runGraph) termGradient(i, k int, t termGraph, w []*graph.Node, in stepInputs) updateGradient {
	args := append(slices.Clone(w), t.node(i, k, "x", t.x, in))
	n := args[len(w)].Shape().Dimensions[1]
	if t.program.random {
		keys := in.own[termName(i, k, "keys")]
		for layer, d := range r.runner.RandomInputs() {
			args = append(args, d.Graph(graph.Reshape(graph.Slice(keys, graph.AxisElem(layer))), n))
		}
	}
	weights, at := in.own[termName(i, k, "weights")], 0
	for j, names := range t.program.inputs {
		for range names {
			args = append(args, t.node(i, k, t.made[at], t.inputs[at], in))
			at++
		}
		weight := graph.Slice(weights, graph.AxisElem(j))
		args = append(args, t.recordWeights(i, k, weight, n, in))
	}
	if r.plan.Private != nil {
		args = append(args, graph.Scalar(weights.Graph(), dtypes.Float32, r.plan.Private.Norm))
	}
	out := t.program.build(args)
	got := updateGradient{loss: out[0], grads: out[1:]}
	statistics := make([]*graph.Node, len(w))
	for j, v := range r.runner.WeightShapes() {
		switch {
		case v.State:
			statistics[j], got.grads[j] = got.grads[j], nil
		case got.grads[j].Shape().Size() != w[j].Shape().Size(): // no gradient
			got.grads[j] = graph.ZerosLike(w[j])
		default:
			got.grads[j] = graph.Reshape(got.grads[j], w[j].Shape().Dimensions...)
		}
	}
	got.statistics = [][]*graph.Node{statistics}
	return got
}

// node returns records as an input of the network or of a loss, [features, records].
func (t termGraph) node(i, k int, what string, fixed int, in stepInputs) *graph.Node {
	switch {
	case fixed < 0:
		return graph.Transpose(in.own[termName(i, k, what)], 0, 1)
	case t.form.whole:
		return in.fixed[fixed]
	}
	records := graph.Gather(in.fixed[fixed], graph.Reshape(in.own[termName(i, k, "rows")], -1, 1))
	if what == "x" && t.augmenter != nil {
		records = t.augmenter.GraphAugment(records, in.own[termName(i, k, "moves")])
	}
	return graph.Transpose(records, 0, 1)
}

// recordWeights returns [1, n]: a loss's weight, and 0 for padding.
func (t termGraph) recordWeights(i, k int, weight *graph.Node, n int, in stepInputs) *graph.Node {
	weight = graph.BroadcastToDims(graph.Reshape(weight, 1, 1), 1, n)
	if t.form.whole && !t.form.padded {
		return weight
	}
	count := graph.BroadcastToDims(graph.Reshape(in.own[termName(i, k, "count")], 1, 1), 1, n)
	there := graph.LessThan(graph.Iota(weight.Graph(), shapes.Make(dtypes.Int32, 1, n), 1), count)
	return graph.Where(there, weight, graph.ZerosLike(weight))
}

// combine adds up the gradients of the terms, with the combiner's weights if there is one.
func (r *runGraph) combine(parts []updateGradient) updateGradient {
	if r.plan.Combiner != nil && len(parts) > 1 {
		weights := combinerWeights(r.plan.Combiner.(GraphCombiner), parts)
		for k := range parts {
			parts[k].loss = graph.Mul(parts[k].loss, weights[k])
			for j, g := range parts[k].grads {
				if g != nil {
					parts[k].grads[j] = graph.Mul(g, weights[k])
				}
			}
		}
	}
	out := parts[0]
	for _, p := range parts[1:] {
		out.loss = graph.Add(out.loss, p.loss)
		for j, g := range p.grads {
			if g != nil {
				out.grads[j] = graph.Add(out.grads[j], g)
			}
		}
		out.statistics = append(out.statistics, p.statistics...)
	}
	return out
}

// apply returns the state after an update.
func (r *runGraph) apply(i int, s stepState, got updateGradient, in stepInputs) stepState {
	u, like := r.updates[i], r.runner.WeightShapes()
	next := stepState{slices.Clone(s.weights), slices.Clone(s.slots)}
	for _, statistics := range got.statistics {
		for j, v := range like {
			switch {
			case !v.State:
			case v.Latest:
				next.weights[j] = statistics[j]
			default:
				next.weights[j] = nn.UpdatedRunning(next.weights[j], statistics[j])
			}
		}
	}
	owned, rule := r.owned[u.player], in.own[updateName(i, "rule")]
	slots := slices.Clone(s.slots[u.player])
	kinds := r.slots[u.player]
	for k, j := range owned {
		var before []*graph.Node
		for kind := range kinds {
			before = append(before, slots[kind*len(owned)+k])
		}
		w, after := u.optimizer.GraphStep(s.weights[j], got.grads[j], before, rowScalars(rule, k))
		for t, f := range r.chain {
			if f.AfterStep == nil {
				continue
			}
			own := r.transformStep(i, t, in)
			w = f.AfterStep(own, j, s.weights[j], w)
			for kind := range after {
				after[kind] = f.AfterStep(own, j, before[kind], after[kind])
			}
		}
		next.weights[j] = w
		for kind := range after {
			slots[kind*len(owned)+k] = after[kind]
		}
	}
	next.slots[u.player] = slots
	return next
}

// rowScalars returns the elements of a row as scalars.
func rowScalars(rule *graph.Node, row int) (out []*graph.Node) {
	for k := range rule.Shape().Dimensions[1] {
		out = append(out, graph.Reshape(graph.Slice(rule, graph.AxisElem(row), graph.AxisElem(k))))
	}
	return out
}
