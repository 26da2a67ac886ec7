// Checks of the suite: progress, stopping and resuming.

package unlearntest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

func (s *suite) reportsProgress(t *testing.T) {
	var seen []train.Epoch
	r := s.toy.request()
	r.Hooks.Progress = func(e train.Epoch) { seen = append(seen, e) }
	p, rep := s.apply(t, r)
	if !reflect.DeepEqual(seen, rep.History) {
		t.Errorf("progress says %v, the report %v", seen, rep.History)
	}
	if p.Hash() != s.want.Hash() {
		t.Error("watching changes the result")
	}
}

// stopsAndResumes cancels after the first epoch and resumes from the saved state. A method
// that does not train has nothing to stop.
func (s *suite) stopsAndResumes(t *testing.T) {
	if len(s.report.History) < 2 {
		t.Skipf("%d epochs: nothing to stop in the middle of", len(s.report.History))
	}
	gone, cancelled := context.WithCancel(context.Background())
	cancelled()
	if _, _, err := unlearn.Apply(gone, s.method, s.toy.request()); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: error %v, want %v", err, context.Canceled)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var saved *train.State
	calls := 0
	r := s.toy.request()
	r.Hooks = train.Hooks{
		Progress: func(train.Epoch) { calls++; cancel() },
		Save:     func(st *train.State) error { saved = st; return nil },
	}
	if _, _, err := unlearn.Apply(ctx, s.method, r); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled after the first epoch: error %v, want %v", err, context.Canceled)
	}
	if calls != 1 || saved == nil {
		t.Fatalf("cancelled after the first epoch: %d epochs were reported; a state was saved: %t", calls, saved != nil)
	}
	r = s.toy.request()
	r.Hooks.Resume = reload(t, saved, s.toy.Request.Original)
	p, rep := s.apply(t, r)
	if p.Hash() != s.want.Hash() || !reflect.DeepEqual(rep.History, s.report.History) {
		t.Error("the resumed run gives another result than an undisturbed one")
	}
}

// reload returns the state after it was stored and read back.
func reload(t *testing.T, s *train.State, like nn.Params) *train.State {
	t.Helper()
	f, rest := s.File()
	text, err := json.Marshal(rest)
	if err != nil {
		t.Fatal(err)
	}
	out, err := train.LoadState(f, text, like)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
