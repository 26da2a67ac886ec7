package judge

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAReportsFilesAreVerified(t *testing.T) {
	written := func() (dir, report string) {
		dir = writeTexts(t, true)
		e, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Report(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		must(t, r.Write(filepath.Join(dir, "report")))
		return dir, filepath.Join(dir, "report", "report.json")
	}
	for name, c := range map[string]struct {
		change func(dir, report string)
		want   string
	}{
		"nothing changed": {func(string, string) {}, ""},
		"another value":   {func(dir, _ string) { changeVector(dir, "original/logprob", func(x []float64) { x[3] *= 0.9 }) }, "original/logprob.npy: another content of the same size"},
		"a shorter file":  {func(dir, _ string) { must(t, os.Truncate(filepath.Join(dir, "forget.npy"), 200)) }, "forget.npy: 200 bytes"},
		"a file is gone":  {func(dir, _ string) { must(t, os.Remove(filepath.Join(dir, "zlib.npy"))) }, "zlib.npy: there is no such file"},
		"sets exchanged":  {func(dir, _ string) { exchangeFiles(t, dir, "retrained-1/logprob.npy", "retrained-2/logprob.npy") }, "retrained-1/logprob.npy: another content"},
		"a new model": {func(dir, _ string) {
			must(t, os.CopyFS(filepath.Join(dir, "retrained-3"), os.DirFS(filepath.Join(dir, "retrained-1"))))
		}, "retrained-3/logprob.npy: the report does not have it"},
		"new answers": {func(dir, _ string) {
			must(t, os.WriteFile(filepath.Join(dir, "unlearned", "generated.jsonl"), []byte("null\n"), 0o600))
		}, "unlearned/generated.jsonl: the report does not have it"},
		"other files named": {func(dir, _ string) {
			must(t, os.WriteFile(filepath.Join(dir, "audit.json"), []byte(`{"unlearned": {"logprob": "original/logprob.npy"}}`), 0o600))
		}, "audit.json: the report does not have it"},
		"another array":    {func(_, report string) { replaceIn(t, report, `"array": "<f8 (`, `"array": "<f4 (`) }, "and the report says \"<f4 ("},
		"the list changed": {func(_, report string) { replaceIn(t, report, `"retrained-1/answers.npy"`, `"retrained-2/answers.npy"`) }, "report.json: its list of files was changed"},
	} {
		dir, report := written()
		c.change(dir, report)
		v, err := VerifyReport(report, "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var said []string
		for _, p := range v.Changes {
			said = append(said, p.File+": "+p.What)
		}
		all := strings.Join(said, "\n")
		if (c.want == "") != (all == "") || !strings.Contains(all, c.want) || v.Files < 20 {
			t.Errorf("%s: of %d files: %q, want %q", name, v.Files, all, c.want)
		}
	}
	dir, report := written()
	moved := filepath.Join(t.TempDir(), "report.json")
	must(t, os.Rename(report, moved))
	if v, err := VerifyReport(moved, dir); err != nil || len(v.Changes) > 0 {
		t.Errorf("a report elsewhere: %v, %v", v, err)
	}
	if v, err := VerifyReport(moved, ""); err == nil || !strings.Contains(err.Error(), "name the one that was audited") {
		t.Errorf("a report elsewhere without its folder: %v, %v", v, err)
	}
	for _, text := range []string{"", "{}", `{"files": [{"name": "a", "sha256": "12"}], "inputs_sha256": "` + strings.Repeat("0", hashLength) + `"}`, "[1]"} {
		must(t, os.WriteFile(moved, []byte(text), 0o600))
		if v, err := VerifyReport(moved, dir); err == nil {
			t.Errorf("%q is taken for a report: %v", text, v)
		}
	}
}

func exchangeFiles(t *testing.T, dir, a, b string) {
	t.Helper()
	a, b = filepath.Join(dir, filepath.FromSlash(a)), filepath.Join(dir, filepath.FromSlash(b))
	must(t, os.Rename(a, a+"x"))
	must(t, os.Rename(b, a))
	must(t, os.Rename(a+"x", b))
}

func replaceIn(t *testing.T, path, from, to string) {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte(strings.Replace(string(b), from, to, 1)), 0o600))
}
