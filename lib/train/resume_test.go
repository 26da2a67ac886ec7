package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// throughFile returns the state after it is written to a checkpoint and read again.
func throughFile(t *testing.T, s *State) *State { return reread(t, s, initial(small)) }

func reread(t *testing.T, s *State, like nn.Params) *State {
	t.Helper()
	f, rest := s.File()
	b, err := safetensors.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = safetensors.Decode(b); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(rest)
	if err != nil {
		t.Fatal(err)
	}
	out, err := LoadState(f, text, like)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func fingerprint(s *State) string {
	return fmt.Sprint(s.Params.Hash(), slots(s), s.steps(), s.Done, s.History)
}

// slots returns the hashes of the optimisers' slots.
func slots(s *State) (out []string) {
	for _, o := range s.Optimizers {
		for _, slot := range o.Slots {
			out = append(out, slot.Hash())
		}
	}
	return out
}

func byAdam(steps int) string {
	return fmt.Sprintf(`"optimizers":[{"of":"adam","slots":["m","v"],"steps":%d}]`, steps)
}

func TestAFitResumedAtAnyEpochHasTheSameBits(t *testing.T) {
	r := openRunner(t, small, 32)
	o := mixed(70, 6, 5)
	for name, c := range map[string]Config{
		"full batch":   {Epochs: 5, Seed: 3},
		"mini-batches": {Epochs: 4, Batch: 16, Seed: 3},
		"paired":       {Epochs: 4, Batch: 16, Seed: 3, Order: Paired},
		"sgd":          {Epochs: 4, Batch: 16, Seed: 3, Optimizer: nn.SGD{LR: 0.1, Momentum: 0.9, WeightDecay: 1e-3}, Schedule: Cosine()},
		"early stop":   {Epochs: 20, Seed: 3, EarlyStop: EarlyStop{Patience: 4, MinDelta: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			var saved []*State
			keep := Hooks{SaveEvery: 1, Save: func(s *State) error { saved = append(saved, s); return nil }}
			want, history, err := Fit(context.Background(), r, initial(small), o, c, keep)
			if err != nil {
				t.Fatal(err)
			}
			if len(saved) != len(history) || len(saved) < 4 {
				t.Fatalf("%d states of %d epochs", len(saved), len(history))
			}
			for _, s := range saved {
				again := throughFile(t, s)
				if fingerprint(again) != fingerprint(s) {
					t.Fatalf("epoch %d: the saved state is not the state", s.Done)
				}
				p, h, err := Fit(context.Background(), r, initial(small), o, c, Hooks{Resume: again})
				if err != nil {
					t.Fatal(err)
				}
				if p.Hash() != want.Hash() || fmt.Sprint(h) != fmt.Sprint(history) {
					t.Errorf("resumed after epoch %d: another result", s.Done)
				}
				if fingerprint(again) != fingerprint(s) {
					t.Errorf("resuming after epoch %d wrote to the state", s.Done)
				}
			}
		})
	}
}

func TestACancelledFitSavesItsLastWholeEpochAndResumes(t *testing.T) {
	r := openRunner(t, small, 0)
	o := mixed(70, 6, 5)
	c := Config{Epochs: 6, Batch: 8, Seed: 3}
	want, _, err := Fit(context.Background(), r, initial(small), o, c, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	for stop := range 6 {
		ctx, cancel := context.WithCancel(context.Background())
		if stop == 0 {
			cancel()
		}
		var state *State
		h := Hooks{
			Progress: func(e Epoch) {
				if e.Epoch == stop {
					cancel()
				}
			},
			Save: func(s *State) error { state = s; return nil },
		}
		_, _, err := Fit(ctx, r, initial(small), o, c, h)
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("stop after %d: error %v", stop, err)
		}
		wantWords(t, err, fmt.Sprintf("%d epochs are saved", stop))
		if state == nil || state.Done != stop {
			t.Fatalf("stop after %d: saved %+v", stop, state)
		}
		p, _, err := Fit(context.Background(), r, initial(small), o, c, Hooks{Resume: throughFile(t, state)})
		if err != nil {
			t.Fatal(err)
		}
		if p.Hash() != want.Hash() {
			t.Errorf("stopped after epoch %d and resumed: another result", stop)
		}
	}
}

// countdown is a context that ends after it was asked n times: a stop in the
// middle of an epoch, without a clock.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func (c *countdown) Done() <-chan struct{}       { return nil }
func (c *countdown) Deadline() (time.Time, bool) { return time.Time{}, false }

// Every epoch has 9 steps, so step 13 is in the second epoch: the fit must stop before its
// end and save the first epoch.
func TestACancelWithinAnEpochStopsAtTheNextStep(t *testing.T) {
	r := openRunner(t, small, 0)
	c := Config{Epochs: 6, Batch: 8, Seed: 3}
	ctx := &countdown{context.Background(), 13}
	var state *State
	_, _, err := Fit(ctx, r, initial(small), mixed(70, 6, 5), c, Hooks{Save: func(s *State) error { state = s; return nil }})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if asked := 13 - ctx.left; asked > 13+3 {
		t.Errorf("the context was asked %d times, it ended after 13", asked)
	}
	if state == nil || state.Done != 1 || state.steps() != 9 {
		t.Errorf("saved %+v", state)
	}
}

func TestAStopThatCannotSaveSaysBoth(t *testing.T) {
	r := openRunner(t, small, 0)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := Fit(ctx, r, initial(small), mixed(70, 6, 5), Config{}, Hooks{Save: func(*State) error { return errors.New("disk full") }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	wantWords(t, err, "could not save: disk full")
	_, _, err = Fit(ctx, r, initial(small), mixed(70, 6, 5), Config{}, Hooks{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("without Save: error %v", err)
	}
}

func TestDamagedStatesAreRefusedByName(t *testing.T) {
	p := initial(small)
	good := func() (*safetensors.File, string) {
		s := &State{Params: p, Optimizers: []*nn.OptimizerState{nn.NewOptimizerState(nn.Adam{}, p)}, Done: 1, History: []Epoch{{Epoch: 1, Steps: 1, Loss: 0.1}}}
		s.Optimizers[0].T = 1
		f, rest := s.File()
		b, err := json.Marshal(rest)
		if err != nil {
			t.Fatal(err)
		}
		return f, string(b)
	}
	f, text := good()
	if _, err := LoadState(f, []byte(text), p); err != nil {
		t.Fatal(err)
	}
	refused := func(f *safetensors.File, text string, words ...string) {
		t.Helper()
		_, err := LoadState(f, []byte(text), p)
		wantWords(t, err, words...)
	}
	refused(f, "", "saved state")
	refused(f, `{"done": "one"}`, "saved state", "done")
	refused(f, `{"done":1,"stepz":1}`, "stepz")
	refused(f, `{"done":2,`+byAdam(1)+`,"history":[{"epoch":1,"steps":1,"loss":0.1}]}`, "2 epochs", "history has 1")
	refused(f, `{"done":1,`+byAdam(5)+`,"history":[{"epoch":1,"steps":1,"loss":0.1}]}`, "5 steps", "history has 1")
	refused(&safetensors.File{Tensors: f.Tensors[1:]}, text, "weights.hidden1.weight", "missing")
	f, text = good()
	f.Tensors[len(f.Tensors)-1].Shape = []int{1, 3}
	refused(f, text, "optimizer0.v.head.bias", "[1 3]", "[3]")
}

func TestAStateSurvivesTheStoresCheckpoint(t *testing.T) {
	r := openRunner(t, small, 0)
	o := mixed(70, 6, 5)
	c := Config{Epochs: 4, Seed: 3}
	want, history, err := Fit(context.Background(), r, initial(small), o, c, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	attempt := func(ctx context.Context, cancel func()) (got nn.Params, h []Epoch, err error) {
		_, err = s.Do(ctx, store.Key{Recipe: "resume"}, func(_ context.Context, w *store.Work) error {
			hooks := Hooks{
				Progress: func(e Epoch) {
					if e.Epoch == 2 && cancel != nil {
						cancel()
					}
				},
				Save: func(st *State) error { return w.SaveCheckpoint(st.File()) },
			}
			f, text, ok, err := w.LoadCheckpoint()
			if err != nil {
				return err
			}
			if ok {
				if hooks.Resume, err = LoadState(f, text, initial(small)); err != nil {
					return err
				}
				if hooks.Resume.Done != 2 {
					t.Errorf("resumes after epoch %d", hooks.Resume.Done)
				}
			} else if cancel == nil {
				t.Error("there is no checkpoint")
			}
			if got, h, err = Fit(ctx, r, initial(small), o, c, hooks); err != nil {
				return err
			}
			return w.WriteTensors("model.safetensors", got.File(""))
		})
		return got, h, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if _, _, err := attempt(ctx, cancel); !errors.Is(err, context.Canceled) {
		t.Fatalf("first attempt: %v", err)
	}
	got, h, err := attempt(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Hash() != want.Hash() || fmt.Sprint(h) != fmt.Sprint(history) {
		t.Error("the resumed run has another result")
	}
}
