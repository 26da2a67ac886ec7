// Tests of try_texts.go.

package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/lab"

	"github.com/spf13/cobra"
)

// tryNotes is a table of reports of 30 patients with two reports each; those of patient 7 are long.
func tryNotes() string {
	b := "patient_id,note,ward\n"
	for i := range 60 {
		ward := []string{"heart", "bone"}[i/2%2]
		text := fmt.Sprintf("Pain in the %s,\nsays \"\"nurse %d\"\".", ward, i%7)
		if i/2 == 7 {
			text += strings.Repeat(" The "+ward+" was examined.", 8)
		}
		b += fmt.Sprintf("%d,\"%s\",%s\n", i/2, text, ward)
	}
	return b
}

// readNotes are the reports of tryNotes as the command reads them.
func readNotes(t *testing.T) lab.Data {
	t.Helper()
	var d ownData
	c := &cobra.Command{}
	d.flags(c)
	check(t, c.ParseFlags([]string{"--text", tryFile(t, "notes.csv", tryNotes()), "--column", "note", "--target", "ward", "--tokens", "8"}))
	data, err := d.read(nil)
	check(t, err)
	return data
}

// A patient's windows are forgotten, all of them and nobody else's; asked again, nothing is
// computed.
func TestTryForgetsAPatientsTexts(t *testing.T) {
	t.Setenv("LETHE_STORE", t.TempDir())
	out := filepath.Join(t.TempDir(), "report")
	args := []string{"try", "--text", tryFile(t, "notes.csv", tryNotes()), "--column", "note", "--target", "ward", "--group", "patient_id", "--tokens", "16",
		"--forget", "patient_id=7", "--seeds", "1", "--epochs", "1", "--methods", "fine-tuning,gradient-ascent", "--out", out}
	r := lethe(t, args...)
	if r.Code != 0 || !strings.Contains(r.Stderr, "2 of 60 documents are longer than 16 tokens and are cut into windows.") ||
		!strings.Contains(strings.Join(strings.Fields(r.Out), " "), "with patient_id=7 (windows of 2 texts) of notes") || !strings.Contains(r.Out, "fine-tuning") {
		t.Fatalf("%d\n%s%s", r.Code, r.Out, r.Stderr)
	}
	var found struct {
		Runs []struct {
			Forget, Retain int
			Models         []struct{ Model string }
		}
	}
	b, err := os.ReadFile(filepath.Join(out, "report.json"))
	check(t, err)
	check(t, json.Unmarshal(b, &found))
	// Each of the two long texts is four windows; the other 58 are one each.
	if n := found.Runs[0]; len(found.Runs) != 1 || n.Forget != 8 || n.Retain < 40 || n.Retain > 50 || len(n.Models) != 6 {
		t.Errorf("%+v", found)
	}
	// Nobody's text is in the report, which is passed on.
	page, err := os.ReadFile(filepath.Join(out, "report.html"))
	check(t, err)
	if strings.Contains(string(page), "Pain") || !strings.Contains(string(page), "cut into windows") {
		t.Error("the report shows texts, or does not say that some are cut")
	}
	if again := lethe(t, args...); again.Code != 0 || again.Out != r.Out {
		t.Errorf("the second time (%d)\n%s", again.Code, again.Out)
	}
}

// A share and numbers are those of texts, not of windows.
func TestTryForgetsWholeTexts(t *testing.T) {
	data := readNotes(t)
	p, err := data.Prepare(t.Context(), 0)
	check(t, err)
	windows := map[float64]int{}
	document := p.About.Columns[0]
	if document.Name != texts.ColumnDocument {
		t.Fatalf("the first column is %s", document.Name)
	}
	for _, number := range document.Numbers {
		windows[number]++
	}
	mask := make(lab.Mask, 60)
	mask[14], mask[3] = true, true
	for name, f := range map[string]lab.ForgetSet{
		"a share": lab.Random{Fraction: 0.2}, "the default": lab.Random{}, "numbers": lab.Records{14, 3}, "a mask": mask, "a class": lab.Class("bone"),
	} {
		f, err := forgetTexts(data, f)
		check(t, err)
		var rows []int
		if named, is := f.(lab.NamedForgetSet); is {
			rows, err = named.IDs(p)
		} else if rows, err = f.Rows(p); err == nil {
			for k, row := range rows {
				rows[k] = p.Train.IDs[row]
			}
		}
		check(t, err)
		forgotten := map[float64]int{}
		for _, id := range rows {
			forgotten[document.Numbers[id]]++
		}
		if name == "the default" && len(forgotten) != leastGroups {
			t.Errorf("%s: %d texts", name, len(forgotten))
		}
		for number, n := range forgotten {
			if n != windows[number] {
				t.Errorf("%s: %d of %d windows of text %v", name, n, windows[number], number)
			}
		}
		if (name == "numbers" || name == "a mask") && (len(forgotten) != 2 || forgotten[14] < 2 || forgotten[3] == 0) || len(forgotten) == 0 {
			t.Errorf("%s: the texts %v", name, forgotten)
		}
	}
}

// A mask of another version of the file would forget other people.
func TestTryRefusesAMaskOfOtherTexts(t *testing.T) {
	data := readNotes(t)
	short, long := make(lab.Mask, 40), make(lab.Mask, 90)
	short[3], long[3] = true, true
	for want, f := range map[string]lab.ForgetSet{
		"40 entries": short, "90 entries": long, "names no record": make(lab.Mask, 60), "3 is named twice": lab.Records{3, 3, 4},
	} {
		if _, err := forgetTexts(data, f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := forgetTexts(lab.Texts{Set: "people"}, lab.Mask{true, false}); err == nil || !strings.Contains(err.Error(), "a mask belongs to a file of texts") {
		t.Errorf("a mask of a known set: %v", err)
	}
}

func TestTryRefusesTextsThatItDoesNotUnderstand(t *testing.T) {
	stored := t.TempDir()
	t.Setenv("LETHE_STORE", stored)
	path := tryFile(t, "notes.csv", tryNotes())
	empty := tryFile(t, "empty.csv", strings.Replace(tryNotes(), "0,\"Pain in the heart,\nsays \"\"nurse 0\"\".\"", "0,", 1))
	latin := tryFile(t, "latin.csv", strings.Replace(tryNotes(), "Pain", "R\xe9sum\xe9", 1))
	with := func(more ...string) []string {
		return append([]string{"try", "--text", path, "--column", "note", "--target", "ward"}, more...)
	}
	for words, args := range map[string][]string{
		"--column COLUMN":                                                {"try", "--text", path, "--target", "ward"},
		"--target COLUMN":                                                {"try", "--text", path, "--column", "note"},
		`did you mean "note"?`:                                           {"try", "--text", path, "--column", "notes", "--target", "ward"},
		"name one source of data":                                        with("--data", "sotu"),
		"--column belongs to --text":                                     {"try", path, "--target", "ward", "--column", "note"},
		"--group belongs to a table, texts or cells":                     {"try", "--data", "sotu", "--group", "president"},
		"--copies-together belongs to a table":                           with("--copies-together"),
		"--tokens belongs to texts":                                      {"try", "--data", "glyphs", "--tokens", "8"},
		"--tokens 2: a window has 3 to 512 tokens":                       with("--tokens", "2"),
		"--max-documents 0: at least one":                                with("--max-documents", "0"),
		"--drop-empty, which leaves such rows out":                       {"try", "--text", empty, "--column", "note", "--target", "ward"},
		"latin.csv:2: column 2 (note): the byte 0xe9":                    {"try", "--text", latin, "--column", "note", "--target", "ward"},
		`no row has patient_id = "999"`:                                  with("--forget", "patient_id=999"),
		"tabular-mlp reads measurements, and the data are":               with("--model", "mlp"),
		"small-cnn takes images":                                         with("--model", "small-cnn"),
		"bert-classifier reads texts, numbers of tokens, and":            {"try", "--data", "breast_cancer", "--model", "bert-classifier"},
		"names every record that would be held out":                      with("--forget", "patient_id>=0"),
		"--size belongs to --images":                                     with("--size", "32"),
		`no row has document = "60"; the column has values from 0 to 59`: with("--forget-records", tryFile(t, "n.txt", "60\n")),
	} {
		r := lethe(t, args...)
		if r.Code == 0 || !strings.Contains(r.Stderr, words) {
			t.Errorf("%v: %s, want %q", args[1:], r.Stderr, words)
		}
	}
	if runs, err := filepath.Glob(filepath.Join(stored, "runs", "*")); err != nil || len(runs) > 0 {
		t.Errorf("%d runs were computed (%v)", len(runs), err)
	}
}
