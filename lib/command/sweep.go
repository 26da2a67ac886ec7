// lethe sweep: running the jobs behind tables on a cluster or on all cores.

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/sweep"

	"github.com/spf13/cobra"
)

func newSweep() *cobra.Command {
	c := &cobra.Command{
		Use:   "sweep",
		Short: "Run the jobs behind a table on a cluster, or on all cores of this machine",
		Long: `Run the jobs behind tables and figures on a cluster, or on all cores of this machine,
and merge their runs.

Plan into a folder that all nodes see, submit, look at the status, collect. A failed
job or a dead node stops nothing else: failures are listed with their logs, and
submitting again sends what is missing.`,
		Example: `  lethe sweep plan ruler/table1 --scale paper --shards 64 --out t1
  lethe sweep submit t1 --on slurm --time 2:00:00 --mem 4G
  lethe sweep status t1
  lethe sweep collect t1 --store runs
  lethe table ruler 1 --scale paper --store runs`,
	}
	c.AddCommand(newSweepPlan(), newSweepSubmit(), newSweepWork(), newSweepStatus(), newSweepCollect())
	return cli.Group(c)
}

func checkSweepFolder(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("expected the folder of one sweep")
	}
	return nil
}

func newSweepPlan() *cobra.Command {
	var scale string
	c := &cobra.Command{
		Use:   "plan RECIPE... --out FOLDER",
		Short: "Assign the jobs of recipes to shards, and write the plan into a folder",
		Long: `Assign the jobs of tables or figures ("ruler/table1"; see lethe list recipes) to stages
and shards. Nothing is trained. The folder gets plan.json, with name, key, cost, needs,
stage and shard of every job, the hashes of the data, and the engine; and a copy of
this program, because another version might compute other results. Runs of the jobs that are in
the store already are copied into the folder, and not computed again.`,
		Example: `  lethe sweep plan ruler/table1 --scale paper --shards 64 --out /shared/t1
  lethe sweep plan sde/table1 sde/figure3 --out /shared/sde`,
		Args: func(_ *cobra.Command, args []string) error {
			_, err := recipesByID(args, scale)
			return err
		},
		ValidArgsFunction: cobra.FixedCompletions(recipeIDs(), cobra.ShellCompDirectiveNoFileComp),
	}
	f := c.Flags()
	f.StringVar(&scale, "scale", paper.ScaleName(), "how much of the paper's grid (default from "+paper.ScaleEnv+")")
	out := f.String("out", "", "the sweep's folder, which all nodes see")
	shards := f.Int("shards", 0, "number of shards of every stage (default: 16, or one per job)")
	spec := f.String("engine", "", "engine of every node: auto, lethe, xla, xla:cuda, go (default: LETHE_ENGINE, or auto)")
	fresh := f.Bool("fresh", false, "compute everything, also what is in the store")
	dir := storeFlag(c)
	var precision string
	precisionFlag(c, &precision)
	requireFlags(c, "out")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		on, err := withPrecision(*spec, precision)
		if err != nil {
			return err
		}
		recipes, err := recipesByID(args, scale)
		if err != nil {
			return err
		}
		if *shards < 0 {
			return cli.Usagef("--shards %d: expected a number of shards", *shards)
		}
		from := (*store.Store)(nil)
		if !*fresh {
			if from, err = openStore(cmd, *dir); err != nil {
				return err
			}
		}
		return planSweep(cmd, recipes, from, *out, sweep.Options{
			Recipes: args, Scale: scale, Shards: *shards, Engine: sweep.Engine{Spec: cmp.Or(on, os.Getenv(engine.EnvEngine), "auto")},
		})
	}
	return c
}

// planSweep plans the jobs of recipes, and copies what from has of them; nil: nothing.
func planSweep(cmd *cobra.Command, recipes []paper.Recipe, from *store.Store, out string, o sweep.Options) error {
	empty, err := os.MkdirTemp("", "lethe-plan-") // an empty store: no job is done
	if err != nil {
		return err
	}
	defer os.RemoveAll(empty)
	env, err := openEnv(cmd, empty, o.Engine.Spec)
	if err != nil {
		return err
	}
	defer env.Engine.Close()
	o.Engine.Identity, o.Shift = env.Engine.Info().String(), env.Shift
	jobs, err := paper.Jobs(cmd.Context(), env, o.Scale, recipes...)
	if err != nil {
		return err
	}
	if from != nil {
		if o.Runs, err = runsBefore(cmd.Context(), env, from, o.Scale, recipes); err != nil {
			return err
		}
	}
	p, err := sweep.New(jobs, o)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if err := p.Create(out, program); err != nil {
		return err
	}
	w, cost := cmd.OutOrStdout(), int64(0)
	for stage := range p.Stages {
		cost += p.Cost(stage)
	}
	fmt.Fprintf(w, "%s: %d jobs in %d stages of at most %d shards, about %d %s\n", p.ID, len(p.Jobs), p.Stages, p.Shards, cost, paper.Unit)
	if len(o.Runs) > 0 {
		m, err := sweep.AddRuns(cmd.Context(), out, from, o.Runs)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%d of them are in the store %s (%s): they are not computed again\n", m.Added, from.Dir(), cli.Bytes(m.Bytes))
		for _, r := range m.Refused {
			fmt.Fprintln(cmd.ErrOrStderr(), "lethe:", cli.Printable(r.Error()))
		}
	}
	if len(p.LeftOut) > 0 {
		fmt.Fprintf(w, "%d jobs are left out, their data are not on this machine: %s ...\n", len(p.LeftOut), p.LeftOut[0])
	}
	return nil
}

// runsBefore returns the runs that a store has of the jobs of recipes, by the jobs' IDs.
func runsBefore(ctx context.Context, env *paper.Env, from *store.Store, scale string, recipes []paper.Recipe) (map[string]string, error) {
	jobs, err := paper.Jobs(ctx, &paper.Env{Engine: env.Engine, Store: from, Shift: env.Shift}, scale, recipes...)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, j := range jobs {
		if _, there := from.Has(j.Key); there {
			out[j.ID] = j.Key
		}
	}
	return out, nil
}

type submission struct {
	target          string
	print, resubmit bool
	size            int
	resources       sweep.Resources
	slurm           sweep.Slurm
	kubernetes      sweep.Kubernetes
}

var submitTargets = []string{"slurm", "kubernetes", "local"}

func newSweepSubmit() *cobra.Command {
	var s submission
	c := &cobra.Command{
		Use:   "submit FOLDER --on slurm|kubernetes|local",
		Short: "Submit the remaining jobs of a sweep",
		Long: `Submit the remaining jobs of a sweep.

slurm: one array job per stage (more if MaxArraySize requires it); a stage starts when the one
before it has ended, successfully or not. The command returns at once. Before its time limit a
worker saves its work and is queued again.
kubernetes: an Indexed Job for the first stage that is not complete, applied with your kubectl.
Submit again when it is complete.
local: as many workers as this machine has cores; returns when all jobs are done.`,
		Example: `  lethe sweep submit t1 --on slurm --time 2:00:00 --mem 4G --partition main
  lethe sweep submit t1 --on slurm --print
  lethe sweep submit t1 --on kubernetes --image debian:12 --claim data --mount /d --pod-dir /d/t1
  lethe sweep submit t1 --on local`,
		Args: checkSweepFolder,
	}
	f := c.Flags()
	f.StringVar(&s.target, "on", "", "one of "+cli.List(submitTargets))
	f.BoolVar(&s.print, "print", false, "print the scripts or the manifest and submit nothing")
	f.BoolVar(&s.resubmit, "again", false, "submit although the queue still has jobs of this sweep")
	f.StringVar(&s.resources.Time, "time", "", "how long a worker may run, as Slurm reads it")
	f.StringVar(&s.resources.Mem, "mem", "", "memory of a worker: 4G, on Kubernetes 4Gi")
	f.IntVar(&s.resources.CPUs, "cpus", 0, "cores of a worker (default 1; local: all, shared by the workers)")
	f.IntVar(&s.resources.MaxParallel, "max-parallel", 0, "workers at a time (default: all; local: one per core)")
	f.IntVar(&s.resources.MaxRestarts, "max-restarts", 0, "restarts of one worker (default 10)")
	f.StringVar(&s.slurm.Partition, "partition", "", "Slurm's partition")
	f.StringVar(&s.slurm.Account, "account", "", "Slurm's account")
	f.StringVar(&s.slurm.Constraint, "constraint", "", "features that Slurm's nodes must have")
	f.StringArrayVar(&s.slurm.Args, "sbatch-arg", nil, "one more argument of sbatch; may be given more than once")
	f.IntVar(&s.slurm.Lead, "lead", 0, "seconds before its limit at which a worker saves (default 300)")
	f.IntVar(&s.size, "array-size", 0, "Slurm's MaxArraySize, with --print (default 1001; else Slurm's own)")
	f.StringVar(&s.kubernetes.Image, "image", "", "Kubernetes: the pods' image, with sh and sha256sum")
	f.StringVar(&s.kubernetes.Claim, "claim", "", "Kubernetes: the volume claim that holds the sweep's folder")
	f.StringVar(&s.kubernetes.Mount, "mount", "", "Kubernetes: where the volume is mounted")
	f.StringVar(&s.kubernetes.Dir, "pod-dir", "", "Kubernetes: the sweep's folder in a pod")
	f.StringVar(&s.kubernetes.Namespace, "namespace", "", "Kubernetes: the namespace")
	requireFlags(c, "on")
	cobra.CheckErr(c.RegisterFlagCompletionFunc("on", cobra.FixedCompletions(submitTargets, cobra.ShellCompDirectiveNoFileComp)))
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cli.OneOf("on", s.target, submitTargets...); err != nil {
			return err
		}
		g, err := sweep.ReadProgress(args[0])
		if err != nil {
			return err
		}
		if len(g.RemainingJobs()) == 0 {
			fmt.Fprintln(cmd.OutOrStdout(), "all jobs are done; lethe sweep collect merges their runs")
			return nil
		}
		if data := os.Getenv("LETHE_DATA"); data != "" {
			if data, err = filepath.Abs(data); err != nil {
				return err
			}
			s.resources.Env = []string{"LETHE_DATA=" + data}
		}
		switch s.target {
		case "slurm":
			return s.toSlurm(cmd, g)
		case "kubernetes":
			return s.toKubernetes(cmd, g)
		}
		return s.runLocal(cmd, g)
	}
	return c
}

func (s submission) toSlurm(cmd *cobra.Command, g *sweep.Progress) error {
	to := s.slurm
	to.Resources = s.resources
	if s.print {
		return to.Print(cmd.OutOrStdout(), g, cmp.Or(s.size, 1001))
	}
	queued, err := to.Queued(cmd.Context(), g.Plan)
	if err != nil {
		return err
	}
	if len(queued) > 0 && !s.resubmit {
		return fmt.Errorf("%d jobs of this sweep are still in the queue (%s ...): wait, or scancel them, or give --again", len(queued), queued[0])
	}
	submitted, err := to.Submit(cmd.Context(), g)
	for _, h := range submitted {
		fmt.Fprintf(cmd.OutOrStdout(), "stage %d: job %s, tasks %s\n", h.Stage, h.Number, h.Tasks)
	}
	return err
}

func (s submission) toKubernetes(cmd *cobra.Command, g *sweep.Progress) error {
	to := s.kubernetes
	to.Resources, to.Dir = s.resources, cmp.Or(to.Dir, g.Dir)
	if s.print {
		b, err := to.Manifest(g, g.NextStage())
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), string(b))
		return nil
	}
	submitted, err := to.Submit(cmd.Context(), g)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "stage %d of %d: %s; submit again when it is complete\n", submitted.Stage, g.Stages, submitted.Number)
	return nil
}

func (s submission) runLocal(cmd *cobra.Command, g *sweep.Progress) error {
	if s.print {
		return cli.Usagef("--print: --on local has no scripts")
	}
	if err := (sweep.Local{Resources: s.resources, Out: cmd.ErrOrStderr()}).Run(cmd.Context(), g); err != nil {
		return err
	}
	return reportMissing(cmd, g)
}

// listFailed prints what failed. The texts come from files of other programs and are
// escaped.
func listFailed(w io.Writer, g *sweep.Progress) {
	var b strings.Builder
	g.ListFailed(&b)
	fmt.Fprint(w, cli.Printable(b.String()))
}

// reportMissing prints what is not done, and returns an error if anything is.
func reportMissing(cmd *cobra.Command, g *sweep.Progress) error {
	left := g.RemainingJobs()
	if len(left) == 0 {
		return nil
	}
	listFailed(cmd.ErrOrStderr(), g)
	return fmt.Errorf("%d of %d jobs are not done; submitting again sends them", len(left), len(g.Jobs))
}

func newSweepWork() *cobra.Command {
	w := sweep.Worker{}
	c := &cobra.Command{
		Use:   "work FOLDER --shard I/N",
		Short: "Run the jobs of one shard; the nodes of a cluster run this",
		Long: `Run the remaining jobs of one shard, in a store that no other process writes. Runs and
checkpoints of earlier attempts are used. A program, engine or data set that differs
from the plan is refused. On SIGTERM a worker saves its work and, as a task of a Slurm
array, asks to be queued again.`,
		Example: "  lethe sweep work t1 --shard 0/64 --stage 0\n  lethe sweep work t1 --job train/breast_cancer/everything/seed-0/1b2c3d4e",
		Args:    checkSweepFolder,
	}
	f := c.Flags()
	shard := f.String("shard", "", "shard and number of shards: 0/64")
	f.IntVar(&w.Stage, "stage", -1, "this stage only (default: all, one after the other)")
	f.StringVar(&w.Job, "job", "", "this job only")
	f.StringVar(&w.Log, "log", "", "the file of this worker's output, for the journal")
	restarts := f.Int("max-restarts", 10, "largest number of restarts of the task")
	c.MarkFlagsOneRequired("shard", "job")
	c.MarkFlagsMutuallyExclusive("shard", "job")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		w.Dir, w.Out = args[0], cmd.OutOrStdout()
		if *shard != "" {
			if _, err := fmt.Sscanf(*shard, "%d/%d", &w.Shard, &w.ShardCount); err != nil || fmt.Sprintf("%d/%d", w.Shard, w.ShardCount) != *shard {
				return cli.Usagef("--shard %s: expected a number and how many there are: 0/64", *shard)
			}
		}
		err := runWorker(cmd, w)
		if !errors.Is(err, sweep.ErrStopped) {
			return err
		}
		// The context has ended: that is why the worker stopped.
		again, problem := sweep.Slurm{}.Requeue(context.WithoutCancel(cmd.Context()), os.Getenv, *restarts)
		if again {
			fmt.Fprintln(cmd.OutOrStdout(), "this task is queued again")
		}
		return errors.Join(err, problem)
	}
	return c
}

func runWorker(cmd *cobra.Command, w sweep.Worker) error {
	p, err := sweep.Read(w.Dir)
	if err != nil {
		return err
	}
	recipes, err := recipesByID(p.Recipes, p.Scale)
	if err != nil {
		return err
	}
	e, err := engine.Open(p.Engine.Spec)
	if err != nil {
		return err
	}
	defer e.Close()
	if w.Program, err = os.Executable(); err != nil {
		return err
	}
	w.Engine = e.Info().String()
	w.List = func(s *store.Store) ([]paper.Job, error) {
		return paper.Jobs(cmd.Context(), &paper.Env{Engine: e, Store: s, Shift: p.Shift}, p.Scale, recipes...)
	}
	return w.Work(cmd.Context())
}

func newSweepStatus() *cobra.Command {
	c := &cobra.Command{
		Use: "status FOLDER", Short: "Progress and failures of a sweep",
		Long: `The progress of a sweep, from its journal and runs; the cluster is not asked. Failed
jobs are listed with their logs and the command for each alone, and attempts without
a record of their end.`,
		Example: "  lethe sweep status t1\n  lethe sweep status t1 --json", Args: checkSweepFolder,
	}
	cli.AnswerWith(c, func(_ *cobra.Command, args []string) (cli.Answer, error) {
		g, err := sweep.ReadProgress(args[0])
		if err != nil {
			return cli.Answer{}, err
		}
		t := textTable(g.ID, "stage", "jobs", "done", "failed", "shards left", paper.Unit+" left")
		for _, s := range g.Summary().Stages {
			t.Rows = append(t.Rows, textRow(strings.Fields(fmt.Sprint(s.Stage, s.Jobs, s.Done, s.Failed, s.Shards, s.Cost))...))
		}
		return cli.Answer{Value: g.Summary(), Text: func(w io.Writer) error {
			err := t.Text(w)
			listFailed(w, g)
			return err
		}}, nil
	})
	return c
}

func newSweepCollect() *cobra.Command {
	c := &cobra.Command{
		Use: "collect FOLDER", Short: "Merge the runs of a sweep into a store",
		Long: `Merge the runs of all workers into a store, and hash every file. Damaged runs are left
out and count as not done. The workers' stores stay as they are. If jobs are not done,
they are listed after the merge, and the command fails.`,
		Example: "  lethe sweep collect t1\n  lethe sweep collect t1 --store runs", Args: checkSweepFolder,
	}
	dir := storeFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		g, err := sweep.ReadProgress(args[0])
		if err != nil {
			return err
		}
		s, err := openStore(cmd, *dir)
		if err != nil {
			return err
		}
		m, err := g.Collect(cmd.Context(), s)
		if err != nil {
			return err
		}
		return errors.Join(printMerged(cmd, s, m), reportMissing(cmd, g))
	}
	return c
}
