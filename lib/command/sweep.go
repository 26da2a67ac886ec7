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
		Short: "Spread the jobs behind a table over a cluster, or the cores of this machine",
		Long: `Spread the jobs behind tables and figures over a cluster, or over the cores of
this machine, and bring their runs together.

Plan into a folder that all nodes see, submit it, look at it, collect it. A job
that fails, or a node that dies, stops nothing else: what failed is listed with
its log, and submitting again sends what is missing.`,
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
		Short: "List the jobs of a recipe, deal them to shards, and put the program beside the list",
		Long: `List the jobs of tables or figures ("ruler/table1"; lethe list recipes has them
all) and deal them to stages and shards. Nothing is trained. The folder gets
plan.json, which says of every job its name, key, cost, needs, stage and shard,
of the data their hashes, and which engine is meant, and this program itself: no
other one works on the sweep, because its results might have other names.`,
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
	shards := f.Int("shards", 0, "into how many shards every stage is dealt (default: 16, or one per job)")
	spec := f.String("engine", "", "what every node computes with: auto, lethe, xla, xla:cuda, go (default: LETHE_ENGINE, or auto)")
	requireFlags(c, "out")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		recipes, err := recipesByID(args, scale)
		if err != nil {
			return err
		}
		if *shards < 0 {
			return cli.Usagef("--shards %d: expected a number of shards", *shards)
		}
		return planSweep(cmd, recipes, *out, sweep.Options{
			Recipes: args, Scale: scale, Shards: *shards, Engine: sweep.Engine{Spec: cmp.Or(*spec, os.Getenv("LETHE_ENGINE"), "auto")},
		})
	}
	return c
}

func planSweep(cmd *cobra.Command, recipes []paper.Recipe, out string, o sweep.Options) error {
	empty, err := os.MkdirTemp("", "lethe-plan-") // a store in which nothing is done
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
	if len(p.LeftOut) > 0 {
		fmt.Fprintf(w, "%d jobs are left out, their data are not on this machine: %s ...\n", len(p.LeftOut), p.LeftOut[0])
	}
	return nil
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
		Short: "Hand in what a sweep still has to do, and return",
		Long: `Hand in what a sweep still has to do.

slurm: an array job per stage (more where MaxArraySize asks for it), a stage after
the one before it whatever became of that, and return at once. A worker that is
told that its time is over saves its work and has itself queued again.

kubernetes: an Indexed Job for the first stage that has something to do, applied
with your kubectl; submit again when it is through.

local: as many workers as this machine has cores, until all is done.`,
		Example: `  lethe sweep submit t1 --on slurm --time 2:00:00 --mem 4G --partition main
  lethe sweep submit t1 --on slurm --print
  lethe sweep submit t1 --on kubernetes --image debian:12 --claim data --mount /data --pod-dir /data/t1
  lethe sweep submit t1 --on local`,
		Args: checkSweepFolder,
	}
	f := c.Flags()
	f.StringVar(&s.target, "on", "", "one of "+cli.List(submitTargets))
	f.BoolVar(&s.print, "print", false, "print the scripts or the manifest and hand in nothing")
	f.BoolVar(&s.resubmit, "again", false, "hand in although the queue still has jobs of this sweep")
	f.StringVar(&s.resources.Time, "time", "", "how long a worker may run, as Slurm reads it")
	f.StringVar(&s.resources.Mem, "mem", "", "memory of a worker: 4G, on Kubernetes 4Gi")
	f.IntVar(&s.resources.CPUs, "cpus", 0, "cores of a worker (default 1; local: what there is, shared out among workers at a time)")
	f.IntVar(&s.resources.MaxParallel, "max-parallel", 0, "workers at a time (default: all; local: as many as there are cores)")
	f.IntVar(&s.resources.MaxRestarts, "max-restarts", 0, "how often one worker is started again (default 10)")
	f.StringVar(&s.slurm.Partition, "partition", "", "Slurm's partition")
	f.StringVar(&s.slurm.Account, "account", "", "Slurm's account")
	f.StringVar(&s.slurm.Constraint, "constraint", "", "features that Slurm's nodes must have")
	f.StringArrayVar(&s.slurm.Args, "sbatch-arg", nil, "one more argument of sbatch; may be given more than once")
	f.IntVar(&s.slurm.Lead, "lead", 0, "seconds before the end of its time at which a worker saves its work (default 300)")
	f.IntVar(&s.size, "array-size", 0, "Slurm's MaxArraySize, with --print (default 1001; otherwise Slurm is asked)")
	f.StringVar(&s.kubernetes.Image, "image", "", "Kubernetes: the pods' image, with sh and sha256sum; the program is in the sweep's folder")
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
			fmt.Fprintln(cmd.OutOrStdout(), "all jobs are done; lethe sweep collect brings their runs together")
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
	handed, err := to.Submit(cmd.Context(), g)
	for _, h := range handed {
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
	handed, err := to.Submit(cmd.Context(), g)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "stage %d of %d: %s; submit again when it is through\n", handed.Stage, g.Stages, handed.Number)
	return nil
}

func (s submission) runLocal(cmd *cobra.Command, g *sweep.Progress) error {
	if s.print {
		return cli.Usagef("--print: there is nothing to print of --on local")
	}
	if err := (sweep.Local{Resources: s.resources, Out: cmd.ErrOrStderr()}).Run(cmd.Context(), g); err != nil {
		return err
	}
	return reportMissing(cmd, g)
}

// listFailed lists what failed; the texts come from files that other programs write.
func listFailed(w io.Writer, g *sweep.Progress) {
	var b strings.Builder
	g.ListFailed(&b)
	fmt.Fprint(w, cli.Printable(b.String()))
}

// reportMissing lists what is not done, and is an error where there is anything.
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
		Short: "Do the jobs of one shard; this is what a cluster's nodes run",
		Long: `Do what is left of one shard, in a store that no other process writes. Runs and
checkpoints of earlier attempts are used. Another program than the one that made
the plan, another engine or other data are refused. Told to stop, a worker saves
its work and, as a task of a Slurm array, asks to be queued again.`,
		Example: "  lethe sweep work t1 --shard 0/64 --stage 0\n  lethe sweep work t1 --job train/breast_cancer/everything/seed-0/1b2c3d4e",
		Args:    checkSweepFolder,
	}
	f := c.Flags()
	shard := f.String("shard", "", "which shard of how many: 0/64")
	f.IntVar(&w.Stage, "stage", -1, "this stage alone (default: all, one after the other)")
	f.StringVar(&w.Job, "job", "", "this job alone")
	f.StringVar(&w.Log, "log", "", "the file that this worker's output goes to, for what is written down")
	restarts := f.Int("max-restarts", 10, "how often the task may have been started again")
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
		Use: "status FOLDER", Short: "How far a sweep is, and what failed",
		Long: `How far a sweep is, by what its workers have written down and by the runs that are
there: no cluster is asked. What failed is listed with its log and the command
that does it alone, and attempts that have not said their last word.`,
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
		Long: `Merge what the workers have computed into a store, hashing every file. What is
damaged is left out and counts as not done. The workers' own stores stay as they
are. What is not done is listed, and is an error when everything else is merged.`,
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
