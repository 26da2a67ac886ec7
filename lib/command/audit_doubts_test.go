package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
)

// Masks that say what a shadow model was not trained on are noted, and a mask by records is refused with what to save.
func TestMasksOfShadowModelsAreDoubted(t *testing.T) {
	args := shadowArrays(t, 1.5)
	if r := lethe(t, args...); r.Code != cli.ExitOK || r.Stderr != "" {
		t.Errorf("true masks: %d %s", r.Code, r.Stderr)
	}
	at := slices.Index(args, "--in") + 1
	had, err := npy.ReadMask(args[at])
	check(t, err)
	turned := make([][]bool, len(had[0]))
	for _, mask := range had {
		for i := range mask {
			turned[i] = append(turned[i], mask[i])
			mask[i] = !mask[i]
		}
	}
	args[at] = filepath.Join(t.TempDir(), "in.npy")
	check(t, npy.WriteMask(args[at], had))
	const want = "--in: the shadow models fit the records that they are said to be trained on no better"
	if r := lethe(t, args...); r.Code != cli.ExitOK || !strings.Contains(r.Stderr, want) {
		t.Errorf("inverted masks: %d %s", r.Code, r.Stderr)
	}
	check(t, npy.WriteMask(args[at], turned))
	fails(t, lethe(t, args...), cli.ExitFailure, "--in: 60 x 16, and --shadows has 16 x 60", "save its transpose")
}

// A report says which of several outputs of a network its arrays hold.
func TestAReportNamesTheOutputOfANetwork(t *testing.T) {
	network, dir := filepath.Join(t.TempDir(), "two.onnx"), t.TempDir()
	check(t, os.WriteFile(network, twoOutputs(), 0o644))
	x, labels := array.New[float64](60, 2), make([]int, 60)
	for i := range x.Rows {
		labels[i] = i % 2
		x.Row(i)[0], x.Row(i)[1] = float64(i%7)-3, float64(i%5)-2.5
	}
	for name, from := range map[string]int{"forget": 0, "retain": 20, "heldout": 40} {
		rows := make([]int, 20)
		for k := range rows {
			rows[k] = from + k
		}
		check(t, npy.WriteIndices(filepath.Join(dir, name+".npy"), rows))
	}
	check(t, npy.WriteIndices(filepath.Join(dir, "labels.npy"), labels))
	args := []string{"audit", dir, "--onnx", "unlearned=" + network, "--data", matrixFile(t, x), "--output", "same", "--json"}
	r := clitest.Decoded[struct{ Notes []string }](t, lethe(t, args...))
	const want = "unlearned/outputs.npy holds same of two.onnx, one of its outputs "
	if said := strings.Join(r.Notes, "\n"); !strings.Contains(said, want) {
		t.Errorf("%q", r.Notes)
	}
}

// A report whose verdicts were changed is not noticed by its files, and the answer says so.
func TestVerifySaysWhatItDoesNotCheck(t *testing.T) {
	dir := auditFolder(t, "original")
	check(t, os.RemoveAll(filepath.Join(dir, "report")))
	out := filepath.Join(t.TempDir(), "elsewhere")
	if r := lethe(t, "audit", dir, "--out", out); r.Code != cli.ExitOK {
		t.Fatal(r.Stderr)
	}
	report := filepath.Join(out, "report.json")
	r := lethe(t, "audit", dir, "--verify", report)
	if r.Code != cli.ExitOK || !strings.Contains(r.Out, "files are those that the report was made from") || !strings.Contains(r.Out, "are not computed again") {
		t.Errorf("%d %s %s", r.Code, r.Out, r.Stderr)
	}
	fails(t, lethe(t, "audit", "--verify", report), cli.ExitFailure, "name the one that was audited")
}
