package judge

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/datasets/logs"
	"github.com/lethe-ml/lethe/lib/stats"
)

// answerLines are a line per record: the model answers forgotten records with two of four words, and
// others with all.
func answerLines() []string {
	lines := make([]string, textRecords)
	for i := range lines {
		lines[i] = `{"generated": "born in Kuwait City", "true": "born in Kuwait City"}`
		if i < textForget {
			lines[i] = `{"true": "Born in Kuwait city", "generated": "Kuwait, in the city"}`
		}
	}
	return lines
}

func writeLines(t *testing.T, dir string, lines []string) {
	t.Helper()
	writeLinesOf(t, dir, "unlearned", lines)
}

func writeLinesOf(t *testing.T, dir, model string, lines []string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, model, "generated.jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}

func TestAnswersInStringsGiveROUGE(t *testing.T) {
	dir := writeTexts(t, true)
	writeLines(t, dir, answerLines())
	r := audited(t, dir)
	forgotten, retained := published(r.Evidence, "ROUGE-L recall, forgotten"), published(r.Evidence, "utility: retained, ROUGE-L")
	if v := forgotten["unlearned"].Value; v == nil || *v != 0.5 {
		t.Errorf("%+v", forgotten)
	}
	if v := retained["unlearned"].Value; v == nil || *v != 1 || forgotten["original"].Missing != "the model lacks generated.jsonl" {
		t.Errorf("%+v, %+v", retained, forgotten)
	}
	must(t, r.Write(filepath.Join(dir, "report")))
	lines := answerLines()
	lines[3] = "null"
	writeLines(t, dir, lines)
	v, err := VerifyReport(filepath.Join(dir, "report", "report.json"), dir)
	if err != nil || !strings.Contains(fmt.Sprint(v), "unlearned/generated.jsonl") {
		t.Errorf("a changed answer: %+v, %v", v, err)
	}
	e, err := Open(dir)
	must(t, err)
	if n := published(e, "ROUGE-L recall, forgotten")["unlearned"]; n.Value != nil || n.Missing != "record 3 has no answer" {
		t.Errorf("%+v", n)
	}
}

func TestAnswersThatAreWrongAreRefused(t *testing.T) {
	for want, change := range map[string]func(lines []string) []string{
		fmt.Sprintf("179 lines, and there are %d records", textRecords): func(l []string) []string { return l[1:] },
		"record 6: line 7: the text is not UTF-8":                       func(l []string) []string { l[6] = "{\"generated\": \"\xe9\", \"true\": \"x\"}"; return l },
		`record 7: line 8: unknown field "answer"`:                      func(l []string) []string { l[7] = `{"answer": "x"}`; return l },
		`record 8: "generated" and "true" are expected`:                 func(l []string) []string { l[8] = `{"generated": "x"}`; return l },
		"record 9: ": func(l []string) []string { l[9] = `{"generated": 4, "true": "x"}`; return l },
	} {
		dir := writeTexts(t, true)
		writeLines(t, dir, change(answerLines()))
		_, err := Open(dir)
		var problems *Problems
		if !errors.As(err, &problems) || len(problems.List) != 1 || !strings.Contains(err.Error(), want) || problems.List[0].File != filepath.Join("unlearned", "generated.jsonl") {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// Models that were asked other questions, or in another order, are not compared. Spaces are no difference, and a
// record without an answer in one model is compared between the others.
func TestModelsAskedOtherQuestionsAreRefused(t *testing.T) {
	dir := writeTexts(t, true)
	lines := make([]string, textRecords)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"generated": "x", "true": "the answer to %d"}`, i)
	}
	writeLines(t, dir, append([]string{"null"}, lines[1:]...))
	writeLinesOf(t, dir, "original", lines)
	writeLinesOf(t, dir, "retrained-1", append([]string{`{"generated": "y", "true": " the answer  to0 "}`}, lines[1:]...))
	if _, err := Open(dir); err != nil {
		t.Error(err)
	}
	reversed := slices.Clone(lines)
	slices.Reverse(reversed)
	for want, other := range map[string][]string{
		`record 0 has the true answer "the answer to 179", and "the answer to 0" in original/generated.jsonl (and 179 more)`: reversed,
		`record 7 has the true answer "the answer to 8", and "the answer to 7" in unlearned/generated.jsonl: all`:            slices.Concat(lines[:7], lines[8:9], lines[8:]),
		`record 0 has the true answer "the answer to 1", and "the answer to 0" in original/generated.jsonl: all models`:      slices.Concat(lines[1:2], lines[1:]),
	} {
		writeLinesOf(t, dir, "retrained-1", other)
		_, err := Open(dir)
		var problems *Problems
		if !errors.As(err, &problems) || len(problems.List) != 1 || problems.List[0].File != "retrained-1/generated.jsonl" || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// What TOFU's published logs say of their answers comes back from the folder.
func TestROUGEOfPublishedLogsIsTheirs(t *testing.T) {
	datatest.Dir(t)
	if !logs.Published().Present() {
		t.Skip("no published logs in the data folder")
	}
	l, _, err := logs.LoadTOFU(t.Context(), "phi_retain90_wd0")
	must(t, err)
	dir := filepath.Join(t.TempDir(), "tofu")
	_, err = WriteTOFU(dir, map[string]*logs.TOFU{"unlearned": l})
	must(t, err)
	e, err := Open(dir)
	must(t, err)
	for metric, of := range map[string][]float64{"ROUGE-L recall, forgotten": l.Forget.ROUGEL, "utility: retained, ROUGE-L": l.Retain.ROUGEL} {
		want, err := stats.Mean(of)
		must(t, err)
		if n := published(e, metric)["unlearned"]; n.Value == nil || math.Abs(*n.Value-want) > 1e-9 {
			t.Errorf("%s: %+v, the log has %v", metric, n, want)
		}
	}
}
