// Package onnx runs networks exported from other frameworks, such as PyTorch, JAX or
// scikit-learn, on this module's engine and returns their outputs and activations, so that
// a model from elsewhere can be audited after one export.
//
// A file is read, never executed: ONNX is a list of operations with weights, which this
// package translates into a graph of the engine. One table (table.go) says for every
// operator from which opset on it is implemented, with which attributes and which of their
// values; anything else is refused with its operator, attribute and value. Weights in
// separate files are read from the file's own folder only.
//
// # Limits
//
// What a file declares is checked before memory is allocated: no value may exceed 1 GiB,
// nor the values that one execution needs at the same time 4 GiB, the constants computed
// beforehand included, nor the results. A graph may have 2^18 steps; recurrent layers are
// unrolled step by step. Records are run in batches of up to 256, fewer where one of that
// size needs more than 1 GiB.
//
// # Independence of records
//
// An audit is about single records, so that the values of one record must not depend on the
// others in its batch. Every run is followed by a second one of all records, in smaller
// batches and another order, and by one of up to 1,024 records at once where memory allows
// it; a value that differs by more than rounding is refused by name.
package onnx

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/model/outside"
)

// Model is a network with one input of records and at least one output.
type Model struct {
	path, folder string
	file         *file
	weights      map[string]*tensor
	input        input
	outputs      []info
	// output is the name of the output to evaluate.
	output string
	layers []Layer
	// embedding is the name of the input of the last linear layer, or empty.
	embedding string
}

var _ outside.Network = (*Model)(nil)

// input is the input for records: its name and the axes of one record, without the first
// axis, which counts records.
type input struct {
	name string
	elem elem
	dims []int
	// batch is the batch size that the file fixes; 0: any.
	batch int
}

// size returns the number of a record's values.
func (v input) size() int {
	n := 1
	for _, d := range v.dims {
		n *= d
	}
	return n
}

// Layer is a value inside the network.
type Layer struct {
	Name string
	// Op is the operation that computes it, such as "Relu" or "Gemm".
	Op string
}

// Open reads an exported network. It refuses a file that is not ONNX, more than one input,
// inputs whose axes after the first are not fixed, and a malformed graph; every error names
// the file.
func Open(path string) (m *Model, err error) {
	defer wrapError(path, &err)
	raw, err := files.Read(path, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	f, err := parse(raw)
	if err != nil {
		return nil, err
	}
	m = &Model{path: path, folder: filepath.Dir(path), file: f, weights: map[string]*tensor{}, outputs: f.graph.outputs}
	for _, t := range f.graph.weights {
		if err := t.check(); err != nil {
			return nil, err
		}
		m.weights[t.name] = t
	}
	if err := f.graph.capture(0); err != nil {
		return nil, err
	}
	if err := f.graph.checkOrder(m.weights); err != nil {
		return nil, err
	}
	if err := m.readInput(); err != nil {
		return nil, err
	}
	if len(m.outputs) == 0 {
		return nil, errors.New("has no output")
	}
	for _, n := range f.graph.nodes {
		for _, out := range n.outputs {
			if out != "" && n.name != "Constant" {
				m.layers = append(m.layers, Layer{Name: out, Op: n.name})
			}
		}
	}
	m.choose(m.Choices()[0])
	return m, nil
}

// wrapError adds the file to an error and turns a panic into one: the libraries below panic
// at what they do not support.
func wrapError(path string, err *error) {
	if r := recover(); r != nil {
		*err = errors.New(firstLine(fmt.Sprint(r)))
	}
	if *err == nil || strings.HasPrefix((*err).Error(), path+":") {
		return
	}
	*err = &Error{Path: path, Reason: firstLine((*err).Error()), cause: *err}
}

// firstLine returns the first line of a library's error, without its stack; a long one is
// cut. Quotations from a file may contain anything.
func firstLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > maxMessage {
		text = string(runes[:maxMessage]) + " ..."
	}
	if rest, ok := strings.CutPrefix(text, "runtime error: "); ok {
		return "an operation is not used as ONNX says, or the file is damaged (" + rest + ")"
	}
	return text
}

// maxMessage is the maximum number of characters of a message.
const maxMessage = 400

// Error says what is wrong with an exported network.
type Error struct {
	Path, Reason string
	cause        error
}

// Error implements error.
func (e *Error) Error() string { return e.Path + ": " + e.Reason }

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.cause }

// readInput finds the single input of records. Other inputs may be declared if the file has
// their values.
func (m *Model) readInput() error {
	found := slices.DeleteFunc(slices.Clone(m.file.graph.inputs), func(v info) bool { return m.weights[v.name] != nil })
	if len(found) != 1 {
		var names []string
		for _, v := range found {
			names = append(names, v.name)
		}
		return fmt.Errorf("has %d inputs (%s); need one, of shape [records, ...]", len(found), strings.Join(names, ", "))
	}
	v := found[0]
	if len(v.dims) < 2 {
		return fmt.Errorf("its input %q has %d axes; need at least two, of which the first counts records", v.name, len(v.dims))
	}
	if v.elem != bools && !v.elem.isNumber() {
		return fmt.Errorf("its input %q is of type %s; need numbers", v.name, v.elem)
	}
	for i, d := range v.dims[1:] {
		if d <= 0 {
			return fmt.Errorf("axis %d of its input %q has no fixed length; export it with only the first axis free", i+1, v.name)
		}
	}
	if v.dims[0] == 0 || v.dims[0] < -1 || v.dims[0] > maxBytes {
		return fmt.Errorf("its input %q is of %d records", v.name, v.dims[0])
	}
	if _, err := product(v.dims[1:]); err != nil {
		return fmt.Errorf("its input %q: %w", v.name, err)
	}
	m.input = input{name: v.name, elem: v.elem, dims: clampLengths(v.dims[1:]), batch: max(int(v.dims[0]), 0)}
	return nil
}

// Choices returns the outputs that can be evaluated: those of floats, or all if none is. A
// sequence of maps from labels to probabilities, which scikit-learn's exporter writes,
// counts as one of floats.
func (m *Model) Choices() (out []string) {
	for _, v := range m.outputs {
		if !v.tensor || v.elem == 0 || v.elem.isFloat() {
			out = append(out, v.name)
		}
	}
	if out == nil {
		return m.Outputs()
	}
	return out
}

func (m *Model) choose(output string) {
	m.output, m.embedding = output, ""
	if before := beforeLastLinear(m.file.graph.nodes, output); before != m.input.name {
		m.embedding = before
	}
}

// Choose sets the output to evaluate.
func (m *Model) Choose(output string) error {
	if !slices.Contains(m.Outputs(), output) {
		return &Error{Path: m.path, Reason: fmt.Sprintf("has no output %q; it has %s", output, strings.Join(m.Outputs(), ", "))}
	}
	m.choose(output)
	return nil
}

// Outputs returns the names of the network's outputs.
func (m *Model) Outputs() []string {
	out := make([]string, len(m.outputs))
	for i, v := range m.outputs {
		out[i] = v.name
	}
	return out
}

// Input returns the axes of a record.
func (m *Model) Input() []int { return slices.Clone(m.input.dims) }

// Batch returns the batch size that the file fixes; 0: any.
func (m *Model) Batch() int { return m.input.batch }

// Output implements outside.Network: the chosen output, by default the first one of floats
// (scikit-learn's classifiers have the label first, then the probabilities).
func (m *Model) Output() string { return m.output }

// Layers returns the values inside the network, in the order of the file.
func (m *Model) Layers() []Layer { return slices.Clone(m.layers) }

// Embedding implements outside.Network: the input of the last linear layer (Gemm, MatMul or
// Conv) before the output. ok is false where that is the network's input, or where there is
// no such layer.
func (m *Model) Embedding() (name string, ok bool) { return m.embedding, m.embedding != "" }
