package onnx

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
)

// Operators of the domain ai.onnx.ml: what scikit-learn and the makers of trees export.

// ml is the domain's name.
const ml = "ai.onnx.ml"

// records are those of the first input, as float32, one per row.
func (o *op) records() (x *graph.Node, features int) {
	v := o.in[0]
	if v.rank() == 1 {
		return graph.ConvertDType(graph.Reshape(o.x(0), 1, v.dims[0]), dtypes.Float32), v.dims[0]
	}
	if v.rank() != 2 {
		fail("records of shape %v", v.dims)
	}
	return graph.ConvertDType(o.x(0), dtypes.Float32), v.dims[1]
}

// list32 are the numbers of an attribute as a node of a shape.
func (o *op) list32(name string, dims ...int) *graph.Node {
	list := o.given(name).floats
	if n, err := product(dims); err != nil || int64(len(list)) != n {
		fail("its attribute %s holds %d numbers, and not %v", name, len(list), dims)
	}
	return o.of(known(float32s, list, dims...))
}

// transformed is what is made of scores at last.
func (o *op) transformed(x *graph.Node) *graph.Node {
	switch o.string("post_transform") {
	case "SOFTMAX":
		return softmax(x, 1)
	case "LOGISTIC":
		return graph.Logistic(x)
	case "SOFTMAX_ZERO":
		return softmaxZero(x)
	}
	return x
}

// softmaxZero is a softmax in which a score of zero stays zero.
func softmaxZero(x *graph.Node) *graph.Node {
	zero := graph.LessOrEqual(graph.Abs(x), c(x, 1e-7))
	e := graph.Exp(graph.Sub(x, along(graph.ReduceMax, x, 1)))
	e = graph.Where(zero, graph.Mul(x, graph.Exp(graph.Neg(along(graph.ReduceMax, x, 1)))), e)
	return graph.Div(e, along(graph.ReduceSum, e, 1))
}

func linearRegressor(o *op) *value {
	x, n := o.records()
	targets := o.int("targets")
	if targets < 1 || targets > most {
		fail("its attribute targets = %d", targets)
	}
	y := graph.DotGeneral(x, []int{1}, nil, o.list32("coefficients", targets, n), []int{1}, nil)
	if a := o.given("intercepts"); a != nil && len(a.floats) > 0 {
		y = graph.Add(y, broadcast(o.list32("intercepts", targets), y.Shape().Dimensions))
	}
	return made(float32s, o.oneTarget(targets, y))
}

// oneTarget refuses to transform a single number: the standard says what becomes of it, and
// onnxruntime leaves it as it is.
func (o *op) oneTarget(targets int, y *graph.Node) *graph.Node {
	if targets == 1 && o.string("post_transform") != "NONE" {
		fail("post_transform %s of one number is not implemented", o.string("post_transform"))
	}
	return o.transformed(y)
}

// linearClassifier has a label and a score per class.
func linearClassifier(o *op) []*value {
	x, n := o.records()
	labels := o.labels("classlabels_ints", "classlabels_strings")
	classes := len(o.given("coefficients").floats) / max(1, n)
	if classes < 1 || classes != labels.size() && (classes != 1 || labels.size() != 2) {
		fail("coefficients of %d classes for %d labels", classes, labels.size())
	}
	y := graph.DotGeneral(x, []int{1}, nil, o.list32("coefficients", classes, n), []int{1}, nil)
	if a := o.given("intercepts"); a != nil && len(a.floats) > 0 {
		y = graph.Add(y, broadcast(o.list32("intercepts", classes), y.Shape().Dimensions))
	}
	if classes == 1 {
		return o.twoOf(labels, y, true, 0)
	}
	return []*value{o.labelled(labels, y), made(float32s, o.transformed(y))}
}

// labels are the names of classes.
func (o *op) labels(whole, text string) *value {
	if a := o.given(whole); a != nil && len(a.ints) > 0 {
		return known(int64s, a.ints, len(a.ints))
	}
	if a := o.given(text); a != nil {
		return &value{elem: texts, known: true, text: a.strings, dims: []int{len(a.strings)}}
	}
	fail("it has no labels")
	return nil
}

// labelled is the label of the largest score. One that is a string is not computed with.
func (o *op) labelled(labels *value, scores *graph.Node) *value {
	if labels.elem == texts {
		return &value{elem: texts, dims: []int{scores.Shape().Dimensions[0]}}
	}
	return made(int64s, taken(o.of(labels), graph.ArgMax(scores, 1, dtypes.Int64), 0))
}

// scaler has an offset and a factor, of all features or of each.
func scaler(o *op) *value {
	x, n := o.records()
	line := func(name string, fallback float64) *graph.Node {
		a := o.given(name)
		switch {
		case a == nil:
			return c(x, fallback)
		case len(a.floats) == 1:
			return c(x, float64(a.floats[0]))
		}
		return broadcast(o.list32(name, n), x.Shape().Dimensions)
	}
	return made(float32s, graph.Mul(graph.Sub(x, line("offset", 0)), line("scale", 1)))
}

// normalizer divides records by a norm; those of norm zero stay.
func normalizer(o *op) *value {
	x, _ := o.records()
	var norm *graph.Node
	switch o.string("norm") {
	case "MAX":
		norm = along(graph.ReduceMax, x, 1)
	case "L1":
		norm = along(graph.ReduceSum, graph.Abs(x), 1)
	default:
		norm = graph.Sqrt(along(graph.ReduceSum, graph.Mul(x, x), 1))
	}
	none := graph.Equal(norm, c(norm, 0))
	return made(float32s, graph.Where(none, x, graph.Div(x, graph.Where(none, c(norm, 1), norm))))
}

// imputer puts numbers in the place of one that stands for none.
func imputer(o *op) *value {
	x, n := o.records()
	if !o.in[0].elem.float() {
		fail("records of type %s", o.in[0].elem)
	}
	values := o.given("imputed_value_floats").floats
	width := n
	if len(values) == 1 {
		width = 1
	}
	fresh := broadcast(o.list32("imputed_value_floats", width), x.Shape().Dimensions)
	old := float32(o.float("replaced_value_float"))
	hit := graph.Equal(x, c(x, float64(old)))
	if old != old {
		hit = graph.IsNaN(x)
	}
	return made(float32s, graph.Where(hit, fresh, x))
}

func binarizer(o *op) *value {
	x := o.x(0)
	return made(o.in[0].elem, graph.Where(graph.GreaterThan(x, c(x, o.float("threshold"))), c(x, 1), c(x, 0)))
}

// extractor looks features up by their numbers.
func extractor(o *op) *value {
	v := o.in[0]
	if v.elem == texts {
		out := o.gatherTexts()
		out.dims = []int{1, out.size()}
		return out
	}
	if v.rank() == 0 {
		fail("a value without axes")
	}
	last := v.rank() - 1
	y := taken(o.x(0), line(o.places(1, v.dims[last])), last)
	if v.rank() == 1 {
		y = graph.Reshape(y, 1, y.Shape().Size())
	}
	return made(v.elem, y)
}

// featureVector lays features side by side.
func featureVector(o *op) *value {
	var parts []*graph.Node
	widths := o.list("inputdimensions", len(o.in), 0)
	for i, v := range o.in {
		if v == nil || v.rank() != 2 || v.dims[0] != o.in[0].dims[0] || o.given("inputdimensions") != nil && v.dims[1] != widths[i] {
			fail("its input %d is no part of a record", i)
		}
		parts = append(parts, graph.ConvertDType(o.x(i), dtypes.Float32))
	}
	return made(float32s, joined(parts, 1))
}

// zipMap writes names beside probabilities; the probabilities are what is read here.
func zipMap(o *op) []*value { return []*value{o.in[0]} }

// forest are trees, walked by all records at once.
type forest struct {
	*op
	depth          int
	feature        []int64
	threshold      []float32
	mode           []int64
	yes, no        []int64
	missing        []bool
	weights        []float32 // [node, target]
	weighed        []bool
	roots          []int64
	targets, nodes int
}

var modes = map[string]int64{"LEAF": 0, "BRANCH_LEQ": 1, "BRANCH_LT": 2, "BRANCH_GTE": 3, "BRANCH_GT": 4, "BRANCH_EQ": 5, "BRANCH_NEQ": 6}

// forestOf reads trees, and refuses such as do not end.
func forestOf(o *op, features int) *forest {
	ids, trees := o.given("nodes_nodeids").ints, o.given("nodes_treeids").ints
	n := len(ids)
	if n == 0 || n > small*64 {
		fail("trees of %d nodes", n)
	}
	f := &forest{op: o, nodes: n}
	kinds := o.given("nodes_modes").strings
	feature, values := o.given("nodes_featureids").ints, o.given("nodes_values").floats
	yes, no := o.given("nodes_truenodeids").ints, o.given("nodes_falsenodeids").ints
	for _, l := range []int{len(trees), len(kinds), len(feature), len(values), len(yes), len(no)} {
		if l != n {
			fail("its attributes describe %d nodes, and %d", n, l)
		}
	}
	at := map[[2]int64]int64{}
	for i := range n {
		key := [2]int64{trees[i], ids[i]}
		if _, twice := at[key]; twice {
			fail("node %d of tree %d twice", key[1], key[0])
		}
		at[key] = int64(i)
		if i == 0 || trees[i] != trees[i-1] {
			f.roots = append(f.roots, int64(i))
		}
	}
	child := func(tree, id int64) int64 {
		k, ok := at[[2]int64{tree, id}]
		if !ok {
			fail("node %d of tree %d is not there", id, tree)
		}
		return k
	}
	f.threshold = values
	for i := range n {
		mode, ok := modes[kinds[i]]
		if !ok {
			fail("nodes of mode %q are not implemented", kinds[i])
		}
		f.mode = append(f.mode, mode)
		if mode == 0 {
			f.feature, f.yes, f.no = append(f.feature, 0), append(f.yes, int64(i)), append(f.no, int64(i))
			continue
		}
		if feature[i] < 0 || feature[i] >= int64(features) {
			fail("feature %d of %d", feature[i], features)
		}
		f.feature = append(f.feature, feature[i])
		f.yes, f.no = append(f.yes, child(trees[i], yes[i])), append(f.no, child(trees[i], no[i]))
	}
	f.depth = f.measure()
	f.missing = make([]bool, n)
	if a := o.given("nodes_missing_value_tracks_true"); a != nil && len(a.ints) > 0 {
		if len(a.ints) != n {
			fail("its attributes describe %d nodes, and %d", n, len(a.ints))
		}
		f.missing = fill(n, func(i int) bool { return a.ints[i] != 0 })
	}
	return f
}

// measure is the number of steps from a root to the last leaf.
func (f *forest) measure() (depth int) {
	level := slices.Clone(f.roots)
	seen := make([]bool, f.nodes)
	for len(level) > 0 {
		var next []int64
		for _, i := range level {
			if seen[i] {
				fail("a node of its trees is reached in two ways")
			}
			seen[i] = true
			if f.mode[i] != 0 {
				next = append(next, f.yes[i], f.no[i])
			}
		}
		if level = next; len(level) > 0 {
			depth++
		}
	}
	if slices.Contains(seen, false) {
		fail("a node of its trees is reached in no way, or a tree is in two parts")
	}
	return depth
}

// weigh reads what the leaves say.
func (f *forest) weigh(prefix string, targets int) {
	trees, ids := f.given(prefix+"_treeids").ints, f.given(prefix+"_nodeids").ints
	which, weights := f.given(prefix+"_ids").ints, f.given(prefix+"_weights").floats
	if len(ids) != len(trees) || len(which) != len(trees) || len(weights) != len(trees) {
		fail("its attributes %s_... are of different lengths", prefix)
	}
	at := map[[2]int64]int{}
	for i, tree := range f.given("nodes_treeids").ints {
		at[[2]int64{tree, f.given("nodes_nodeids").ints[i]}] = i
	}
	f.targets = targets
	room([]int{f.nodes, targets})
	f.weights, f.weighed = make([]float32, f.nodes*targets), make([]bool, f.nodes*targets)
	for i := range trees {
		k, ok := at[[2]int64{trees[i], ids[i]}]
		target := int(which[i])
		if !ok || f.mode[k] != 0 || target < 0 || target >= targets {
			fail("a weight of target %d at node %d of tree %d", which[i], ids[i], trees[i])
		}
		if f.weighed[k*targets+target] {
			fail("two weights of one target at node %d of tree %d", ids[i], trees[i])
		}
		f.weights[k*targets+target], f.weighed[k*targets+target] = weights[i], true
	}
}

// walk is the sum of what the trees say of every record.
func (f *forest) walk(x *graph.Node) *graph.Node {
	records, features := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	trees := len(f.roots)
	room([]int{records, trees, f.targets})
	dims := []int{records, trees}
	at := broadcast(f.of(known(int64s, f.roots, 1, trees)), dims)
	of := func(v *value) *graph.Node { return taken(f.of(v), at, 0) }
	feature, threshold := known(int64s, f.feature, f.nodes), known(float32s, f.threshold, f.nodes)
	mode, yes, no := known(int64s, f.mode, f.nodes), known(int64s, f.yes, f.nodes), known(int64s, f.no, f.nodes)
	missing := known(bools, f.missing, f.nodes)
	first := graph.Mul(f.iota(dims, 0), c(at, float64(features)))
	all := line(x)
	for range f.depth {
		v := taken(all, graph.Add(first, of(feature)), 0)
		left := decided(of(mode), v, of(threshold))
		if slices.Contains(f.missing, true) {
			track := graph.ConvertDType(taken(graph.ConvertDType(f.of(missing), dtypes.Int32), at, 0), dtypes.Bool)
			left = graph.LogicalOr(left, graph.LogicalAnd(graph.IsNaN(v), track))
		}
		at = graph.Where(left, of(yes), of(no))
	}
	said := taken(f.of(known(float32s, f.weights, f.nodes, f.targets)), at, 0)
	return graph.ReduceSum(said, 1)
}

// decided compares as each node asks.
func decided(mode, v, threshold *graph.Node) *graph.Node {
	out := graph.LessOrEqual(v, threshold)
	for i, f := range []func(a, b *graph.Node) *graph.Node{graph.LessThan, graph.GreaterOrEqual, graph.GreaterThan, graph.Equal, graph.NotEqual} {
		its := graph.Equal(mode, c(mode, float64(i+2)))
		out = graph.LogicalOr(graph.LogicalAnd(its, f(v, threshold)), graph.LogicalAnd(graph.LogicalNot(its), out))
	}
	return out
}

// based adds what is said before any tree.
func (f *forest) based(y *graph.Node) *graph.Node {
	if a := f.given("base_values"); a != nil && len(a.floats) > 0 {
		y = graph.Add(y, broadcast(f.list32("base_values", f.targets), y.Shape().Dimensions))
	}
	return y
}

func treeRegressor(o *op) *value {
	x, n := o.records()
	f := forestOf(o, n)
	targets := o.int("n_targets")
	if targets < 1 || targets > small {
		fail("its attribute n_targets = %d", targets)
	}
	f.weigh("target", targets)
	y := f.walk(x)
	if o.string("aggregate_function") == "AVERAGE" {
		y = graph.Div(y, c(y, float64(len(f.roots))))
	}
	if a := o.given("base_values"); a != nil && targets > 1 && !f.complete() {
		fail("base values of several targets are not implemented where leaves pass over some")
	}
	return made(float32s, o.oneTarget(targets, f.based(y)))
}

// complete reports whether there is a tree whose leaves all weigh every target.
func (f *forest) complete() bool {
	for i, root := range f.roots {
		end := f.nodes
		if i+1 < len(f.roots) {
			end = int(f.roots[i+1])
		}
		all := true
		for k := int(root); k < end && all; k++ {
			all = f.mode[k] != 0 || !slices.Contains(f.weighed[k*f.targets:(k+1)*f.targets], false)
		}
		if all {
			return true
		}
	}
	return false
}

// treeClassifier has a label and a score per class. Trees of two classes may weigh one of
// them alone; the score of the other follows.
func treeClassifier(o *op) []*value {
	x, n := o.records()
	f := forestOf(o, n)
	labels := o.labels("classlabels_int64s", "classlabels_strings")
	ids := o.given("class_ids").ints
	if len(ids) == 0 {
		fail("its leaves say nothing")
	}
	if labels.size() == 2 && slices.Max(ids) == 0 {
		return f.oneSided(x, labels)
	}
	f.weigh("class", labels.size())
	y := f.based(f.walk(x))
	scores := made(float32s, o.transformed(y))
	if labels.size() > 2 {
		return []*value{o.labelled(labels, y), scores}
	}
	// Of two classes onnxruntime finds the label, and base values, in ways of its own.
	if a := o.given("base_values"); a != nil && len(a.floats) > 0 || !f.complete() {
		fail("two classes with base values, or with leaves that pass over one, are not implemented")
	}
	return []*value{nil, scores}
}

// oneSided are two scores of one sum, where the leaves weigh one class of two.
func (f *forest) oneSided(x *graph.Node, labels *value) []*value {
	f.weigh("class", 1)
	positive := !slices.ContainsFunc(f.given("class_weights").floats, func(w float32) bool { return w < 0 })
	half := 0.0
	if positive {
		half = 0.5
	}
	return f.twoOf(labels, f.based(f.walk(x)), positive, half)
}

// twoOf are the label and two scores of one for the second class, which is a probability or
// a number above zero or below; the label is the second where it is above a bound.
func (o *op) twoOf(labels *value, y *graph.Node, probability bool, bound float64) []*value {
	low, high := graph.Neg(y), y
	switch post := o.string("post_transform"); {
	case post == "LOGISTIC":
		low, high = graph.Logistic(low), graph.Logistic(high)
	case post != "NONE":
		fail("post_transform %s of one class of two is not implemented", post)
	case probability:
		low = graph.Sub(c(y, 1), y)
	}
	scores := made(float32s, graph.Concatenate([]*graph.Node{low, high}, 1))
	if labels.elem == texts {
		return []*value{o.labelled(labels, scores.node), scores}
	}
	second := graph.ConvertDType(graph.GreaterThan(line(y), c(line(y), bound)), dtypes.Int64)
	return []*value{made(int64s, taken(o.of(labels), second, 0)), scores}
}
