// Tests of --runs: the values behind a table or figure.

package command

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"

	"github.com/spf13/cobra"
)

// In a folder the values stand beside the table, and each line names the table's runs; in
// a file and on the terminal they stand in its place.
func TestRunsStandBesideTheirTable(t *testing.T) {
	type run struct {
		Variant string  `json:"arm"`
		Seed    int     `json:"seed"`
		Rate    float64 `json:"rate"`
	}
	table := &report.Table{ID: "a/table1", Columns: report.Columns("arm", "rate"), Provenance: report.Provenance{Runs: 2, RunsHash: "abc"}}
	table.Add(report.Str("original"), report.Num(0.5, 2))
	out := &paper.Output{Table: table, Runs: report.NewRecords([]run{{"original", 0, 0}, {"original", 1, 1}})}
	const want = "arm,seed,rate,runs_hash\noriginal,0,0,abc\noriginal,1,1,abc\n"
	written := func(r recipeRun) string {
		t.Helper()
		var said bytes.Buffer
		cmd := &cobra.Command{}
		cmd.SetOut(&said)
		if err := r.settleFormat([]string{"text", "md", "json"}); err != nil {
			t.Fatal(err)
		}
		if err := r.write(cmd, "table1", out); err != nil {
			t.Fatal(err)
		}
		return said.String()
	}
	kind := recipeRun{kind: paper.Table, folder: []string{"md", "json", "png"}, runs: "csv"}
	if said := written(kind); said != want {
		t.Errorf("on the terminal: %q", said)
	}
	dir := t.TempDir()
	kind.out = filepath.Join(dir, "values.csv")
	written(kind)
	if b, err := os.ReadFile(kind.out); err != nil || string(b) != want {
		t.Errorf("in a file: %q, %v", b, err)
	}
	for _, format := range runFormats {
		kind.out, kind.runs = filepath.Join(dir, format), format
		if err := os.Mkdir(kind.out, 0o755); err != nil {
			t.Fatal(err)
		}
		written(kind)
		entries, err := os.ReadDir(kind.out)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if beside := []string{"table1.json", "table1.md", "table1.runs." + format}; err != nil || !slices.Equal(names, beside) {
			t.Errorf("beside a table: %q, %v", names, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "csv", "table1.runs.csv")); err != nil || string(b) != want {
		t.Errorf("beside a table: %q, %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "json", "table1.runs.json")); err != nil || !strings.Contains(string(b), `"rate":0`) {
		t.Errorf("as JSON: %q, %v", b, err)
	}
	for format, file := range map[string]string{"text": "table1.txt", "json": "table1.json"} {
		kind.out, kind.runs, kind.format = t.TempDir(), "", format
		if said := written(kind); said != filepath.Join(kind.out, file)+"\n" {
			t.Errorf("--format %s into a folder: %q", format, said)
		}
	}
	kind.out, kind.runs, kind.format = "", "", ""
	if said := written(kind); !strings.Contains(said, "original  0.50") {
		t.Errorf("without runs: %q", said)
	}
}

// A file whose ending promises another format than a flag asks for is refused, and a folder is not.
func TestOneFormatAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tables.md")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r    recipeRun
		fine bool
	}{
		{recipeRun{out: "x.md", runs: "csv"}, false}, {recipeRun{out: "x.md", format: "json"}, false},
		{recipeRun{out: "x.csv", runs: "json"}, false}, {recipeRun{out: "x.csv", runs: "xml"}, false},
		{recipeRun{out: "x.csv", runs: "csv"}, true}, {recipeRun{out: "x.md", format: "md"}, true},
		{recipeRun{out: "x", runs: "csv"}, true}, {recipeRun{out: "x.txt", format: "text"}, true}, {recipeRun{out: dir, runs: "csv"}, true},
	} {
		if err := c.r.settleFormat([]string{"text", "md", "json"}); (err == nil) != c.fine {
			t.Errorf("--out %s --format %q --runs %q: %v", c.r.out, c.r.format, c.r.runs, err)
		}
	}
}
