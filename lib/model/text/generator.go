// What a decoder says: tokens one after the other, with the keys and values of earlier ones kept.

package text

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/text/bpe"
)

// Generator continues texts with the tokens that a decoder gives the largest scores, or with random
// ones. All texts of a batch are read from their first token on, side by side, and every token is
// computed once: the keys and values of those before it are kept, 8 Layers Width bytes a token. A
// text is continued the same way alone and among others, to the rounding of products.
type Generator struct {
	m       Decoder
	engine  *engine.Engine
	weights nn.Params // their names and shapes
	exec    *Exec
}

// NewGenerator returns a generator for a decoder of any weights.
func NewGenerator(e *engine.Engine, m Decoder) (*Generator, error) {
	m = defaults.Fill(m)
	weights, err := model.WeightShapes(m)
	if err != nil {
		return nil, err
	}
	g := &Generator{m: m, engine: e, weights: weights}
	if g.exec, err = NewExec(e.Backend(), g.graph); err != nil {
		return nil, fmt.Errorf("%s: generation: %w", m.Name(), err)
	}
	g.exec.SetMaxCache(-1)
	return g, nil
}

// Sampling says how a text is continued.
type Sampling struct {
	// Most is the greatest number of new tokens, 0: until the text has as many as a record.
	Most int
	// End is the token that ends a text, which is not returned; negative: none does.
	End int
	// Temperature T draws token v with probability softmax(z / T)_v from the generator of its
	// prompt; 0: the token with the largest score, of equal ones the first, without a generator.
	Temperature float64
	Rand        func(prompt int) *rand.Rand
}

func (s Sampling) check() error {
	switch {
	case s.Most < 0:
		return fmt.Errorf("at most %d new tokens", s.Most)
	case !(s.Temperature >= 0) || math.IsInf(s.Temperature, 1):
		return fmt.Errorf("the temperature is %v", s.Temperature)
	case s.Temperature > 0 && s.Rand == nil:
		return fmt.Errorf("a temperature of %v needs a generator of random numbers for every prompt", s.Temperature)
	}
	return nil
}

// generatorBatch is the number of texts that are continued side by side.
const generatorBatch = 32

// Continue returns the tokens that follow each prompt. Errors name the prompt, counted from 0.
func (g *Generator) Continue(ctx context.Context, p nn.Params, prompts [][]int, s Sampling) ([][]int, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: generation: %w", g.m.Name(), err)
	}
	if err := g.check(p, prompts); err != nil {
		return nil, err
	}
	weights, err := model.Upload(g.engine, p)
	if err != nil {
		return nil, err
	}
	defer model.Finalize(weights)
	var out [][]int
	for first := 0; first < len(prompts); first += generatorBatch {
		var texts []*continuation
		for i, prompt := range prompts[first:min(len(prompts), first+generatorBatch)] {
			texts = append(texts, g.m.begin(prompt, first+i, s))
		}
		if err := g.run(ctx, weights, texts, min(len(prompts), generatorBatch)); err != nil {
			return nil, fmt.Errorf("%s: generation: %w", g.m.Name(), err)
		}
		for _, c := range texts {
			out = append(out, c.tokens[c.given:])
		}
	}
	return out, nil
}

// Texts is Continue from text to text. Broken UTF-8 is an error that names the prompt.
func (g *Generator) Texts(ctx context.Context, p nn.Params, v *bpe.Vocabulary, prompts []string, s Sampling) ([]string, error) {
	all := make([][]int, len(prompts))
	for i, prompt := range prompts {
		var err error
		if all[i], err = v.Tokens(prompt); err != nil {
			return nil, fmt.Errorf("prompt %d: %w", i, err)
		}
	}
	answers, err := g.Continue(ctx, p, all, s)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(answers))
	for i, tokens := range answers {
		if out[i], err = v.Decode(tokens); err != nil {
			return nil, fmt.Errorf("prompt %d: %w", i, err)
		}
	}
	return out, nil
}

// check returns an error for weights or prompts that the decoder cannot take.
func (g *Generator) check(p nn.Params, prompts [][]int) error {
	if err := nn.SameShape(p, g.weights); err != nil {
		return fmt.Errorf("the model does not fit %s: %w", g.m.Name(), err)
	}
	if err := p.Check(); err != nil {
		return fmt.Errorf("%s: %w", g.m.Name(), err)
	}
	for i, prompt := range prompts {
		if len(prompt) == 0 || len(prompt) >= g.m.Tokens {
			return fmt.Errorf("prompt %d: %s: %d tokens, a prompt has 1 to %d", i, g.m.Name(), len(prompt), g.m.Tokens-1)
		}
		for k, v := range prompt {
			if err := g.m.checkToken(k, v); err != nil {
				return fmt.Errorf("prompt %d: %w", i, err)
			}
		}
	}
	return nil
}

// continuation is a text that is being continued.
type continuation struct {
	Sampling
	tokens []int // the prompt, and what follows it
	given  int   // number of the prompt's
	most   int   // greatest number of tokens
	rng    *rand.Rand
	ended  bool
}

func (m Decoder) begin(prompt []int, number int, s Sampling) *continuation {
	c := &continuation{Sampling: s, tokens: slices.Clone(prompt), given: len(prompt), most: m.Tokens}
	if s.Most > 0 {
		c.most = min(c.most, c.given+s.Most)
	}
	if s.Temperature > 0 {
		c.rng = s.Rand(number)
	}
	return c
}

// add adds a token after the last, given its score by token; scores are n apart.
func (c *continuation) add(scores []float32, n int) {
	next := c.draw(scores, n)
	if next == c.End {
		c.ended = true
		return
	}
	c.tokens = append(c.tokens, next)
	c.ended = len(c.tokens) == c.most
}

func (c *continuation) draw(scores []float32, n int) int {
	best := 0
	for v := n; v < len(scores); v += n {
		if scores[v] > scores[best] {
			best = v
		}
	}
	if c.Temperature == 0 {
		return best / n
	}
	weight := func(v int) float64 { return math.Exp((float64(scores[v]) - float64(scores[best])) / c.Temperature) }
	var total float64
	for v := 0; v < len(scores); v += n {
		total += weight(v)
	}
	left := c.rng.Float64() * total
	for v := 0; v < len(scores); v += n {
		if left -= weight(v); left < 0 {
			return v / n
		}
	}
	return best / n // rounding left a remainder
}

// run continues texts until all have ended, in a batch of size records.
func (g *Generator) run(ctx context.Context, weights []any, texts []*continuation, size int) error {
	cache := g.newCache(size)
	for t := 0; t < g.m.Tokens; t++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		codes, running := make([]int, size), false
		for i, c := range texts {
			if t < len(c.tokens) {
				codes[i] = c.tokens[t]
			}
			running = running || !c.ended
		}
		if !running {
			return nil
		}
		scores, err := cache.next(weights, codes)
		if err != nil {
			return err
		}
		for i, c := range texts {
			if t == len(c.tokens)-1 && !c.ended {
				c.add(scores[i:], size)
			}
		}
	}
	return nil
}
