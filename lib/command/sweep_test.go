// Tests of sweep.go.

package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store/storetest"
	"github.com/lethe-ml/lethe/lib/sweep"
)

// planOf plans a sweep with the program itself, away from the user's data.
func planOf(t *testing.T, program string, args ...string) (dir string, g *sweep.Progress) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "sweep")
	run(t, program, append([]string{"sweep", "plan", "--fresh", "--out", dir}, args...)...)
	g, err := sweep.ReadProgress(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, g
}

// run runs the program, without the user's data, engine and seeds, and returns what
// it prints.
func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	var out, stderr bytes.Buffer
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), cleanEnvironment(t)...)
	c.Stdout, c.Stderr = &out, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	return out.String()
}

// cleanEnvironment is an environment in which a recipe takes its generated stand-ins.
func cleanEnvironment(t *testing.T) []string {
	return []string{"LETHE_DATA=" + noData, "LETHE_ENGINE=", "LETHE_SEED=", "LETHE_SCALE=", "LETHE_HOME=" + t.TempDir()}
}

// noData is a folder of data sets that has none.
const noData = "/nonexistent"

// sameStores compares the finished runs of two stores byte by byte.
func sameStores(t *testing.T, got, want string) {
	t.Helper()
	a, b := storetest.Contents(t, filepath.Join(got, "runs")), storetest.Contents(t, filepath.Join(want, "runs"))
	for name := range b {
		if a[name] != b[name] {
			t.Errorf("%s differs or is missing", name)
		}
	}
	if len(a) != len(b) || len(b) == 0 {
		t.Errorf("%d files, want %d", len(a), len(b))
	}
}

// Every recipe of every paper is a list of jobs that can be assigned and done one by one.
func TestEveryRecipeCanBePlanned(t *testing.T) {
	t.Setenv("LETHE_DATA", noData)
	e, s := enginetest.WithStore(t)
	env, planned := &paper.Env{Engine: e, Store: s}, 0
	for _, id := range recipeIDs() {
		recipes, err := recipesByID([]string{id}, "quick")
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := paper.Jobs(t.Context(), env, "quick", recipes...)
		if errors.Is(err, datasets.ErrMissing) {
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		p, err := sweep.New(jobs, sweep.Options{Recipes: []string{id}, Scale: "quick", Shards: 4})
		if len(jobs) == 0 || err != nil && strings.Contains(err.Error(), "nothing to do") {
			continue // nothing of it is kept, or it has no data here
		}
		if err != nil || p.Stages > 4 {
			t.Errorf("%s: %v, %+v", id, err, p)
		}
		planned++
	}
	if planned < 40 {
		t.Errorf("only %d of %d recipes were planned", planned, len(recipeIDs()))
	}
}

func TestSweepsAreRefusedInWords(t *testing.T) {
	t.Setenv("LETHE_DATA", noData)
	dir := filepath.Join(t.TempDir(), "sweep")
	if r := lethe(t, "sweep", "plan", "sde/toy", "--out", dir, "--shards", "2"); r.Code != cli.ExitOK {
		t.Fatalf("%+v", r)
	}
	nowhere := t.TempDir()
	for _, c := range []struct {
		args  string
		code  int
		words []string
	}{
		{"plan sde/toy --out " + dir, cli.ExitFailure, []string{"is there already"}},
		{"plan sde/toys --out x", cli.ExitUsage, []string{"sde/toys", "sde/toy"}},
		{"plan sde/toy --scale vast --out x", cli.ExitUsage, []string{"vast", "quick"}},
		{"plan sde/toy", cli.ExitUsage, []string{"out"}},
		{"plan --out x", cli.ExitUsage, []string{"no recipe"}},
		{"plan sde/toy --shards -2 --out x", cli.ExitUsage, []string{"--shards -2"}},
		{"submit " + nowhere + " --on local", cli.ExitFailure, []string{"is no sweep"}},
		{"submit " + dir, cli.ExitUsage, []string{"on"}},
		{"submit " + dir + " --on paper", cli.ExitUsage, []string{"paper", "slurm, kubernetes, local"}},
		{"submit " + dir + " --on local --print", cli.ExitUsage, []string{"--print"}},
		{"submit " + dir + " --on kubernetes --print", cli.ExitFailure, []string{"image"}},
		{"submit", cli.ExitUsage, []string{"one sweep"}},
		{"work " + dir + " --shard 2/2", cli.ExitFailure, []string{"shard 2/2", "from 0 to 1"}},
		{"work " + dir + " --shard 0/3", cli.ExitFailure, []string{"has 2 shards"}},
		{"work " + dir + " --shard half", cli.ExitUsage, []string{"--shard half", "0/64"}},
		{"work " + dir + " --shard 1/2x", cli.ExitUsage, []string{"--shard 1/2x"}},
		{"work " + dir, cli.ExitUsage, []string{"shard", "job"}},
		{"work " + dir + " --shard 0/2 --stage 7", cli.ExitFailure, []string{"stage 7"}},
		{"work " + dir + " --job nothing", cli.ExitFailure, []string{`no job "nothing"`}},
		{"status " + nowhere, cli.ExitFailure, []string{"is no sweep"}},
		{"collect " + nowhere, cli.ExitFailure, []string{"is no sweep"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			fails(t, lethe(t, append([]string{"sweep"}, strings.Fields(c.args)...)...), c.code, c.words...)
		})
	}
	t.Setenv("LETHE_ENGINE", "")
	path := filepath.Join(dir, sweep.PlanFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(b, []byte(`"open": "auto"`), []byte(`"open": "go"`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	fails(t, lethe(t, "sweep", "work", dir, "--shard", "0/2"), cli.ExitFailure, "computes with the engine go/scalar", "planned for lethe/")
	if r := lethe(t, "sweep", "submit", dir, "--on", "slurm", "--print", "--time", "10"); r.Code != cli.ExitOK || !strings.Contains(r.Out, "#SBATCH --time=10") ||
		!strings.Contains(r.Out, "LETHE_DATA='"+noData+"'") {
		t.Errorf("%+v", r)
	}
	r := lethe(t, "sweep", "submit", dir, "--on", "kubernetes", "--print", "--image", "i", "--claim", "c", "--mount", "/m", "--pod-dir", "/m/s")
	if r.Code != cli.ExitOK || !json.Valid([]byte(r.Out)) {
		t.Errorf("%+v", r)
	}
	store := filepath.Join(t.TempDir(), "store")
	if r = lethe(t, "sweep", "collect", dir, "--store", store); r.Code != cli.ExitFailure || !strings.Contains(r.Stderr, "jobs are not done") {
		t.Errorf("%+v", r)
	}
	if r = lethe(t, "sweep", "status", dir); r.Code != cli.ExitOK || !strings.Contains(r.Out, "stage") {
		t.Errorf("%+v", r)
	}
}

// What is in the store is copied into a sweep and not computed again, unless the user wants it; the sweep's runs are the same.
func TestASweepTakesWhatIsInTheStore(t *testing.T) {
	lethe, stored := program(t), filepath.Join(t.TempDir(), "runs")
	run(t, lethe, "table", "sde", "toy", "--scale", "quick", "--store", stored)
	fresh := run(t, lethe, "sweep", "plan", "sde/toy", "--scale", "quick", "--store", stored, "--fresh", "--out", filepath.Join(t.TempDir(), "fresh"))
	if strings.Contains(fresh, "in the store") {
		t.Error(fresh)
	}
	dir := filepath.Join(t.TempDir(), "sweep")
	said := run(t, lethe, "sweep", "plan", "sde/toy", "--scale", "quick", "--store", stored, "--out", dir)
	g, err := sweep.ReadProgress(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d of them are in the store %s (", len(g.Jobs), stored); !strings.Contains(said, want) || !strings.Contains(said, "about 0 MFLOP") {
		t.Errorf("%q, want %q", said, want)
	}
	for stage := range g.Stages {
		for shard := range g.Shards {
			run(t, lethe, "sweep", "work", dir, "--stage", fmt.Sprint(stage), "--shard", fmt.Sprintf("%d/%d", shard, g.Shards))
		}
	}
	collected := filepath.Join(t.TempDir(), "collected")
	run(t, lethe, "sweep", "collect", dir, "--store", collected)
	sameStores(t, collected, stored)
}
