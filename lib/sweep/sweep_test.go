// Tests of whole sweeps: plan, work, collect.

package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/store"
)

const engineHere = "test/1"

func TestASweepOfShardsMakesTheBytesOfOneProcess(t *testing.T) {
	for _, shards := range []int{1, 3, 14} {
		dir, _ := planGrid(t, small(), shards)
		if err := workAll(t, dir, small()); err != nil {
			t.Fatal(err)
		}
		g := readProgress(t, dir)
		if len(g.RemainingJobs()) > 0 || len(g.Failed) > 0 || len(g.Silent()) > 0 || len(g.Done) != len(small().jobs()) {
			t.Errorf("%d shards: %d jobs are left, %d failed, %d silent", shards, len(g.RemainingJobs()), len(g.Failed), len(g.Silent()))
		}
		s, m := collect(t, dir)
		if m.Added != len(small().jobs()) || m.Same != 0 || len(m.Refused) > 0 {
			t.Errorf("%d shards: %+v: something was computed twice", shards, m)
		}
		sameRuns(t, runs(t, s.Dir()), undisturbed(t, small()))
		before := len(g.Attempts)
		if err := workAll(t, dir, small()); err != nil {
			t.Fatal(err)
		}
		if n := len(readProgress(t, dir).Attempts); n != before {
			t.Errorf("%d attempts at nothing", n-before)
		}
	}
}

// A worker does its own shard and no other.
func TestAWorkerDoesItsOwnShard(t *testing.T) {
	dir, p := planGrid(t, small(), 3)
	for shard := range 3 {
		w := newWorker(t, dir, small(), shard, 3)
		w.Stage = 0
		if err := w.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
		g := readProgress(t, dir)
		for _, j := range p.Jobs {
			if _, done := g.Done[j.ID]; done != (j.Stage == 0 && j.Shard <= shard) {
				t.Errorf("after shard %d: %s of stage %d, shard %d: done %v", shard, j.ID, j.Stage, j.Shard, done)
			}
		}
	}
	one := p.jobsOfShard(1, 1)[0]
	w := newWorker(t, dir, small(), 0, 0)
	w.Job = one.ID
	if err := w.Work(t.Context()); err != nil {
		t.Fatal(err)
	}
	if g := readProgress(t, dir); g.Done[one.ID].Shard != 1 || len(g.Done) != len(p.jobsOfShard(0, 0))+len(p.jobsOfShard(0, 1))+len(p.jobsOfShard(0, 2))+1 {
		t.Errorf("%d jobs are done; %+v", len(g.Done), g.Done[one.ID])
	}
}

func TestAWorkerRefusesWhatIsNotAsPlanned(t *testing.T) {
	dir, p := planGrid(t, small(), 3)
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("#!/bin/bash\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	rekeyed := small()
	for name, c := range map[string]struct {
		change func(w *Worker)
		words  []string
	}{
		"engine":        {func(w *Worker) { w.Engine = "xla/cuda" }, []string{"xla/cuda", engineHere}},
		"program":       {func(w *Worker) { w.Program = other }, []string{other, p.Program.SHA256[:12], filepath.Join(dir, "lethe")}},
		"shard 3/3":     {func(w *Worker) { w.Shard = 3 }, []string{"shard 3/3", "from 0 to 2"}},
		"shard -1/3":    {func(w *Worker) { w.Shard = -1 }, []string{"shard -1/3"}},
		"shard 0/4":     {func(w *Worker) { w.ShardCount = 4 }, []string{"shard 0/4", "has 3 shards"}},
		"stage -2":      {func(w *Worker) { w.Stage = -2 }, []string{"stage -2"}},
		"stage 2":       {func(w *Worker) { w.Stage = 2 }, []string{"stage 2", "from 0 to 1"}},
		"data":          {func(w *Worker) { w.List = newWorker(t, dir, grid{rows: 2, columns: 3, data: "d2"}, 0, 3).List }, []string{"words", "d1", "d2"}},
		"unknown job":   {func(w *Worker) { w.List = newWorker(t, dir, grid{rows: 0, data: "d1"}, 0, 3).List }, []string{"knows no job", "test/grid"}},
		"other weights": {func(w *Worker) { w.List = relisted(t, w.List, func(j *lab.Job) { j.Key = strings.Repeat("ab", 32) }) }, []string{"abababababab", "in the plan"}},
		"missing data":  {func(w *Worker) { w.List = relisted(t, w.List, func(j *lab.Job) { j.Missing = true }) }, []string{"not on this node", "LETHE_DATA"}},
	} {
		w := newWorker(t, dir, rekeyed, 0, 3)
		c.change(w)
		err := w.Work(t.Context())
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, word := range c.words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%s: %q does not say %q", name, err, word)
			}
		}
	}
	if g := readProgress(t, dir); len(g.Done) > 0 {
		t.Errorf("%d jobs were done", len(g.Done))
	}
	w := newWorker(t, dir, small(), 0, 0)
	w.Job = "train/nothing"
	if err := w.Work(t.Context()); err == nil || !strings.Contains(err.Error(), "train/nothing") {
		t.Errorf("an unknown job: %v", err)
	}
	if err := (&Worker{Dir: t.TempDir()}).Work(t.Context()); err == nil || !strings.Contains(err.Error(), "is no sweep") {
		t.Errorf("a folder without a plan: %v", err)
	}
}

// What fails is written down with its log and its command, what needs it says so,
// everything else is done, and the next submission does what is missing.
func TestWhatFailsIsListedAndStopsNothingElse(t *testing.T) {
	dir, _ := planGrid(t, small(), 3)
	broken := small()
	broken.during = func(_ context.Context, _ *store.Work, id string) error {
		if id == "base/1-2" {
			return errors.New("the weather")
		}
		return nil
	}
	err := workAll(t, dir, broken)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, failedDirName)) {
		t.Errorf("%v", err)
	}
	g := readProgress(t, dir)
	if len(g.Failed) != 3 || len(g.Done) != len(g.Jobs)-3 || len(g.Silent()) > 0 {
		t.Fatalf("%d failed, %d of %d done", len(g.Failed), len(g.Done), len(g.Jobs))
	}
	for id, word := range map[string]string{"base/1-2": "the weather", "twin/1-2": "needs base/1-2, which failed", "sum/1": "needs base/1-2, which failed"} {
		r := g.Failed[id]
		if !strings.Contains(r.Error, word) || !strings.Contains(r.Command, "--job "+id) {
			t.Errorf("%s: %+v", id, r)
		}
	}
	var said strings.Builder
	g.ListFailed(&said)
	if text := said.String(); strings.Count(text, "failed: ") < 3 || !strings.Contains(text, "again: cd "+dir) {
		t.Errorf("%s", text)
	}
	// A record is data: what it calls a command is not told anybody to run.
	evil := g.Failed["base/1-2"]
	evil.Command = "rm -rf /"
	g.Failed["base/1-2"] = evil
	g.Failed["base/9; rm"] = Record{Job: "base/9; rm", Command: "rm -rf /"}
	said.Reset()
	g.ListFailed(&said)
	delete(g.Failed, "base/9; rm")
	if text := said.String(); strings.Contains(text, "rm -rf") || strings.Count(text, "again: ") != 3 || !strings.Contains(text, "./lethe sweep work . --job base/1-2\n") {
		t.Errorf("%s", text)
	}
	s := g.Summary()
	if s.Stages[0].Failed+s.Stages[1].Failed != 3 || s.Stages[1].Shards != 1 || len(s.Failed) != 3 {
		t.Errorf("%+v", s)
	}
	if missing := append(g.MissingShards(0), g.MissingShards(1)...); len(missing) != 2 || g.NextStage() != 0 {
		t.Errorf("missing: %v, from stage %d", missing, g.NextStage())
	}
	computed := 0
	mended := small()
	mended.during = func(context.Context, *store.Work, string) error { computed++; return nil }
	if err := workAll(t, dir, mended); err != nil {
		t.Fatal(err)
	}
	if g := readProgress(t, dir); computed != 3 || len(g.RemainingJobs()) > 0 || len(g.Failed) > 0 || g.NextStage() != -1 {
		t.Errorf("%d jobs were computed, %d are left, %d failed", computed, len(g.RemainingJobs()), len(g.Failed))
	}
	to, _ := collect(t, dir)
	sameRuns(t, runs(t, to.Dir()), undisturbed(t, small()))
}

// An attempt that is stopped has saved its work, and the next goes on from there.
func TestAStoppedAttemptIsGoneOnWith(t *testing.T) {
	dir, _ := planGrid(t, small(), 2)
	ctx, stop := context.WithCancel(t.Context())
	first := small()
	first.during = func(ctx context.Context, w *store.Work, id string) error {
		if id != "base/0-1" {
			return nil
		}
		stop()
		return errors.Join(w.SaveCheckpoint(nil, "half way"), ctx.Err())
	}
	w := newWorker(t, dir, first, 0, 2)
	for _, j := range readProgress(t, dir).Jobs {
		if j.ID == "base/0-1" {
			w.Shard = j.Shard
		}
	}
	w.Stage = 0
	if err := w.Work(ctx); !errors.Is(err, ErrStopped) {
		t.Fatalf("%v", err)
	}
	g := readProgress(t, dir)
	if len(g.Failed) > 0 || len(g.Silent()) > 0 || g.Last[attemptID(g.Attempts[0])].Kind != Stopped {
		t.Errorf("%d failed, silent: %v, last: %v", len(g.Failed), g.Silent(), g.Last)
	}
	done, resumed := len(g.Done), ""
	again := small()
	computed := 0
	again.during = func(_ context.Context, w *store.Work, id string) error {
		computed++
		_, state, ok, err := w.LoadCheckpoint()
		if ok {
			resumed += id + string(state)
		}
		return err
	}
	if err := workAll(t, dir, again); err != nil {
		t.Fatal(err)
	}
	if resumed != `base/0-1"half way"` || computed != len(g.Jobs)-done {
		t.Errorf("gone on with %q; %d computed, %d had been done", resumed, computed, done)
	}
	to, _ := collect(t, dir)
	sameRuns(t, runs(t, to.Dir()), undisturbed(t, small()))
}

// A step that its cluster took for dead goes on beside the one that took its place.
func TestAShardThatIsWorkedOnTwiceAtOnceGivesTheSameBytes(t *testing.T) {
	dir, p := planGrid(t, small(), 2)
	for stage := range p.Stages {
		for shard := range 2 {
			meet, errs := make(chan bool), make(chan error)
			for range 2 {
				g, met := small(), false
				g.during = func(context.Context, *store.Work, string) error {
					if !met { // both are in the middle of their first job
						met = true
						select {
						case meet <- true:
						case <-meet:
						}
					}
					return nil
				}
				w := newWorker(t, dir, g, shard, 2)
				w.Stage = stage
				go func() { errs <- w.Work(t.Context()) }()
			}
			if err := errors.Join(<-errs, <-errs); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, m := collect(t, dir)
	// Both computed the first job of each of two shards in two stages; what one had
	// finished the other may have found.
	if m.Added != len(p.Jobs) || m.Same < 2*p.Stages || len(m.Refused) > 0 {
		t.Errorf("%+v", m)
	}
	sameRuns(t, runs(t, s.Dir()), undisturbed(t, small()))
}

// A run that is damaged after it was written counts as not done, is computed again,
// and does not stand in the way of the whole one.
func TestADamagedRunIsDoneAgain(t *testing.T) {
	dir, _ := planGrid(t, small(), 2)
	if err := workAll(t, dir, small()); err != nil {
		t.Fatal(err)
	}
	r := readProgress(t, dir).Done["base/0-0"]
	path := filepath.Join(dir, filepath.FromSlash(r.Dir), "word")
	if err := os.WriteFile(path, []byte("bAse/0-0"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, m := collect(t, dir)
	if len(m.Refused) != 1 || !errors.Is(m.Refused[0], store.ErrDamaged) || !strings.Contains(m.Refused[0].Error(), path) {
		t.Errorf("%+v", m)
	}
	if left := readProgress(t, dir).RemainingJobs(); len(left) != 1 || left[0].ID != "base/0-0" {
		t.Fatalf("left: %+v", left)
	}
	if err := workAll(t, dir, small()); err != nil {
		t.Fatal(err)
	}
	s, m := collect(t, dir)
	if len(m.Refused) > 0 || len(readProgress(t, dir).RemainingJobs()) > 0 {
		t.Errorf("%+v", m)
	}
	sameRuns(t, runs(t, s.Dir()), undisturbed(t, small()))
}

// Two attempts that disagree are nobody's result.
func TestAttemptsThatDisagreeAreAConflict(t *testing.T) {
	dir, _ := planGrid(t, small(), 1)
	if err := workAll(t, dir, small()); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(filepath.Join(dir, storesDirName, "0", "999-liar"))
	if err != nil {
		t.Fatal(err)
	}
	lie := func(_ context.Context, w *store.Work) error { return w.WriteFile("word", []byte("another")) }
	if _, err := s.Do(t.Context(), small().key("base/0-0"), lie); err != nil {
		t.Fatal(err)
	}
	_, m := collect(t, dir)
	if len(m.Refused) != 1 || !errors.Is(m.Refused[0], store.ErrConflict) || !strings.Contains(m.Refused[0].Error(), "999-liar") {
		t.Errorf("%+v", m)
	}
}

// A record whose run has gone is no record.
func TestAJobWhoseRunIsGoneIsNotDone(t *testing.T) {
	dir, _ := planGrid(t, small(), 2)
	if err := workAll(t, dir, small()); err != nil {
		t.Fatal(err)
	}
	r := readProgress(t, dir).Done["sum/1"]
	if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(r.Dir))); err != nil {
		t.Fatal(err)
	}
	if left := readProgress(t, dir).RemainingJobs(); len(left) != 1 || left[0].ID != "sum/1" {
		t.Errorf("left: %+v", left)
	}
}

// A network file system shows what another node wrote late.
func TestAJobWaitsForWordOfWhatItNeeds(t *testing.T) {
	dir, p := planGrid(t, small(), 2)
	hidden := filepath.Join(t.TempDir(), "hidden")
	for shard := range 2 {
		w := newWorker(t, dir, small(), shard, 2)
		w.Stage = 0
		if err := w.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	shown := filepath.Join(dir, journalDirName)
	if err := os.Rename(shown, hidden); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, func() {
		files, _ := os.ReadDir(hidden)
		for _, f := range files {
			b, _ := os.ReadFile(filepath.Join(hidden, f.Name()))
			_ = os.WriteFile(filepath.Join(shown, f.Name()), b, 0o644)
		}
	})
	sum := p.Jobs[slices.IndexFunc(p.Jobs, func(j Job) bool { return j.Stage == 1 })]
	w := newWorker(t, dir, small(), sum.Shard, 2)
	w.Stage, w.WaitLimit = 1, time.Minute
	if err := w.Work(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, m := collect(t, dir); m.Same != 0 {
		t.Errorf("%+v: it did not wait", m)
	}
	early, _ := planGrid(t, small(), 2)
	w = newWorker(t, early, small(), sum.Shard, 2)
	w.Stage = 1
	if err := w.Work(t.Context()); err == nil || !strings.Contains(readProgress(t, early).Failed[sum.ID].Error, "has no record") {
		t.Errorf("%v: %+v", err, readProgress(t, early).Failed)
	}
}

func TestALineThatIsBeingWrittenSaysNothingYet(t *testing.T) {
	dir, _ := planGrid(t, small(), 1)
	if err := workAll(t, dir, small()); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, journalDirName, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	torn := whole[:len(whole)-3]
	if err := os.WriteFile(files[0], torn, 0o644); err != nil {
		t.Fatal(err)
	}
	g := readProgress(t, dir)
	var said strings.Builder
	g.ListFailed(&said)
	if len(g.Silent()) != 1 || said.String() != "" { // nothing is left to do, so it is not reported
		t.Errorf("silent: %v; %s", g.Silent(), said.String())
	}
	last := g.Done["base/0-0"] // of the torn attempt
	if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(last.Dir))); err != nil {
		t.Fatal(err)
	}
	readProgress(t, dir).ListFailed(&said)
	if !strings.Contains(said.String(), "no record of its end: attempt "+last.Attempt+" of shard 0, stage 0") {
		t.Errorf("%s", said.String())
	}
	if err := os.WriteFile(files[0], append([]byte("{\"kind\":\"done\"}\nnonsense\n"), whole...), 0o644); err != nil {
		t.Fatal(err)
	}
	said.Reset()
	g = readProgress(t, dir)
	g.ListFailed(&said)
	if len(g.Unread) != 1 || !strings.Contains(said.String(), "a record cannot be read: "+files[0]+": line 2") {
		t.Errorf("%q; %s", g.Unread, said.String())
	}
	if left := g.RemainingJobs(); len(left) != 1 || left[0].ID != "base/0-0" {
		t.Errorf("left beside a line that says nothing: %v", left)
	}
}
