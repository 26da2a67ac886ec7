package train

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/store"
)

// The kill test starts this test binary again as another process; the variable names
// the store in which it is to work.
const childStore = "LETHE_TRAIN_TEST_STORE"

func TestMain(m *testing.M) {
	dir := os.Getenv(childStore)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := privateChild(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ended is what a private training comes to.
type ended struct {
	Weights string
	History []Epoch
	RDP     privacy.Spent
	PRV     privacy.Bounds
}

// privateChild is the process that is killed. It saves every epoch and prints first
// what it finds saved, then what it ends in.
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
	plan := Plan{Passes: once(labelled(x, y)), Private: &Private{Norm: 0.5, Noise: 0.9}}
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

func privateProcess(dir string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childStore+"="+dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	return cmd, &out
}

// Killed again and again a private training ends in the same weights, history and
// epsilons as one that was left alone, and every checkpoint on the way says the epsilon
// of its own steps.
func TestAPrivateTrainingThatIsKilledEndsInTheSameBits(t *testing.T) {
	quiet, want := privateProcess(t.TempDir())
	began := time.Now()
	if err := quiet.Run(); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	rng := rand.New(rand.NewPCG(12, 1))
	dir, resumed := t.TempDir(), 0
	attempt := func(after time.Duration) error {
		cmd, out := privateProcess(dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		err := cmd.Wait()
		text := out.String()
		if first, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(first, "resumed") {
			resumed, text = resumed+1, rest
			checkResumed(t, first)
		}
		if err == nil && text != want.String() {
			t.Errorf("the training that was killed ended in %.300s, another one in %.300s", text, want)
		}
		return err
	}
	for range 10 {
		if attempt(whole/10+time.Duration(rng.Int64N(int64(whole/2)))) == nil {
			dir = t.TempDir() // it got through: the next kills hit a fresh one
		}
	}
	if err := attempt(time.Hour); err != nil {
		t.Error(err)
	}
	if resumed == 0 {
		t.Error("no training was killed between its first epoch and its last")
	}
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
