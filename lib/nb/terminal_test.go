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

	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/progress/progresstest"
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

func TestLiveOutputsServeManyGoroutines(t *testing.T) {
	s, out, _, _ := newTerminal()
	live := s.live()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				live.Markdown("state")
			}
		})
	}
	wg.Wait()
	live.Done()
	if out.String() != "state\n" {
		t.Errorf("printed %q", out)
	}
	if len(s.open) != 0 {
		t.Errorf("%d outputs are still open", len(s.open))
	}
}

func TestABarOfACellHoldsTheWorkInside(t *testing.T) {
	shown := progresstest.Record(t)
	bar := NewBar(4, "my loop")
	bar.Add(1)
	inner := progress.Begin("training", 2)
	inner.Add(1)
	progress.Begin("gradients", 0).Done()
	inner.Done()
	bar.Done()
	s := shown.States()
	if got := s[2].Name() + s[2].Text(); got != "my loop · training · gradients: 37 %, 0 s" {
		t.Errorf("shown: %s", got)
	}
	if last := s[len(s)-1]; !last.Ended || last.Final() != "my loop: done in 0 s" {
		t.Errorf("the last state is %+v", last)
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
