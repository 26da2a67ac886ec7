// Tests of paired.go.

package model_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
)

// A pair's outputs are those of its two records, by the network's own weights.
func TestAPairHasTheOutputsOfItsRecords(t *testing.T) {
	one, both := runner(t, 0), modeltest.OpenRunner(t, model.Paired{Of: arch})
	p, first, second := weights(), table(7, 5), table(8, 5)
	second.Rows, second.Data = 7, second.Data[:35]
	pairs := array.New[float32](7, 10)
	for i := range pairs.Rows {
		copy(pairs.Row(i), first.Row(i))
		copy(pairs.Row(i)[5:], second.Row(i))
	}
	got, err := both.PredictOutputs(p, pairs, nn.Logits, model.SecondPrefix+nn.Logits)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]array.Matrix[float32]{nn.Logits: first, model.SecondPrefix + nn.Logits: second} {
		want, err := one.Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Outputs[name].Data, want.Logits().Data) {
			t.Errorf("%s is not that of its records", name)
		}
	}
	if err := both.CheckWeights(p); err != nil {
		t.Errorf("a pair has other weights than its network: %v", err)
	}
}

func TestANetworkThatNormalisesByTheBatchReadsNoPairs(t *testing.T) {
	if err := (model.Paired{Of: vision.ResNet18{Width: 4}}).Check(); err == nil || !strings.Contains(err.Error(), "normalises by the batch") {
		t.Errorf("error %v", err)
	}
}
