// Package progresstest records for tests what announces itself as work.
package progresstest

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/progress"
)

// Recorder is a display that keeps what it is shown.
type Recorder struct {
	// OnDraw, if not nil, is called with every state. It must not start or end work.
	OnDraw func(progress.State)

	mu     sync.Mutex
	states []progress.State
}

// Record shows all work to a recorder until the test ends: every start at once, however
// short the work is. Tests that record must not run in parallel.
func Record(t testing.TB) *Recorder {
	t.Helper()
	r := &Recorder{}
	t.Cleanup(progress.Show(r, progress.Timing{Every: time.Hour}))
	return r
}

// Draw implements progress.Display.
func (r *Recorder) Draw(s progress.State) {
	r.mu.Lock()
	r.states = append(r.states, s)
	r.mu.Unlock()
	if r.OnDraw != nil {
		r.OnDraw(s)
	}
}

// Erase implements progress.Display.
func (r *Recorder) Erase() {}

// End implements progress.Display.
func (r *Recorder) End(s progress.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states = append(r.states, s)
}

// States returns what was shown so far.
func (r *Recorder) States() []progress.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]progress.State(nil), r.states...)
}

// Forget drops what was shown so far.
func (r *Recorder) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.states = nil
}

// HasNamed reports whether any work had the words in its name.
func (r *Recorder) HasNamed(words string) bool {
	for _, s := range r.States() {
		if strings.Contains(s.Name(), words) {
			return true
		}
	}
	return false
}
