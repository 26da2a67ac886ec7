package onnx

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
)

// Operators of the domain ai.onnx.ml, as exported by scikit-learn and tree libraries.

// ml is the domain's name.
const ml = "ai.onnx.ml"

// recordInput returns the records of the first input, as float32, one per row.
func (o *op) recordInput() (x *graph.Node, features int) {
	v := o.in[0]
	if v.rank() == 1 {
		return graph.ConvertDType(graph.Reshape(o.inputNode(0), 1, v.dims[0]), dtypes.Float32), v.dims[0]
	}
	if v.rank() != 2 {
		fail("records of shape %v", v.dims)
	}
	return graph.ConvertDType(o.inputNode(0), dtypes.Float32), v.dims[1]
}

// list32 returns the numbers of an attribute as a node of a shape.
func (o *op) list32(name string, dims ...int) *graph.Node {
	list := o.attribute(name).floats
	if n, err := product(dims); err != nil || int64(len(list)) != n {
		fail("its attribute %s holds %d numbers, and not %v", name, len(list), dims)
	}
	return o.nodeOf(knownValue(float32s, list, dims...))
}

// transformScores applies the final transformation to scores.
func (o *op) transformScores(x *graph.Node) *graph.Node {
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
	zero := graph.LessOrEqual(graph.Abs(x), constLike(x, 1e-7))
	e := graph.Exp(graph.Sub(x, reduceKeeping(graph.ReduceMax, x, 1)))
	e = graph.Where(zero, graph.Mul(x, graph.Exp(graph.Neg(reduceKeeping(graph.ReduceMax, x, 1)))), e)
	return graph.Div(e, reduceKeeping(graph.ReduceSum, e, 1))
}

func linearRegressor(o *op) *value {
	x, n := o.recordInput()
	targets := o.int("targets")
	if targets < 1 || targets > maxBytes {
		fail("its attribute targets = %d", targets)
	}
	y := graph.DotGeneral(x, []int{1}, nil, o.list32("coefficients", targets, n), []int{1}, nil)
	if a := o.attribute("intercepts"); a != nil && len(a.floats) > 0 {
		y = graph.Add(y, broadcast(o.list32("intercepts", targets), y.Shape().Dimensions))
	}
	return computedValue(float32s, o.oneTarget(targets, y))
}

// oneTarget refuses to transform a single number, for which onnxruntime does not follow the
// standard.
func (o *op) oneTarget(targets int, y *graph.Node) *graph.Node {
	if targets == 1 && o.string("post_transform") != "NONE" {
		fail("post_transform %s of one number is not implemented", o.string("post_transform"))
	}
	return o.transformScores(y)
}

// linearClassifier has a label and a score per class.
func linearClassifier(o *op) []*value {
	x, n := o.recordInput()
	labels := o.classLabels("classlabels_ints", "classlabels_strings")
	classes := len(o.attribute("coefficients").floats) / max(1, n)
	if classes < 1 || classes != labels.size() && (classes != 1 || labels.size() != 2) {
		fail("coefficients of %d classes for %d labels", classes, labels.size())
	}
	y := graph.DotGeneral(x, []int{1}, nil, o.list32("coefficients", classes, n), []int{1}, nil)
	if a := o.attribute("intercepts"); a != nil && len(a.floats) > 0 {
		y = graph.Add(y, broadcast(o.list32("intercepts", classes), y.Shape().Dimensions))
	}
	if classes == 1 {
		return o.twoClassScores(labels, y, true, 0)
	}
	return []*value{o.topLabel(labels, y), computedValue(float32s, o.transformScores(y))}
}

// classLabels returns the names of classes.
func (o *op) classLabels(whole, text string) *value {
	if a := o.attribute(whole); a != nil && len(a.ints) > 0 {
		return knownValue(int64s, a.ints, len(a.ints))
	}
	if a := o.attribute(text); a != nil {
		return &value{elem: texts, known: true, text: a.strings, dims: []int{len(a.strings)}}
	}
	fail("it has no labels")
	return nil
}

// topLabel returns the label of the largest score. Labels that are strings are not
// computed.
func (o *op) topLabel(labels *value, scores *graph.Node) *value {
	if labels.elem == texts {
		return &value{elem: texts, dims: []int{scores.Shape().Dimensions[0]}}
	}
	return computedValue(int64s, takeAlong(o.nodeOf(labels), graph.ArgMax(scores, 1, dtypes.Int64), 0))
}

// scaler has an offset and a factor, for all features or for each.
func scaler(o *op) *value {
	x, n := o.recordInput()
	line := func(name string, fallback float64) *graph.Node {
		a := o.attribute(name)
		switch {
		case a == nil:
			return constLike(x, fallback)
		case len(a.floats) == 1:
			return constLike(x, float64(a.floats[0]))
		}
		return broadcast(o.list32(name, n), x.Shape().Dimensions)
	}
	return computedValue(float32s, graph.Mul(graph.Sub(x, line("offset", 0)), line("scale", 1)))
}

// normalizer divides records by a norm; records of norm zero stay.
func normalizer(o *op) *value {
	x, _ := o.recordInput()
	var norm *graph.Node
	switch o.string("norm") {
	case "MAX":
		norm = reduceKeeping(graph.ReduceMax, x, 1)
	case "L1":
		norm = reduceKeeping(graph.ReduceSum, graph.Abs(x), 1)
	default:
		norm = graph.Sqrt(reduceKeeping(graph.ReduceSum, graph.Mul(x, x), 1))
	}
	none := graph.Equal(norm, constLike(norm, 0))
	return computedValue(float32s, graph.Where(none, x, graph.Div(x, graph.Where(none, constLike(norm, 1), norm))))
}

// imputer replaces missing values.
func imputer(o *op) *value {
	x, n := o.recordInput()
	if !o.in[0].elem.isFloat() {
		fail("records of type %s", o.in[0].elem)
	}
	values := o.attribute("imputed_value_floats").floats
	width := n
	if len(values) == 1 {
		width = 1
	}
	fresh := broadcast(o.list32("imputed_value_floats", width), x.Shape().Dimensions)
	old := float32(o.float("replaced_value_float"))
	hit := graph.Equal(x, constLike(x, float64(old)))
	if old != old {
		hit = graph.IsNaN(x)
	}
	return computedValue(float32s, graph.Where(hit, fresh, x))
}

func binarizer(o *op) *value {
	x := o.inputNode(0)
	return computedValue(o.in[0].elem, graph.Where(graph.GreaterThan(x, constLike(x, o.float("threshold"))), constLike(x, 1), constLike(x, 0)))
}

// extractor selects features by their indices.
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
	y := takeAlong(o.inputNode(0), flatList(o.indices(1, v.dims[last])), last)
	if v.rank() == 1 {
		y = graph.Reshape(y, 1, y.Shape().Size())
	}
	return computedValue(v.elem, y)
}

// featureVector concatenates features.
func featureVector(o *op) *value {
	var parts []*graph.Node
	widths := o.list("inputdimensions", len(o.in), 0)
	for i, v := range o.in {
		if v == nil || v.rank() != 2 || v.dims[0] != o.in[0].dims[0] || o.attribute("inputdimensions") != nil && v.dims[1] != widths[i] {
			fail("its input %d is not a part of a record", i)
		}
		parts = append(parts, graph.ConvertDType(o.inputNode(i), dtypes.Float32))
	}
	return computedValue(float32s, concatNodes(parts, 1))
}

// zipMap pairs probabilities with names; here it passes on the probabilities.
func zipMap(o *op) []*value { return []*value{o.in[0]} }

// forest is a set of trees, evaluated for all records at once.
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

// forestOf reads trees, and refuses trees with cycles.
func forestOf(o *op, features int) *forest {
	ids, trees := o.attribute("nodes_nodeids").ints, o.attribute("nodes_treeids").ints
	n := len(ids)
	if n == 0 || n > maxFolded*64 {
		fail("trees of %d nodes", n)
	}
	f := &forest{op: o, nodes: n}
	kinds := o.attribute("nodes_modes").strings
	feature, values := o.attribute("nodes_featureids").ints, o.attribute("nodes_values").floats
	yes, no := o.attribute("nodes_truenodeids").ints, o.attribute("nodes_falsenodeids").ints
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
			fail("node %d of tree %d is missing", id, tree)
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
	f.depth = f.maxDepth()
	f.missing = make([]bool, n)
	if a := o.attribute("nodes_missing_value_tracks_true"); a != nil && len(a.ints) > 0 {
		if len(a.ints) != n {
			fail("its attributes describe %d nodes, and %d", n, len(a.ints))
		}
		f.missing = fill(n, func(i int) bool { return a.ints[i] != 0 })
	}
	return f
}

// maxDepth returns the number of steps from a root to the deepest leaf.
func (f *forest) maxDepth() (depth int) {
	level := slices.Clone(f.roots)
	seen := make([]bool, f.nodes)
	for len(level) > 0 {
		var next []int64
		for _, i := range level {
			if seen[i] {
				fail("a node of its trees has two parents")
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
		fail("a node of its trees has no parent, or a tree has two roots")
	}
	return depth
}

// readLeaves reads the weights of the leaves.
func (f *forest) readLeaves(prefix string, targets int) {
	trees, ids := f.attribute(prefix+"_treeids").ints, f.attribute(prefix+"_nodeids").ints
	which, weights := f.attribute(prefix+"_ids").ints, f.attribute(prefix+"_weights").floats
	if len(ids) != len(trees) || len(which) != len(trees) || len(weights) != len(trees) {
		fail("its attributes %s_... are of different lengths", prefix)
	}
	at := map[[2]int64]int{}
	for i, tree := range f.attribute("nodes_treeids").ints {
		at[[2]int64{tree, f.attribute("nodes_nodeids").ints[i]}] = i
	}
	f.targets = targets
	checkSize([]int{f.nodes, targets})
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

// evaluate returns the sum over the trees for every record.
func (f *forest) evaluate(x *graph.Node) *graph.Node {
	records, features := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	trees := len(f.roots)
	checkSize([]int{records, trees, f.targets})
	dims := []int{records, trees}
	at := broadcast(f.nodeOf(knownValue(int64s, f.roots, 1, trees)), dims)
	of := func(v *value) *graph.Node { return takeAlong(f.nodeOf(v), at, 0) }
	feature, threshold := knownValue(int64s, f.feature, f.nodes), knownValue(float32s, f.threshold, f.nodes)
	mode, yes, no := knownValue(int64s, f.mode, f.nodes), knownValue(int64s, f.yes, f.nodes), knownValue(int64s, f.no, f.nodes)
	missing := knownValue(bools, f.missing, f.nodes)
	first := graph.Mul(f.iota(dims, 0), constLike(at, float64(features)))
	all := flatList(x)
	for range f.depth {
		v := takeAlong(all, graph.Add(first, of(feature)), 0)
		left := compareNode(of(mode), v, of(threshold))
		if slices.Contains(f.missing, true) {
			track := graph.ConvertDType(takeAlong(graph.ConvertDType(f.nodeOf(missing), dtypes.Int32), at, 0), dtypes.Bool)
			left = graph.LogicalOr(left, graph.LogicalAnd(graph.IsNaN(v), track))
		}
		at = graph.Where(left, of(yes), of(no))
	}
	values := takeAlong(f.nodeOf(knownValue(float32s, f.weights, f.nodes, f.targets)), at, 0)
	return graph.ReduceSum(values, 1)
}

// compareNode compares by the mode of each node.
func compareNode(mode, v, threshold *graph.Node) *graph.Node {
	out := graph.LessOrEqual(v, threshold)
	for i, f := range []func(a, b *graph.Node) *graph.Node{graph.LessThan, graph.GreaterOrEqual, graph.GreaterThan, graph.Equal, graph.NotEqual} {
		its := graph.Equal(mode, constLike(mode, float64(i+2)))
		out = graph.LogicalOr(graph.LogicalAnd(its, f(v, threshold)), graph.LogicalAnd(graph.LogicalNot(its), out))
	}
	return out
}

// addBase adds the base values.
func (f *forest) addBase(y *graph.Node) *graph.Node {
	if a := f.attribute("base_values"); a != nil && len(a.floats) > 0 {
		y = graph.Add(y, broadcast(f.list32("base_values", f.targets), y.Shape().Dimensions))
	}
	return y
}

func treeRegressor(o *op) *value {
	x, n := o.recordInput()
	f := forestOf(o, n)
	targets := o.int("n_targets")
	if targets < 1 || targets > maxFolded {
		fail("its attribute n_targets = %d", targets)
	}
	f.readLeaves("target", targets)
	y := f.evaluate(x)
	if o.string("aggregate_function") == "AVERAGE" {
		y = graph.Div(y, constLike(y, float64(len(f.roots))))
	}
	if a := o.attribute("base_values"); a != nil && targets > 1 && !f.hasCompleteTree() {
		fail("base values of several targets are not supported where leaves omit some")
	}
	return computedValue(float32s, o.oneTarget(targets, f.addBase(y)))
}

// hasCompleteTree reports whether there is a tree whose leaves all weight every target.
func (f *forest) hasCompleteTree() bool {
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

// treeClassifier has a label and a score per class. Trees of two classes may weight one of
// them alone; the score of the other follows from it.
func treeClassifier(o *op) []*value {
	x, n := o.recordInput()
	f := forestOf(o, n)
	labels := o.classLabels("classlabels_int64s", "classlabels_strings")
	ids := o.attribute("class_ids").ints
	if len(ids) == 0 {
		fail("its leaves have no weights")
	}
	if labels.size() == 2 && slices.Max(ids) == 0 {
		return f.oneClassScores(x, labels)
	}
	f.readLeaves("class", labels.size())
	y := f.addBase(f.evaluate(x))
	scores := computedValue(float32s, o.transformScores(y))
	if labels.size() > 2 {
		return []*value{o.topLabel(labels, y), scores}
	}
	// For two classes onnxruntime computes the label, and uses base values, differently.
	if a := o.attribute("base_values"); a != nil && len(a.floats) > 0 || !f.hasCompleteTree() {
		fail("two classes with base values, or with leaves that omit one, are not supported")
	}
	return []*value{nil, scores}
}

// oneClassScores returns two scores from one sum, where the leaves weight one class of two.
func (f *forest) oneClassScores(x *graph.Node, labels *value) []*value {
	f.readLeaves("class", 1)
	positive := !slices.ContainsFunc(f.attribute("class_weights").floats, func(w float32) bool { return w < 0 })
	half := 0.0
	if positive {
		half = 0.5
	}
	return f.twoClassScores(labels, f.addBase(f.evaluate(x)), positive, half)
}

// twoClassScores returns the label and two scores from a score of the second class, which
// is a probability or any number; the label is the second where it is above a bound.
func (o *op) twoClassScores(labels *value, y *graph.Node, probability bool, bound float64) []*value {
	low, high := graph.Neg(y), y
	switch post := o.string("post_transform"); {
	case post == "LOGISTIC":
		low, high = graph.Logistic(low), graph.Logistic(high)
	case post != "NONE":
		fail("post_transform %s of one class of two is not implemented", post)
	case probability:
		low = graph.Sub(constLike(y, 1), y)
	}
	scores := computedValue(float32s, graph.Concatenate([]*graph.Node{low, high}, 1))
	if labels.elem == texts {
		return []*value{o.topLabel(labels, scores.node), scores}
	}
	second := graph.ConvertDType(graph.GreaterThan(flatList(y), constLike(flatList(y), bound)), dtypes.Int64)
	return []*value{computedValue(int64s, takeAlong(o.nodeOf(labels), second, 0)), scores}
}
