// Checking that no gradient is lost at an operation that is not on the tape.

package nn

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
)

// LostGradient is the error for a network whose tape does not know how an output depends on a weight.
type LostGradient struct{ message string }

// Error implements error.
func (e *LostGradient) Error() string { return e.message }

func lostGradient(format string, args ...any) error {
	return &LostGradient{fmt.Sprintf(format, args...)}
}

// CheckRecorded returns a LostGradient if outputs depend on a weight in a way that the tape does not know,
// so that its gradient would be lost, in whole or in part: through an operation that is not recorded,
// or through one that a Block uses without having it as an input. The error names the operation and the
// weights. p are the nodes of the weights. State has no gradient, nor have weights that are frozen
// (nil: none).
//
// What a recorded operation does not name among its inputs, and what is behind StopGradient, has no
// gradient on purpose.
func (t *Tape) CheckRecorded(outputs, p []*Node, weights Params, frozen []bool) error {
	c := tapeCheck{weights: map[*Node]string{}, others: map[*Node]bool{}, steps: map[*Node][]step{}, seen: map[*Node]bool{}, reaching: map[*Node]bool{}}
	for i, v := range weights {
		if v.State || frozen != nil && frozen[i] {
			c.others[p[i]] = true
		} else {
			c.weights[p[i]] = v.Name
		}
	}
	for _, s := range t.steps {
		for _, out := range s.outs {
			c.steps[out] = append(c.steps[out], s)
		}
	}
	for _, out := range outputs {
		if err := c.check(out); err != nil {
			return err
		}
	}
	return nil
}

// tapeCheck is a call of CheckRecorded.
type tapeCheck struct {
	weights  map[*Node]string // names of the weights with gradients
	others   map[*Node]bool   // weights without; where a graph has many steps they are computed from weights before
	steps    map[*Node][]step // by their results
	seen     map[*Node]bool   // nodes at which gradients arrive
	reaching map[*Node]bool   // whether a node depends on a weight; see reaches
}

// check checks what n is computed from; a gradient arrives at n.
func (c *tapeCheck) check(n *Node) error {
	if c.seen[n] || c.weights[n] != "" {
		return nil
	}
	c.seen[n] = true
	if len(c.steps[n]) == 0 {
		if !c.reaches(n) {
			return nil // of records alone
		}
		op := c.firstUnrecorded(n)
		return lostGradient("the gradient of %s is lost at the operation %s of shape %v, which is not recorded: "+
			"only layers of the builder have gradients; wrap other operations in b.Block, with all that they are computed from as its inputs",
			c.behind(n), op.Type(), op.Shape().Dimensions)
	}
	for _, s := range c.steps[n] {
		if lost := c.captured(s); lost != "" {
			return lostGradient("the gradient of %s is lost in a Block whose result has the shape %v: its function uses more than the inputs of the Block; "+
				"weights, and what is computed from them, must be among these", lost, n.Shape().Dimensions)
		}
		for _, in := range s.inputs {
			if err := c.check(in); err != nil {
				return err
			}
		}
	}
	return nil
}

// below returns what n is computed from, as far as gradients are wanted.
func (c *tapeCheck) below(n *Node) (out []*Node) {
	for _, s := range c.steps[n] {
		out = append(out, s.inputs...)
	}
	if len(c.steps[n]) > 0 || n.StopGradient() || c.others[n] {
		return out
	}
	return n.Inputs()
}

// reaches reports whether n depends on a weight.
func (c *tapeCheck) reaches(n *Node) bool {
	if c.weights[n] != "" {
		return true
	}
	known, is := c.reaching[n]
	if is {
		return known
	}
	c.reaching[n] = false
	c.reaching[n] = slices.ContainsFunc(c.below(n), c.reaches)
	return c.reaching[n]
}

// firstUnrecorded returns the operation below n, or n, that a weight or a recorded result goes into.
func (c *tapeCheck) firstUnrecorded(n *Node) *Node {
	for {
		next := n
		for _, in := range n.Inputs() {
			switch {
			case !c.reaches(in):
			case c.weights[in] != "" || len(c.steps[in]) > 0:
				return n
			default:
				next = in
			}
		}
		if next == n {
			return n
		}
		n = next
	}
}

// behind returns the names of the weights that n depends on.
func (c *tapeCheck) behind(n *Node) string {
	found := map[string]bool{}
	c.collect(n, map[*Node]bool{}, found)
	return someNames(found)
}

// collect adds the names of the weights that n depends on to found, except through nodes that were seen.
func (c *tapeCheck) collect(n *Node, seen map[*Node]bool, found map[string]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	if name := c.weights[n]; name != "" {
		found[name] = true
		return
	}
	for _, in := range c.below(n) {
		c.collect(in, seen, found)
	}
}

// captured returns the names of weights that the function of a Block depends on other than through
// its inputs; "" for no Block.
func (c *tapeCheck) captured(s step) string {
	found, seen := map[string]bool{}, map[*Node]bool{}
	for _, n := range s.copies {
		seen[n] = true
	}
	if s.copies == nil || seen[s.outs[0]] {
		return ""
	}
	for _, in := range s.outs[0].Inputs() {
		c.collect(in, seen, found)
	}
	return someNames(found)
}

// someNames returns names in order, at most four of them.
func someNames(found map[string]bool) string {
	const most = 4
	names := slices.Sorted(maps.Keys(found))
	if len(names) > most {
		return fmt.Sprintf("%s and %d more weights", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
