// Tests of do.go.

package lab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// jobLog records what jobs did.
type jobLog struct {
	mu         sync.Mutex
	begun      []string
	now, most  int
	unprepared []string // jobs that began before what they need was done
	done       map[string]bool
}

func (d *jobLog) job(id string, cost int64, needs ...string) Job {
	return Job{ID: id, Cost: cost, Needs: needs, Work: func(ctx context.Context) (string, error) {
		d.mu.Lock()
		d.begun = append(d.begun, id)
		d.now++
		d.most = max(d.most, d.now)
		for _, n := range needs {
			if n != "left out" && !d.done[n] {
				d.unprepared = append(d.unprepared, id)
			}
		}
		d.mu.Unlock()
		if id == "failing" {
			return "", errors.New("no luck")
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.now--
		if d.done == nil {
			d.done = map[string]bool{}
		}
		d.done[id] = true
		return id, ctx.Err()
	}}
}

func TestJobsBeginWhenWhatTheyNeedIsThere(t *testing.T) {
	for workers := range 4 {
		var d jobLog
		jobs := []Job{
			d.job("small", 1), d.job("large", 9), d.job("method", 5, "small"), d.job("evidence", 2, "method", "large", "left out"),
			d.job("large", 9), d.job("other evidence", 3, "large"),
		}
		if err := newLab(t).Do(t.Context(), workers, jobs); err != nil {
			t.Fatal(err)
		}
		if len(d.begun) != 5 || len(d.unprepared) > 0 || workers > 0 && d.most > workers {
			t.Errorf("%d workers: %v began, %v too early, %d at a time", workers, d.begun, d.unprepared, d.most)
		}
		if want := []string{"large", "other evidence", "small", "method", "evidence"}; workers == 1 && !slices.Equal(d.begun, want) {
			t.Errorf("one worker has done %v, want %v: of those that can begin the dearest first", d.begun, want)
		}
	}
}

// Two jobs that wait for each other end only where both run.
func TestJobsRunSideBySide(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	met := make(chan bool)
	meet := func(ctx context.Context) (string, error) {
		select {
		case met <- true:
		case <-met:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		return "", nil
	}
	if err := newLab(t).Do(ctx, 2, []Job{{ID: "one", Work: meet}, {ID: "other", Work: meet}}); err != nil {
		t.Errorf("no job ran: %v", err)
	}
}

// Jobs that are done, prerequisites that only done jobs need, and jobs without data are not
// run.
func TestOnlyWhatIsWantedIsDone(t *testing.T) {
	var d jobLog
	there, missing := d.job("there", 1, "behind it"), d.job("without data", 1)
	there.Done, missing.Missing = true, true
	if err := newLab(t).Do(t.Context(), 2, []Job{d.job("behind it", 1), there, missing, d.job("wanted", 1, "there")}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.begun, []string{"wanted"}) {
		t.Errorf("%v were done, want the wanted one alone", d.begun)
	}
}

func TestTheFirstErrorStopsTheOthers(t *testing.T) {
	var d jobLog
	err := newLab(t).Do(t.Context(), 1, []Job{d.job("failing", 9), d.job("later", 1), d.job("behind it", 1, "failing")})
	if err == nil || !strings.Contains(err.Error(), "failing: no luck") || len(d.begun) != 1 {
		t.Errorf("%v began, error %v", d.begun, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d = jobLog{}
	if err := newLab(t).Do(ctx, 2, []Job{d.job("small", 1)}); !errors.Is(err, context.Canceled) || len(d.begun) > 0 {
		t.Errorf("after the end %v began, error %v", d.begun, err)
	}
}
