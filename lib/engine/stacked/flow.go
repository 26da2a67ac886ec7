// Operations with functions: While, If, Sort, Call.

package stacked

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
)

// flow is an operation with functions.
type flow interface {
	// emit emits the operation.
	emit(e *emission, in []operand) []operand
	// stacked returns which results are stacked, for operands that are or are not.
	stacked(k known, in []bool) []bool
}

// known tells which values are stacked, without an emission.
type known struct {
	values map[*value]bool
	outer  func(v *value) bool // for values of the functions around
}

func (k known) lookup(v *value) bool {
	if stacked, ok := k.values[v]; ok {
		return stacked
	}
	return k.outer != nil && k.outer(v)
}

// known returns what an emission knows.
func (e *emission) known() known {
	return known{outer: func(v *value) bool { x, _ := e.find(v); return x.stacked }}
}

// results returns which results of a function are stacked, for parameters that are or are
// not.
func (f *function) results(outer known, params []bool) []bool {
	k := known{values: map[*value]bool{}, outer: outer.lookup}
	for i, p := range f.params {
		k.values[p] = params[i]
	}
	lookup := func(values []*value) []bool {
		out := make([]bool, len(values))
		for i, v := range values {
			out[i] = k.lookup(v)
		}
		return out
	}
	for _, o := range f.operations {
		in := lookup(o.in)
		out := slices.Repeat([]bool{slices.Contains(in, true)}, len(o.out))
		if o.flow != nil {
			out = o.flow.stacked(k, in)
		}
		for i, v := range o.out {
			k.values[v] = out[i]
		}
	}
	return lookup(f.outputs)
}

// closure emits a closure whose parameters and results are stacked or not as given.
func (e *emission) closure(f *function, params, results []bool) compute.Function {
	if e.err != nil {
		return nil
	}
	on, err := e.on.Closure()
	if err != nil {
		e.fail(err)
		return nil
	}
	in := &emission{on: on, models: e.models, outer: e, values: map[*value]operand{}}
	out := in.emitFunction(f, in.parameters(f, params))
	values := make([]compute.Value, len(out))
	for i, x := range out {
		values[i] = x.value
		if results[i] {
			values[i] = in.stack(x)
		}
	}
	if err := in.finish(values); err != nil {
		e.fail(err)
	}
	return on
}

// asOperands returns results that have the shapes of other values.
func asOperands(values []compute.Value, like []operand, stacked []bool) []operand {
	out := make([]operand, len(values))
	for i, v := range values {
		out[i] = operand{v, like[i].shape, stacked[i]}
	}
	return out
}

// functions returns GoMLX's functions as recorded ones.
func (f *function) functions(op compute.OpType, fns ...compute.Function) ([]*function, error) {
	out := make([]*function, len(fns))
	for i, fn := range fns {
		g, ok := fn.(*function)
		if !ok || g == nil || g.builder != f.builder {
			return nil, fmt.Errorf("%s: %T is not a function of this graph", op, fn)
		}
		out[i] = g
	}
	return out, nil
}

// while is a loop.
type while struct{ cond, body *function }

// While implements compute.Function.
func (f *function) While(cond, body compute.Function, state ...compute.Value) ([]compute.Value, error) {
	fns, err := f.functions(compute.OpTypeWhile, cond, body)
	if err != nil {
		return nil, err
	}
	return f.record(&operation{
		name: compute.OpTypeWhile.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return on.While(fns[0].single, fns[1].single, in...)
		},
		flow: while{fns[0], fns[1]},
	}, state...)
}

// stacked implements flow: what becomes stacked in an iteration is so from the first on.
func (w while) stacked(k known, in []bool) []bool {
	state := slices.Clone(in)
	for {
		next, changed := w.body.results(k, state), false
		for i, s := range next {
			if s && !state[i] {
				state[i], changed = true, true
			}
		}
		if !changed {
			return state
		}
	}
}

// emit implements flow.
func (w while) emit(e *emission, in []operand) []operand {
	state := w.stacked(e.known(), flags(in))
	if w.cond.results(e.known(), state)[0] {
		e.fail(refused("While with a condition that differs between models"))
		return nil
	}
	initial := make([]compute.Value, len(in))
	for i, x := range in {
		initial[i] = x.value
		if state[i] {
			initial[i] = e.stack(x)
		}
	}
	cond, body := e.closure(w.cond, state, []bool{false}), e.closure(w.body, state, state)
	values := e.tryAll(func() ([]compute.Value, error) { return e.on.While(cond, body, initial...) })
	return asOperands(values, in, state)
}

func flags(in []operand) []bool {
	out := make([]bool, len(in))
	for i, x := range in {
		out[i] = x.stacked
	}
	return out
}

// branch is a choice between two closures.
type branch struct{ yes, no *function }

// If implements compute.Function.
func (f *function) If(pred compute.Value, yes, no compute.Function) ([]compute.Value, error) {
	fns, err := f.functions(compute.OpTypeIf, yes, no)
	if err != nil {
		return nil, err
	}
	return f.record(&operation{
		name: compute.OpTypeIf.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return on.If(in[0], fns[0].single, fns[1].single)
		},
		flow: branch{fns[0], fns[1]},
	}, pred)
}

// stacked implements flow.
func (b branch) stacked(k known, _ []bool) []bool {
	out, no := b.yes.results(k, nil), b.no.results(k, nil)
	for i := range out {
		out[i] = out[i] || no[i]
	}
	return out
}

// emit implements flow.
func (b branch) emit(e *emission, in []operand) []operand {
	if in[0].stacked {
		e.fail(refused("If with a predicate that differs between models"))
		return nil
	}
	out := b.stacked(e.known(), nil)
	yes, no := e.closure(b.yes, nil, out), e.closure(b.no, nil, out)
	values := e.tryAll(func() ([]compute.Value, error) { return e.on.If(in[0].value, yes, no) })
	results := make([]operand, len(values))
	for i, v := range values {
		results[i] = operand{v, b.yes.outputs[i].shape, out[i]}
	}
	return results
}

// sorting is a sort along an axis.
type sorting struct {
	comparator *function
	axis       int
	stable     bool
}

// Sort implements compute.Function.
func (f *function) Sort(comparator compute.Function, axis int, stable bool, inputs ...compute.Value) ([]compute.Value, error) {
	fns, err := f.functions(compute.OpTypeSort, comparator)
	if err != nil {
		return nil, err
	}
	return f.record(&operation{
		name: compute.OpTypeSort.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return on.Sort(fns[0].single, axis, stable, in...)
		},
		flow: sorting{fns[0], axis, stable},
	}, inputs...)
}

// stacked implements flow.
func (s sorting) stacked(_ known, in []bool) []bool {
	return slices.Repeat([]bool{slices.Contains(in, true)}, len(in))
}

// emit implements flow.
func (s sorting) emit(e *emission, in []operand) []operand {
	numbers := make([]bool, 2*len(in))
	if s.comparator.results(e.known(), numbers)[0] {
		e.fail(refused("Sort by an order that differs between models"))
		return nil
	}
	order := e.closure(s.comparator, numbers, []bool{false})
	values, axis, stacked := plainValues(in), s.axis, anyStacked(in)
	if stacked {
		values, axis = e.stackAll(in), axis+1
	}
	sorted := e.tryAll(func() ([]compute.Value, error) { return e.on.Sort(order, axis, s.stable, values...) })
	return asOperands(sorted, in, slices.Repeat([]bool{stacked}, len(in)))
}

// call is a call of a function of the graph.
type call struct{ callee *function }

// Call implements compute.Function.
func (f *function) Call(fn compute.Function, inputs ...compute.Value) ([]compute.Value, error) {
	fns, err := f.functions(compute.OpTypeCall, fn)
	if err != nil {
		return nil, err
	}
	return f.record(&operation{
		name: compute.OpTypeCall.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return on.Call(fns[0].single, in...)
		},
		flow: call{fns[0]},
	}, inputs...)
}

// stacked implements flow.
func (c call) stacked(_ known, in []bool) []bool { return c.callee.results(known{}, in) }

// emit implements flow: it emits the operations of the function in place.
func (c call) emit(e *emission, in []operand) []operand {
	inner := &emission{on: e.on, models: e.models, values: map[*value]operand{}, err: e.err}
	out := inner.emitFunction(c.callee, in)
	e.fail(inner.err)
	return out
}
