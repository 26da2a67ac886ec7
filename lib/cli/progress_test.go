package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// clock is a time that a test moves.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func TestPlainProgressSaysAtMostOneLineInFiveSeconds(t *testing.T) {
	var out bytes.Buffer
	c := &clock{time.Unix(0, 0)}
	p := NewProgress(&out, "rows")
	p.now = c.now
	for i := range 101 {
		p.Update(int64(100*i), 10000, "training")
		c.t = c.t.Add(250 * time.Millisecond)
	}
	p.Finish()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d lines in 25 s:\n%s", len(lines), out.String())
	}
	// After 5 s: 2,000 of 10,000 rows, 400 a second, 8,000 rows in 20 s.
	if want := "lethe: training: 20 %, 400 rows/s, about 20 s left"; lines[0] != want {
		t.Errorf("got %q, want %q", lines[0], want)
	}
	if strings.ContainsAny(out.String(), "\r\x1b") {
		t.Errorf("control characters outside a terminal: %q", out.String())
	}
}

func TestProgressStartsAgainWithEachPieceOfWork(t *testing.T) {
	var out bytes.Buffer
	c := &clock{time.Unix(0, 0)}
	p := NewProgress(&out, "B")
	p.now = c.now
	p.Update(0, 100, "first")
	c.t = c.t.Add(time.Minute)
	p.Update(0, 5_000_000, "second")
	c.t = c.t.Add(10 * time.Second)
	p.Update(2_500_000, 5_000_000, "second")
	if want := "lethe: second: 50 %, 250.0 kB/s, about 10 s left\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestProgressOfUnknownLengthHasNoPercentage(t *testing.T) {
	var out bytes.Buffer
	c := &clock{time.Unix(0, 0)}
	p := NewProgress(&out, "B")
	p.now = c.now
	p.Update(0, 0, "file")
	c.t = c.t.Add(10 * time.Second)
	p.Update(5000, 0, "file")
	if want := "lethe: file, 500 B/s\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestTheBarFitsTheTerminal(t *testing.T) {
	for screen, want := range map[int]string{
		100: "training a small network on moons_island: 25 %, 250 rows/s, about 30 s left █████░░░░░░░░░░░░░░░",
		70:  "training a small network on moons_…: 25 %, 250 rows/s, about 30 s left",
		45:  "training …: 25 %, 250 rows/s, about 30 s left",
		10:  "…: 25 %, 2",
	} {
		p := NewProgress(nil, "rows")
		p.total, p.done, p.began = 10000, 2500, time.Unix(0, 0)
		if got := p.bar(time.Unix(10, 0), "training a small network on moons_island", screen); got != want || len([]rune(got)) > screen {
			t.Errorf("%d columns: %q, want %q", screen, got, want)
		}
	}
}

func TestOnATerminalTheLineIsWrittenAnewAndTakenAway(t *testing.T) {
	var out bytes.Buffer
	c := &clock{time.Unix(0, 0)}
	p := NewProgress(&out, "rows")
	p.now, p.width = c.now, func() int { return 40 }
	p.Update(0, 100, "work")
	for range 3 {
		c.t = c.t.Add(60 * time.Millisecond)
		p.Update(p.done+25, 100, "work")
	}
	p.Finish()
	if want := "\r\x1b[Kwork: 50 %, 417 rows/s, about 0 s left\r\x1b[K"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestSpans(t *testing.T) {
	for d, want := range map[time.Duration]string{900 * time.Millisecond: "1 s", 119 * time.Second: "119 s", 2 * time.Minute: "2 min", 3 * time.Hour: "3 h"} {
		if got := FormatDuration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
