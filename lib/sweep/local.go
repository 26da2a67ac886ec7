// Running a sweep on this machine.

package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Local runs a sweep on this machine, with as many workers at a time as it has cores.
// Workers are processes, as on a cluster.
type Local struct {
	Resources
	Out io.Writer
	// Started, if it is not nil, is called for every worker.
	Started func(stage, shard int, p *os.Process)
}

// Run runs the remaining jobs, stage by stage. A killed worker is started again. Failed
// jobs are reported by ReadProgress; an error means that the sweep could not continue.
func (l Local) Run(ctx context.Context, g *Progress) error {
	if err := l.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(g.Dir, logsDirName), 0o755); err != nil {
		return err
	}
	all := costOf(g.RemainingJobs())
	ctx, task := progress.StartUnits(ctx, "jobs of the sweep", all, lab.CostUnit)
	defer task.Done()
	watched, stop := context.WithCancel(ctx)
	var follower sync.WaitGroup
	follower.Go(func() {
		follow(watched, g.Dir, lookEvery, func(left int64, speed float64) {
			task.Set(max(0, all-left))
			task.Pace(speed * float64(min(l.workerCount(runtime.NumCPU()), g.Shards)))
		})
	})
	defer follower.Wait()
	defer stop()
	for stage := range g.Stages {
		if err := l.runStage(ctx, g, stage); err != nil {
			return err
		}
	}
	return g.reload()
}

// lookEvery is the time between two looks at the journal of a sweep that runs here.
const lookEvery = 5 * time.Second

// follow reports the cost of the jobs that are not done, and the speed of a worker, over and over
// until the context ends. It takes at most a twentieth of a core; a journal that cannot be read now
// is read the next time.
func follow(ctx context.Context, dir string, every time.Duration, report func(left int64, speed float64)) {
	for wait := every; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		began := time.Now()
		if g, err := ReadProgress(dir); err == nil {
			report(costOf(g.RemainingJobs()), g.speed())
		}
		wait = max(every, 20*time.Since(began))
	}
}

// speed is what a worker does in a second, in lab.CostUnit: the mean over the jobs that are
// done; 0 where there is none. Jobs of less than a second do not count: most of them were in a store. A job counts when it
// is done, and may last for minutes: what all jobs took by the clock would say far too little.
func (g *Progress) speed() float64 {
	var cost, seconds float64
	for _, j := range g.Jobs {
		if r, done := g.Done[j.ID]; done && r.Seconds >= 1 {
			cost, seconds = cost+float64(j.Cost), seconds+r.Seconds
		}
	}
	if seconds == 0 {
		return 0
	}
	return cost / seconds
}

func costOf(jobs []Job) (cost int64) {
	for _, j := range jobs {
		cost += j.Cost
	}
	return cost
}

func (l Local) runStage(ctx context.Context, g *Progress, stage int) error {
	shards := g.MissingShards(stage)
	free := make(chan struct{}, l.workerCount(runtime.NumCPU()))
	var all sync.WaitGroup
	var mu sync.Mutex
	for k, shard := range shards {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			err := l.runShard(ctx, g, stage, shard)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				fmt.Fprintf(l.Out, "stage %d, shard %d: %v\n", stage, shard, err)
				return
			}
			fmt.Fprintf(l.Out, "stage %d: shard %d is done (%d of %d started)\n", stage, shard, k+1, len(shards))
		})
		if ctx.Err() != nil {
			break
		}
	}
	all.Wait()
	return ctx.Err()
}

// workerCount returns how many workers run at a time.
func (l Local) workerCount(cores int) int {
	if l.MaxParallel > 0 {
		return l.MaxParallel
	}
	return max(1, cores/max(1, l.CPUs))
}

// coresPerWorker returns the cores of a worker: as configured, or its share of all cores.
func (l Local) coresPerWorker(cores int) int {
	if l.CPUs > 0 {
		return l.CPUs
	}
	return max(1, cores/l.workerCount(cores))
}

// runShard runs a worker, again if it was killed.
func (l Local) runShard(ctx context.Context, g *Progress, stage, shard int) error {
	log := filepath.Join(g.Dir, logsDirName, fmt.Sprintf("%s-s%d.local_%d.log", g.ID, stage, shard))
	for restarts := 0; ; restarts++ {
		err := l.runWorker(ctx, g, stage, shard, log)
		exit := (*exec.ExitError)(nil)
		switch {
		case err == nil, ctx.Err() != nil:
			return err
		case errors.As(err, &exit) && exit.ExitCode() == -1 && restarts < l.restarts():
			continue
		}
		return fmt.Errorf("%w; see %s", err, log)
	}
}

func (l Local) runWorker(ctx context.Context, g *Progress, stage, shard int, log string) error {
	f, err := files.OpenNoFollow(log, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	defer f.Close()
	program, err := g.openProgram()
	if err != nil {
		return err
	}
	defer program.Close()
	c := exec.CommandContext(ctx, program.Name(), "sweep", "work", g.Dir, "--stage", strconv.Itoa(stage),
		"--shard", fmt.Sprintf("%d/%d", shard, g.Shards), "--log", log)
	startOpened(c, program)
	c.Env = append(append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(l.coresPerWorker(runtime.NumCPU()))), l.Env...)
	c.Stdout, c.Stderr = f, f
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = time.Minute
	newProcessGroup(c)
	if err := c.Start(); err != nil {
		return err
	}
	if l.Started != nil {
		l.Started(stage, shard, c.Process)
	}
	return c.Wait()
}
