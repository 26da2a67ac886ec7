package loss_test

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/nn/loss/losstest"
)

func TestEveryLossPassesTheSuite(t *testing.T) {
	names := map[string]bool{}
	for _, l := range append(loss.All(), loss.Distillation{Temperature: 3}, loss.GaussianELBO{Beta: 4}) {
		key, err := loss.Key(l)
		if err != nil {
			t.Fatal(err)
		}
		if names[key] {
			t.Errorf("two losses have the key %s", key)
		}
		names[key] = true
		t.Run(key, func(t *testing.T) { losstest.Run(t, l, nil) })
	}
}

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	for words, l := range map[string]loss.Loss{
		"temperature is -1": loss.Distillation{Temperature: -1}, "temperature is NaN": loss.Distillation{Temperature: math.NaN()},
		"beta is -2": loss.GaussianELBO{Beta: -2}, "beta is +Inf": loss.GaussianELBO{Beta: math.Inf(1)},
	} {
		if err := l.Check(nil); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

func TestALabelThatIsNoClassIsRefusedByItsRecord(t *testing.T) {
	in := map[string]array.Matrix[float32]{loss.Probabilities: loss.Labels([]int{1, -1, 2}, 3)}
	if err := loss.Admit(loss.CrossEntropy{}, map[string]int{"logits": 3}, in, 3); err == nil || !strings.Contains(err.Error(), "record 1") {
		t.Errorf("error %v", err)
	}
}
