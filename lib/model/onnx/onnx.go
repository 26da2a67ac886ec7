// Package onnx runs networks that other frameworks have exported on Lethe's
// engine, and takes the activations out of them that evidence is made of: who
// judges a model from PyTorch, JAX or scikit-learn exports it once and nothing
// else by hand.
//
// A file is read, never executed: ONNX is a list of operations with weights, of
// which the library onnx-gomlx builds a graph. An operation that it does not
// know is an error with its name. Weights beside the file are read from the
// file's own folder only.
package onnx

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	library "github.com/gomlx/onnx-gomlx/onnx"
	"github.com/gomlx/onnx-gomlx/onnx/parser"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/model/outside"
)

// Model is a network with one input of records and one output or more.
type Model struct {
	path    string
	parsed  library.Model
	input   value
	outputs []string
	layers  []Layer
	// embedding is the name of what goes into the last linear layer, or empty.
	embedding string
}

var _ outside.Network = (*Model)(nil)

// value is a tensor of the network: its name and the axes of one record, without
// the first axis, which counts records.
type value struct {
	Name string
	Dims []int
	// Batch is the number of records that the file fixes for an execution; 0: any.
	Batch int
}

// size is the number of a record's values.
func (v value) size() int {
	n := 1
	for _, d := range v.Dims {
		n *= d
	}
	return n
}

// Layer is a value inside the network.
type Layer struct {
	Name string
	// Op is the operation that makes it: "Relu", "Gemm".
	Op string
}

// Open reads an exported network. It refuses what is no ONNX file, what has more
// than one input, and inputs whose axes behind the first are not fixed; every
// error names the file.
func Open(path string) (m *Model, err error) {
	defer refuse(path, &err)
	raw, err := files.Read(path, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	nodes, err := nodesOf(raw)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("is no ONNX file that can be read: %w", err)
	}
	parsed.DisableFusion() // which would swallow the values between
	parsed = parsed.WithExternalDataReader(&beside{folder: filepath.Dir(path)})
	m = &Model{path: path, parsed: parsed}
	if m.input, err = inputOf(parsed); err != nil {
		return nil, err
	}
	if m.outputs, _ = parsed.Outputs(); len(m.outputs) == 0 {
		return nil, errors.New("has no output")
	}
	for _, n := range nodes {
		for _, out := range n.outputs {
			if out != "" && n.op != "Constant" {
				m.layers = append(m.layers, Layer{Name: out, Op: n.op})
			}
		}
	}
	if before := beforeLastLinear(nodes, m.outputs[0]); before != m.input.Name {
		m.embedding = before
	}
	return m, nil
}

// refuse names the file in an error, and makes one of a panic: the libraries below
// panic at what they do not understand.
func refuse(path string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%v", r)
	}
	if *err == nil {
		return
	}
	text := reason((*err).Error())
	if strings.HasPrefix(text, path+":") {
		return
	}
	*err = &Error{Path: path, Reason: text, cause: *err}
}

// unknown is what the library says of an operation that it does not know, with the
// names of its node, its inputs and its outputs.
var unknown = regexp.MustCompile(`^unimplemented ONNX op ("[^"]*") in Node ("[^"]*") .* -> (.*?)(?: - attrs\[.*)?$`)

// reason is the last of what the libraries say, without the functions that it came
// through and their stacks.
func reason(text string) string {
	if at := strings.LastIndex(text, " panicked: "); at >= 0 {
		text = text[at+len(" panicked: "):]
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if m := unknown.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("operation %s (node %s, which makes %q) is not known here", m[1], m[2], m[3])
	}
	if strings.HasPrefix(text, "runtime error: ") {
		return "an operation is not used as ONNX says, or the file is damaged (" + strings.TrimPrefix(text, "runtime error: ") + ")"
	}
	return text
}

// Error says what is wrong with an exported network.
type Error struct {
	Path, Reason string
	cause        error
}

// Error implements error.
func (e *Error) Error() string { return e.Path + ": " + e.Reason }

// Unwrap returns what was found first.
func (e *Error) Unwrap() error { return e.cause }

// inputOf is the one input that records come in by.
func inputOf(parsed library.Model) (value, error) {
	names, shapes := parsed.Inputs()
	if len(names) != 1 {
		return value{}, fmt.Errorf("has %d inputs (%s); one is needed, of shape [records, ...]", len(names), strings.Join(names, ", "))
	}
	dims := shapes[0].Dimensions
	if len(dims) < 2 {
		return value{}, fmt.Errorf("its input %q has %d axes; two or more are needed, of which the first counts records", names[0], len(dims))
	}
	v := value{Name: names[0], Dims: slices.Clone(dims[1:]), Batch: max(dims[0], 0)}
	for i, d := range v.Dims {
		if d <= 0 {
			return value{}, fmt.Errorf("axis %d of its input %q has no fixed length; export it with a free first axis alone", i+1, names[0])
		}
	}
	return v, nil
}

// Input is what a record looks like: its axes.
func (m *Model) Input() []int { return slices.Clone(m.input.Dims) }

// Batch is the number of records that the file fixes for an execution; 0: any.
func (m *Model) Batch() int { return m.input.Batch }

// Output implements outside.Network: the first output.
func (m *Model) Output() string { return m.outputs[0] }

// Layers are the values inside the network, in the order of the file.
func (m *Model) Layers() []Layer { return slices.Clone(m.layers) }

// Embedding implements outside.Network: what goes into the last linear layer (Gemm,
// MatMul or Conv) before the first output. It is false where that is the input
// itself, or where there is no such layer.
func (m *Model) Embedding() (name string, ok bool) { return m.embedding, m.embedding != "" }
