package images_test

import (
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/paper/blindu"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// The study of sets that are seldom at hand, on files in their formats: BlindU's cases as
// they are, but for the width of the networks, the epochs, the batch and the size of the
// backdoor.
func TestAStudyOfWholeCollectionsRunsOnFilesInTheirFormats(t *testing.T) {
	const body = 5762 // weights of a ResNet of width 2 below its last layer, which 16 numbers reach
	for name, want := range map[string]struct{ positions, weights int }{
		"cifar100":      {32 * 32, body + 17*1024 + 513*96 + 97*100}, // codes of 512 variables, an MLP
		"tiny_imagenet": {64 * 64, body + 17*294 + body + 17*3},      // codes of 3 x 7 x 7, another ResNet
	} {
		t.Run(name, func(t *testing.T) {
			engine, store := enginetest.WithStore(t)
			images.Stand(t, name)
			s := brief(t, name)
			rows, err := s.Measure(t.Context(), &paper.Env{Engine: engine, Store: store})
			if err != nil || len(rows) != len(s.Cases[0].Only) {
				t.Fatalf("%d rows, %v", len(rows), err)
			}
			for _, r := range rows {
				if r.Features != want.positions || r.Weights != want.weights {
					t.Errorf("%s: masked by %d positions, %d weights; want %+v", r.Variant, r.Features, r.Weights, want)
				}
				if r.Forget != 6 || r.Train != images.MadeTrain || r.Judged != images.MadeTest/2 || r.Opened == 0 || r.Opened == r.Judged {
					t.Errorf("%s: %d of %d to forget, %d judged, %d of them with the trigger", r.Variant, r.Forget, r.Train, r.Judged, r.Opened)
				}
				if r.Diverged != "" || (r.Steps == 0) != r.Control || (r.Displacement == 0) != r.Control {
					t.Errorf("%s went %v in %d steps: %s", r.Variant, r.Displacement, r.Steps, r.Diverged)
				}
			}
		})
	}
}

// brief is the backdoor's case of a set, small.
func brief(t *testing.T, name string) blindu.Study {
	s, err := blindu.StudyAt("collections")
	if err != nil {
		t.Fatal(err)
	}
	k := slices.IndexFunc(s.Cases, func(c blindu.Case) bool { return c.DataSet() == name && c.Backdoor() != nil })
	c := s.Cases[k]
	c.Model, c.Fit.Epochs, c.Fit.Batch, c.Setting.Forget = narrowed(c.Model.(ib.Bottleneck)), 1, 20, lab.Backdoor{Fraction: 0.1}
	c.Users, c.Only = unlearn.Users{Count: 3, Requesters: 1, Rounds: 1, LocalEpochs: 1}, []string{blindu.Original, blindu.VBU, blindu.WithoutReplacement}
	if name == "cifar100" { // a federation of networks with batch normalisation
		c.Only = append(c.Only, blindu.HBFU)
	}
	return blindu.Study{Scale: "brief", Seeds: 1, Cases: []blindu.Case{c}}
}

// narrowed is a network with two channels in the first stage of its ResNets.
func narrowed(b ib.Bottleneck) ib.Bottleneck {
	two := func(h ib.SubNetwork) ib.SubNetwork {
		if r, is := h.(ib.ResNet); is {
			r.Width = 2
			return r
		}
		return h
	}
	b.Compressor, b.Approximator = two(b.Compressor), two(b.Approximator)
	return b
}
