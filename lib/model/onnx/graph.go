package onnx

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// node is an operation of the file.
type node struct {
	op              string
	inputs, outputs []string
}

// The fields of ONNX's messages that say which operation feeds which
// (onnx.proto: ModelProto.graph, GraphProto.node, NodeProto).
const (
	fieldGraph  = 7
	fieldNode   = 1
	fieldInput  = 1
	fieldOutput = 2
	fieldOp     = 4
)

var errNoGraph = errors.New("is no ONNX file: it holds no graph")

// nodesOf lists the operations of a file. The library keeps them to itself.
func nodesOf(raw []byte) ([]node, error) {
	graphs, err := fields(raw, fieldGraph)
	if err != nil || len(graphs) != 1 {
		return nil, errNoGraph
	}
	found, err := fields(graphs[0], fieldNode)
	if err != nil || len(found) == 0 {
		return nil, errNoGraph
	}
	nodes := make([]node, len(found))
	for i, one := range found {
		if nodes[i], err = nodeOf(one); err != nil {
			return nil, errNoGraph
		}
	}
	return nodes, nil
}

func nodeOf(raw []byte) (node, error) {
	var n node
	for _, f := range []struct {
		number protowire.Number
		to     func(string)
	}{
		{fieldInput, func(s string) { n.inputs = append(n.inputs, s) }},
		{fieldOutput, func(s string) { n.outputs = append(n.outputs, s) }},
		{fieldOp, func(s string) { n.op = s }},
	} {
		values, err := fields(raw, f.number)
		if err != nil {
			return n, err
		}
		for _, v := range values {
			f.to(string(v))
		}
	}
	return n, nil
}

// fields are the contents of a message's fields of one number.
func fields(raw []byte, number protowire.Number) ([][]byte, error) {
	var out [][]byte
	for len(raw) > 0 {
		at, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		raw = raw[n:]
		size := protowire.ConsumeFieldValue(at, kind, raw)
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		if at == number && kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(raw)
			out = append(out, value)
		}
		raw = raw[size:]
	}
	return out, nil
}

// linear are the operations that a network ends in.
var linear = map[string]bool{"Gemm": true, "MatMul": true, "Conv": true}

// beforeLastLinear walks from an output back to the last linear operation, past the
// biases, softmax and reshapes behind it, and names what goes into that.
func beforeLastLinear(nodes []node, output string) string {
	makes := map[string]node{}
	for _, n := range nodes {
		for _, out := range n.outputs {
			makes[out] = n
		}
	}
	seen := map[string]bool{}
	for at := []string{output}; len(at) > 0; {
		name := at[0]
		at = at[1:]
		n, made := makes[name]
		if !made || seen[name] {
			continue
		}
		seen[name] = true
		if linear[n.op] && len(n.inputs) > 0 {
			return n.inputs[0]
		}
		at = append(at, n.inputs...)
	}
	return ""
}
