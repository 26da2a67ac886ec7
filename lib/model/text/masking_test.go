// Tests of masking.go.

package text

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

var _ train.NoiseAugmenter = Masking{}

// The shares of hidden tokens and of what replaces them, over 2,000 records of 42 tokens.
func TestMaskingHidesInTheSharesOfThePaper(t *testing.T) {
	m := BERT{Tokens: 50, Vocabulary: 1000}
	tokens := sentence(3, 42, 1000)
	x := records(t, m, tokens)
	masking := m.Masking(7, maskToken, clsToken, sepToken)
	counts := map[string]int{}
	where := make([]int, 50)
	for id := range 2000 {
		dst, in := make([]float32, x.Cols), map[string][]float32{loss.MaskedTokens: make([]float32, 8), loss.MaskedWeights: make([]float32, 8)}
		if err := masking.Corrupt(dst, in, x.Row(0), 3, id); err != nil {
			t.Fatal(err)
		}
		changed := slices.Clone(dst[:50])
		for p, w := range in[loss.MaskedWeights] {
			if p >= 6 { // 15 % of 40 tokens
				if w != 0 || dst[50+p] != 0 || in[loss.MaskedTokens][p] != 0 {
					t.Fatalf("position %d of 6 has weight %v", p, w)
				}
				continue
			}
			k := int(dst[50+p])
			if w != float32(1)/6 || int(in[loss.MaskedTokens][p]) != tokens[k] || k == 0 || k >= 41 {
				t.Fatalf("position %d: weight %v, token %v at %d", p, w, in[loss.MaskedTokens][p], k)
			}
			where[k]++
			switch dst[k] {
			case maskToken:
				counts["mask"]++
			case float32(tokens[k]):
				counts["kept"]++
			default:
				counts["random"]++
			}
			changed[k] = x.Row(0)[k]
		}
		if !slices.Equal(changed, x.Row(0)[:50]) {
			t.Fatal("a token changes that is not predicted")
		}
	}
	for what, share := range map[string]float64{"mask": 0.8, "kept": 0.1, "random": 0.1} {
		if got := float64(counts[what]) / 12000; math.Abs(got-share) > 0.015 {
			t.Errorf("%s: %v of the hidden tokens, want %v", what, got, share)
		}
	}
	for k, n := range where[1:41] {
		if math.Abs(float64(n)-300) > 6*math.Sqrt(300) {
			t.Errorf("position %d is hidden %d times, about 300 are expected", k+1, n)
		}
	}
}

func TestMaskingDependsOnSeedEpochAndRecordOnly(t *testing.T) {
	x := sentences(t, tiny, 1)
	at := func(seed engine.Root, epoch, id int) string {
		dst := make([]float32, x.Cols)
		for k := range dst {
			dst[k] = 77 // what is there before does not matter
		}
		var all []float32
		for range 2 {
			if err := tiny.Masking(seed, maskToken, clsToken, sepToken).Augment(dst, x.Row(0), epoch, id); err != nil {
				t.Fatal(err)
			}
			all = append(all, dst...)
		}
		if !slices.Equal(all[:x.Cols], all[x.Cols:]) {
			t.Error("the same record of the same epoch differs")
		}
		return strings.Join(strings.Fields(string(appendNumbers(nil, dst))), " ")
	}
	seen := map[string]int{}
	for i := range 30 {
		seen[at(1, i, 0)]++
		seen[at(1, 0, i+1)]++
		seen[at(engine.Root(i+2), 0, 0)]++
	}
	if len(seen) < 5 {
		t.Errorf("only %d different records", len(seen))
	}
}

func appendNumbers(b []byte, x []float32) []byte {
	for _, v := range x {
		b = append(b, byte('a'+int(v)%26), ' ')
	}
	return b
}

func TestMaskingThatCannotBeIsRefused(t *testing.T) {
	good := tiny.Masking(1, maskToken, clsToken, sepToken)
	for words, change := range map[string]func(m *Masking){
		"10 positions to predict":    func(m *Masking) { m.Predicted = 10 },
		"[MASK] is token 30":         func(m *Masking) { m.Mask = 30 },
		"the share of hidden tokens": func(m *Masking) { m.Rate = 1.5 },
		"a record of 11 numbers":     func(m *Masking) { m.Tokens = 5 },
	} {
		m := good
		change(&m)
		if err := m.Augment(make([]float32, 11), make([]float32, 11), 0, 0); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %q", err, words)
		}
	}
	// Nothing but special tokens: nothing is hidden.
	x := records(t, tiny, []int{clsToken, sepToken})
	dst := make([]float32, 11)
	if err := good.Augment(dst, x.Row(0), 0, 0); err != nil || !slices.Equal(dst, x.Row(0)) {
		t.Errorf("a record of special tokens becomes %v: %v", dst, err)
	}
}

// A network learns, in the library's own training loop, texts in which a token follows from
// the one before it.
func TestTrainingLearnsWhatFollows(t *testing.T) {
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	m := tiny
	m.Dropout = new(0.0)
	r, err := model.NewRunner(e, m)
	if err != nil {
		t.Fatal(err)
	}
	masking := m.Masking(5, maskToken, clsToken, sepToken)
	goal := train.Objective{{Name: "texts", X: sentences(t, m, 128), Augment: masking, Targets: []train.Target{{Loss: m.Loss(), Weight: 1}}}}
	c := train.Config{Epochs: 60, Batch: 16, Optimizer: nn.Adam{LR: 3e-3}, Seed: 1}
	_, history, err := train.Fit(context.Background(), r, model.InitialWeights(m, seeded(1)), goal, c, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if first, last := history[0].Loss, history[len(history)-1].Loss; !(first > 3 && last < 0.6*first) {
		t.Errorf("the loss is %v in the first epoch and %v in the last", first, last)
	}
}
