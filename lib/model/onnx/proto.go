// Reading ONNX files (protocol buffers).

package onnx

import (
	"errors"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of onnx.proto, as far as they are needed. Fields that are not read are ignored
// if they do not affect the numbers, and refused if they do.

var errNoGraph = errors.New("is not an ONNX file: it has no graph")

// file is ModelProto.
type file struct {
	opsets    map[string]int64 // by domain; the standard one is ""
	graph     network
	functions map[call]*function
}

// call names a function of the file.
type call struct{ domain, name, overload string }

// function is FunctionProto: an operator defined in the file.
type function struct {
	call
	inputs, outputs []string
	attributes      []string
	defaults        map[string]*attribute
	opsets          map[string]int64
	nodes           []*node
}

// network is GraphProto.
type network struct {
	nodes           []*node
	weights         []*tensor
	inputs, outputs []info
	sparse          bool
}

// node is NodeProto: an operation of the file.
type node struct {
	call
	label           string
	inputs, outputs []string
	attributes      map[string]*attribute
	// The outer values that graphs among the attributes use, and the values they compute.
	captured []string
}

// attribute is AttributeProto.
type attribute struct {
	name    string
	kind    kind
	f       float32
	i       int64
	s       string
	t       *tensor
	floats  []float32
	ints    []int64
	strings []string
	graph   []byte // read when it is needed: graphs may be nested
	ref     string // the function's attribute that is used here
}

// kind is the type of an attribute, in the numbers of onnx.proto.
type kind int64

const (
	kindFloat   kind = 1
	kindInt     kind = 2
	kindString  kind = 3
	kindTensor  kind = 4
	kindGraph   kind = 5
	kindFloats  kind = 6
	kindInts    kind = 7
	kindStrings kind = 8
)

// info is ValueInfoProto of a tensor. An axis whose length the file leaves free is -1.
type info struct {
	name   string
	elem   elem
	dims   []int64
	shaped bool // the file says how many axes there are
	tensor bool // and not a sequence or a map
}

// field is a field of a message: what it holds as bytes, or as a number.
type field struct {
	number protowire.Number
	kind   protowire.Type
	bytes  []byte
	bits   uint64
}

// eachField calls f with the fields of a message, in order.
func eachField(raw []byte, f func(f field) error) error {
	for len(raw) > 0 {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 {
			return protowire.ParseError(n)
		}
		raw = raw[n:]
		one := field{number: number, kind: kind}
		switch kind {
		case protowire.VarintType:
			one.bits, n = protowire.ConsumeVarint(raw)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(raw)
			one.bits = uint64(v)
		case protowire.Fixed64Type:
			one.bits, n = protowire.ConsumeFixed64(raw)
		case protowire.BytesType:
			one.bytes, n = protowire.ConsumeBytes(raw)
		default:
			n = protowire.ConsumeFieldValue(number, kind, raw)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		raw = raw[n:]
		if err := f(one); err != nil {
			return err
		}
	}
	return nil
}

func (f field) wrong() error { return fmt.Errorf("field %d is of the wrong type", f.number) }

func (f field) text(to *string) error {
	if f.kind != protowire.BytesType {
		return f.wrong()
	}
	*to = string(f.bytes)
	return nil
}

func (f field) texts(to *[]string) error {
	var s string
	err := f.text(&s)
	*to = append(*to, s)
	return err
}

func (f field) readInt(to *int64) error {
	if f.kind != protowire.VarintType {
		return f.wrong()
	}
	*to = int64(f.bits)
	return nil
}

// message reads a message within.
func (f field) message(read func(field) error) error {
	if f.kind != protowire.BytesType {
		return f.wrong()
	}
	return eachField(f.bytes, read)
}

// varints appends numbers that are packed, or one that is not.
func (f field) varints(to *[]uint64) error {
	switch f.kind {
	case protowire.VarintType:
		*to = append(*to, f.bits)
		return nil
	case protowire.BytesType:
		for raw := f.bytes; len(raw) > 0; {
			v, n := protowire.ConsumeVarint(raw)
			if n < 0 {
				return protowire.ParseError(n)
			}
			*to, raw = append(*to, v), raw[n:]
		}
		return nil
	}
	return f.wrong()
}

func (f field) int64s(to *[]int64) error {
	var bits []uint64
	err := f.varints(&bits)
	for _, b := range bits {
		*to = append(*to, int64(b))
	}
	return err
}

func (f field) float32s(to *[]float32) error {
	switch f.kind {
	case protowire.Fixed32Type:
		*to = append(*to, math.Float32frombits(uint32(f.bits)))
		return nil
	case protowire.BytesType:
		for raw := f.bytes; len(raw) > 0; {
			v, n := protowire.ConsumeFixed32(raw)
			if n < 0 {
				return protowire.ParseError(n)
			}
			*to, raw = append(*to, math.Float32frombits(v)), raw[n:]
		}
		return nil
	}
	return f.wrong()
}

func (f field) float64s(to *[]float64) error {
	switch f.kind {
	case protowire.Fixed64Type:
		*to = append(*to, math.Float64frombits(f.bits))
		return nil
	case protowire.BytesType:
		for raw := f.bytes; len(raw) > 0; {
			v, n := protowire.ConsumeFixed64(raw)
			if n < 0 {
				return protowire.ParseError(n)
			}
			*to, raw = append(*to, math.Float64frombits(v)), raw[n:]
		}
		return nil
	}
	return f.wrong()
}

// parse reads a file.
func parse(raw []byte) (*file, error) {
	out := &file{opsets: map[string]int64{}, functions: map[call]*function{}}
	graphs := 0
	err := eachField(raw, func(f field) error {
		switch f.number {
		case 7:
			graphs++
			return f.message(out.graph.read)
		case 8:
			return readOpset(f, out.opsets)
		case 25:
			return out.readFunction(f)
		}
		return nil
	})
	var wrong *wrongFile
	switch {
	case errors.As(err, &wrong):
		return nil, wrong
	case err != nil && endsEarly(raw):
		return nil, errors.New("the file ends early, it is cut off")
	case err != nil || graphs == 0 || len(out.graph.nodes) == 0:
		return nil, errNoGraph
	case graphs > 1:
		return nil, errors.New("holds more than one graph")
	case out.graph.sparse:
		return nil, errors.New("has sparse weights, which are not supported")
	}
	return out, nil
}

// endsEarly reports whether a file begins as ONNX, with the version of the format, and its last field
// is longer than the rest of the file. Fields within others do not count: their lengths may be damaged.
func endsEarly(raw []byte) bool {
	for first := true; len(raw) > 0; first = false {
		number, kind, n := protowire.ConsumeTag(raw)
		if n < 0 || first && (number != 1 || kind != protowire.VarintType) {
			return false
		}
		raw = raw[n:]
		if n = protowire.ConsumeFieldValue(number, kind, raw); n < 0 {
			return !first && errors.Is(protowire.ParseError(n), io.ErrUnexpectedEOF)
		}
		raw = raw[n:]
	}
	return false
}

// wrongFile is an error that describes a defect of the file.
type wrongFile struct{ reason string }

func (w *wrongFile) Error() string { return w.reason }

func wrongf(format string, args ...any) error { return &wrongFile{fmt.Sprintf(format, args...)} }

func readOpset(f field, to map[string]int64) error {
	var domain string
	var version int64
	err := f.message(func(f field) error {
		switch f.number {
		case 1:
			return f.text(&domain)
		case 2:
			return f.readInt(&version)
		}
		return nil
	})
	if err != nil {
		return err
	}
	domain = plainDomain(domain)
	if before, twice := to[domain]; twice && before != version {
		return wrongf("asks for the operator set %q in versions %d and %d", domain, before, version)
	}
	to[domain] = version
	return nil
}

func (m *file) readFunction(f field) error {
	out := &function{defaults: map[string]*attribute{}, opsets: map[string]int64{}}
	err := f.message(func(f field) error {
		switch f.number {
		case 1:
			return f.text(&out.name)
		case 4:
			return f.texts(&out.inputs)
		case 5:
			return f.texts(&out.outputs)
		case 6:
			return f.texts(&out.attributes)
		case 7:
			n := &node{attributes: map[string]*attribute{}}
			out.nodes = append(out.nodes, n)
			return f.message(n.read)
		case 9:
			return readOpset(f, out.opsets)
		case 10:
			err := f.text(&out.domain)
			out.domain = plainDomain(out.domain)
			return err
		case 11:
			a := &attribute{}
			err := f.message(a.read)
			out.defaults[a.name] = a
			return err
		case 13:
			return f.text(&out.overload)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if m.functions[out.call] != nil {
		return wrongf("has two functions %s", out.call)
	}
	m.functions[out.call] = out
	return nil
}

func (c call) String() string {
	if c.domain == "" {
		return c.name
	}
	return c.domain + "." + c.name
}

// plainDomain returns a domain's canonical name: the standard domain has two names.
func plainDomain(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

func (g *network) read(f field) error {
	switch f.number {
	case 1:
		n := &node{attributes: map[string]*attribute{}}
		g.nodes = append(g.nodes, n)
		return f.message(n.read)
	case 5:
		t := &tensor{}
		g.weights = append(g.weights, t)
		return f.message(t.read)
	case 11:
		return readInfo(f, &g.inputs)
	case 12:
		return readInfo(f, &g.outputs)
	case 15:
		g.sparse = true
	}
	return nil
}

func (n *node) read(f field) error {
	switch f.number {
	case 1:
		return f.texts(&n.inputs)
	case 2:
		return f.texts(&n.outputs)
	case 3:
		return f.text(&n.label)
	case 4:
		return f.text(&n.name)
	case 5:
		a := &attribute{}
		if err := f.message(a.read); err != nil {
			return err
		}
		if n.attributes[a.name] != nil {
			return wrongf("operator %s (node %q) has the attribute %q twice", n.name, n.label, a.name)
		}
		n.attributes[a.name] = a
		return nil
	case 7:
		err := f.text(&n.domain)
		n.domain = plainDomain(n.domain)
		return err
	case 8:
		return f.text(&n.overload)
	}
	return nil
}

func (a *attribute) read(f field) error {
	switch f.number {
	case 1:
		return f.text(&a.name)
	case 2:
		if f.kind != protowire.Fixed32Type {
			return f.wrong()
		}
		a.f = math.Float32frombits(uint32(f.bits))
		return a.holds(kindFloat)
	case 3:
		err := f.readInt(&a.i)
		return errors.Join(err, a.holds(kindInt))
	case 4:
		err := f.text(&a.s)
		return errors.Join(err, a.holds(kindString))
	case 5:
		a.t = &tensor{}
		return errors.Join(f.message(a.t.read), a.holds(kindTensor))
	case 6:
		a.graph = f.bytes
		return errors.Join(f.message(func(field) error { return nil }), a.holds(kindGraph))
	case 11: // several graphs
		return a.holds(-1)
	case 7:
		return errors.Join(f.float32s(&a.floats), a.holds(kindFloats))
	case 8:
		return errors.Join(f.int64s(&a.ints), a.holds(kindInts))
	case 9:
		return errors.Join(f.texts(&a.strings), a.holds(kindStrings))
	case 20:
		var k int64
		err := f.readInt(&k)
		return errors.Join(err, a.holds(kind(k)))
	case 21:
		return f.text(&a.ref)
	case 10, 14, 15, 22, 23: // tensors, types and sparse tensors
		return a.holds(-1)
	}
	return nil
}

// holds records the kind of an attribute, which its content and its declared type must
// agree on.
func (a *attribute) holds(k kind) error {
	if a.kind != 0 && a.kind != k {
		return wrongf("attribute %q has two types", a.name)
	}
	a.kind = k
	return nil
}

func readInfo(f field, to *[]info) error {
	v := info{}
	err := f.message(func(f field) error {
		switch f.number {
		case 1:
			return f.text(&v.name)
		case 2:
			return f.message(v.readType)
		}
		return nil
	})
	*to = append(*to, v)
	return err
}

func (v *info) readType(f field) error {
	if f.number != 1 {
		return nil
	}
	v.tensor = true
	return f.message(func(f field) error {
		switch f.number {
		case 1:
			var e int64
			err := f.readInt(&e)
			v.elem = elem(e)
			return err
		case 2:
			v.shaped, v.dims = true, nil
			return f.message(v.readDim)
		}
		return nil
	})
}

func (v *info) readDim(f field) error {
	if f.number != 1 {
		return nil
	}
	d := int64(-1)
	err := f.message(func(f field) error {
		if f.number == 1 {
			return f.readInt(&d)
		}
		return nil
	})
	v.dims = append(v.dims, d)
	return err
}
