package model_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
)

// trained begins with what its function makes of the drawn weights.
type trained struct {
	tabular.MLP
	load func(drawn nn.Params) (nn.Params, []string, error)
}

func (trained) Name() string { return "trained" }

func (m trained) Load(drawn nn.Params) (nn.Params, []string, error) { return m.load(drawn) }

func smallTrained(load func(drawn nn.Params) (nn.Params, []string, error)) trained {
	return trained{tabular.MLP{Features: 3, Outputs: 2, Hidden: 4}, load}
}

// What a training begins with is what Load returns; what Load leaves is drawn as without it.
func TestATrainingBeginsWithWhatLoadReturns(t *testing.T) {
	m := smallTrained(func(drawn nn.Params) (nn.Params, []string, error) {
		for i := range drawn[0].Data {
			drawn[0].Data[i] = float32(i)
		}
		return drawn, []string{"a note"}, nil
	})
	drawn := model.InitialWeights(m.MLP, engine.Root(3).Stream(engine.StreamInit))
	got := model.InitialWeights(m, engine.Root(3).Stream(engine.StreamInit))
	if got[0].Data[1] != 1 || drawn[0].Data[1] == 1 || got[1].Name != drawn[1].Name || got[len(got)-2].Data[0] != drawn[len(got)-2].Data[0] {
		t.Errorf("%v of %v", got, drawn)
	}
	if notes, err := model.CheckPretrained(m); err != nil || len(notes) != 1 || notes[0] != "a note" {
		t.Errorf("notes %q, %v", notes, err)
	}
	if notes, err := model.CheckPretrained(m.MLP); err != nil || notes != nil {
		t.Errorf("of a network without trained weights: %q, %v", notes, err)
	}
}

func TestWeightsThatDoNotFitAreRefusedByTheNetworksName(t *testing.T) {
	for words, load := range map[string]func(drawn nn.Params) (nn.Params, []string, error){
		"no such file":                       func(nn.Params) (nn.Params, []string, error) { return nil, nil, errors.New("no such file") },
		"method Load panicked: out of ideas": func(nn.Params) (nn.Params, []string, error) { panic("out of ideas") },
		"tensors":                            func(nn.Params) (nn.Params, []string, error) { return nil, nil, nil },
		"hidden1.bias: element 0 is NaN": func(drawn nn.Params) (nn.Params, []string, error) {
			drawn[1].Data[0] = float32(math.NaN())
			return drawn, nil, nil
		},
		"renamed": func(drawn nn.Params) (nn.Params, []string, error) {
			drawn[0].Name = "renamed"
			return drawn, nil, nil
		},
		"7 tensors against 6": func(drawn nn.Params) (nn.Params, []string, error) {
			return append(drawn, drawn[0]), nil, nil
		},
		"1 values do not fill shape [4 3]": func(drawn nn.Params) (nn.Params, []string, error) {
			drawn[0].Data = drawn[0].Data[:1]
			return drawn, nil, nil
		},
	} {
		_, err := model.CheckPretrained(smallTrained(load))
		if err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "the weights that trained begins with: ") {
			t.Errorf("%q: %v", words, err)
		}
	}
}
