// Tests of generation and of the numbers of tokens.

package text

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/text/bpe"
)

func generator(t *testing.T, m Decoder) (*Generator, *model.Runner) {
	t.Helper()
	r := modeltest.OpenRunner(t, m)
	g, err := NewGenerator(r.Engine, m)
	if err != nil {
		t.Fatal(err)
	}
	return g, r
}

func continued(t *testing.T, g *Generator, p nn.Params, prompts [][]int, s Sampling) [][]int {
	t.Helper()
	out, err := g.Continue(t.Context(), p, prompts, s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// With keys and values kept the scores are those of the whole record, to rounding.
func TestScoresWithACacheAreThoseWithout(t *testing.T) {
	for _, m := range []Decoder{small, {Tokens: 7, Layers: 1, Width: 10, Heads: 1, Vocabulary: 13, Positions: 9}} {
		g, r := generator(t, m)
		p := weights(m, 1)
		var all []Passage
		for i := range 4 {
			var tokens []int
			for k := range m.Tokens {
				tokens = append(tokens, (3+5*i+4*k+k*k)%m.Vocabulary)
			}
			all = append(all, Passage{Follows: tokens})
		}
		x, err := m.Records(all)
		if err != nil {
			t.Fatal(err)
		}
		want := predict(t, r, p, x).Outputs[loss.NextLogits]
		up, err := model.Upload(g.engine, p)
		if err != nil {
			t.Fatal(err)
		}
		cache := g.newCache(4)
		for at := range m.Tokens - 1 {
			var codes []int
			for i := range all {
				codes = append(codes, all[i].Follows[at])
			}
			got, err := cache.next(up, codes)
			if err != nil {
				t.Fatal(err)
			}
			for i := range all {
				for v := range m.Vocabulary {
					if d := math.Abs(float64(got[v*4+i] - want.Row(i)[v*(m.Tokens-1)+at])); d > 1e-5 {
						t.Fatalf("after token %d of record %d the score of %d is %g apart", at, i, v, d)
					}
				}
			}
		}
		model.Finalize(up)
	}
}

// The most probable token by whole records, one after the other.
func greedy(t *testing.T, r *model.Runner, p nn.Params, prompt []int, most, end int) (out []int) {
	t.Helper()
	tokens := slices.Clone(prompt)
	for len(tokens) < r.Arch.(Decoder).Tokens && len(out) < most {
		scores := scoresAt(t, r, p, append(slices.Clone(tokens), 0), len(tokens))
		best := 0
		for v, z := range scores {
			if z > scores[best] {
				best = v
			}
		}
		if best == end {
			return out
		}
		tokens, out = append(tokens, best), append(out, best)
	}
	return out
}

// Prompts of different lengths, more than a batch, are continued as each alone, and as by whole
// records.
func TestPromptsAreContinuedAsEachAlone(t *testing.T) {
	g, r := generator(t, small)
	p := weights(small, 3)
	var prompts [][]int
	for i := range generatorBatch + 5 {
		prompts = append(prompts, passage(i, 1+i%8, 0).Follows)
	}
	end := greedy(t, r, p, prompts[2], 9, -1)[1] // so that some end early
	for _, s := range []Sampling{{End: -1}, {End: end}, {End: -1, Most: 2}} {
		all, ended := continued(t, g, p, prompts, s), false
		for i := range prompts {
			if i%6 == 2 {
				alone := continued(t, g, p, prompts[i:i+1], s)
				most := s.Most
				if most == 0 {
					most = 9
				}
				if want := greedy(t, r, p, prompts[i], most, s.End); !slices.Equal(all[i], want) || !slices.Equal(alone[0], want) {
					t.Errorf("%+v, prompt %d: %v, alone %v, want %v", s, i, all[i], alone[0], want)
				}
			}
			full := len(prompts[i])+len(all[i]) == small.Tokens
			ended = ended || !full
			if s.Most == 0 && s.End < 0 && !full {
				t.Errorf("prompt %d of %d tokens is continued by %d", i, len(prompts[i]), len(all[i]))
			}
		}
		if !ended && (s.Most > 0 || s.End >= 0) {
			t.Errorf("%+v ends no text early", s)
		}
	}
}

// Tokens are drawn with their probabilities; alone and among others a prompt draws the same.
func TestATemperatureDrawsWithProbabilities(t *testing.T) {
	g, r := generator(t, small)
	p := weights(small, 1)
	const n, temperature = 3000, 0.7
	prompts := make([][]int, n)
	for i := range prompts {
		prompts[i] = []int{4, 7}
	}
	s := Sampling{End: -1, Most: 1, Temperature: temperature, Rand: func(i int) *rand.Rand { return rand.New(rand.NewPCG(5, uint64(i))) }}
	counts := make([]float64, small.Vocabulary)
	for _, c := range continued(t, g, p, prompts, s) {
		counts[c[0]]++
	}
	scores, total := scoresAt(t, r, p, []int{4, 7, 0}, 2), 0.0
	for _, z := range scores {
		total += math.Exp(float64(z) / temperature)
	}
	for v, z := range scores {
		want := math.Exp(float64(z)/temperature) / total
		if d := math.Abs(counts[v]/n - want); d > 4.5*math.Sqrt(want*(1-want)/n)+1.0/n {
			t.Errorf("token %d is drawn with %.4f, want %.4f", v, counts[v]/n, want)
		}
	}
	s.Most = 0
	some := [][]int{{4}, {9, 8, 3}, {4, 7}}
	all := continued(t, g, p, some, s)
	s.Rand = func(int) *rand.Rand { return rand.New(rand.NewPCG(5, 1)) }
	if alone := continued(t, g, p, some[1:2], s); !slices.Equal(alone[0], all[1]) {
		t.Errorf("alone %v, among others %v", alone[0], all[1])
	}
}

func TestGenerationRefusesByName(t *testing.T) {
	g, _ := generator(t, small)
	p := weights(small, 1)
	good := [][]int{{1, 2}}
	for words, c := range map[string]struct {
		p       nn.Params
		prompts [][]int
		s       Sampling
	}{
		"prompt 1: gpt-2: 0 tokens, a prompt has 1 to 8":   {p, [][]int{{1}, {}}, Sampling{}},
		"prompt 0: gpt-2: 9 tokens, a prompt has 1 to 8":   {p, [][]int{make([]int, 9)}, Sampling{}},
		"prompt 0: gpt-2: token 1 has the number 30":       {p, [][]int{{1, 30}}, Sampling{}},
		"at most -1 new tokens":                            {p, good, Sampling{Most: -1}},
		"the temperature is NaN":                           {p, good, Sampling{Temperature: math.NaN()}},
		"the temperature is -1":                            {p, good, Sampling{Temperature: -1}},
		"a temperature of 1 needs a generator":             {p, good, Sampling{Temperature: 1}},
		"the model does not fit gpt-2: weights: 33 tensor": {p[1:], good, Sampling{}},
	} {
		if _, err := g.Continue(t.Context(), c.p, c.prompts, c.s); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %q", err, words)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := g.Continue(ctx, p, good, Sampling{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	if _, err := NewGenerator(g.engine, Decoder{Heads: 7}); err == nil {
		t.Error("a decoder that cannot be built generates")
	}
}

func TestTextInTextOut(t *testing.T) {
	v, err := bpe.Learn([]string{"to be or not to be"}, 262)
	if err != nil {
		t.Fatal(err)
	}
	m := small
	m.Vocabulary = v.Size()
	g, _ := generator(t, m)
	p := weights(m, 1)
	prompts := []string{"to be", "or"}
	got, err := g.Texts(t.Context(), p, v, prompts, Sampling{})
	if err != nil {
		t.Fatal(err)
	}
	for i, prompt := range prompts {
		tokens, err := v.Tokens(prompt)
		if err != nil {
			t.Fatal(err)
		}
		want, err := v.Decode(continued(t, g, p, [][]int{tokens}, Sampling{})[0])
		if err != nil || got[i] != want {
			t.Errorf("%q is continued by %q, want %q (%v)", prompt, got[i], want, err)
		}
	}
	if _, err := g.Texts(t.Context(), p, v, []string{"to", "b\xff"}, Sampling{}); err == nil || !strings.Contains(err.Error(), "prompt 1: the text is broken UTF-8 at byte 1") {
		t.Errorf("broken UTF-8: %v", err)
	}
}

// The numbers of tokens are their definitions, summed token by token in float64, and their mean is
// the network's loss.
func TestTheNumbersOfTokensAreTheirDefinitions(t *testing.T) {
	r, p := modeltest.OpenRunner(t, small), weights(small, 1)
	x, in := passages(t, small, 12)
	got, err := Measure(r, p, x)
	if err != nil {
		t.Fatal(err)
	}
	scores, k, right := predict(t, r, p, x).Outputs[loss.NextLogits], 0, 0
	for i := range x.Rows {
		if got.Offset[i] != k {
			t.Fatalf("record %d begins at %d, want %d", i, got.Offset[i], k)
		}
		for at, w := range in[loss.NextWeights].Row(i) {
			if w == 0 {
				continue
			}
			z := make([]float64, small.Vocabulary)
			var sum, mean, square float64
			best := 0
			for v := range z {
				z[v] = float64(scores.Row(i)[v*8+at])
				sum += math.Exp(z[v])
				if z[v] > z[best] {
					best = v
				}
			}
			for _, v := range z {
				l := v - math.Log(sum)
				mean += math.Exp(l) * l
				square += math.Exp(l) * l * l
			}
			y := int(in[loss.NextTokens].Row(i)[at])
			for what, pair := range map[string][2]float64{
				"log p": {got.LogProb[k], z[y] - math.Log(sum)}, "mean": {got.Mean[k], mean}, "deviation": {got.Deviation[k], math.Sqrt(square - mean*mean)},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-9*(1+math.Abs(pair[1])) {
					t.Errorf("record %d, place %d: %s is %v, want %v", i, at, what, pair[0], pair[1])
				}
			}
			if got.Correct[k] != (best == y) {
				t.Errorf("record %d, place %d: correct is %v, the most probable token is %d, the true one %d", i, at, got.Correct[k], best, y)
			}
			if got.Correct[k] {
				right++
			}
			k++
		}
	}
	if last := len(got.Offset) - 1; last != x.Rows || got.Offset[last] != k || len(got.LogProb) != k || right == k {
		t.Errorf("%d offsets, %d tokens, %d of them right", len(got.Offset), k, right)
	}
	var mean float64
	for _, l := range got.MeanLoss() {
		mean += l / float64(x.Rows)
	}
	if want, _ := newStep(t, r, x, in).gradient(p, nil); math.Abs(mean-want) > 1e-5 {
		t.Errorf("the mean loss is %v, the network's %v", mean, want)
	}
	if _, err := Measure(modeltest.OpenRunner(t, tiny), weights(tiny, 1), x); err == nil || !strings.Contains(err.Error(), "bert does not predict") {
		t.Errorf("a network of another kind: %v", err)
	}
	x.Row(3)[9] = 40
	if _, err := Measure(r, p, x); err == nil || !strings.Contains(err.Error(), "record 3") {
		t.Errorf("a record that is none: %v", err)
	}
}

// A planted distribution: with all scores equal, log p is -log V, the deviation 0, and the first
// token is the most probable one.
func TestEqualScoresHaveNoDeviation(t *testing.T) {
	got := measured(4, make([]float32, 8), []float32{0, 2}, []float32{0.5, 0.5})
	for k := range 2 {
		if math.Abs(got.LogProb[k]+math.Log(4)) > 1e-15 || math.Abs(got.Mean[k]+math.Log(4)) > 1e-15 || got.Deviation[k] != 0 || got.Correct[k] != (k == 0) {
			t.Errorf("token %d: %v %v %v %v", k, got.LogProb[k], got.Mean[k], got.Deviation[k], got.Correct[k])
		}
	}
	// Two tokens with probabilities 1/4 and 3/4, by hand.
	got = measured(2, []float32{0, float32(math.Log(3))}, []float32{0}, []float32{1})
	if math.Abs(got.LogProb[0]-math.Log(0.25)) > 1e-6 || math.Abs(got.Deviation[0]-math.Log(3)*math.Sqrt(3)/4) > 1e-6 || got.Correct[0] {
		t.Errorf("%+v", got)
	}
}
