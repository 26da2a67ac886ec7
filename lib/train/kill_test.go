package train

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/store/storetest"
)

// TestMain can run this test binary as a training process that a test kills.
func TestMain(m *testing.M) { storetest.Main(m, privateChild) }

// ended is the result of a private training.
type ended struct {
	Weights string
	History []Epoch
	RDP     privacy.Spent
	PRV     privacy.Bounds
}

// privateChild is the process that is killed. It saves every epoch and prints first the state
// that it finds saved, then its result.
func privateChild(dir string) error {
	e, err := enginetest.Open()
	if err != nil {
		return err
	}
	r, err := model.NewRunner(e, small)
	if err != nil {
		return err
	}
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	x, y := toy(1, 400, 5, 3)
	plan := Plan{Passes: singlePass(labelled(x, y)), Private: &Private{Norm: 0.5, Noise: 0.9}}
	run, err := s.Do(context.Background(), store.Key{Recipe: "private"}, func(ctx context.Context, w *store.Work) error {
		h := Hooks{SaveEvery: 1, Save: func(st *State) error { return w.SaveCheckpoint(st.File()) }}
		f, text, ok, err := w.LoadCheckpoint()
		if err != nil {
			return err
		}
		if ok {
			if h.Resume, err = LoadState(f, text, initial(small)); err != nil {
				return err
			}
			spent, err := h.Resume.Privacy().RDP(1e-5)
			if err != nil {
				return err
			}
			fmt.Printf("resumed after %d epochs, epsilon %v\n", h.Resume.Done, spent.Epsilon)
		}
		p, history, err := FitPlan(ctx, r, initial(small), plan, Config{Epochs: 60, Batch: 20, Seed: 3}, h)
		if err != nil {
			return err
		}
		out := ended{Weights: p.Hash(), History: history}
		all := history[len(history)-1].Privacy
		if out.RDP, err = all.RDP(1e-5); err != nil {
			return err
		}
		if out.PRV, err = all.PRV(1e-5, privacy.PRV{}); err != nil {
			return err
		}
		return w.WriteJSON("ended.json", out)
	})
	if err != nil {
		return err
	}
	var out ended
	if err := run.JSON("ended.json", &out); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// A private training that is killed repeatedly ends with the weights, history and epsilons of
// one that is not, and every checkpoint has the epsilon of its steps.
func TestAPrivateTrainingThatIsKilledEndsInTheSameBits(t *testing.T) {
	storetest.Kills{Times: 10, Seed: 1, Resumed: checkResumed}.Run(t)
}

// checkResumed compares the epsilon of a checkpoint with that of its epochs.
func checkResumed(t *testing.T, line string) {
	t.Helper()
	var done int
	var got float64
	if _, err := fmt.Sscanf(line, "resumed after %d epochs, epsilon %g", &done, &got); err != nil {
		t.Fatal(err)
	}
	if want := epsilon(t, privacy.History{{Rate: 1. / 20, Noise: 0.9, Times: 20 * done}}); got != want {
		t.Errorf("after %d epochs the checkpoint says epsilon %v, want %v", done, got, want)
	}
}
