// Tests of local.go.

package sweep

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/store"
)

// asWorker tells the test's own program that it is a worker.
const asWorker = "LETHE_TEST_SWEEP_WORKER"

func TestMain(m *testing.M) {
	if how := os.Getenv(asWorker); how != "" {
		be := beWorker
		if how == "plan" {
			be = func(string) error { return bePlanner(os.Args[1]) }
		}
		if err := be(how); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// beWorker reads a command line as the program's "sweep work" does. How "slow" is,
// every job takes a while, so that it can be killed.
func beWorker(how string) error {
	f := flag.NewFlagSet("work", flag.ContinueOnError)
	shard, stage, log := f.String("shard", "", ""), f.Int("stage", -1, ""), f.String("log", "", "")
	fmt.Printf("%d cores\n", runtime.GOMAXPROCS(0))
	if len(os.Args) < 4 || os.Args[1] != "sweep" || os.Args[2] != "work" {
		return fmt.Errorf("called as %q", os.Args)
	}
	if err := f.Parse(os.Args[4:]); err != nil {
		return err
	}
	w := &Worker{Dir: os.Args[3], Stage: *stage, Log: *log, Program: os.Args[0], Engine: engineHere, Out: os.Stdout, WaitLimit: time.Second}
	if _, err := fmt.Sscanf(*shard, "%d/%d", &w.Shard, &w.ShardCount); err != nil {
		return err
	}
	g := small()
	g.during = func(_ context.Context, w *store.Work, id string) error {
		if how == "broken" && id == "base/0-0" {
			return errors.New("the weather")
		}
		if how == "slow" {
			time.Sleep(30 * time.Millisecond)
		}
		return nil
	}
	w.List = func(s *store.Store) ([]lab.Job, error) {
		g.store = s
		return g.jobs(), nil
	}
	return w.Work(context.Background())
}

// newSweepFolder lays a sweep out whose program is this test.
func newSweepFolder(t *testing.T, shards int) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("processes are killed by signals")
	}
	dir := filepath.Join(t.TempDir(), "sweep")
	p, err := New(small().jobs(), Options{Recipes: []string{"test/grid"}, Scale: "quick", Shards: shards, Engine: Engine{"auto", engineHere}})
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err == nil {
		err = p.Create(dir, program)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Workers are killed in the middle of their work, as machines kill them; the sweep
// ends in the bytes of a run that nobody disturbed.
func TestASweepWhoseWorkersAreKilledEndsInTheSameBytes(t *testing.T) {
	dir := newSweepFolder(t, 3)
	var mu sync.Mutex
	killed := map[string]bool{}
	var out bytes.Buffer
	l := Local{
		Resources: Resources{MaxParallel: 2, Env: []string{asWorker + "=slow"}}, Out: &out,
		Started: func(stage, shard int, p *os.Process) {
			mu.Lock()
			defer mu.Unlock()
			if at := fmt.Sprint(stage, shard); !killed[at] && stage == 0 { // every worker of the first stage, once
				killed[at] = true
				time.AfterFunc(100*time.Millisecond, func() { _ = p.Kill() })
			}
		},
	}
	g := readProgress(t, dir)
	if err := l.Run(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if len(g.RemainingJobs()) > 0 || len(g.Failed) > 0 || len(killed) != 3 {
		t.Fatalf("%d jobs are left, %d failed, %d workers were killed: %s", len(g.RemainingJobs()), len(g.Failed), len(killed), out.String())
	}
	if len(g.Attempts) < 3+3 || len(g.Silent()) == 0 {
		t.Errorf("%d attempts, %d of them silent: nobody was hit in the middle", len(g.Attempts), len(g.Silent()))
	}
	if logs, err := filepath.Glob(filepath.Join(dir, logsDirName, g.ID+"-s*.local_*.log")); err != nil || len(logs) < 4 || g.Attempts[0].Log == "" {
		t.Errorf("logs: %v, %v", logs, err)
	}
	s, _ := collect(t, dir)
	sameRuns(t, runs(t, s.Dir()), undisturbed(t, small()))
}

// What is left of a sweep is followed while its workers run: it only falls, from all to nothing, and a look at a folder
// that is no sweep reports nothing.
func TestTheCostThatIsLeftIsFollowed(t *testing.T) {
	dir := newSweepFolder(t, 2)
	g := readProgress(t, dir)
	all, seen := costOf(g.RemainingJobs()), make(chan int64, 1000)
	ctx, stop := context.WithCancel(t.Context())
	var followers sync.WaitGroup
	followers.Go(func() {
		follow(ctx, dir, time.Millisecond, func(left int64, _ float64) { seen <- left })
	})
	followers.Go(func() { follow(ctx, t.TempDir(), time.Millisecond, func(int64, float64) { seen <- -1 }) })
	if first := <-seen; first != all || all == 0 {
		t.Errorf("%d is left before the sweep, of %d", first, all)
	}
	if err := (Local{Resources: Resources{Env: []string{asWorker + "=well"}}, Out: io.Discard}).Run(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	last, steps, late := all, 0, time.After(20*time.Second)
	for last > 0 {
		select {
		case left := <-seen:
			if left < 0 || left > last {
				t.Fatalf("%d is left after %d", left, last)
			}
			if left < last {
				steps++
			}
			last = left
		case <-late:
			t.Fatalf("%d is left of a sweep that is done", last)
		}
	}
	stop()
	followers.Wait()
	if steps == 0 {
		t.Error("nothing was seen to fall")
	}
}

// The speed of a worker is what jobs cost by what they took. Jobs from a store took nothing, and a job that is not
// done says nothing.
func TestTheSpeedOfASweepIsThatOfItsJobs(t *testing.T) {
	g := &Progress{Plan: &Plan{Jobs: []Job{{ID: "long", Cost: 900}, {ID: "short", Cost: 100}, {ID: "stored", Cost: 5000}, {ID: "left", Cost: 800}}}}
	if got := g.speed(); got != 0 {
		t.Errorf("%g before the first job", got)
	}
	g.Done = map[string]Record{"long": {Seconds: 90}, "short": {Seconds: 10}, "stored": {Seconds: 0.01}}
	if got := g.speed(); got != 10 {
		t.Errorf("%g, not 1000 in 100 s", got)
	}
}

// A worker that fails is not started again: its jobs would fail again.
func TestALocalSweepListsWhatFails(t *testing.T) {
	dir := newSweepFolder(t, 2)
	var started []string
	var mu sync.Mutex
	var out bytes.Buffer
	l := Local{
		Resources: Resources{Env: []string{asWorker + "=broken"}}, Out: &out,
		Started: func(stage, shard int, _ *os.Process) {
			mu.Lock()
			defer mu.Unlock()
			started = append(started, fmt.Sprint(stage, "/", shard))
		},
	}
	g := readProgress(t, dir)
	if err := l.Run(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	slices.Sort(started)
	if len(slices.Compact(slices.Clone(started))) != len(started) {
		t.Errorf("started: %v", started)
	}
	if g.Failed["base/0-0"].Error == "" || !strings.Contains(g.Failed["base/0-0"].Error, "the weather") || !strings.Contains(out.String(), "see "+dir) {
		t.Errorf("%+v\n%s", g.Failed, out.String())
	}
	l.Env, l.CPUs = []string{asWorker + "=well"}, runtime.NumCPU()+1
	if err := l.Run(t.Context(), readProgress(t, dir)); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, logsDirName, g.ID+"-s0.local_0.log"))
	if want := fmt.Sprintf("%d cores\n", l.CPUs); err != nil || !strings.Contains(string(log), want) {
		t.Errorf("a worker that is given %d cores has others: %s %v", l.CPUs, log, err)
	}
	if left := readProgress(t, dir).RemainingJobs(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// The context ends a local sweep, and what was done is kept.
func TestALocalSweepIsStopped(t *testing.T) {
	dir := newSweepFolder(t, 2)
	ctx, stop := context.WithCancel(t.Context())
	l := Local{Resources: Resources{MaxParallel: 1, Env: []string{asWorker + "=slow"}}, Out: io.Discard, Started: func(int, int, *os.Process) { stop() }}
	if err := l.Run(ctx, readProgress(t, dir)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	l.Started = nil
	if err := l.Run(t.Context(), readProgress(t, dir)); err != nil {
		t.Fatal(err)
	}
	if left := readProgress(t, dir).RemainingJobs(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A folder without its program says so.
func TestALocalSweepWithoutItsProgramSaysSo(t *testing.T) {
	dir := newSweepFolder(t, 2)
	if err := os.Remove(filepath.Join(dir, "lethe")); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	g := readProgress(t, dir)
	if err := (Local{Out: &out, Resources: Resources{MaxParallel: -1}}).Run(t.Context(), g); err == nil {
		t.Error("less than no worker")
	}
	if err := (Local{Out: &out}).Run(t.Context(), g); err != nil || len(g.RemainingJobs()) != len(g.Jobs) || !strings.Contains(out.String(), "lethe") {
		t.Errorf("%v, %d left: %s", err, len(g.RemainingJobs()), out.String())
	}
}

// Another program than the planned one is not started, also where it takes the place of
// the planned one between two workers.
func TestALocalSweepStartsThePlannedProgramOnly(t *testing.T) {
	dir := newSweepFolder(t, 2)
	g, at := readProgress(t, dir), filepath.Join(dir, "lethe")
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("#!/bin/sh\ntouch "+filepath.Join(dir, "started")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	l := Local{Out: &out, Resources: Resources{MaxParallel: 1, Env: []string{asWorker + "=well"}}, Started: func(int, int, *os.Process) {
		if err := os.Rename(other, at); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}}
	if err := l.Run(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
		t.Error("another program was started")
	}
	if !strings.Contains(out.String(), "refused: "+at+" has SHA-256") || len(g.RemainingJobs()) == 0 {
		t.Errorf("%d left: %s", len(g.RemainingJobs()), out.String())
	}
}

func TestWorkersShareWhatThereIs(t *testing.T) {
	for _, c := range []struct{ cores, cpus, parallel, workers, share int }{
		{16, 0, 0, 16, 1}, {16, 0, 8, 8, 2}, {16, 0, 5, 5, 3}, {16, 4, 0, 4, 4}, {16, 4, 8, 8, 4}, {2, 0, 8, 8, 1}, {2, 4, 0, 1, 4},
	} {
		l := Local{Resources: Resources{CPUs: c.cpus, MaxParallel: c.parallel}}
		if workers, share := l.workerCount(c.cores), l.coresPerWorker(c.cores); workers != c.workers || share != c.share {
			t.Errorf("%+v: %d workers of %d cores each", c, workers, share)
		}
	}
}
