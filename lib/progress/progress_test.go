// Tests of tasks, their tree and when they are drawn, on a clock that moves by itself.

package progress

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// page is a display that writes down what it is asked to do, and when.
type page struct {
	mu    sync.Mutex
	began time.Time
	lines []string
}

func (p *page) write(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, fmt.Sprintf("%.1f %s", time.Since(p.began).Seconds(), what))
}

func (p *page) last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lines[len(p.lines)-1]
}

func (p *page) Draw(s State) { p.write(s.Name() + s.Text()) }
func (p *page) Erase()       { p.write("erase") }
func (p *page) End(s State)  { p.write("end " + s.Final()) }

// onScreen runs a test on a screen with a fake clock, which draws once a second after two.
func onScreen(t *testing.T, test func(t *testing.T, s *screen, p *page)) {
	synctest.Test(t, func(t *testing.T) {
		s, p := &screen{}, &page{began: time.Now()}
		restore := s.show(p, Timing{After: Patience, Every: time.Second})
		test(t, s, p)
		restore()
		time.Sleep(time.Minute) // clocks that are set run out
	})
}

func (p *page) check(t *testing.T, want ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if got := strings.Join(p.lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("shown:\n%s\nwant:\n%s", got, strings.Join(want, "\n"))
	}
}

func TestWorkShowsAfterTwoSeconds(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		_, task := s.start(t.Context(), "training", 10, "")
		for range 10 {
			time.Sleep(450 * time.Millisecond)
			task.Add(1)
		}
		task.Done()
		task.Done()
		p.check(t, "2.0 training: 40 %, about 3 s left", "3.0 training: 60 %, about 2 s left", "4.0 training: 80 %, about 1 s left",
			"4.5 end training: done in 4 s")
	})
}

func TestShortWorkIsNotShown(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		_, task := s.start(t.Context(), "training", 10, "")
		time.Sleep(1900 * time.Millisecond)
		task.Done()
		time.Sleep(time.Second)
		_, task = s.start(t.Context(), "evaluation", 10, "")
		time.Sleep(1900 * time.Millisecond)
		task.Done()
		p.check(t)
	})
}

// A loop of short trainings takes long, and shows as one.
func TestManyShortPiecesShowTogether(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		for k := range 5 {
			_, task := s.start(t.Context(), fmt.Sprintf("training %d", k), 0, "")
			time.Sleep(750 * time.Millisecond)
			task.Done()
			time.Sleep(100 * time.Millisecond)
		}
		p.check(t, "2.0 training 2, 2 s", "2.5 end 3 pieces of work, the last training 2: done in 2 s", "3.0 training 3, 3 s",
			"3.3 end 4 pieces of work, the last training 3: done in 3 s", "4.0 training 4, 4 s",
			"4.2 end 5 pieces of work, the last training 4: done in 4 s")
	})
}

func TestAPartMovesTheBarOfTheWhole(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		ctx, whole := s.start(t.Context(), "comparing models", 4, "")
		for k := range 4 {
			inner, part := s.start(ctx, fmt.Sprintf("scrub %d", k), 0, "")
			_, epochs := s.start(inner, "", 4, "")
			for range 4 {
				time.Sleep(270 * time.Millisecond)
				epochs.Add(1)
			}
			epochs.Done()
			part.Done()
			whole.Add(1)
		}
		time.Sleep(100 * time.Millisecond)
		whole.Done()
		p.check(t, "2.0 comparing models · scrub 1: 43 %, about 3 s left", "3.0 comparing models · scrub 2: 68 %, about 1 s left",
			"4.0 comparing models · scrub 3: 87 %, about 1 s left", "4.4 end comparing models: done in 4 s")
	})
}

// Two jobs at once, one three times as long as the other, are parts of the list wherever
// they start.
func TestPartsCountForTheirUnits(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		_, list := s.start(t.Context(), "table 1", 40, "records")
		var wg sync.WaitGroup
		for _, cost := range []int{10, 30} {
			wg.Go(func() {
				_, job := s.start(list.Part(context.Background(), float64(cost)), fmt.Sprintf("job of %d", cost), 100, "")
				for range 100 {
					time.Sleep(time.Duration(cost) * 11 * time.Millisecond)
					job.Add(1)
				}
				job.Done()
				list.Add(cost)
			})
		}
		time.Sleep(5500 * time.Millisecond) // 5 of 10, and 5 of 30
		s.mu.Lock()
		share, known := list.share()
		s.mu.Unlock()
		if !known || share < 0.24 || share > 0.26 {
			t.Errorf("after half of the short job: %v", share)
		}
		wg.Wait()
		s.mu.Lock()
		if share, _ := list.share(); share != 1 {
			t.Errorf("at the end: %v", share)
		}
		s.mu.Unlock()
		list.Done()
		if last := p.last(); last != "33.0 end table 1: done in 33 s" {
			t.Errorf("the last line is %q", last)
		}
	})
}

func TestABarNeverGoesBack(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, _ *page) {
		ctx, whole := s.start(t.Context(), "a model", 10, "")
		last := 0.0
		look := func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			share, _ := whole.share()
			if share < last {
				t.Errorf("%v after %v", share, last)
			}
			last = share
		}
		for range 3 { // three phases in one unit
			_, phase := s.start(ctx, "phase", 5, "")
			for range 5 {
				phase.Add(1)
				look()
			}
			phase.Done()
			look()
		}
		if last != 0.1 {
			t.Errorf("one unit of ten is at most %v", last)
		}
		whole.Add(1)
		look()
		whole.Set(5)
		look()
		last = 0
		whole.Set(1) // said by the work itself
		if look(); last != 0.1 {
			t.Errorf("set back to %v", last)
		}
		whole.Expect(100)
		last = 0
		if look(); last != 0.01 {
			t.Errorf("another total: %v", last)
		}
	})
}

func TestWorkOfUnknownLengthShowsItsTime(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		_, task := s.start(t.Context(), "reading", 0, "B")
		for range 3 {
			time.Sleep(900 * time.Millisecond)
			task.Add(90_000)
		}
		task.Done()
		p.check(t, "2.0 reading, 90.0 kB/s, 2 s", "2.7 end reading: done in 3 s")
	})
}

// What a saved state had done is not done at the rate of this run, in whichever part it is.
func TestResumedWorkDoesNotCountInTheRate(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		ctx, whole := s.start(t.Context(), "", 2, "")
		for range 2 {
			_, part := s.start(ctx, "training", 10, "")
			part.Skip(8)
			for range 2 {
				time.Sleep(900 * time.Millisecond)
				part.Add(1)
			}
			part.Done()
			whole.Add(1)
		}
		time.Sleep(time.Second / 2)
		whole.Done()
		p.check(t, "2.0 training: 90 %, about 2 s left", "3.0 training: 95 %, about 1 s left", "4.0 working: 100 %, 4 s", "4.1 end working: done in 4 s")
	})
}

// Work that is counted in large pieces says its pace itself: the mean so far, 60 units in 2 s, would say 60 s.
func TestThePaceThatACallerKnowsCountsForTheRest(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		_, task := s.start(t.Context(), "jobs", 1860, "MFLOP")
		task.Set(60)
		task.Pace(100)
		time.Sleep(2100 * time.Millisecond)
		task.Pace(0)
		time.Sleep(time.Second)
		task.Done()
		p.check(t, "2.0 jobs: 3 %, 100 MFLOP/s, about 18 s left", "3.0 jobs: 3 %, 20 MFLOP/s, about 90 s left", "3.1 end jobs: done in 3 s")
	})
}

func TestWorkWithoutAContextIsPartOfWhatBeganLast(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		ctx, models := s.start(t.Context(), "reading models", 2, "")
		_, other := s.start(ctx, "outputs", 0, "")
		other.Done()
		_, lens := s.start(context.Background(), "reconstruction", 2, "")
		lens.Add(1)
		time.Sleep(2100 * time.Millisecond)
		models.Done() // before its part
		time.Sleep(time.Second)
		lens.Done()
		p.check(t, "2.0 reading models · reconstruction: 25 %, about 6 s left", "3.0 reconstruction: 50 %, about 3 s left",
			"3.1 end reconstruction: done in 3 s")
	})
}

func TestACommandIsNamedWhileNothingElseIs(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		ctx, command := s.start(t.Context(), "lethe audit", 0, "")
		command.command.Store(true)
		time.Sleep(2500 * time.Millisecond)
		_, file := s.start(ctx, "reading answers.npy", 0, "")
		time.Sleep(time.Second)
		file.Done()
		command.Done()
		p.check(t, "2.0 lethe audit, 2 s", "3.0 reading answers.npy, 3 s", "3.5 end lethe audit: done in 4 s")
	})
}

func TestNamesAreOneLineAndSaidOnce(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		ctx, a := s.start(t.Context(), "scrub on adult\nand \x1b[31mred", 0, "")
		ctx, b := s.start(ctx, "scrub", 0, "")
		_, c := s.start(ctx, "training", 0, "")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		p.check(t, "2.0 scrub on adult and [31mred · training, 2 s")
		c.Done()
		b.Done()
		a.Describe("done\u202e nearly")
		a.Done()
	})
}

func TestInterruptedWorkSaysSo(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		ctx, stop := context.WithCancel(t.Context())
		_, task := s.start(ctx, "training", 4, "")
		task.Add(1)
		time.Sleep(2500 * time.Millisecond)
		stop()
		task.Done()
		p.check(t, "2.0 training: 25 %, about 6 s left", "2.5 end training: stopped at 25 % after 2 s")
	})
}

func TestTheEndOfTheProgramEndsEverything(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		ctx, task := s.start(t.Context(), "table 1", 0, "")
		s.start(ctx, "training", 4, "")
		time.Sleep(2500 * time.Millisecond)
		s.close()
		task.Done()
		s.close()
		time.Sleep(time.Minute)
		p.check(t, "2.0 table 1 · training: 0 %, 2 s", "2.5 end table 1: stopped at 0 % after 2 s")
	})
}

func TestPrintingErasesWhatIsDrawn(t *testing.T) {
	onScreen(t, func(t *testing.T, s *screen, p *page) {
		s.above(func() { p.write("print") })
		_, task := s.start(t.Context(), "work", 0, "")
		time.Sleep(2500 * time.Millisecond)
		s.above(func() { p.write("print") })
		s.above(func() { s.pause(1) })
		time.Sleep(5 * time.Second)
		p.check(t, "0.0 print", "2.0 work, 2 s", "2.5 erase", "2.5 print", "2.5 erase")
		s.pause(-1)
		time.Sleep(1100 * time.Millisecond)
		if last := p.last(); !strings.HasSuffix(last, "work, 8 s") {
			t.Errorf("after the pause: %q", last)
		}
		task.Done()
	})
}

func TestManyGoroutinesShareABar(t *testing.T) {
	s, p := &screen{}, &page{began: time.Now()}
	defer s.show(p, Timing{Every: time.Millisecond})()
	ctx, whole := s.start(t.Context(), "all", 800, "")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				_, part := s.start(ctx, "part", 2, "")
				part.Add(1)
				part.Describe("half")
				part.Done()
				whole.Add(1)
			}
		})
	}
	wg.Wait()
	if got := whole.done.Load(); got != 800 || len(whole.children) != 0 || len(s.active) != 1 {
		t.Errorf("%d units are done, %d parts left", got, len(whole.children))
	}
	whole.Done()
	if last := p.last(); !strings.Contains(last, "end all: done") || len(s.roots) != 0 || len(s.active) != 0 {
		t.Errorf("the last line is %q", last)
	}
}

func TestWithoutADisplayNothingIsKept(t *testing.T) {
	s := &screen{}
	ctx, task := s.start(t.Context(), "work", 10, "")
	task.Add(1)
	task.Set(0)
	task.Skip(1)
	task.Expect(5)
	task.Describe("other")
	if task != nil || ctx != t.Context() || task.Part(ctx, 3) != ctx {
		t.Error("a task that nobody sees takes memory")
	}
	task.Done()
	s.close()
	s.above(func() {})
	p := &page{}
	restore := s.show(p, Timing{Every: time.Hour})
	_, task = s.start(t.Context(), "work", 10, "")
	restore()
	task.Done() // its display is gone
	if s.on.Load() || len(p.lines) != 1 {
		t.Errorf("%v", p.lines)
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{900 * time.Millisecond: "1 s", 119 * time.Second: "119 s", 2 * time.Minute: "2 min", 3 * time.Hour: "3 h"} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

// BenchmarkAdd is what the inner loop of a training pays for each step.
func BenchmarkAdd(b *testing.B) {
	for name, d := range map[string]Display{"shown": &page{}, "hidden": nil} {
		b.Run(name, func(b *testing.B) {
			s := &screen{}
			defer s.show(d, Timing{After: time.Hour, Every: time.Hour})()
			_, task := s.start(b.Context(), "training", 1000, "")
			for b.Loop() {
				task.Add(1)
			}
			task.Done()
		})
	}
}

// BenchmarkStart is what a training pays once per epoch.
func BenchmarkStart(b *testing.B) {
	for name, d := range map[string]Display{"shown": &page{}, "hidden": nil} {
		b.Run(name, func(b *testing.B) {
			s := &screen{}
			defer s.show(d, Timing{After: time.Hour, Every: time.Hour})()
			ctx, outer := s.start(b.Context(), "training", 0, "")
			for b.Loop() {
				_, task := s.start(ctx, "", 10, "")
				task.Done()
			}
			outer.Done()
		})
	}
}
