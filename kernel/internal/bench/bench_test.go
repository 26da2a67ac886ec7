package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/paper/blindu"
	"github.com/lethe-ml/lethe/lib/verify/sde"

	"github.com/spf13/cobra"
)

func TestNetworksOfTheBenchAreAtFullWidth(t *testing.T) {
	// Weights as torch 2.15.0 counts them in peer/vision.py.
	for name, want := range map[string]int{"small-cnn": 241546, "all-cnn": 1370986, "resnet-18": 11173962} {
		a, err := network(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := weights(model.InitialWeights(a, engine.Root(1).Stream("test"))); got != want {
			t.Errorf("%s has %d weights, want %d", name, got, want)
		}
	}
	if weights(model.InitialWeights(vision.SmallCNN{Norm: true}, engine.Root(1).Stream("test"))) != 241546+224 { // gains and shifts, less the biases
		t.Error("running statistics count as weights")
	}
}

func TestGoalsAreJudgedByTheirOwnMeasure(t *testing.T) {
	ratio := 0.2
	for _, c := range []struct {
		goal   goal
		median float64
		ratio  *float64
		busy   bool
		want   string
	}{
		{goal{Of: goalMedian, AtMost: 5}, 5, nil, false, "median at most 5 s: met"},
		{goal{Of: goalMedian, AtMost: 5}, 5.1, &ratio, true, "median at most 5 s: missed on a busy machine"},
		{goal{Of: goalRatio, AtMost: 0.1}, 0.01, &ratio, false, "ratio at most 0.1: missed"},
		{goal{Of: goalRatio, AtMost: 1.5}, 9, &ratio, true, "ratio at most 1.5: met on a busy machine"},
		{goal{Of: goalRatio, AtMost: 1.5}, 9, nil, true, "ratio at most 1.5: no comparison"},
	} {
		if got := c.goal.judge(result{Lethe: side{Median: c.median}, Ratio: c.ratio}).text(c.busy); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	memory := goal{Of: goalMemory, AtMost: 0.5}
	for peer, want := range map[*side]string{
		{PeakBytes: 200}: "memory at most 0.5: met", {PeakBytes: 199}: "memory at most 0.5: missed", {}: "memory at most 0.5: no comparison",
		nil: "memory at most 0.5: no comparison",
	} {
		if got := memory.judge(result{Lethe: side{PeakBytes: 100}, Peer: peer}).text(true); got != want {
			t.Errorf("beside %+v: %q, want %q", peer, got, want)
		}
	}
}

func TestATableOfABusyMachineSaysSo(t *testing.T) {
	for load, want := range map[float64]bool{0: false, 0.2: false, 6.5: true} {
		var out strings.Builder
		side := side{What: "Lethe", Seconds: []float64{1}, Median: 1, Value: 0.25}
		r := result{Task: "x", Lethe: side, Peer: &side, Value: "a number", Load: load}
		if err := goalsTable("title", []result{r}).Text(&out); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "slow down PyTorch") != want || strings.Contains(out.String(), "load average") != (load > 0) {
			t.Errorf("load %v: %s", load, out.String())
		}
		if !strings.Contains(out.String(), "x: a number: 0.2500 here, 0.2500 there.") {
			t.Errorf("no values in %s", out.String())
		}
	}
}

// small is a protocol that is over at once.
func small(t *testing.T) (*sdeRun, string) {
	t.Helper()
	s := &sdeRun{pool: 60, subsets: 4, peerSubsets: 2, peerType: "float32"}
	folder, err := s.prepare(t.Context(), t.TempDir(), sdeSize{20, 6})
	if err != nil {
		t.Fatal(err)
	}
	return s, folder
}

func TestBothSidesOfTheSDEBenchReadWhatWasDrawn(t *testing.T) {
	_, folder := small(t)
	d, err := readSDE(folder, 20, 6, 4)
	if err != nil {
		t.Fatal(err)
	}
	if d.pool.Rows != 60 || d.in.Rows != 20 || d.out.Rows != 20 || len(d.subsets) != 4 {
		t.Fatalf("%d, %d, %d rows and %d subsets", d.pool.Rows, d.in.Rows, d.out.Rows, len(d.subsets))
	}
	rng := engine.Root(1).Stream("bench")
	for _, part := range []struct {
		m     sde.Matrix
		scale float64
	}{{d.pool, 1}, {d.in, inScale}, {d.out, 1}} {
		for i, v := range part.m.Data {
			if want := float64(float32(part.scale * rng.NormFloat64())); v != want {
				t.Fatalf("value %d is %v, want %v", i, v, want)
			}
		}
	}
	want, err := sde.DrawSubsets(60, 20, 4, rng)
	if err != nil {
		t.Fatal(err)
	}
	for k, rows := range d.subsets {
		if !slices.Equal(rows, want[k]) {
			t.Errorf("subset %d is %v, want %v", k, rows, want[k])
		}
	}
	pool, err := sde.NewPool("forgotten", &d.pool)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sde.OTR(sde.SDE{}, sde.Targets{Pool: pool, Subsets: want}, sde.References{In: &d.in, Out: &d.out}, sde.Options{})
	if err != nil {
		t.Fatal(err)
	}
	value, err := d.rate(sde.SDE{}, 4, 2)
	if mean := (r.Verdicts.Distances[0].Out + r.Verdicts.Distances[1].Out) / 2; err != nil || math.Abs(value-mean) > 1e-15 {
		t.Errorf("value %v, want %v (%v)", value, mean, err)
	}
}

func TestFilesOfAnotherSizeAreNoSDEBench(t *testing.T) {
	_, folder := small(t)
	for name, err := range map[string]error{
		"columns": runError(readSDE(folder, 20, 7, 4)),
		"size":    runError(readSDE(folder, 60, 6, 4)),
		"subsets": runError(readSDE(folder, 20, 6, 5)),
		"folder":  runError(readSDE(filepath.Join(folder, "none"), 20, 6, 4)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := os.Truncate(filepath.Join(folder, sdeDrawn), 7); err != nil {
		t.Fatal(err)
	}
	if _, err := readSDE(folder, 20, 6, 4); err == nil || !strings.Contains(err.Error(), sdeDrawn) {
		t.Errorf("cut off: %v", err)
	}
}

func runError(_ *sdeData, err error) error { return err }

func TestLatenciesArePrintedWithTheirGoals(t *testing.T) {
	table := cellsTable([]cellTimes{{"built in", "first", 1.2, goalFirst, []float64{1, 1.4}}, {"built in", "later", 0.81, goalLater, []float64{0.81}}}, 2)
	var b strings.Builder
	if err := table.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"in 2 rounds on ", "1.20         1.40       1.5  met", "0.81         0.81       0.8  missed"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestExactMomentsOfTheSDEBenchAreThoseOfTheFirstSubset(t *testing.T) {
	_, folder := small(t)
	d, err := readSDE(folder, 20, 6, 4)
	if err != nil {
		t.Fatal(err)
	}
	first := d.pool.Gather(d.subsets[0])
	want, err := sde.SplitHalf(&first, sde.Options{}, engine.Root(1).Stream("bench"))
	if err != nil {
		t.Fatal(err)
	}
	for part, want := range map[string]float64{exactMean: want.ExactMean, exactBoth: want.ExactSD} {
		cmd := lethe(t, "bench", "worker", "sde", folder, "20", "6", "4", "2", "closed-form", part)
		cmd.Stdin = strings.NewReader("3\n")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.Seconds <= 0 || math.Abs(a.Value/want-1) > 1e-12 {
			t.Errorf("%s: %s, want %v (%v)", part, out, want, err)
		}
	}
}

// standIn is a side that speaks the protocol and works on nothing: half a second
// per repetition, whatever is asked.
const standIn = `echo '{"ready": "stand-in", "weights": WEIGHTS}'; while read n; do echo '{"seconds": 0.5, "value": 0.25}'; done`

func TestBenchSDEComparesEverySizeAndLeavesTheClosedFormAlone(t *testing.T) {
	peer := script(t, "python", strings.Replace(standIn, "WEIGHTS", "0", 1))
	out, err := lethe(t, "bench", "sde", "--peer", peer, "--sizes", "20x6,30x4", "--pool", "60", "--subsets", "4", "--rounds", "3", "--threads", "1", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var results []result
	if err := json.Unmarshal(out, &results); err != nil || len(results) != 12 {
		t.Fatalf("%v in %s", err, out)
	}
	for i, r := range results {
		if len(r.Lethe.Seconds) != 3 || r.Lethe.Median <= 0 || r.Lethe.PeakBytes < 1<<20 || r.Lethe.Value <= 0 || r.Lethe.Value > math.Ln2 || r.Goals != nil {
			t.Errorf("%s: %+v", r.Task, r)
		}
		if !strings.HasPrefix(r.Task, []string{"20x6", "30x4"}[i/6]) {
			t.Errorf("task %d is %s", i, r.Task)
		}
		switch compared := i%6 == 0; {
		case compared && (r.Peer == nil || r.Peer.Median != 0.5 || *r.Ratio != r.Lethe.Median/0.5):
			t.Errorf("%s: peer %+v, ratio %v", r.Task, r.Peer, r.Ratio)
		case !compared && (r.Peer != nil || r.Ratio != nil):
			t.Errorf("%s has a peer: %+v", r.Task, r.Peer)
		}
	}
}

func TestBenchVisionHoldsBothSidesToTheSameNetwork(t *testing.T) {
	run := func(args ...string) (string, error) {
		line := append([]string{"bench", "vision", "--networks", "small-cnn", "--batch", "2", "--threads", "1"}, args...)
		cmd := lethe(t, line...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		return string(out) + stderr.String(), err
	}
	same := script(t, "python", strings.Replace(standIn, "WEIGHTS", "241546", 1))
	out, err := run("--peer", same, "--steps", "1", "--rounds", "2", "--json")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var results []result
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&results); err != nil || len(results) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	r := results[0]
	if len(r.Lethe.Seconds) != 2 || r.Lethe.Weights != 241546 || r.Lethe.Value <= 0 || r.Peer == nil || *r.Ratio != r.Lethe.Median/0.5 {
		t.Errorf("%+v", r)
	}
	if len(r.Goals) != 1 || r.Goals[0].AtMost != 0.8 || r.Goals[0].Met == nil || *r.Goals[0].Met != (*r.Ratio <= 0.8) {
		t.Errorf("goals %+v", r.Goals)
	}
	other := script(t, "python", strings.Replace(standIn, "WEIGHTS", "7", 1))
	if out, err := run("--peer", other, "--steps", "1"); err == nil || !strings.Contains(out, "different networks") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestBenchSDEIsNotKeptFromWorkByAMissingPeer(t *testing.T) {
	run := func(args ...string) (string, error) {
		line := append([]string{"bench", "sde", "--sizes", "20x6", "--pool", "60", "--subsets", "4", "--rounds", "1", "--threads", "1"}, args...)
		out, err := lethe(t, line...).CombinedOutput()
		return string(out), err
	}
	if out, err := run("--peer", script(t, "python", `echo '{"missing": "PyTorch"}'`)); err != nil || !strings.Contains(out, "has no PyTorch") || !strings.Contains(out, "20x6, closed form") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run("--peer", script(t, "python", `echo "no such type" >&2; exit 1`)); err == nil || !strings.Contains(out, "no such type") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run(); err != nil || !strings.Contains(out, "--peer PYTHON names a Python") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestBenchComparesWithAPeer(t *testing.T) {
	// Stands for a Python: half a second per repetition, whatever is asked.
	peer := script(t, "python", `echo '{"ready": "stand-in"}'; while read n; do echo '{"seconds": 0.5, "value": 0.25}'; done`)
	out, err := lethe(t, "bench", "--peer", peer, "--rows", "64", "--embeddings", "200", "--rounds", "3", "--steps", "2", "--threads", "1", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var results []result
	if err := json.Unmarshal(out, &results); err != nil || len(results) != 2 {
		t.Fatalf("%v in %s", err, out)
	}
	for _, r := range results {
		if len(r.Lethe.Seconds) != 3 || r.Lethe.Median <= 0 || r.Lethe.PeakBytes < 1<<20 || !strings.Contains(r.Lethe.What, "1 threads") {
			t.Errorf("%s: %+v", r.Task, r.Lethe)
		}
		if r.Peer == nil || r.Peer.Median != 0.5 || *r.Ratio != r.Lethe.Median/0.5 {
			t.Errorf("%s: peer %+v, ratio %v", r.Task, r.Peer, r.Ratio)
		}
	}
}

func TestBenchSaysWhatAPeerLacks(t *testing.T) {
	args := []string{"bench", "--rows", "64", "--embeddings", "200", "--rounds", "1", "--steps", "1"}
	run := func(peer string) (string, error) {
		out, err := lethe(t, append(args, "--peer", peer)...).CombinedOutput()
		return string(out), err
	}
	if out, err := run(script(t, "python", `echo '{"missing": "PyTorch"}'`)); err != nil || !strings.Contains(out, "has no PyTorch") || !strings.Contains(out, "training step") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run(script(t, "python", `echo "ImportError: broken" >&2; exit 3`)); err == nil || !strings.Contains(out, "ImportError: broken") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := run("/nowhere/python"); err == nil || !strings.Contains(out, "--peer") {
		t.Errorf("%v: %s", err, out)
	}
}

const envServeAsLethe = "LETHE_TEST_BENCH"

// TestMain lets the test binary act as lethe, whose commands start it
// again for their own side.
func TestMain(m *testing.M) {
	if os.Getenv(envServeAsLethe) == "" {
		os.Exit(m.Run())
	}
	root := &cobra.Command{Use: "lethe", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(New())
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "lethe:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// lethe is a command line of lethe.
func lethe(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), envServeAsLethe+"=1")
	return cmd
}

// script makes a shell script and returns its path.
func script(t *testing.T, name, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBenchVAEHoldsBothSidesToTheSameNetwork(t *testing.T) {
	same := script(t, "python", strings.Replace(standIn, "WEIGHTS", "7349984", 1))
	out, err := lethe(t, "bench", "vae", "--batches", "2", "--likelihoods", "nb", "--threads", "1", "--steps", "1", "--rounds", "1", "--json", "--peer", same).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var results []result
	if err := json.Unmarshal(out, &results); err != nil || len(results) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	if r := results[0]; r.Task != "nb, 2 cells" || r.Lethe.Weights != 7349984 || r.Lethe.Value <= 0 || len(r.Goals) != 1 || r.Goals[0].AtMost != goalVAE {
		t.Errorf("%+v", r)
	}
}

func TestBenchFTHoldsBothSidesToTheSameNetwork(t *testing.T) {
	line := func(weights string) *exec.Cmd {
		peer := script(t, "python", strings.Replace(standIn, "WEIGHTS", weights, 1))
		return lethe(t, "bench", "ft", "--batch", "3", "--columns", "5", "--threads", "1", "--steps", "2", "--rounds", "1", "--json", "--peer", peer)
	}
	out, err := line("398206").Output() // as torch 2.15.0 counts them in peer/ft.py
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var results []result
	if err := json.Unmarshal(out, &results); err != nil || len(results) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	if r := results[0]; r.Lethe.Weights != 398206 || r.Lethe.Value <= 0 || len(r.Goals) != 1 || r.Goals[0].AtMost != goalFT {
		t.Errorf("%+v", r)
	}
	if err := line("398207").Run(); err == nil {
		t.Error("another network is compared with")
	}
}

func TestBenchTextHoldsBothSidesToTheSameNetwork(t *testing.T) {
	line := func(weights string) *exec.Cmd {
		peer := script(t, "python", strings.Replace(standIn, "WEIGHTS", weights, 1))
		return lethe(t, "bench", "text", "--batch", "2", "--tokens", "8", "--threads", "1", "--steps", "1", "--rounds", "1", "--json", "--peer", peer)
	}
	out, err := line("22742202").Output() // as torch 2.15.0 counts them in peer/text.py
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var results []result
	if err := json.Unmarshal(out, &results); err != nil || len(results) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	if r := results[0]; r.Lethe.Weights != 22742202 || r.Lethe.Value <= 0 || len(r.Goals) != 2 || r.Goals[0].AtMost != goalText || r.Goals[1].Of != goalMemory {
		t.Errorf("%+v", r)
	}
	if err := line("22742203").Run(); err == nil {
		t.Error("another network is compared with")
	}
}

func TestBenchIBHoldsBothSidesToTheSameNetwork(t *testing.T) {
	line := func(peer string) *exec.Cmd {
		return lethe(t, "bench", "ib", "--batches", "20,3", "--threads", "1", "--steps", "2", "--rounds", "1", "--json", "--peer", peer)
	}
	out, err := line(script(t, "python", strings.Replace(standIn, "WEIGHTS", "90636", 1))).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var results []result
	if err := json.Unmarshal(out, &results); err != nil || len(results) != 2 {
		t.Fatalf("%v in %s", err, out)
	}
	for i, name := range []string{"20 images", "3 images"} {
		if r := results[i]; r.Task != name || r.Lethe.Weights != 90636 || r.Lethe.Value <= 0 || len(r.Goals) != 1 || r.Goals[0].AtMost != goalIB {
			t.Errorf("%+v", r)
		}
	}
	if err := line(script(t, "python", strings.Replace(standIn, "WEIGHTS", "90637", 1))).Run(); err == nil {
		t.Error("another network is compared with")
	}
}

// The peer gets its device, and goals do not count on another device than the CPU.
func TestAPeerOnAnotherDeviceHasNoGoal(t *testing.T) {
	peer := script(t, "python", `echo "{\"ready\": \"on $`+peerDevice+`\"}"; while read n; do echo '{"seconds": 0.5, "value": 0.25}'; done`)
	for device, goals := range map[string]int{"cpu": 1, "cuda:1": 0} {
		out, err := lethe(t, "bench", "ib", "--batches", "3", "--threads", "1", "--steps", "2", "--rounds", "1", "--json", "--peer", peer,
			"--peer-device", device).Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var results []result
		if err := json.Unmarshal(out, &results); err != nil || len(results) != 1 {
			t.Fatalf("%v in %s", err, out)
		}
		alone := lethe(t, "bench", "ib", "--batches", "3", "--steps", "2", "--rounds", "1", "--peer-device", device)
		if out, err := alone.CombinedOutput(); (err != nil) != (goals == 0) || goals == 0 && !strings.Contains(string(out), "needs --peer PYTHON") {
			t.Errorf("%s without a peer: %v: %s", device, err, out)
		}
		if r := results[0]; r.Peer.What != "on "+device || len(r.Goals) != goals {
			t.Errorf("%s: peer %q, goals %v", device, r.Peer.What, r.Goals)
		}
	}
}

func TestBenchAtlasTakesEveryStep(t *testing.T) {
	out, err := lethe(t, "bench", "atlas", "--cells", "600", "--genes", "3000", "--engine", "lethe", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var stages []stage
	if err := json.Unmarshal(out, &stages); err != nil {
		t.Fatal(err)
	}
	if len(stages) != 8 {
		t.Fatalf("%d steps", len(stages))
	}
	for _, s := range stages {
		if s.Seconds <= 0 || s.Held == 0 || s.Note == "" {
			t.Errorf("%+v", s)
		}
	}
	// 85 % of the cells that are kept, in batches of 256.
	kept := 0
	if _, err := fmt.Sscanf(stages[1].Note, "%d cells, 2000 genes", &kept); err != nil || kept < 500 || kept > 600 {
		t.Fatalf("%s: %v", stages[1].Note, err)
	}
	if last, want := stages[7].Note, fmt.Sprintf("%d cells in 2 steps, 7349984 weights", kept*85/100); last != want {
		t.Errorf("%s, want %s", last, want)
	}
	if err := lethe(t, "bench", "atlas", "--cells", "10").Run(); err == nil {
		t.Error("10 cells are taken")
	}
}

func TestBenchVAEPrivateHasPlainTrainingBesideIt(t *testing.T) {
	args := []string{"bench", "vae", "--private", "--batches", "2", "--likelihoods", "mse", "--threads", "1", "--steps", "1", "--rounds", "1", "--json"}
	out, err := lethe(t, args...).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var results []result
	if err := json.Unmarshal(out, &results); err != nil || len(results) != 1 {
		t.Fatalf("%v in %s", err, out)
	}
	r := results[0]
	if r.Task != "private, mse, 2 cells" || r.Peer == nil || r.Ratio == nil || r.Lethe.Weights != r.Peer.Weights || r.Goals[0].Met == nil {
		t.Errorf("%+v", r)
	}
	if r.Lethe.Value == r.Peer.Value {
		t.Errorf("both sides have the loss %v: one of them is to have noise", r.Lethe.Value)
	}
}

func TestBenchBlindUTimesEveryMethod(t *testing.T) {
	figure := filepath.Join(t.TempDir(), "times.svg")
	out, err := lethe(t, "bench", "blindu", "--records", "200", "--epochs", "2", "--shares", "0.05", "--betas", "1e-3,1e-2", "--rounds", "2",
		"--local-epochs", "1", "--turns", "1", "--threads", "1", "--figure", figure, "--json").Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var cells []timedCell
	if err := json.Unmarshal(out, &cells); err != nil || len(cells) != 2 {
		t.Fatalf("%v in %s", err, out)
	}
	for _, c := range cells {
		timed := blindu.TimedMethods()
		if len(c.Methods) != len(timed) || c.Step <= 0 || c.Processor == "" || c.Threads != 1 || c.Share != 0.05 {
			t.Errorf("%+v", c)
		}
		for i, m := range c.Methods {
			if m.Method != timed[i].Label || m.Median <= 0 || len(m.Seconds) != 1 || m.Steps == 0 || m.PerStep <= 0 || (m.Program != nil) != timed[i].Counted() {
				t.Errorf("%+v", m)
			}
			// Users work one after another: all of them together no longer than the method, one no longer than all.
			federation := slices.Contains([]string{"hbfu", "bfu", "federated"}, timed[i].Name)
			if federation != (m.User > 0) || m.User > m.SideBySide || m.SideBySide > m.Median {
				t.Errorf("%s: %v s, of a user %v, side by side %v", m.Method, m.Median, m.User, m.SideBySide)
			}
		}
	}
	if cells[0].Beta != 1e-3 || cells[1].Beta != 1e-2 {
		t.Errorf("betas %v and %v", cells[0].Beta, cells[1].Beta)
	}
	if b, err := os.ReadFile(figure); err != nil || !strings.Contains(string(b), "<svg") {
		t.Errorf("the figure: %v", err)
	}
	for _, wrong := range [][]string{{"--data", "cifar"}, {"--shares", "1.5"}, {"--betas", "0"}, {"--methods", "scrub"}, {"--turns", "0"}, {"--figure", "x.pdf"},
		{"--figure", "x.png", "--betas", "1e-3,1e-2"}, {"more"}} {
		if err := lethe(t, append([]string{"bench", "blindu"}, wrong...)...).Run(); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
