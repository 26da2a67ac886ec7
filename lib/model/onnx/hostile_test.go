// Malicious and malformed files are refused.

package onnx_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/lethe-ml/lethe/lib/array"
)

// message is a protocol buffer's message in the making. The numbers of its fields are
// those of onnx.proto.
type message []byte

func (m message) number(field protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(v))
}

func (m message) text(field protowire.Number, values ...string) message {
	for _, v := range values {
		m = protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), v)
	}
	return m
}

func (m message) inner(field protowire.Number, values ...message) message {
	for _, v := range values {
		m = protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
	}
	return m
}

func (m message) float(field protowire.Number, v float32) message {
	return protowire.AppendFixed32(protowire.AppendTag(m, field, protowire.Fixed32Type), math.Float32bits(v))
}

func (m message) numbers(field protowire.Number, values ...int64) message {
	for _, v := range values {
		m = m.number(field, v)
	}
	return m
}

// Types of a tensor's elements and of an attribute.
const (
	float32s, int64s, texts, float64s               = 1, 7, 8, 11
	isFloat, isInt, isText, isTensor, isGraph, ints = 1, 2, 3, 4, 5, 7
)

func attribute(name string, v any) message {
	m := message{}.text(1, name)
	switch v := v.(type) {
	case int:
		return m.number(3, int64(v)).number(20, isInt)
	case float64:
		return m.float(2, float32(v)).number(20, isFloat)
	case string:
		return m.text(4, v).number(20, isText)
	case []int64:
		return m.numbers(8, v...).number(20, ints)
	case []float32:
		for _, one := range v {
			m = m.float(7, one)
		}
		return m.number(20, 6)
	case []string:
		return m.text(9, v...).number(20, 8)
	case tensor:
		return m.inner(5, message(v)).number(20, isTensor)
	case graph:
		return m.inner(6, message(v)).number(20, isGraph)
	}
	panic(fmt.Sprintf("no attribute holds a %T", v))
}

// op is a node; inputs and outputs are parted by spaces, _ is one left out; attributes are
// names and values in turn.
func op(kind, inputs, outputs string, attributes ...any) message {
	return opOf("", kind, inputs, outputs, attributes...)
}

func opOf(domain, kind, inputs, outputs string, attributes ...any) message {
	m := message{}
	for field, names := range []string{inputs, outputs} {
		for _, name := range strings.Fields(names) {
			m = m.text(protowire.Number(field+1), strings.ReplaceAll(name, "_", ""))
		}
	}
	m = m.text(4, kind)
	for i := 0; i < len(attributes); i += 2 {
		m = m.inner(5, attribute(attributes[i].(string), attributes[i+1]))
	}
	return m.text(7, domain)
}

type (
	tensor message
	graph  message
)

// claimed is a tensor of a type and sides whose content may be another.
func claimed(name string, kind int64, dims []int64, content message) tensor {
	return tensor(append(message{}.numbers(1, dims...).number(2, kind).text(8, name), content...))
}

func intTensor(name string, values ...int64) tensor {
	return claimed(name, int64s, []int64{int64(len(values))}, message{}.numbers(7, values...))
}

func scalar(name string, value int64) tensor {
	return claimed(name, int64s, nil, message{}.number(7, value))
}

func floats(name string, dims []int64, values ...float32) tensor {
	content := message{}
	for _, v := range values {
		content = content.float(4, v)
	}
	return claimed(name, float32s, dims, content)
}

// zeros is an honest tensor of float32.
func zeros(name string, dims ...int64) tensor {
	size := int64(4)
	for _, d := range dims {
		size *= d
	}
	return claimed(name, float32s, dims, message{}.text(9, string(make([]byte, size))))
}

// typed is a value's name, type and sides; a side of -1 is a free one.
func typed(name string, kind int64, dims ...int64) message {
	shape := message{}
	for _, d := range dims {
		side := message{}.number(1, d)
		if d == -1 {
			side = message{}.text(2, "N")
		}
		shape = shape.inner(1, side)
	}
	return message{}.text(1, name).inner(2, message{}.inner(1, message{}.number(1, kind).inner(2, shape)))
}

// file is a network of records of four numbers and of an output y, unless changed.
type file struct {
	nodes     []message
	weights   []tensor
	sparse    []message
	inputs    []message
	outputs   []message
	functions []message
	opset     int64
	domain    string
}

func (f file) bytes() []byte {
	if f.inputs == nil {
		f.inputs = []message{typed("x", float32s, -1, 4)}
	}
	if f.outputs == nil {
		f.outputs = []message{typed("y", float32s)}
	}
	if f.opset == 0 {
		f.opset = 17
	}
	g := message{}.inner(1, f.nodes...).text(2, "g")
	for _, w := range f.weights {
		g = g.inner(5, message(w))
	}
	g = g.inner(11, f.inputs...).inner(12, f.outputs...).inner(15, f.sparse...)
	m := message{}.number(1, 8).inner(7, g).inner(8, message{}.number(2, f.opset))
	if f.domain != "" {
		m = m.inner(8, message{}.text(1, f.domain).number(2, 1))
	}
	return m.inner(25, f.functions...)
}

const huge = 1 << 40

// single is a file of one node.
func single(n message, weights ...tensor) file { return file{nodes: []message{n}, weights: weights} }

// hostile are files that ask for what is not there, for more than there is, or for nonsense.
func hostile() map[string]file {
	out := map[string]file{}
	add := func(name string, f file) {
		if _, twice := out[name]; twice {
			panic(name)
		}
		out[name] = f
	}
	relu := op("Relu", "x", "y")

	// graphs
	add("empty graph", file{})
	add("node feeds itself", single(op("Add", "x y", "y")))
	add("cycle of two", file{nodes: []message{op("Add", "x b", "a"), op("Neg", "a", "b"), op("Neg", "b", "y")}})
	add("cycle aside of the output", file{nodes: []message{relu, op("Neg", "b", "a"), op("Neg", "a", "b")}})
	add("cycle of many", file{nodes: chain(100_000, true)})
	add("value made twice", file{nodes: []message{op("Neg", "x", "y"), op("Abs", "x", "y")}})
	add("value made twice by a node", single(op("Split", "x", "y y", "axis", 1)))
	add("value named as the input", file{nodes: []message{op("Neg", "x", "x"), op("Abs", "x", "y")}})
	add("value named as a weight", file{nodes: []message{op("Neg", "x", "w"), op("Abs", "w", "y")}, weights: []tensor{zeros("w", 4)}})
	add("two weights of a name", single(op("Add", "x w", "y"), zeros("w", 4), zeros("w", 4)))
	add("weight named as the input", single(relu, zeros("x", 4)))
	add("weight without a name", single(relu, zeros("", 4)))
	add("input that is not there", single(op("Add", "x nothing", "y")))
	add("output that is not there", file{nodes: []message{op("Relu", "x", "z")}})
	add("output without a name", file{nodes: []message{relu}, outputs: []message{typed("", float32s)}})
	add("node without a kind", single(op("", "x", "y")))
	add("node without inputs", single(op("Relu", "", "y")))
	add("node without outputs", single(op("Relu", "x", "")))
	add("node with too many inputs", single(op("Relu", "x x x", "y")))
	add("node with too many outputs", single(op("Relu", "x", "y z")))
	add("node whose first input is left out", single(op("Relu", "_", "y")))
	add("attribute twice", single(op("Softmax", "x", "y", "axis", 1, "axis", -1)))
	add("attribute of another type", single(op("Softmax", "x", "y", "axis", "1")))
	add("attribute that nobody knows", single(op("Softmax", "x", "y", "axle", 1)))
	add("version below", file{nodes: []message{relu}, opset: -1})
	add("version beyond", file{nodes: []message{relu}, opset: 1 << 62})
	add("domain that is not stated", single(opOf("com.example", "Relu", "x", "y")))

	// inputs
	for name, dims := range map[string][]int64{"huge side": {-1, huge}, "sides whose product overflows": {-1, 1 << 32, 1 << 32}, "sides of product zero by overflow": {-1, 1 << 16, 1 << 16, 1 << 16, 1 << 16}, "negative length": {-1, -4}, "side of zero": {-1, 0}, "no sides": {}, "one side": {-1}, "huge batch": {huge, 4}} {
		add("input of "+name, file{nodes: []message{relu}, inputs: []message{typed("x", float32s, dims...)}})
	}
	add("input of no known type", file{nodes: []message{relu}, inputs: []message{typed("x", 99, -1, 4)}})
	add("input of text", file{nodes: []message{relu}, inputs: []message{typed("x", texts, -1, 4)}})
	add("input without a type", file{nodes: []message{relu}, inputs: []message{message{}.text(1, "x")}})
	add("inputs of a name", file{nodes: []message{relu}, inputs: []message{typed("x", float32s, -1, 4), typed("x", float32s, -1, 4)}})

	// weights
	sum := op("Add", "x w", "y")
	four := string(make([]byte, 16))
	for name, w := range map[string]tensor{
		"huge side":                      claimed("w", float32s, []int64{huge}, message{}.text(9, four)),
		"huge side and nothing":          claimed("w", float32s, []int64{huge}, nil),
		"sides whose product overflows":  claimed("w", float32s, []int64{1 << 32, 1 << 32}, message{}.text(9, four)),
		"sides whose bytes overflow":     claimed("w", float32s, []int64{1 << 62, 4}, message{}.text(9, four)),
		"huge side times zero":           claimed("w", float32s, []int64{huge, 0}, nil),
		"negative length":                claimed("w", float32s, []int64{-4}, message{}.text(9, four)),
		"two negative lengths":           claimed("w", float32s, []int64{-2, -2}, message{}.text(9, four)),
		"too few bytes":                  claimed("w", float32s, []int64{4}, message{}.text(9, four[:15])),
		"too many bytes":                 claimed("w", float32s, []int64{4}, message{}.text(9, four+"1234")),
		"too few floats":                 floats("w", []int64{4}, 1, 2, 3),
		"too many floats":                floats("w", []int64{4}, 1, 2, 3, 4, 5),
		"nothing":                        claimed("w", float32s, []int64{4}, nil),
		"bytes and floats":               claimed("w", float32s, []int64{4}, message{}.text(9, four).float(4, 1).float(4, 1).float(4, 1).float(4, 1)),
		"floats in the field of doubles": claimed("w", float32s, []int64{1}, message{}.inner(10, make(message, 8))),
		"whole numbers for floats":       claimed("w", float32s, []int64{2}, message{}.numbers(7, 1, 2)),
		"no type":                        claimed("w", 0, []int64{4}, message{}.text(9, four)),
		"no known type":                  claimed("w", 99, []int64{4}, message{}.text(9, four)),
		"text":                           claimed("w", texts, []int64{2}, message{}.text(6, "a", "b")),
		"complex numbers":                claimed("w", 14, []int64{2}, message{}.text(9, four)),
		"packed floats cut short":        claimed("w", float32s, []int64{4}, message{}.text(4, four[:14])),
	} {
		add("weight of "+name, single(sum, w))
	}
	elsewhere := func(location, offset, length string) file {
		entry := func(key, value string) message { return message{}.text(1, key).text(2, value) }
		content := message{}.inner(13, entry("location", location))
		if offset != "" {
			content = content.inner(13, entry("offset", offset))
		}
		if length != "" {
			content = content.inner(13, entry("length", length))
		}
		return single(sum, claimed("w", float32s, []int64{4}, content.number(14, 1)))
	}
	add("weights past a file's end", elsewhere("beside.data", "60", "16"))
	add("weights far past a file's end", elsewhere("beside.data", "9223372036854775807", "16"))
	add("weights before a file", elsewhere("beside.data", "-16", "16"))
	add("weights of no offset", elsewhere("beside.data", "a", "16"))
	add("weights of another length", elsewhere("beside.data", "0", "12"))
	add("weights of a huge length", elsewhere("beside.data", "0", "1099511627776"))
	add("weights outside by dots", elsewhere("../beside.data", "0", "16"))
	add("weights outside by a path", elsewhere("/etc/passwd", "0", "16"))
	add("weights in a folder", elsewhere(".", "0", "16"))
	add("weights in no file", elsewhere("", "0", "16"))
	add("weights in a file that is not there", elsewhere("nowhere.data", "0", "16"))
	add("weights of huge sides elsewhere", single(sum, claimed("w", float32s, []int64{huge}, message{}.inner(13, message{}.text(1, "location").text(2, "beside.data")).number(14, 1))))
	sparse := func(dims []int64, count int64, at ...int64) file {
		values := floats("w", []int64{count}, make([]float32, count)...)
		return file{nodes: []message{sum}, sparse: []message{message{}.inner(1, message(values)).inner(2, message(intTensor("i", at...))).numbers(3, dims...)}}
	}
	add("sparse weight of a huge side", sparse([]int64{huge}, 1, 3))
	add("sparse weight past its end", sparse([]int64{4}, 1, 4))
	add("sparse weight before its start", sparse([]int64{4}, 1, -1))
	add("sparse weight of too few indices", sparse([]int64{4}, 2, 1))
	add("sparse weight of an index twice", sparse([]int64{4}, 2, 1, 1))
	add("sparse weight of a negative length", sparse([]int64{-4}, 1, 1))

	// sizes
	add("ConstantOfShape huge", file{nodes: []message{op("ConstantOfShape", "s", "c"), op("Add", "x c", "y")}, weights: []tensor{intTensor("s", huge)}})
	add("ConstantOfShape whose product overflows", file{nodes: []message{op("ConstantOfShape", "s", "c"), op("Add", "x c", "y")}, weights: []tensor{intTensor("s", 1<<32, 1<<32)}})
	add("ConstantOfShape huge beside the way", file{nodes: []message{op("ConstantOfShape", "s", "c"), op("ReduceMax", "c", "m", "keepdims", 0), op("Add", "x m", "y")}, weights: []tensor{intTensor("s", huge)}})
	add("ConstantOfShape of a negative length", file{nodes: []message{op("ConstantOfShape", "s", "c"), op("Add", "x c", "y")}, weights: []tensor{intTensor("s", -4)}})
	add("a chain from ConstantOfShape", constantChain(11))
	add("many ConstantOfShape", file{nodes: constants(12, "q"), weights: []tensor{intTensor("s", 1<<28)}})
	add("Tile huge", single(op("Tile", "x r", "y"), intTensor("r", 1, 1<<30)))
	add("Tile past int64", single(op("Tile", "x r", "y"), intTensor("r", 1, math.MaxInt64)))
	add("Tile negative", single(op("Tile", "x r", "y"), intTensor("r", 1, -2)))
	add("Tile of too few", single(op("Tile", "x r", "y"), intTensor("r", 2)))
	add("Expand huge", single(op("Expand", "x s", "y"), intTensor("s", huge, 1, 4)))
	add("Expand huge behind", file{nodes: []message{op("Unsqueeze", "x a", "u"), op("Expand", "u s", "y")}, weights: []tensor{intTensor("a", 2), intTensor("s", 1, 4, huge)}})
	add("Expand negative", single(op("Expand", "x s", "y"), intTensor("s", 1, -4)))
	add("Expand to another side", single(op("Expand", "x s", "y"), intTensor("s", 1, 3)))
	add("doubled by Concat", file{nodes: doubled(40, func(from, to string) message { return op("Concat", from+" "+from, to, "axis", 1) })})
	add("doubled by Tile", file{nodes: doubled(40, func(from, to string) message { return op("Tile", from+" r", to) }), weights: []tensor{intTensor("r", 1, 2)}})
	add("doubled by Expand", file{nodes: doubled(40, func(from, to string) message {
		return op("Expand", from+" s"+to, to)
	}), weights: powers(40)})
	add("doubled by Concat of weights", file{nodes: append(doubledFrom("w", "c", 40, func(from, to string) message { return op("Concat", from+" "+from, to, "axis", 0) }), op("ReduceMax", "c", "m", "keepdims", 0), op("Add", "x m", "y")), weights: []tensor{zeros("w", 4)}})
	add("Pad huge", single(op("Pad", "x p", "y"), intTensor("p", 0, 0, 0, huge)))
	add("Pad past int64", single(op("Pad", "x p", "y"), intTensor("p", 0, math.MaxInt64, 0, math.MaxInt64)))
	add("Pad below nothing", single(op("Pad", "x p", "y"), intTensor("p", 0, -3, 0, -3)))
	add("Pad of too few", single(op("Pad", "x p", "y"), intTensor("p", 0, 1)))
	add("Pad of no known mode", single(op("Pad", "x p", "y", "mode", "mirror"), intTensor("p", 0, 1, 0, 1)))
	add("Pad of reflections past the side", single(op("Pad", "x p", "y", "mode", "reflect"), intTensor("p", 0, huge, 0, 0)))
	image := func(nodes message, weights ...tensor) file {
		return file{nodes: []message{op("Reshape", "x square", "q"), nodes}, weights: append(weights, intTensor("square", -1, 1, 2, 2))}
	}
	for name, scale := range map[string]float32{"huge": 1e9, "zero": 0, "negative": -2, "infinite": float32(math.Inf(1)), "not a number": float32(math.NaN()), "tiny": 1e-9} {
		add("Resize "+name, image(op("Resize", "q _ k", "y"), floats("k", []int64{4}, 1, 1, scale, 1)))
		add("Upsample "+name, file{nodes: []message{op("Reshape", "x square", "q"), op("Upsample", "q k", "y")}, weights: []tensor{intTensor("square", -1, 1, 2, 2), floats("k", []int64{4}, 1, 1, scale, 1)}, opset: 9})
	}
	add("Resize to a huge side", image(op("Resize", "q _ _ s", "y"), intTensor("s", 3, 1, huge, 2)))
	add("Resize to a negative length", image(op("Resize", "q _ _ s", "y"), intTensor("s", 3, 1, -2, 2)))
	add("Resize of too few", image(op("Resize", "q _ k", "y"), floats("k", []int64{2}, 2, 2)))
	add("Range huge", file{nodes: []message{op("Range", "a b c", "r"), op("Cast", "r", "f", "to", float32s), op("ReduceMax", "f", "m", "keepdims", 0), op("Add", "x m", "y")}, weights: []tensor{scalar("a", 0), scalar("b", 1_000_000_000_000), scalar("c", 1)}})
	add("Range of no step", file{nodes: []message{op("Range", "a b c", "r"), op("Cast", "r", "f", "to", float32s), op("Add", "x f", "y")}, weights: []tensor{scalar("a", 0), scalar("b", 4), scalar("c", 0)}})
	add("Range past int64", file{nodes: []message{op("Range", "a b c", "r"), op("Cast", "r", "f", "to", float32s), op("Add", "x f", "y")}, weights: []tensor{scalar("a", math.MinInt64), scalar("b", math.MaxInt64), scalar("c", 1)}})
	for name, depth := range map[string]int64{"huge": 1_000_000_000_000, "negative": -3, "zero": 0} {
		add("OneHot of depth "+name, file{nodes: []message{op("Cast", "x", "i", "to", int64s), op("OneHot", "i d v", "y")}, weights: []tensor{scalar("d", depth), floats("v", []int64{2}, 0, 1)}})
	}
	add("TopK of more than there are", single(op("TopK", "x k", "y i"), intTensor("k", huge)))
	add("TopK of less than none", single(op("TopK", "x k", "y i"), intTensor("k", -1)))
	add("functions that double", file{nodes: []message{opOf("f", "f0", "x", "y")}, functions: doubling(40), domain: "f"})
	add("function that calls itself", file{nodes: []message{opOf("f", "f0", "x", "y")}, functions: []message{function("f0", opOf("f", "f0", "a", "b"))}, domain: "f"})
	add("loop of a huge count", file{nodes: []message{op("Loop", "n _ x", "y", "body", body())}, weights: []tensor{scalar("n", huge)}})
	add("random numbers of a huge shape", file{nodes: []message{op("RandomNormal", "", "r", "shape", []int64{huge}), op("ReduceMax", "r", "m", "keepdims", 0), op("Add", "x m", "y")}})

	// axes and indices
	for _, axis := range []int{2, -3, math.MaxInt64, math.MinInt64} {
		for _, kind := range []string{"Softmax", "LogSoftmax", "Hardmax", "Flatten", "ArgMax", "LpNormalization", "ReduceMean", "Split", "Concat", "Gather", "CumSum", "TopK", "LayerNormalization", "Compress", "GatherElements", "OneHot", "Squeeze", "Unsqueeze", "ScatterElements", "Slice"} {
			if kind == "Flatten" && axis == 2 || kind == "Unsqueeze" && (axis == 2 || axis == -3) || kind == "OneHot" && (axis == 2 || axis == -3) {
				continue // that many axes there are
			}
			add(fmt.Sprintf("%s at axis %d", kind, axis), atAxis(kind, axis))
		}
	}
	for name, perm := range map[string][]int64{"twice": {0, 0}, "beyond": {0, 2}, "too few": {0}, "too many": {0, 1, 2}, "negative": {-2, -1}, "huge": {0, huge}} {
		add("Transpose of axes "+name, single(op("Transpose", "x", "y", "perm", perm)))
	}
	for name, at := range map[string]int64{"beyond": 4, "before": -5, "huge": huge, "least": math.MinInt64} {
		add("Gather "+name, single(op("Gather", "x i", "y", "axis", 1), intTensor("i", at)))
		add("GatherND "+name, single(op("GatherND", "x i", "y", "batch_dims", 1), claimed("i", int64s, []int64{3, 1}, message{}.numbers(7, 0, at, 1))))
		add("GatherElements "+name, single(op("GatherElements", "x i", "y", "axis", 1), claimed("i", int64s, []int64{3, 1}, message{}.numbers(7, 0, at, 1))))
		add("ScatterElements "+name, single(op("ScatterElements", "x i u", "y", "axis", 1), claimed("i", int64s, []int64{3, 1}, message{}.numbers(7, 0, at, 1)), zeros("u", 3, 1)))
		add("ScatterND "+name, single(op("ScatterND", "x i u", "y"), claimed("i", int64s, []int64{1, 2}, message{}.numbers(7, 0, at)), zeros("u", 1)))
	}
	for name, shape := range map[string][]int64{"impossible": {-1, 3}, "too large": {-1, huge}, "overflowing": {1 << 32, 1 << 32}, "two unknown": {-1, -1}, "negative": {-1, -2}, "zero beyond": {-1, 4, 0}} {
		add("Reshape "+name, single(op("Reshape", "x s", "y"), intTensor("s", shape...)))
	}
	add("Slice of no step", single(op("Slice", "x a b c d", "y"), intTensor("a", 0), intTensor("b", 4), intTensor("c", 1), intTensor("d", 0)))
	add("Slice of two counts", single(op("Slice", "x a b c", "y"), intTensor("a", 0, 0), intTensor("b", 4), intTensor("c", 1)))
	add("Slice of an axis twice", single(op("Slice", "x a b c", "y"), intTensor("a", 0, 1), intTensor("b", 4, 3), intTensor("c", 1, -1)))
	for name, parts := range map[string][]int64{"too many": {2, 3}, "too few": {1, 2}, "negative": {5, -1}, "overflowing": {math.MaxInt64, math.MaxInt64}, "three": {1, 1, 2}} {
		add("Split of parts "+name, single(op("Split", "x s", "y z", "axis", 1), intTensor("s", parts...)))
	}
	add("Squeeze of a long side", single(op("Squeeze", "x a", "y"), intTensor("a", 1)))
	add("Unsqueeze of an axis twice", single(op("Unsqueeze", "x a", "y"), intTensor("a", 1, 1)))
	add("Concat of other sides", single(op("Concat", "x w", "y", "axis", 1), zeros("w", 3, 4, 1)))
	add("Add of other sides", single(sum, zeros("w", 3)))
	add("Cast to no known type", single(op("Cast", "x", "y", "to", 99)))
	for _, equation := range []string{"", "->", "ij,jk", "ij->ik", "ijk->ij", "ij->ii", "i->i", "ij->ij->ij", "i.j->ij", "1j->1", "......->...", "ij,->i", "ïj->j", strings.Repeat("i", 100_000) + "->i"} {
		name := equation
		if len(name) > 20 {
			name = "long"
		}
		add("Einsum "+name, single(op("Einsum", "x", "y", "equation", equation)))
	}

	// windows and weights that do not fit
	square := func(kind string, attributes ...any) file {
		inputs := "q"
		if strings.HasPrefix(kind, "Conv") {
			inputs = "q k"
		}
		return image(op(kind, inputs, "y", attributes...), zeros("k", 1, 1, 2, 2))
	}
	for _, kind := range []string{"Conv", "MaxPool", "AveragePool", "LpPool", "ConvTranspose"} {
		window := []any{"kernel_shape", []int64{2, 2}}
		with := func(name string, attributes ...any) {
			add(kind+" of "+name, square(kind, append(slices.Clone(window), attributes...)...))
		}
		with("strides zero", "strides", []int64{0, 1})
		with("strides negative", "strides", []int64{-1, 1})
		with("too many strides", "strides", []int64{1, 1, 1})
		with("huge pads", "pads", []int64{huge, 0, huge, 0})
		with("pads past int64", "pads", []int64{math.MaxInt64, 0, math.MaxInt64, 0})
		with("too few pads", "pads", []int64{1, 1})
		with("dilations zero", "dilations", []int64{0, 1})
		with("no known auto_pad", "auto_pad", "SAME")
		if kind != "ConvTranspose" {
			with("huge dilations", "dilations", []int64{huge, 1})
		} else {
			with("huge strides", "strides", []int64{huge, 1})
			with("a huge output", "output_shape", []int64{huge, 2})
			with("huge output padding", "output_padding", []int64{huge, 0})
		}
		if !strings.HasPrefix(kind, "Conv") {
			add(kind+" of a kernel larger than the input", square(kind, "kernel_shape", []int64{3, 3}))
			add(kind+" of a huge kernel", square(kind, "kernel_shape", []int64{huge, 1}))
			add(kind+" of a kernel of zero", square(kind, "kernel_shape", []int64{0, 1}))
			add(kind+" of a negative kernel", square(kind, "kernel_shape", []int64{-1, 1}))
			add(kind+" without a kernel", square(kind))
		} else {
			with("group zero", "group", 0)
			with("group negative", "group", -1)
			with("group three", "group", 3)
		}
	}
	add("Conv of other channels", image(op("Conv", "q k", "y"), zeros("k", 1, 2, 2, 2)))
	add("Conv of a kernel larger than the input", image(op("Conv", "q k", "y"), zeros("k", 1, 1, 3, 3)))
	add("Conv of fewer axes", image(op("Conv", "q k", "y"), zeros("k", 1, 1, 2)))
	add("Conv of another bias", image(op("Conv", "q k b", "y"), zeros("k", 1, 1, 2, 2), zeros("b", 2)))
	add("Gemm of other sides", single(op("Gemm", "x w", "y"), zeros("w", 3, 2)))
	add("Gemm of three axes", single(op("Gemm", "x w", "y"), zeros("w", 1, 4, 2)))
	add("MatMul of other sides", single(op("MatMul", "x w", "y"), zeros("w", 3, 2)))
	add("BatchNormalization of other sides", single(op("BatchNormalization", "x s s s s", "y"), zeros("s", 3)))
	add("LayerNormalization of other sides", single(op("LayerNormalization", "x s", "y"), zeros("s", 3)))
	add("GroupNormalization of three groups", file{nodes: []message{op("GroupNormalization", "x s s", "y", "num_groups", 3)}, weights: []tensor{zeros("s", 4)}, opset: 21})
	add("GroupNormalization of no groups", file{nodes: []message{op("GroupNormalization", "x s s", "y", "num_groups", 0)}, weights: []tensor{zeros("s", 4)}, opset: 21})
	add("InstanceNormalization of other sides", image(op("InstanceNormalization", "q s s", "y"), zeros("s", 3)))
	add("LRN of no size", image(op("LRN", "q", "y", "size", 0)))
	add("PRelu of other sides", single(op("PRelu", "x s", "y"), zeros("s", 3)))
	for name, side := range map[string]int{"zero": 0, "negative": -2, "three": 3, "huge": huge, "past int64 by its square": 1 << 32} {
		add("DepthToSpace of blocks "+name, image(op("DepthToSpace", "q", "y", "blocksize", side)))
		add("SpaceToDepth of blocks "+name, image(op("SpaceToDepth", "q", "y", "blocksize", side)))
	}
	for name, hidden := range map[string]int{"zero": 0, "negative": -1, "another": 3, "huge": huge} {
		for _, kind := range []string{"RNN", "GRU", "LSTM"} {
			gates := map[string]int64{"RNN": 1, "GRU": 3, "LSTM": 4}[kind]
			add(kind+" of hidden size "+name, file{
				nodes:   []message{op("Unsqueeze", "x a", "u"), op("Transpose", "u", "t", "perm", []int64{1, 0, 2}), op(kind, "t W R", "_ h", "hidden_size", hidden), op("Squeeze", "h a", "y")},
				weights: []tensor{intTensor("a", 0), zeros("W", 1, 2*gates, 4), zeros("R", 1, 2*gates, 2)},
			})
		}
	}

	// trees
	tree := func(change func(map[string]any)) file {
		attributes := map[string]any{
			"nodes_treeids": []int64{0, 0, 0}, "nodes_nodeids": []int64{0, 1, 2}, "nodes_featureids": []int64{0, 0, 0}, "nodes_modes": []string{"BRANCH_LEQ", "LEAF", "LEAF"}, "nodes_values": []float32{0, 0, 0},
			"nodes_truenodeids": []int64{1, 0, 0}, "nodes_falsenodeids": []int64{2, 0, 0}, "target_treeids": []int64{0, 0}, "target_nodeids": []int64{1, 2}, "target_ids": []int64{0, 0}, "target_weights": []float32{1, 2}, "n_targets": 1,
		}
		change(attributes)
		list := []any{}
		for name, v := range attributes {
			list = append(list, name, v)
		}
		return file{nodes: []message{opOf("ai.onnx.ml", "TreeEnsembleRegressor", "x", "y", list...)}, domain: "ai.onnx.ml"}
	}
	for name, change := range map[string]struct {
		attribute string
		value     any
	}{
		"that feeds itself":              {"nodes_truenodeids", []int64{0, 0, 0}},
		"whose branch is not there":      {"nodes_falsenodeids", []int64{7, 0, 0}},
		"whose branch is negative":       {"nodes_falsenodeids", []int64{-1, 0, 0}},
		"of too few values":              {"nodes_values", []float32{0, 0}},
		"of too few modes":               {"nodes_modes", []string{"BRANCH_LEQ"}},
		"of a column that is not there":  {"nodes_featureids", []int64{4, 0, 0}},
		"of a negative column":           {"nodes_featureids", []int64{-1, 0, 0}},
		"of a node twice":                {"nodes_nodeids", []int64{0, 1, 1}},
		"of a huge number of targets":    {"n_targets", huge},
		"of a negative number of values": {"n_targets", -1},
		"of a target that is not there":  {"target_ids", []int64{0, 1}},
		"of a negative target":           {"target_ids", []int64{0, -1}},
		"of a leaf that is not there":    {"target_nodeids", []int64{1, 9}},
		"of too few weights":             {"target_weights", []float32{1}},
		"of a mode that is not known":    {"nodes_modes", []string{"BRANCH_IN", "LEAF", "LEAF"}},
		"without leaves":                 {"nodes_modes", []string{"BRANCH_LEQ", "BRANCH_LEQ", "BRANCH_LEQ"}},
	} {
		add("tree "+name, tree(func(m map[string]any) { m[change.attribute] = change.value }))
	}
	add("linear classifier of too few coefficients", file{nodes: []message{opOf("ai.onnx.ml", "LinearClassifier", "x", "l y", "coefficients", []float32{1, 2, 3}, "intercepts", []float32{0, 0}, "classlabels_ints", []int64{0, 1})}, domain: "ai.onnx.ml"})
	add("linear regressor of too few coefficients", file{nodes: []message{opOf("ai.onnx.ml", "LinearRegressor", "x", "y", "coefficients", []float32{1, 2, 3})}, domain: "ai.onnx.ml"})
	add("linear regressor of a huge number of targets", file{nodes: []message{opOf("ai.onnx.ml", "LinearRegressor", "x", "y", "coefficients", []float32{1, 2, 3, 4}, "targets", huge)}, domain: "ai.onnx.ml"})
	add("scaler of too few scales", file{nodes: []message{opOf("ai.onnx.ml", "Scaler", "x", "y", "offset", []float32{1, 2, 3}, "scale", []float32{1, 2, 3})}, domain: "ai.onnx.ml"})
	return out
}

// atAxis is a file of an operation at an axis of x, which has two.
func atAxis(kind string, axis int) file {
	i := claimed("i", int64s, []int64{1, 1}, message{}.number(7, 0))
	switch kind {
	case "Split":
		return single(op(kind, "x", "y z", "axis", axis))
	case "Concat":
		return single(op(kind, "x x", "y", "axis", axis))
	case "Gather", "GatherElements":
		return single(op(kind, "x i", "y", "axis", axis), i)
	case "ScatterElements":
		return single(op(kind, "x i u", "y", "axis", axis), i, zeros("u", 1, 1))
	case "CumSum":
		return single(op(kind, "x a", "y"), scalar("a", int64(axis)))
	case "TopK":
		return single(op(kind, "x k", "y v", "axis", axis), intTensor("k", 1))
	case "LayerNormalization":
		return single(op(kind, "x w", "y", "axis", axis), zeros("w", 4))
	case "Compress":
		return single(op(kind, "x c", "y", "axis", axis), claimed("c", 9, []int64{2}, message{}.numbers(5, 1, 1)))
	case "OneHot":
		return file{nodes: []message{op("Cast", "x", "c", "to", int64s), op(kind, "c d v", "y", "axis", axis)}, weights: []tensor{scalar("d", 3), floats("v", []int64{2}, 0, 1)}}
	case "Squeeze", "Unsqueeze":
		return single(op(kind, "x a", "y"), intTensor("a", int64(axis)))
	case "ReduceMean":
		return single(op(kind, "x", "y", "axes", []int64{int64(axis)}))
	case "Slice":
		return single(op(kind, "x s e a", "y"), intTensor("s", 0), intTensor("e", 2), intTensor("a", int64(axis)))
	}
	return single(op(kind, "x", "y", "axis", axis))
}

// chain are n nodes of which each takes what the one before makes; the first takes what the
// last makes where they are a cycle.
func chain(n int, cycle bool) []message {
	nodes := make([]message, n)
	for i := range nodes {
		from, to := fmt.Sprint("v", i), fmt.Sprint("v", i+1)
		if i == 0 && cycle {
			from = "y"
		} else if i == 0 {
			from = "x"
		}
		if i == n-1 {
			to = "y"
		}
		nodes[i] = op("Add", from+" x", to)
	}
	return nodes
}

// doubled are n nodes that lead from x to y.
func doubled(n int, node func(from, to string) message) []message {
	return doubledFrom("x", "y", n, node)
}

func doubledFrom(first, last string, n int, node func(from, to string) message) []message {
	nodes := make([]message, n)
	from := first
	for i := range nodes {
		to := fmt.Sprint("d", i)
		if i == n-1 {
			to = last
		}
		nodes[i] = node(from, to)
		from = to
	}
	return nodes
}

// constantChain is ConstantOfShape of 0.93 GiB and n times Exp of the value before; all values are added up.
func constantChain(n int) file {
	nodes, all := []message{op("ConstantOfShape", "s", "k0")}, "k0"
	for i := range n {
		to := fmt.Sprint("k", i+1)
		nodes = append(nodes, op("Exp", fmt.Sprint("k", i), to))
		all += " " + to
	}
	nodes = append(nodes, op("Sum", all, "q"), op("ReduceSum", "q", "r", "keepdims", 0), op("Add", "x r", "y"))
	return file{nodes: nodes, weights: []tensor{intTensor("s", 1<<14, 1<<14-900)}}
}

// constants are n values from ConstantOfShape of the shape s, their sum of this name, and its use.
func constants(n int, sum string) (nodes []message) {
	all := ""
	for i := range n {
		nodes = append(nodes, op("ConstantOfShape", "s", fmt.Sprint("k", i)))
		all += fmt.Sprint(" k", i)
	}
	return append(nodes, op("Sum", all, sum), op("ReduceSum", sum, "r", "keepdims", 0), op("Add", "x r", "y"))
}

// powers are the shapes of doubled by Expand: an axis of two more each time.
func powers(n int) []tensor {
	shapes := make([]tensor, n)
	shape := []int64{1, 4}
	for i := range shapes {
		name := fmt.Sprint("sd", i)
		if i == n-1 {
			name = "sy"
		}
		shape = append([]int64{2}, shape...)
		shapes[i] = intTensor(name, shape...)
	}
	return shapes
}

// function is a function of the domain f, from a to b.
func function(name string, nodes ...message) message {
	return message{}.text(1, name).text(4, "a").text(5, "b").inner(7, nodes...).inner(9, message{}.number(2, 17), message{}.text(1, "f").number(2, 1)).text(10, "f")
}

// doubling are n functions of which each calls the next twice.
func doubling(n int) []message {
	out := make([]message, n)
	for i := range n - 1 {
		next := fmt.Sprint("f", i+1)
		out[i] = function(fmt.Sprint("f", i), opOf("f", next, "a", "c"), opOf("f", next, "c", "b"))
	}
	out[n-1] = function(fmt.Sprint("f", n-1), op("Neg", "a", "b"))
	return out
}

// body is that of a loop which goes on.
func body() graph {
	return graph(message{}.inner(1, op("Identity", "go", "on"), op("Neg", "v", "w")).text(2, "body").
		inner(11, typed("i", int64s), typed("go", 9), typed("v", float32s)).inner(12, typed("on", 9), typed("w", float32s)))
}

// nested is a file of n graphs, each in an attribute of the last one's node. It is written
// from its outside, since each graph holds all that are in it.
func nested(n int) []byte {
	head := func(size int) message { // a graph of one node If, whose branch is of size bytes
		branch := protowire.AppendVarint(protowire.AppendTag(nil, 6, protowire.BytesType), uint64(size))
		attribute := append(message{}.text(1, "then_branch").number(20, isGraph), branch...)
		attributeSize := len(attribute) + size
		node := protowire.AppendVarint(protowire.AppendTag(message{}.text(1, "x").text(2, "y").text(4, "If"), 5, protowire.BytesType), uint64(attributeSize))
		whole := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.BytesType), uint64(len(node)+attributeSize))
		return slices.Concat(whole, node, attribute)
	}
	inner := message{}.inner(1, op("Neg", "x", "y"))
	heads := make([]message, n)
	size := len(inner)
	for i := range heads {
		heads[i] = head(size)
		size += len(heads[i])
	}
	slices.Reverse(heads)
	g := append(slices.Concat(heads...), inner...)
	g = g.inner(11, typed("x", float32s, -1, 4)).inner(12, typed("y", float32s))
	return message{}.number(1, 8).inner(7, g).inner(8, message{}.number(2, 17))
}

// TestHostileFilesAreRefused runs files that no exporter writes: each ends in an error of
// one line with the file's name, soon and without much memory.
func TestHostileFilesAreRefused(t *testing.T) {
	files := map[string][]byte{"nested graphs": nested(100_000)}
	for name, f := range hostile() {
		files[name] = f.bytes()
	}
	e := opened(t)
	x := array.New[float32](3, 4)
	for name, raw := range files {
		t.Run(strings.ReplaceAll(name, "/", "÷"), func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "hostile.onnx")
			for file, content := range map[string][]byte{path: raw, filepath.Join(dir, "beside.data"): make([]byte, 64)} {
				if err := os.WriteFile(file, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			got, err := run(e, path, "", x)
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			switch {
			case err == nil:
				t.Errorf("gives %d x %d numbers: %v ...", got.Rows, got.Cols, got.Data[:min(4, len(got.Data))])
			case !strings.HasPrefix(err.Error(), path+": ") || traced(err) || len(err.Error()) > len(path)+500:
				t.Errorf("no plain line that names the file: %v", err)
			}
			if took > 3*time.Second {
				t.Errorf("takes %v", took)
			}
			if used, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<20+50*len(raw)); used > most {
				t.Errorf("takes %d bytes of memory for a file of %d", used, len(raw))
			}
		})
	}
}

// The files above are refused for what is wrong with them, and not for how they are
// written: without it they run.
func TestHostileFilesButForTheirFault(t *testing.T) {
	e := opened(t)
	for name, f := range map[string]file{
		"a node":           single(op("Relu", "x", "y")),
		"a weight":         single(op("Add", "x w", "y"), zeros("w", 4)),
		"floats":           single(op("Add", "x w", "y"), floats("w", []int64{4}, 1, 2, 3, 4)),
		"whole numbers":    single(op("Reshape", "x s", "y"), intTensor("s", -1, 2, 2)),
		"an attribute":     single(op("Transpose", "x", "y", "perm", []int64{0, 1})),
		"a long chain":     {nodes: chain(200, false)},
		"a window":         {nodes: []message{op("Reshape", "x s", "q"), op("MaxPool", "q", "y", "kernel_shape", []int64{2, 2})}, weights: []tensor{intTensor("s", -1, 1, 2, 2)}},
		"a gathered value": single(op("Gather", "x i", "y", "axis", 1), intTensor("i", -4)),
		"a value doubled":  {nodes: doubled(3, func(from, to string) message { return op("Concat", from+" "+from, to, "axis", 1) })},
	} {
		path := filepath.Join(t.TempDir(), "plain.onnx")
		if err := os.WriteFile(path, f.bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := run(e, path, "", array.New[float32](3, 4)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A file that was cut off says so at every length at which it shows, and another file does not.
func TestFilesThatAreCutOffSaySo(t *testing.T) {
	whole := single(op("Relu", "x", "y")).bytes()
	path := filepath.Join(t.TempDir(), "cut.onnx")
	refused := func(raw []byte) string {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := run(opened(t), path, "", array.New[float32](3, 4))
		if err == nil {
			return ""
		}
		return strings.TrimPrefix(err.Error(), path+": ")
	}
	const cut, other = "the file ends early, it is cut off", "is not an ONNX file: it has no graph"
	version := len(message{}.number(1, 8))
	graphEnds := len(whole) - len(message{}.inner(8, message{}.number(2, 17)))
	for n := range len(whole) {
		want := cut
		switch {
		case n <= version:
			want = other // nothing but the version, or less
		case n == graphEnds:
			continue // a whole graph, without its operators
		}
		if got := refused(whole[:n]); got != want {
			t.Errorf("%d of %d bytes: %q, want %q", n, len(whole), got, want)
		}
	}
	damaged := slices.Clone(whole)
	damaged[version+3]++ // the length of the first node, within the graph
	for name, raw := range map[string][]byte{"text": []byte("<html>not found</html>"), "another message": message{}.text(2, "x", "y")[:5], "a damaged node": damaged} {
		if got := refused(raw); got == cut || got == "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
