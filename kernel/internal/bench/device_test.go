// Tests of lethe bench device, on GoMLX's Go engine as if it were a device, beside stand-ins for
// PyTorch and JAX.

package bench

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
)

// standInPeers stands for a Python with PyTorch and JAX. PyTorch's script has more arguments than
// JAX's. A request is "WAY EPOCHS"; the ways of a program take SECONDS of theirs per step.
const standInPeers = `
serve() {
  while read way n; do
    set -- $times
    shift $way
    list=$1
    for i in $(seq 2 $n); do list="$list, $1"; done
    echo "{\"epochs\": [$list], \"value\": 0.5}"
  done
}
if [ $# -eq 5 ]; then
  echo "{\"ready\": \"JAX 1\", \"device\": \"card, TF32 $NVIDIA_TF32_OVERRIDE\", \"weights\": WEIGHTS, \"ways\": [{\"name\": \"scan\", \"first\": 3}]}"
  times="0.2"
elif [ "$7" = deterministic ]; then
  echo "{\"ready\": \"PyTorch 1\", \"device\": \"card, TF32 $NVIDIA_TF32_OVERRIDE\", \"weights\": WEIGHTS, \"ways\": [{\"name\": \"eager\", \"first\": 1}, {\"name\": \"compile\", \"failed\": \"no compiler\"}, {\"name\": \"graph\", \"first\": 2}]}"
  times="0.6 0 0.375"
else
  echo "{\"ready\": \"PyTorch 1\", \"device\": \"card, TF32 $NVIDIA_TF32_OVERRIDE\", \"weights\": WEIGHTS, \"ways\": [{\"name\": \"eager\", \"first\": 1}, {\"name\": \"compile\", \"failed\": \"no compiler\"}, {\"name\": \"graph\", \"first\": $TORCH_FIRST}]}"
  times="0.5 0 0.25"
fi
serve`

// mlpWeights are the weights of RULER's MLP for 50 features.
const mlpWeights = "23298"

// benchDevice returns the command line for RULER's MLP with tiny sizes.
func benchDevice(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return benchNetworks(t, "mlp", args...)
}

func benchNetworks(t *testing.T, networks string, args ...string) *exec.Cmd {
	t.Helper()
	line := []string{"bench", "device", "--engine", "go", "--as-device", "--networks", networks, "--batch", "4", "--steps", "3", "--rounds", "2", "--epochs", "3",
		"--threads", "1"}
	cmd := lethe(t, append(line, args...)...)
	cmd.Env = append(cmd.Env, "TORCH_FIRST=2")
	return cmd
}

// output returns standard output and error output of a command that must succeed.
func output(t *testing.T, cmd *exec.Cmd) (stdout, stderr string) {
	t.Helper()
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	return string(out), errs.String()
}

func deviceResults(t *testing.T, cmd *exec.Cmd) []deviceResult {
	t.Helper()
	out, _ := output(t, cmd)
	var results []deviceResult
	if err := json.Unmarshal([]byte(out), &results); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return results
}

func TestBenchDeviceComparesWithEveryWay(t *testing.T) {
	peer := script(t, "python", strings.ReplaceAll(standInPeers, "WEIGHTS", mlpWeights))
	results := deviceResults(t, benchDevice(t, "--peer", peer, "--json"))
	if len(results) != 1 {
		t.Fatalf("%d results", len(results))
	}
	r := results[0]
	if r.Network != "mlp" || r.Batch != 4 || r.Steps != 3 || r.Weights != 23298 || r.Engine != "go/scalar" || r.Device == "" {
		t.Errorf("%+v", r)
	}
	if l := r.Lethe; len(l.Seconds) != 6 || l.Median <= 0 || l.First <= 0 || l.Loss <= 0 || !l.Deterministic {
		t.Errorf("Lethe: %+v", l)
	}
	var ways []string
	for _, w := range r.PyTorch {
		ways = append(ways, w.Way)
		if w.Best != (w.Median == 0.25) || (w.Failed != "") != (w.Way == "compile") || w.Failed == "" && len(w.Seconds) != 6 || w.Device != "card, TF32 0" {
			t.Errorf("%+v", w)
		}
	}
	if want := []string{"eager", "compile", "graph", "eager", "compile", "graph"}; !slices.Equal(ways, want) {
		t.Errorf("ways %q", ways)
	}
	if r.JAX == nil || r.JAX.Median != 0.2 || r.JAX.First != 3 || r.JAX.Device != "card, TF32 0" {
		t.Errorf("JAX: %+v", r.JAX)
	}
	of := func(seconds float64) float64 { return r.Lethe.Median / seconds }
	if q := r.Ratios; q == nil || *q.PyTorch != of(0.25) || *q.Deterministic != of(0.375) || *q.JAX != of(0.2) {
		t.Errorf("ratios %+v", r.Ratios)
	}
	if len(r.Goals) != 2 || r.Goals[0].Of != goalJAX || r.Goals[1].Of != goalBest || !*r.Goals[1].Met {
		t.Errorf("goals %+v", r.Goals)
	}
}

func TestTheTableOfADeviceMarksTheBestAndSaysWhatDidNotRun(t *testing.T) {
	peer := script(t, "python", strings.ReplaceAll(standInPeers, "WEIGHTS", mlpWeights))
	out, _ := output(t, benchDevice(t, "--peer", peer))
	text := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{"Epochs of 3 steps on Go ", "by go/scalar", "500.0", "250.0 *", "375.0 (graph)", "200.0", "An asterisk marks",
		"mlp: PyTorch 1, compile: no compiler.", "compile with deterministic algorithms: no compiler.", "PyTorch 1 on card, TF32 0.", "JAX 1 on card, TF32 0.",
		"mlp: ratio to JAX at most 1.05: met.", "mlp: ratio to PyTorch's best at most 0.7: met.", "Goals are for one NVIDIA H100."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(text, "No comparison") {
		t.Errorf("a comparison is denied:\n%s", out)
	}
	out, _ = output(t, benchDevice(t, "--peer", peer, "--deterministic=false", "--ways", "graph"))
	if strings.Contains(out, "determin") || strings.Contains(out, "eager") || !strings.Contains(out, "CUDA graph") {
		t.Errorf("columns that were not asked for:\n%s", out)
	}
	out, _ = output(t, benchDevice(t))
	if !strings.Contains(out, "No comparison") || strings.Contains(out, "PyTorch's best") || strings.Contains(out, "Goals") {
		t.Errorf("without a peer:\n%s", out)
	}
}

func TestWhatAPeerOfADeviceLacksIsSaidOnce(t *testing.T) {
	peer := script(t, "python", `if [ $# -eq 5 ]; then echo '{"missing": "JAX"}'; else echo '{"missing": "PyTorch"}'; fi`)
	out, stderr := output(t, benchNetworks(t, "mlp,ft-transformer", "--peer", peer))
	for _, name := range []string{"PyTorch", "JAX"} {
		if strings.Count(stderr, "has no "+name+": the table has no column of it") != 1 || strings.Contains(out, name) {
			t.Errorf("%s: %s\n%s", name, stderr, out)
		}
	}
}

func TestAPeerOfADeviceThatFailsLeavesTheOthers(t *testing.T) {
	starts := script(t, "python", strings.ReplaceAll(standInPeers, "WEIGHTS", mlpWeights)) // says first: , without TORCH_FIRST
	cmd := benchDevice(t, "--peer", starts, "--json")
	cmd.Env = append(cmd.Env, "TORCH_FIRST=")
	r := deviceResults(t, cmd)[0]
	if len(r.PyTorch) != 3 || r.JAX == nil || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "PyTorch did not start") {
		t.Errorf("one of two does not start: %+v", r)
	}
	if r.Ratios.PyTorch == nil || *r.Ratios.PyTorch != *r.Ratios.Deterministic {
		t.Errorf("ratios %+v", r.Ratios)
	}
	before, _ := strings.CutSuffix(standInPeers, "serve")
	later := strings.ReplaceAll(before+"[ $# -eq 5 ] && { read first; echo out of memory >&2; exit 1; }\nserve", "WEIGHTS", mlpWeights)
	r = deviceResults(t, benchDevice(t, "--peer", script(t, "python", later), "--json"))[0]
	if r.JAX == nil || !strings.Contains(r.JAX.Failed, "out of memory") || r.Ratios.JAX != nil || r.Ratios.PyTorch == nil {
		t.Errorf("one ends later: %+v", r)
	}
	if len(r.Goals) != 1 || r.Goals[0].Of != goalBest {
		t.Errorf("goals %+v", r.Goals)
	}
}

func TestBenchDeviceHoldsAllSidesToTheSameNetwork(t *testing.T) {
	peer := script(t, "python", strings.ReplaceAll(standInPeers, "WEIGHTS", "7"))
	out, err := benchDevice(t, "--peer", peer).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "23298 weights here and 7 in PyTorch 1: these are different networks") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestTheNetworksOfADeviceHaveTheWeightsOfThePeers(t *testing.T) {
	// Weights as JAX 0.10.2 counts them in peer/device_jax.py.
	for name, want := range map[string]int{"mlp": 23298, "ft-transformer": 400510, "small-cnn": 241546, "all-cnn": 1370986, "resnet-18": 11173962, "cells": 7349984} {
		n, err := deviceNetworkNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		rng := engine.Root(1).Stream("test")
		f := n.training(rng, 2, 3)
		if got := weights(model.InitialWeights(f.arch, rng)); got != want || f.x.Rows != 6 || f.steps != 3 || f.config.Batch != 2 {
			t.Errorf("%s: %d weights, want %d; %d records, %d steps of %d", name, got, want, f.x.Rows, f.steps, f.config.Batch)
		}
	}
	if len(deviceNetworks) != 6 {
		t.Errorf("%d networks", len(deviceNetworks))
	}
}

func TestAnEngineInTheHostsMemoryIsNoDevice(t *testing.T) {
	for name, args := range map[string][]string{
		"lethe":           {"--engine", "lethe"},
		"go":              {"--engine", "go"},
		"lethe as device": {"--engine", "lethe", "--as-device"}, // it has no loops in graphs
	} {
		out, err := lethe(t, append([]string{"bench", "device", "--networks", "mlp", "--batch", "2", "--steps", "1"}, args...)...).CombinedOutput()
		text := string(out)
		if err == nil || !strings.Contains(text, "computes in the host's memory, and this bench is of devices") || strings.Count(text, "\n") != 1 {
			t.Errorf("%s: %v: %s", name, err, text)
		}
	}
	out, err := lethe(t, "bench", "device", "--engine", "xla:/nowhere/plugin.so").CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "lethe: engine: ") || strings.Count(string(out), "\n") != 1 {
		t.Errorf("a plugin that is not there: %v: %s", err, out)
	}
}

func TestEpochsAreTimedAfterOneThatIsNot(t *testing.T) {
	answers := func(requests string) ([]answer, error) {
		cmd := lethe(t, "bench", "worker", "device", "mlp", "2", "2", "--engine", "go", "--as-device")
		cmd.Stdin = strings.NewReader(requests)
		out, err := cmd.Output()
		var all []answer
		for d := json.NewDecoder(strings.NewReader(string(out))); ; {
			var a answer
			if failed := d.Decode(&a); errors.Is(failed, io.EOF) {
				return all, err
			} else if failed != nil {
				t.Fatalf("%v in %s", failed, out)
			}
			all = append(all, a)
		}
	}
	all, err := answers("0 2\n0 1\n")
	if err != nil || len(all) != 3 || len(all[0].Ways) != 1 || all[0].Ways[0].First <= 0 || len(all[1].Epochs) != 2 || len(all[2].Epochs) != 1 {
		t.Fatalf("%v: %+v", err, all)
	}
	if all[1].Value <= 0 || all[1].Value == all[2].Value {
		t.Errorf("losses %v and %v: the training goes on", all[1].Value, all[2].Value)
	}
	for _, wrong := range []string{"1 2\n", "0 0\n", "0\n", "no\n", "-1 2\n"} {
		if all, err := answers(wrong); err == nil || len(all) != 1 {
			t.Errorf("request %q: %v: %+v", wrong, err, all)
		}
	}
}

func TestJAXRunsWithoutFlagsThatItDoesNotKnow(t *testing.T) {
	// The message is that of jaxlib 0.10.2.
	peer := script(t, "python", `case "$XLA_FLAGS" in
*bogus*) echo "F1127 20:01:54.206896   23546 parse_flags_from_env.cc:234] Unknown flags in XLA_FLAGS: --xla_bogus=1 --xla_other=2" >&2; echo "Aborted" >&2; exit 1;;
esac
echo "{\"ready\": \"JAX with $XLA_FLAGS, $NVIDIA_TF32_OVERRIDE\"}"`)
	v := deviceBench{comparison: comparison{peer: peer, threads: 1}}
	w, notes, err := v.startJAX(t.Context(), []string{"mlp", "2", "2"}, "--xla_bogus=1 --xla_gpu_deterministic_ops=true --xla_other=2")
	if err != nil {
		t.Fatal(err)
	}
	defer w.kill()
	if w.what != "JAX with --xla_gpu_deterministic_ops=true, 0" || len(notes) != 1 || !strings.Contains(notes[0], "does not know --xla_bogus=1 --xla_other=2") {
		t.Errorf("%s: %q", w.what, notes)
	}
	v.peer = script(t, "python", `echo "Unknown flags in XLA_FLAGS: --bogus" >&2; exit 1`)
	if _, _, err := v.startJAX(t.Context(), []string{"mlp", "2", "2"}, "--known=1"); err == nil {
		t.Error("JAX starts, although it knows a flag no more that it did not get")
	}
}

func TestGoalsOfADeviceAreJudgedByTheirPeer(t *testing.T) {
	at := func(deterministic bool, median float64) epochTimes {
		return epochTimes{Way: "eager", Deterministic: deterministic, Median: median}
	}
	r := deviceResult{Lethe: epochTimes{Median: 1}, JAX: &epochTimes{Median: 0.99}, PyTorch: []epochTimes{at(false, 0.8), at(true, 2), {Failed: "x"}}}
	r.compare([]goal{{Of: goalJAX, AtMost: 1.05}, {Of: goalBest, AtMost: 1}, {Of: goalRepeats, AtMost: 1}})
	var got []string
	for _, g := range r.Goals {
		got = append(got, g.text(false))
	}
	want := []string{"ratio to JAX at most 1.05: met", "ratio to PyTorch's best at most 1: missed", "ratio to PyTorch's deterministic best at most 1: met"}
	if !slices.Equal(got, want) || !r.PyTorch[0].Best || r.PyTorch[1].Best || r.PyTorch[2].Best {
		t.Errorf("%q, %+v", got, r.PyTorch)
	}
	alone := deviceResult{Lethe: epochTimes{Median: 1}, PyTorch: []epochTimes{{Failed: "x"}}}
	alone.compare([]goal{{Of: goalJAX, AtMost: 1}, {Of: goalBest, AtMost: 1}})
	if alone.Ratios != nil || alone.Goals != nil {
		t.Errorf("nothing is compared: %+v", alone)
	}
}

func TestMillisecondsHaveEnoughDigits(t *testing.T) {
	for seconds, want := range map[float64]string{0.0000851: "0.085", 0.001004: "1.004", 0.0211: "21.1", 1.5: "1500.0"} {
		if got := formatMillis(seconds); got != want {
			t.Errorf("%v: %s, want %s", seconds, got, want)
		}
	}
}

// LETHE_TEST_PEER names a Python with PyTorch or JAX, in which the scripts run for every network.
func TestTheScriptsOfADeviceRun(t *testing.T) {
	peer := os.Getenv("LETHE_TEST_PEER")
	if peer == "" {
		t.Skip("LETHE_TEST_PEER names no Python")
	}
	for _, network := range deviceNetworkNames() {
		r := deviceResults(t, benchNetworks(t, network, "--peer", peer, "--json", "--batch", "2", "--steps", "2", "--rounds", "1", "--epochs", "1"))[0]
		if r.JAX == nil && r.PyTorch == nil || r.Notes != nil {
			t.Errorf("%s: nothing ran: %q", network, r.Notes)
		}
		all := r.PyTorch
		if r.JAX != nil {
			all = append(all, *r.JAX)
		}
		for _, w := range all {
			if w.Failed != "" && !strings.Contains(w.Failed, "needs a GPU") || w.Failed == "" && (w.Median <= 0 || w.Loss <= 0) {
				t.Errorf("%s: %+v", network, w)
			}
		}
	}
}
