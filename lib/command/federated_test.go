// Tests of federated.go.

package command

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// cutArguments writes a small table and is the beginning of a command that cuts it.
func cutArguments(t *testing.T) []string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 1))
	x, y := array.New[float32](150, 4), make([]int, 150)
	for i := range y {
		y[i] = rng.IntN(3)
		for j := range 4 {
			x.Row(i)[j] = float32(rng.NormFloat64()) + float32(2*y[i]*(1-j%2))
		}
	}
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "X.npy"), filepath.Join(dir, "y.npy")}
	if err := npy.Write(files[0], x); err != nil {
		t.Fatal(err)
	}
	if err := npy.WriteIndices(files[1], y); err != nil {
		t.Fatal(err)
	}
	return []string{"federated", "cut", "--x", files[0], "--y", files[1]}
}

func cutStudy(t *testing.T, more ...string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "study")
	args := append(cutArguments(t), "--users", "3", "--rounds", "2", "--rate", "0.01", "--batch", "10", "--out", folder)
	if r := lethe(t, append(args, more...)...); r.Code != 0 {
		t.Fatal(r.Stderr)
	}
	return folder
}

func TestAFederationRunsFromItsFolder(t *testing.T) {
	folder := cutStudy(t, "--alpha", "1")
	out := filepath.Join(t.TempDir(), "w.safetensors")
	rounds := clitest.Decoded[[]federated.Round](t, lethe(t, "federated", "run", folder, "--out", out, "--json"))
	if len(rounds) != 2 || len(rounds[1].Answered) != 3 || !(*rounds[1].Loss < *rounds[0].Loss) {
		t.Errorf("%+v", rounds)
	}
	r := lethe(t, "federated", "run", folder, "--like", out)
	if r.Code != 0 || !strings.Contains(r.Stderr, "bit for bit") || !strings.Contains(r.Out, "0 1 2") {
		t.Errorf("%+v", r)
	}
	// The losses are compared too, of every round.
	weights, err := safetensors.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	history, changed := weights.Metadata["lethe.federated"], filepath.Join(t.TempDir(), "changed.safetensors")
	for _, c := range []struct{ with, words string }{
		{`"loss":0.5`, "the loss of round 2 is "}, {`"silent":[]`, "one of the two runs has no loss of round 2"}} {
		weights.Metadata["lethe.federated"] = history[:strings.LastIndex(history, `"loss"`)] + c.with + "}]"
		if err := safetensors.Write(changed, weights); err != nil {
			t.Fatal(err)
		}
		if r := lethe(t, "federated", "run", folder, "--like", changed); r.Code != 1 || !strings.Contains(r.Stderr, c.words) {
			t.Errorf("%s: %+v", c.with, r)
		}
	}
	fails := lethe(t, "federated", "run", folder, "--like", filepath.Join(folder, "initial.safetensors"))
	if fails.Code != 1 || !strings.Contains(fails.Stderr, "does not say which rounds") {
		t.Errorf("%+v", fails)
	}
	study := filepath.Join(folder, "study.json")
	before := data(t, study)
	for _, bad := range []string{study, filepath.Join(folder, "no", "such", "w"), folder} {
		if r := lethe(t, "federated", "run", folder, "--out", bad); r.Code != cli.ExitUsage || strings.Contains(r.Stderr, "rounds") {
			t.Errorf("%s: %+v", bad, r)
		}
	}
	if data(t, study) != before {
		t.Error("the study was overwritten")
	}
	other := cutStudy(t, "--alpha", "1", "--seed", "2")
	if r := lethe(t, "federated", "run", other, "--like", out); r.Code != 1 || !strings.Contains(r.Stderr, "their relative distance is") {
		t.Errorf("%+v", r)
	}
}

// A round of clients is the first round of the run: of a federation of one user.
func TestAClientIsTheWorkOfARound(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "study")
	if r := lethe(t, append(cutArguments(t), "--users", "1", "--rounds", "1", "--out", folder)...); r.Code != 0 {
		t.Fatal(r.Stderr)
	}
	out, whole := filepath.Join(folder, "out.safetensors"), filepath.Join(folder, "whole.safetensors")
	client := []string{"federated", "client", "--study", filepath.Join(folder, "study.json"), "--shard", filepath.Join(folder, "users", "0"),
		"--in", filepath.Join(folder, "initial.safetensors"), "--out", out}
	answer := clitest.Decoded[struct {
		User, Records int
		Loss          float64
	}](t, lethe(t, append(client, "--user", "0", "--round", "1")...))
	if answer.Records != 150 || !(answer.Loss > 0) || math.IsInf(answer.Loss, 1) {
		t.Errorf("%+v", answer)
	}
	if r := lethe(t, "federated", "run", folder, "--out", whole); r.Code != 0 {
		t.Fatal(r.Stderr)
	}
	// Of one file the metadata tells the rounds, of the other not.
	if a, b := data(t, out), data(t, whole); a != b {
		t.Error("the client's weights are not those of the run")
	}
	for words, args := range map[string][]string{
		"users 0 to 0":        {"--user", "1", "--round", "1"},
		"rounds 1 to 1":       {"--user", "0", "--round", "2"},
		`flag(s) "round" not`: {"--user", "0"},
	} {
		if r := lethe(t, append(client, args...)...); r.Code == 0 || !strings.Contains(r.Stderr, words) {
			t.Errorf("%v: %+v, want %q", args, r, words)
		}
	}
}

// data is the part of a safetensors file behind its header.
func data(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b[8:]), "}}")
	return strings.TrimLeft(rest, " }")
}

func TestACutSaysWhatIsWrong(t *testing.T) {
	for words, args := range map[string][]string{
		"user":                 {"--users", "60", "--alpha", "0.01", "--rounds", "1"},
		" records for 9223372": {"--users", "9223372036854775807", "--rounds", "1"},
		"for 151 users":        {"--users", "151", "--rounds", "1", "--alpha", "1"},
		"0 users":              {"--users", "0", "--rounds", "1"},
		"0 rounds":             {"--users", "2", "--rounds", "0"},
		"alpha -1":             {"--users", "2", "--rounds", "1", "--alpha", "-1"},
		"--least 0":            {"--users", "2", "--rounds", "1", "--alpha", "1", "--least", "0"},
		`"big"`:                {"--users", "2", "--rounds", "1", "--network", "big"},
		"fraction of 2":        {"--users", "2", "--rounds", "1", "--fraction", "2"},
		`"rounds" not set`:     {"--users", "2"},
	} {
		out := filepath.Join(t.TempDir(), "study")
		r := lethe(t, append(append(cutArguments(t), "--out", out), args...)...)
		if r.Code == 0 || !strings.Contains(r.Stderr, words) {
			t.Errorf("%v: %+v, want %q", args, r, words)
		}
		if _, err := os.Stat(filepath.Join(out, "study.json")); err == nil {
			t.Errorf("%v: a study was written", args)
		}
	}
}

func TestTheFlowerCommandSaysHowToRunTheApp(t *testing.T) {
	folder := cutStudy(t)
	r := lethe(t, "federated", "flower", folder)
	for _, want := range []string{"pip install", "flwr==1.13.1", "FLWR_TELEMETRY_ENABLED=0", "flower-supernode", filepath.Join(folder, "lethe-flower")} {
		if r.Code != 0 || !strings.Contains(r.Out, want) {
			t.Errorf("code %d, %q is not in %s", r.Code, want, r.Out)
		}
	}
	if r := lethe(t, "federated", "flower", t.TempDir()); r.Code != 1 || !strings.Contains(r.Stderr, "study.json") {
		t.Errorf("%+v", r)
	}
}

func TestLabelsThatSkipClassesAreSaidAndThoseBeyondAllRecordsRefused(t *testing.T) {
	for most, code := range map[int]int{5: cli.ExitOK, 1 << 40: cli.ExitUsage} {
		args := cutArguments(t)
		y := make([]int, 150)
		y[7] = most
		if err := npy.WriteIndices(args[len(args)-1], y); err != nil {
			t.Fatal(err)
		}
		r := lethe(t, append(args, "--users", "2", "--rounds", "1", "--out", filepath.Join(t.TempDir(), "study"))...)
		want := map[int]string{cli.ExitOK: "[1 2 3 4]", cli.ExitUsage: "1099511627776"}[code]
		if r.Code != code || !strings.Contains(r.Stderr, want) {
			t.Errorf("labels up to %d: %+v", most, r)
		}
	}
}
