// The graph of one more token per text, and what is kept between tokens.

package text

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// graph returns the scores [V, n] of the token after the next one of every text, and of every layer
// the next token's key and value. Its inputs are the weights, the tokens and their places [2, n], 1
// for the tokens that are kept and 0 for the others [T], and of every layer the keys and values that
// are kept [heads n, T, c]; see nn.NextAttention.
func (g *Generator) graph(in []*Node) []*Node {
	weights, in := in[:len(g.weights)], in[len(g.weights):]
	x, before, kept := in[0], in[1], in[2:]
	var out []*Node
	nn.Build(&nn.Tape{}, g.weights, weights, nil, nil, x, func(b *nn.Builder) { out = g.m.next(b, x, before, kept) })
	return out
}

// next builds the decoder on one token per record.
func (m Decoder) next(b *nn.Builder, x, before *Node, kept []*Node) []*Node {
	b = b.Initial(initial)
	table, places := m.tables(b)
	row := func(k int) *Node { return Slice(x, AxisRange(k, k+1), AxisRange()) }
	h := nn.Residual(b.Tape, nn.TokenEmbedding(b.Tape, row(0), table), nn.TokenEmbedding(b.Tape, row(1), places))
	var made []*Node
	for l := range m.Layers {
		h = m.layer(b.Sub(layerName(l)), h, func(b *nn.Builder, in *Node) *Node {
			out, key, value := b.NextHeads("attention", in, m.heads(), kept[2*l], kept[2*l+1], before)
			made = append(made, key, value)
			return out
		})
	}
	h = b.LayerNorm("norm", h, m.Eps)
	return append([]*Node{nn.DenseTokens(b.Tape, h, table, nil, b.Records)}, made...)
}

// cache has the keys and values of the tokens so far, of a batch of n texts that are equally long.
type cache struct {
	g    *Generator
	n, t int         // texts; tokens of each
	kept [][]float32 // of every layer keys and values, [heads n, T, c]
	seen []float32   // 1 for the first t of T tokens
}

func (g *Generator) newCache(n int) *cache {
	c := &cache{g: g, n: n, seen: make([]float32, g.m.Tokens)}
	for range 2 * g.m.Layers {
		c.kept = append(c.kept, make([]float32, n*g.m.Tokens*g.m.Width))
	}
	return c
}

// next adds a token to every text and returns the scores of the one after it, [V, n].
func (c *cache) next(weights []any, codes []int) ([]float32, error) {
	m := c.g.m
	x := make([]float32, 2*c.n)
	for i, v := range codes {
		x[i], x[c.n+i] = float32(v), float32(c.t)
	}
	inputs := []nn.Param{{Name: "tokens", Shape: []int{2, c.n}, Data: x}, {Name: "places", Shape: []int{m.Tokens}, Data: c.seen}}
	for _, data := range c.kept {
		inputs = append(inputs, nn.Param{Name: "kept", Shape: []int{m.Heads * c.n, m.Tokens, m.Width / m.Heads}, Data: data})
	}
	in, err := model.Upload(c.g.engine, inputs)
	if err != nil {
		return nil, err
	}
	out, err := c.g.exec.Call(append(weights[:len(weights):len(weights)], in...)...)
	model.Finalize(in) // what is kept must not change before
	if err != nil {
		return nil, fmt.Errorf("token %d: %w", c.t, err)
	}
	defer model.Finalize(out)
	for k, data := range c.kept {
		if err := tensors.ConstFlatData(out[1+k], func(made []float32) { c.keep(data, made) }); err != nil {
			return nil, err
		}
	}
	c.seen[c.t] = 1
	c.t++
	return tensors.CopyFlatData[float32](out[0])
}

// keep writes the keys or values of a token, [heads n, 1, c], to those that are kept.
func (c *cache) keep(kept, made []float32) {
	width, tokens := c.g.m.Width/c.g.m.Heads, c.g.m.Tokens
	for row := range len(made) / width {
		copy(kept[(row*tokens+c.t)*width:], made[row*width:(row+1)*width])
	}
}
