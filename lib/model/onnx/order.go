package onnx

import (
	"fmt"
	"slices"
)

// checkOrder checks that every value is computed once, and before it is used, so that there
// are no cycles.
func (g *network) checkOrder(weights map[string]*tensor) error {
	there := map[string]bool{}
	for _, t := range g.weights {
		if t.name == "" || there[t.name] {
			return fmt.Errorf("has two weights named %q, or one without a name", t.name)
		}
		there[t.name] = true
	}
	for _, v := range g.inputs {
		if there[v.name] && weights[v.name] == nil {
			return fmt.Errorf("has two inputs named %q", v.name)
		}
		there[v.name] = true
	}
	for _, n := range g.nodes {
		for _, in := range n.inputs {
			if in != "" && !there[in] {
				return fmt.Errorf("%s uses %q before it is computed, or it is never computed", n, in)
			}
		}
		for _, out := range n.outputs {
			if out != "" && there[out] {
				return fmt.Errorf("%s computes %q, which exists already", n, out)
			}
			there[out] = out != ""
		}
	}
	for _, v := range g.outputs {
		if !there[v.name] {
			return fmt.Errorf("its output %q is never computed", v.name)
		}
	}
	return nil
}

// neededSteps returns the operations that values depend on, in the order of the file.
func (m *Model) neededSteps(names []string) (steps []int) {
	want := map[string]bool{}
	for _, name := range names {
		want[name] = true
	}
	nodes := m.file.graph.nodes
	for i := len(nodes) - 1; i >= 0; i-- {
		makes := false
		for _, out := range nodes[i].outputs {
			makes = makes || out != "" && want[out]
		}
		if !makes {
			continue
		}
		steps = append(steps, i)
		for _, in := range slices.Concat(nodes[i].inputs, nodes[i].captured) {
			want[in] = true
		}
	}
	slices.Reverse(steps)
	return steps
}

// lastUses returns, per operation, the values that nothing reads afterwards, except the
// requested ones.
func (m *Model) lastUses(steps []int, names []string) map[int][]string {
	kept, last := map[string]bool{}, map[string]int{}
	for _, name := range names {
		kept[name] = true
	}
	for _, i := range steps {
		n := m.file.graph.nodes[i]
		for _, name := range n.outputs {
			last[name] = i
		}
		for _, name := range slices.Concat(n.inputs, n.captured) {
			last[name] = i
		}
	}
	out := map[int][]string{}
	for name, i := range last {
		if !kept[name] && name != "" {
			out[i] = append(out[i], name)
		}
	}
	return out
}

// linear are the operations that count as a network's last linear layer.
var linear = map[string]bool{"Gemm": true, "MatMul": true, "Conv": true}

// beforeLastLinear walks from an output back to the last linear operation, past biases,
// softmax and reshapes, and returns that operation's input.
func beforeLastLinear(nodes []*node, output string) string {
	makes := map[string]*node{}
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
		if n.domain == "" && linear[n.name] && len(n.inputs) > 0 {
			return n.inputs[0]
		}
		at = append(at, n.inputs...)
	}
	return ""
}
