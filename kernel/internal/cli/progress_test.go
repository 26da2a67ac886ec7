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
	if want := "lethe: training: 20 %, 400 rows/s, about 20s left"; lines[0] != want {
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
	if want := "lethe: second: 50 %, 250.0 kB/s, about 10s left\n"; out.String() != want {
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
