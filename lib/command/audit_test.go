// Tests of audit.go.

package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
)

// auditFolder writes 30 forget, 60 retained and 50 held-out records of two classes, on
// which an original and a retrained model know what they were trained on; the unlearned
// model is a copy of the one named.
func auditFolder(t *testing.T, unlearned string) string {
	t.Helper()
	const records, forget, known = 140, 30, 90
	dir := t.TempDir()
	y, rows := make([]int, records), make([]int, records)
	for i := range y {
		y[i], rows[i] = i%2, i
	}
	for name, v := range map[string][]int{"labels": y, "forget": rows[:forget], "retain": rows[forget:known], "heldout": rows[known:]} {
		check(t, npy.WriteIndices(filepath.Join(dir, name+".npy"), v))
	}
	model := func(name string, first int) {
		z := array.New[float32](records, 2)
		for i := range records {
			z.Row(i)[y[i]] = float32(1 + (i*37)%11)
			if i >= first && i < known {
				z.Row(i)[y[i]] += 6
			}
		}
		check(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
		check(t, npy.Write(filepath.Join(dir, name, "outputs.npy"), z))
	}
	first := map[string]int{"original": 0, "retrained": forget}
	for name, from := range first {
		model(name, from)
	}
	model("unlearned", first[unlearned])
	return dir
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAuditSaysWhatIsLeft(t *testing.T) {
	for unlearned, want := range map[string]string{"original": "still remembered", "retrained": "no memory is seen"} {
		dir := auditFolder(t, unlearned)
		r := lethe(t, "audit", dir)
		if r.Code != cli.ExitOK || r.Stderr != "" || !strings.Contains(strings.ReplaceAll(r.Out, "\n", " "), want) {
			t.Errorf("exit code %d, stderr %q, %q not in\n%s", r.Code, r.Stderr, want, r.Out)
		}
		for _, word := range []string{"Not measured", "needs embedding.npy of the unlearned model", "the whole report: " + filepath.Join(dir, "report", "report.html")} {
			if !strings.Contains(r.Out, word) {
				t.Errorf("no %q in\n%s", word, r.Out)
			}
		}
		for _, name := range []string{"report.html", "report.md", "report.json"} {
			if _, err := os.Stat(filepath.Join(dir, "report", name)); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestAuditAsJSONIsItsReport(t *testing.T) {
	dir, out := auditFolder(t, "original"), filepath.Join(t.TempDir(), "a", "b")
	got := clitest.Decoded[struct {
		Answers  []string
		Verdicts []struct{ Judgement, Verdict string }
		Seed     uint64
	}](t, lethe(t, "audit", dir, "--json", "--out", out, "--seed", "7"))
	if len(got.Answers) != 1 || len(got.Verdicts) == 0 || got.Verdicts[0].Verdict != "remembered" || got.Seed != 7 {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(out, "report.json")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "report")); err == nil {
		t.Error("a report lies beside the arrays too")
	}
}

func TestAuditByAConfigAlone(t *testing.T) {
	dir, otherStore := auditFolder(t, "retrained"), t.TempDir()
	config := filepath.Join(otherStore, "mine.json")
	check(t, os.WriteFile(config, fmt.Appendf(nil, `{"question": "Is it gone?", "labels": %q, "forget": %q, "retain": %q, "heldout": "rest",
		"unlearned": {"logits": %q}, "original": {"logits": %q}}`, filepath.Join(dir, "labels.npy"), filepath.Join(dir, "forget.npy"),
		filepath.Join(dir, "retain.npy"), filepath.Join(dir, "unlearned", "outputs.npy"), filepath.Join(dir, "original", "outputs.npy")), 0o644))
	r := lethe(t, "audit", "--config", config)
	if r.Code != cli.ExitOK || !strings.Contains(r.Out, "no memory is seen") {
		t.Errorf("%+v", r)
	}
	page, err := os.ReadFile(filepath.Join(otherStore, "report", "report.html"))
	if err != nil || !strings.Contains(string(page), "Is it gone?") {
		t.Errorf("%v: the report does not have the question", err)
	}
}

func TestAuditListsEverythingThatIsWrong(t *testing.T) {
	dir := auditFolder(t, "original")
	check(t, npy.WriteIndices(filepath.Join(dir, "forget.npy"), []int{1, 999}))
	check(t, os.WriteFile(filepath.Join(dir, "labels.npy"), nil, 0o644))
	check(t, os.Remove(filepath.Join(dir, "unlearned", "outputs.npy")))
	fails(t, lethe(t, "audit", dir), cli.ExitFailure, "3 problems", "forget.npy: element 1 is 999", "labels.npy: not a valid .npy file", "unlearned: an empty model")
	fails(t, lethe(t, "audit"), cli.ExitUsage, "--config")
	fails(t, lethe(t, "audit", filepath.Join(dir, "nowhere")), cli.ExitFailure, "nowhere")
	fails(t, lethe(t, "audit", dir, "--config", "nowhere.json"), cli.ExitFailure, "nowhere.json")
}

// A lens is in the list of the command line as soon as it is in the list. The list's earlier name still works, hidden, and
// is that in JSON.
func TestListShowsEveryLensOfAudits(t *testing.T) {
	got := clitest.Decoded[map[string][]map[string]string](t, lethe(t, "list", "audit-lenses", "--json"))["judgements"]
	if len(got) != len(audit.FolderLenses()) {
		t.Fatalf("%d lenses, want %d", len(got), len(audit.FolderLenses()))
	}
	for _, json := range []string{"--json", "--json=false"} {
		if now, earlier := lethe(t, "list", "audit-lenses", json), lethe(t, "list", "judgements", json); now.Out != earlier.Out || earlier.Code != cli.ExitOK {
			t.Errorf("%s: by its earlier name the list is %.300q", json, earlier.Out+earlier.Stderr)
		}
	}
	if help := lethe(t, "list", "--help").Out; !strings.Contains(help, "audit-lenses") || strings.Contains(help, "judgements") {
		t.Errorf("the help has the wrong names:\n%s", help)
	}
	for k, j := range audit.ArrayLenses() {
		if e := got[k]; e["name"] != j.Name() || e["about"] == "" || e["from"] == "" || e["needs"] == "" {
			t.Errorf("%v", e)
		}
	}
	if r := lethe(t, "list", "audit-lenses"); r.Code != cli.ExitOK || !strings.Contains(r.Out, "4 shadow models") {
		t.Errorf("%+v", r)
	}
}
