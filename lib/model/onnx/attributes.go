// Rows of the table of operators: attributes, inputs and types.

package onnx

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// operator is what is implemented of one operator, from an opset up to the next row of the
// table.
type operator struct {
	domain, name string
	since        int64
	// attributes are the attributes by name, each as name:type=default{implemented values}.
	// Types are int, float, string, ints, floats, strings, tensor, graph; "any" allows any
	// value. An attribute whose type has an exclamation mark is required.
	attributes string
	least      int // minimum number of inputs
	most       int
	// types are the types of the inputs, one letter each, the last for all that follow: f
	// floats, n numbers, i integers, b booleans, a all but strings, t all; = that of the
	// first input, < that of the one before.
	types string
	run   func(o *op) []*value
}

// rule is a row of the table with its attributes by name.
type rule struct {
	*operator
	known map[string]*specification
}

// specification is one attribute of a row.
type specification struct {
	name, kind, fallback string
	needed               bool
	values               []string // empty: any
}

// results is the maximum number of outputs of an operator, if more than one.
var results = map[string]int{
	"BatchNormalization": 5, "Dropout": 2, "GRU": 2, "If": unlimited, "LSTM": 3, "LayerNormalization": 3,
	"LinearClassifier": 2, "MaxPool": 2, "RNN": 2, "Split": unlimited,
	"TopK": 2, "TreeEnsembleClassifier": 2,
}

// unlimited is the number of inputs of operators without a maximum.
const unlimited = math.MaxInt32

// rules are the rows of an operator, the newest last.
var rules = map[[2]string][]*rule{}

func init() {
	for i := range table {
		row := &rule{&table[i], map[string]*specification{}}
		for _, text := range strings.Fields(row.attributes) {
			s := specify(text)
			row.known[s.name] = s
		}
		key := [2]string{row.domain, row.name}
		rules[key] = append(rules[key], row)
	}
	for _, list := range rules {
		slices.SortStableFunc(list, func(a, b *rule) int { return int(a.since - b.since) })
	}
}

func specify(text string) *specification {
	s := &specification{}
	text, values, some := strings.Cut(text, "{")
	if some {
		s.values = strings.Split(strings.TrimSuffix(values, "}"), "|")
	}
	text, s.fallback, _ = strings.Cut(text, "=")
	s.name, s.kind, _ = strings.Cut(text, ":")
	s.kind, s.needed = strings.TrimSuffix(s.kind, "!"), strings.HasSuffix(s.kind, "!")
	return s
}

// newest is the newest opset of each domain for which the rows were checked.
var newest = map[string]int64{"": 26, "ai.onnx.ml": 5}

// lookUp returns the row of an operation for the opset of its graph or function.
func (b *builder) lookUp(n *node) (*rule, int64) {
	list := rules[[2]string{n.domain, n.name}]
	if len(list) == 0 {
		fail(notImplemented)
	}
	opset, asked := b.opsets[n.domain]
	if !asked {
		fail("the file does not declare the operator set of domain %q", n.domain)
	}
	if opset > newest[n.domain] {
		fail("the file uses opset %d; opsets up to %d are supported", opset, newest[n.domain])
	}
	var found *rule
	for _, row := range list {
		if row.since <= opset {
			found = row
		}
	}
	if found == nil {
		fail("it is not supported in opset %d, only from opset %d on", opset, list[0].since)
	}
	if found.run == nil {
		fail("opset %d has removed this operator", opset)
	}
	return found, opset
}

var kinds = map[string]kind{
	"int": kindInt, "float": kindFloat, "string": kindString, "ints": kindInts,
	"floats": kindFloats, "strings": kindStrings, "tensor": kindTensor, "graph": kindGraph,
}

// check refuses attributes and inputs that are not in the row.
func (row *rule) check(n *node, in []*value) {
	for _, name := range sorted(n.attributes) {
		a, s := n.attributes[name], row.known[name]
		if s == nil {
			fail("its attribute %s = %s is not supported in this opset", name, a)
		}
		if want := kinds[s.kind]; s.kind != "any" && a.kind != want {
			fail("its attribute %s is not of type %s", name, s.kind)
		}
		if len(s.values) > 0 && !slices.Contains(s.values, a.String()) {
			fail("its attribute %s = %s is not supported, only %s", name, a, strings.Join(s.values, ", "))
		}
	}
	for _, name := range sorted(row.known) {
		if row.known[name].needed && n.attributes[name] == nil {
			fail("its attribute %s is missing", name)
		}
	}
	if results := max(1, results[n.name]); len(n.outputs) > results || len(n.outputs) == 0 {
		fail("it has %d outputs", len(n.outputs))
	}
	if len(in) < row.least || len(in) > row.most {
		fail("it has %d inputs", len(in))
	}
	for i, v := range in {
		if v == nil && i < row.least {
			fail("its input %d is missing", i)
		}
		if v != nil {
			row.checkType(i, in)
		}
	}
}

func (row *rule) checkType(i int, in []*value) {
	letter, e := row.types[min(i, len(row.types)-1)], in[i].elem
	ok := false
	switch letter {
	case 'f':
		ok = e.isFloat()
	case 'n':
		ok = e.isNumber()
	case 'i':
		ok = e.isInteger()
	case 'b':
		ok = e == bools
	case 'a':
		ok = e != texts
	case 't':
		ok = true
	case '=':
		ok = in[0] != nil && e == in[0].elem
	case '<':
		ok = in[i-1] != nil && e == in[i-1].elem
	}
	if !ok {
		fail("its input %d is of type %s", i, e)
	}
}

// String returns an attribute's value for error messages.
func (a *attribute) String() string {
	switch a.kind {
	case kindFloat:
		return strconv.FormatFloat(float64(a.f), 'g', -1, 32)
	case kindInt:
		return strconv.FormatInt(a.i, 10)
	case kindString:
		return a.s
	case kindFloats:
		return fmt.Sprint(a.floats)
	case kindInts:
		return fmt.Sprint(a.ints)
	case kindStrings:
		return fmt.Sprint(a.strings)
	case kindTensor:
		return fmt.Sprintf("a tensor of shape %v", a.t.dims)
	case kindGraph:
		return "a graph"
	}
	return "a value of another type"
}

func sorted[V any](m map[string]V) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// attribute returns an attribute, or nil.
func (o *op) attribute(name string) *attribute {
	if o.row.known[name] == nil {
		panic(fmt.Sprintf("attribute %s of %s is not in the table", name, o.n.name))
	}
	return o.n.attributes[name]
}

// hasAttribute reports whether the row has an attribute: in other opsets it is an input.
func (o *op) hasAttribute(name string) bool { return o.row.known[name] != nil }

func (o *op) int(name string) int {
	if a := o.attribute(name); a != nil {
		return int(a.i)
	}
	v, _ := strconv.Atoi(o.row.known[name].fallback)
	return v
}

func (o *op) flag(name string) bool { return o.int(name) != 0 }

func (o *op) float(name string) float64 {
	if a := o.attribute(name); a != nil {
		return float64(a.f)
	}
	v, _ := strconv.ParseFloat(o.row.known[name].fallback, 32)
	return v
}

func (o *op) string(name string) string {
	if a := o.attribute(name); a != nil {
		return a.s
	}
	return o.row.known[name].fallback
}

// list returns an attribute of integers, or n times the fallback; with n = -1 any number of
// them is allowed.
func (o *op) list(name string, n, fallback int) []int {
	a := o.attribute(name)
	if a == nil || (n > 0 && len(a.ints) == 0) {
		return slices.Repeat([]int{fallback}, max(n, 0))
	}
	if n >= 0 && len(a.ints) != n {
		fail("its attribute %s = %s should hold %d numbers", name, a, n)
	}
	return clampLengths(a.ints)
}

// positive returns a list of integers of at least 1.
func (o *op) positive(name string, n int) []int {
	out := o.list(name, n, 1)
	for _, v := range out {
		if v < 1 || v > maxBytes {
			fail("its attribute %s holds %d", name, v)
		}
	}
	return out
}

// clampLengths returns numbers of a file as lengths, clamped to what a length can be.
func clampLengths(list []int64) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = int(max(-1<<40, min(v, 1<<40)))
	}
	return out
}

// axisOf returns an axis of rank axes; negative numbers count from the end.
func axisOf(axis, rank int) int {
	if axis < -rank || axis >= rank {
		fail("axis %d of a value of %d axes", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis
}

func (o *op) axis(rank int) int { return axisOf(o.int("axis"), rank) }

// axesOf returns distinct axes.
func axesOf(axes []int, rank int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = axisOf(a, rank)
		if slices.Contains(out[:i], out[i]) {
			fail("axis %d is given twice", a)
		}
	}
	return out
}

// hasInput reports whether an input is given.
func (o *op) hasInput(i int) bool { return i < len(o.in) && o.in[i] != nil }

// ints returns the values of an input that must be a constant.
func (o *op) ints(i int) []int {
	v := o.in[i]
	if !v.known {
		fail("its input %d must not depend on the records", i)
	}
	if v.rank() > 1 {
		fail("its input %d has %d axes", i, v.rank())
	}
	switch x := v.flat.(type) {
	case []int64:
		return clampLengths(x)
	case []int32:
		return fill(len(x), func(k int) int { return int(x[k]) })
	}
	fail("its input %d is of type %s", i, v.elem)
	return nil
}

// numbers returns the values of an input that must be a constant, as float64.
func (o *op) numbers(i int) []float64 {
	v := o.in[i]
	if !v.known {
		fail("its input %d must not depend on the records", i)
	}
	return floats(v)
}

func floats(v *value) []float64 {
	switch x := v.flat.(type) {
	case []float32:
		return fill(len(x), func(k int) float64 { return float64(x[k]) })
	case []float64:
		return x
	case []int64:
		return fill(len(x), func(k int) float64 { return float64(x[k]) })
	case []int32:
		return fill(len(x), func(k int) float64 { return float64(x[k]) })
	}
	fail("a value of type %s; need numbers", v.elem)
	return nil
}
