// Tests of what is special to BERT: padding, positions, records.

package text

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

func seeded(seed engine.Root) *rand.Rand { return seed.Stream(engine.StreamInit) }

func records(t *testing.T, m BERT, windows ...[]int) array.Matrix[float32] {
	t.Helper()
	x, err := m.Records(windows)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// The same tokens with more padding have the same embedding, to the rounding of longer sums.
func TestPaddingDoesNotChangeTheEmbedding(t *testing.T) {
	tokens := sentence(1, 6, 30)
	short, long := tiny, tiny
	short.Tokens, long.Tokens = 6, 11
	p := weights(tiny, 1)
	want := predict(t, modeltest.OpenRunner(t, short), p, records(t, short, tokens)).Embedding
	got := predict(t, modeltest.OpenRunner(t, long), p, records(t, long, tokens)).Embedding
	if d := differs(got.Data, want.Data); d > 1e-5 {
		t.Errorf("with padding the embedding is %g apart", d)
	}
	// What stands in the embedding of [PAD] has no effect.
	for k := range 12 {
		p[0].Data[k] = 100
	}
	after := predict(t, modeltest.OpenRunner(t, long), p, records(t, long, tokens)).Embedding
	if d := differs(got.Data, after.Data); d != 0 {
		t.Errorf("another embedding of [PAD] changes the record's by %g", d)
	}
}

// The scores at a masked position depend on the tokens around it and on the position.
func TestAPredictionReadsItsNeighbours(t *testing.T) {
	r, p := modeltest.OpenRunner(t, tiny), weights(tiny, 1)
	at := func(position int, tokens ...int) []float32 {
		x := records(t, tiny, tokens)
		x.Row(0)[tiny.Tokens] = float32(position)
		all := predict(t, r, p, x).Outputs[loss.MaskedLogits].Row(0)
		var out []float32
		for v := range tiny.Vocabulary {
			out = append(out, all[2*v]) // the first of two positions
		}
		return out
	}
	plain := at(2, clsToken, 7, maskToken, 9, sepToken)
	for what, other := range map[string][]float32{
		"another token before it":  at(2, clsToken, 8, maskToken, 9, sepToken),
		"another token after it":   at(2, clsToken, 7, maskToken, 10, sepToken),
		"a longer record":          at(2, clsToken, 7, maskToken, 9, 9, sepToken),
		"another position":         at(3, clsToken, 7, maskToken, 9, sepToken),
		"its neighbours exchanged": at(2, clsToken, 9, maskToken, 7, sepToken),
	} {
		if d := differs(plain, other); d < 1e-3 {
			t.Errorf("%s changes the scores by %g only", what, d)
		}
	}
}

func TestARecordThatIsNoneIsNamed(t *testing.T) {
	for words, tokens := range map[string][]int{
		"record 1: bert: token 1 has the number 30, the vocabulary ends at 29: it is not the vocabulary": {clsToken, 30, sepToken},
		"record 1: bert: token 0 has the number -1":                                                      {-1},
		"record 1: bert: a record without tokens":                                                        {},
		"record 1: bert: 10 tokens, a record has at":                                                     sentence(0, 10, 30),
		"record 1: bert: token 1 is padding, which on":                                                   {clsToken, 0, sepToken},
	} {
		if _, err := tiny.Records([][]int{{clsToken, 7, sepToken}, tokens}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %q", err, words)
		}
	}
	if err := tiny.Record(make([]float32, 3), []int{1}); err == nil || !strings.Contains(err.Error(), "has 11 numbers") {
		t.Errorf("too little memory: %v", err)
	}
	if _, err := (BERT{Tokens: 1}).Records(nil); err == nil {
		t.Error("settings that cannot be used make records")
	}
	if _, err := tiny.ForData(model.Sizes{Features: 10}); err == nil || !strings.Contains(err.Error(), "9 tokens and 2 positions") {
		t.Errorf("records of another size: %v", err)
	}
	if a, err := model.Fit(tiny, model.Sizes{Features: 11}); err != nil || a.Inputs() != 11 {
		t.Errorf("records of its size: %v", err)
	}
}
