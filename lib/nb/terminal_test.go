// Outputs of cells in a terminal.

package nb

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

func TestATerminalGetsTextInOrder(t *testing.T) {
	s, out, _, _ := newTerminal()
	if err := s.table(testTable(), ""); err != nil {
		t.Fatal(err)
	}
	if err := s.figure(testFigure(1), ""); err != nil {
		t.Fatal(err)
	}
	want := `Scores <of> methods
Higher is better.

method        paper: accuracy (%)
─────────────────────────────────
forget & go                  0.25
┄┄ controls ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
do nothing                   0.50

others
┄┄ printed in the paper ┄┄┄┄┄┄┄┄┄
paper: SCRUB        (not printed)
─────────────────────────────────
accuracy: balanced
(1) Only a test.
scale: quick
seeds: 0-2

Loss
3.1 │
`
	if got := out.String(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "\na model: ends at 1.000\n") {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}

func TestWhatCannotBeShownIsAnError(t *testing.T) {
	s, out, _, _ := newTerminal()
	files := fstest.MapFS{"text.png": {Data: []byte("not a picture")}}
	for name, err := range map[string]error{
		"a nil table":       s.table(nil, ""),
		"a nil figure":      s.figure(nil, ""),
		"a figure of a NaN": s.figure(testFigure(math.NaN()), ""),
		"a picture of text": s.picture(files, "text.png", "label"),
		"a missing picture": s.picture(files, "none.png", "label"),
	} {
		if err == nil {
			t.Errorf("%s gives no error", name)
		}
	}
	if out.Len() > 0 {
		t.Errorf("printed %q", out)
	}
}

func TestABarInATerminalPrintsALineEveryFiveSeconds(t *testing.T) {
	s, _, errs, clock := newTerminal()
	bar := s.bar(100, "training")
	for i := range 100 {
		*clock = clock.Add(150 * time.Millisecond)
		bar.Set(i + 1)
	}
	bar.Done()
	bar.Done()
	bar.Add(1)
	want := `training: 34 of 100, about 9.9 s left
training: 68 of 100, about 4.8 s left
training: done in 15 s
`
	if errs.String() != want {
		t.Errorf("printed\n%swant\n%s", errs, want)
	}
}

func TestABarTakesReportsOfOtherSizes(t *testing.T) {
	s, _, errs, clock := newTerminal()
	bar := s.bar(0, "work")
	*clock = clock.Add(6 * time.Second)
	bar.Report(7, 0, "")
	*clock = clock.Add(6 * time.Second)
	bar.Report(1_000_000, 4_000_007, "table 1")
	*clock = clock.Add(time.Hour)
	bar.close()
	want := "work: 7\ntable 1: 24 %, about 18 s left\ntable 1: 24 %, stopped after 1 h 0 min\n"
	if errs.String() != want {
		t.Errorf("printed\n%swant\n%s", errs, want)
	}
}

func TestBarsAndLiveOutputsServeManyGoroutines(t *testing.T) {
	s, out, _, _ := newTerminal()
	bar, live := s.bar(800, "work"), s.live()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				bar.Add(1)
				live.Markdown("state")
			}
		})
	}
	wg.Wait()
	bar.Done()
	live.Done()
	if bar.done != 800 || out.String() != "state\n" {
		t.Errorf("%d units are done, printed %q", bar.done, out)
	}
	if len(s.open) != 0 {
		t.Errorf("%d outputs are still open", len(s.open))
	}
}

func TestCheckExplainsAnInterruption(t *testing.T) {
	s, _, errs, _ := newTerminal()
	code := -1
	s.exit = func(c int) { code = c }
	s.check(nil)
	if code != -1 {
		t.Fatal("no error ends the cell")
	}
	s.check(errors.Join(errors.New("epoch 3 is saved"), context.Canceled))
	if code != 1 || !strings.Contains(errs.String(), "Run this cell again") {
		t.Errorf("exit code %d, said %q", code, errs)
	}
}

func TestClaimsThatFailAreShown(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		claim Claim
		want  string
	}{
		{Less("a below b", 1, 2), "claim holds: a below b — 1 < 2"},
		{Less("a below b", 2, 2), "claim FAILS: a below b — 2 against 2, expected <"},
		{Less("a below b", nan, 2), "claim FAILS: a below b — not a number against 2, expected <"},
		{Greater("a above b", 2, nan), "claim FAILS: a above b — 2 against not a number, expected >"},
		{Positive("above", 0.12345678), "claim holds: above — 0.1235 > 0"},
		{Negative("below", nan), "claim FAILS: below — not a number against 0, expected <"},
		{Within("near half", 0.5, 0.4, 0.5), "claim holds: near half — 0.5 is inside 0.4 to 0.5"},
		{Within("near half", nan, math.Inf(-1), math.Inf(1)), "claim FAILS: near half — not a number is outside -Inf to +Inf"},
		{Ascending("grows", 1, 2, 3), "claim holds: grows — in this order: 1, 2, 3"},
		{Ascending("grows", 1, 1, 3), "claim FAILS: grows — in this order: 1, 1, 3"},
		{Ascending("grows", 1, nan), "claim FAILS: grows — in this order: 1, not a number"},
		{Ascending("grows", 1), "claim FAILS: grows — in this order: 1"},
		{Claim{Statement: "two\n lines", Holds: true, Evidence: "a — b"}, "claim holds: two lines — a - b"},
		{Claim{Statement: "bare"}, "claim FAILS: bare — no evidence given"},
	} {
		if got := c.claim.line(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
