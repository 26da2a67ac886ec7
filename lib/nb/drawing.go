// One drawing of Interact: the function of the cell, running for one state of the controls.

package nb

import (
	"context"
	"runtime"
	"sync"
)

// drawFunc is the function that the cell gives to Interact.
type drawFunc func(ctx context.Context, live *Live) error

// drawing is a run of the function. Only one at a time may run: it uses the cell's variables.
type drawing struct {
	ctx      context.Context // ends with the drawing
	cancel   context.CancelFunc
	finished chan error // gets the drawing's error when it has ended
	mu       sync.Mutex
	failure  error // of a Check inside the drawing
}

// startDrawing runs draw in a goroutine of its own. A Check that fails there ends the drawing,
// not the cell.
func (s *outputTarget) startDrawing(ctx context.Context, draw drawFunc, live *Live) *drawing {
	inner, cancel := context.WithCancel(ctx)
	d := &drawing{ctx: inner, cancel: cancel, finished: make(chan error, 1)}
	s.setDrawing(d)
	go func() {
		var err error
		defer func() { // runs after Check has ended this goroutine, too
			s.setDrawing(nil)
			cancel()
			d.finished <- d.firstError(err)
		}()
		err = draw(inner, live)
	}()
	return d
}

// stop cancels the drawing and waits until it has ended.
func (d *drawing) stop() error {
	d.cancel()
	return <-d.finished
}

// firstError returns the error of a Check, or err.
func (d *drawing) firstError(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failure != nil {
		return d.failure
	}
	return err
}

// fail keeps the first error of a Check and cancels what else the drawing runs.
func (d *drawing) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failure == nil {
		d.failure = err
	}
	d.cancel()
}

// context returns that of the running drawing, or the cell's.
func (s *outputTarget) context() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawing != nil {
		return s.drawing.ctx
	}
	return background()
}

func (s *outputTarget) setDrawing(d *drawing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawing = d
}

// endDrawing ends the goroutine that calls it, with err as the error of the running drawing.
// Without one it returns.
func (s *outputTarget) endDrawing(err error) {
	s.mu.Lock()
	d := s.drawing
	s.mu.Unlock()
	if d != nil {
		d.fail(err)
		runtime.Goexit()
	}
}
