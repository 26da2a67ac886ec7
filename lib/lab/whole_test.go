package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	userdata "github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model/text"
)

// Documents that a condition names are used and trained on, all of them, whether a sample has them or not: else a part of a
// person would be forgotten, without a word.
func TestASampleHasAllThatIsToBeForgotten(t *testing.T) {
	l := newLab(t)
	s := Setting{Data: Texts{Set: "generated_people", Preparation: texts.Preparation{
		Tokenizer: texts.BPE, Unit: texts.Windows, Tokens: 48, Vocabulary: 500, MaxDocuments: 60}}}
	plain, err := s.Data.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	used, all := documentsOf(t, plain, nil), plain.About.Whole[0].Numbers
	if len(used) != 60 || len(all) != 1200 {
		t.Fatalf("%d documents of %d", len(used), len(all))
	}
	var in, out string
	for _, n := range all {
		if used[n] {
			in = fmt.Sprint(n)
		} else {
			out = fmt.Sprint(n)
		}
	}
	for _, values := range []string{in, out, in + "," + out} {
		wanted := strings.Split(values, ",")
		s.Forget = Where{Column: texts.ColumnDocument, Op: datasets.In, Values: wanted}
		p, err := l.load(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		forget, _, err := s.Divide(p)
		if err != nil {
			t.Fatal(err)
		}
		forgotten := documentsOf(t, p, p.Train.Gather(forget).IDs)
		for _, w := range wanted {
			if n, err := strconv.ParseFloat(w, 64); err != nil || !forgotten[n] {
				t.Errorf("documents %s: %s is not among the forgotten %v", values, w, forgotten)
			}
		}
		if n := len(documentsOf(t, p, nil)); len(forgotten) != len(wanted) || n > 60 {
			t.Errorf("documents %s: %d forgotten, %d used", values, len(forgotten), n)
		}
	}
	s.Forget = Where{Column: texts.ColumnDocument, Op: datasets.Less, Values: []string{"1200"}}
	if _, err := l.load(t.Context(), s); err == nil || !strings.Contains(err.Error(), "the 1200 records with document<1200: ") ||
		!strings.Contains(err.Error(), "leave none for the test part") {
		t.Errorf("all documents: %v", err)
	}
	s.Data = Texts{Set: "generated_reports"}
	if p, err := s.Data.Prepare(t.Context(), 0); err != nil || p.About.Whole != nil {
		t.Errorf("all documents: %v, %d", err, len(p.About.Whole))
	}
}

// documentsOf returns the documents of the records of these IDs, nil: of all.
func documentsOf(t *testing.T, p *datasets.Prepared, ids []int) map[float64]bool {
	t.Helper()
	out, of := map[float64]bool{}, p.About.Columns[columnNamed(t, p.About.Columns, texts.ColumnDocument)].Numbers
	if ids == nil {
		ids = make([]int, len(of))
		for i := range ids {
			ids[i] = i
		}
	}
	for _, id := range ids {
		out[of[id]] = true
	}
	return out
}

func columnNamed(t *testing.T, columns []datasets.Column, name string) int {
	t.Helper()
	for k, c := range columns {
		if c.Name == name {
			return k
		}
	}
	t.Fatalf("there is no column %s", name)
	return 0
}

// Windows of one text are no independent records: they are one group, with those of its copies, and no half of the test
// part has some of them. Sentences, as in the paper's experiment, stay records.
func TestWindowsOfOneTextAreOneGroup(t *testing.T) {
	l := newLab(t)
	for _, unit := range []texts.Unit{texts.Windows, texts.Sentences} {
		s := Setting{Data: Texts{Set: "generated_reports", Preparation: texts.Preparation{Unit: unit, Tokens: 12, Vocabulary: 200, MaxDocuments: 60,
			GroupBy: texts.ByText}}, Forget: RandomGroups{Column: texts.ColumnDocument, Fraction: 0.1}, Model: text.Classifier{Layers: 1, Width: 8, Heads: 2}}
		c := openCase(t, l, s)
		groups, name := c.Groups()
		if unit == texts.Sentences {
			if groups != nil || c.TestGroups != nil {
				t.Errorf("sentences are in groups by %q", name)
			}
			continue
		}
		if name != "text" || len(groups) != c.Train.X.Rows+c.Test.X.Rows {
			t.Fatalf("%d groups by %q", len(groups), name)
		}
		same := c.About.Columns[columnNamed(t, c.About.Columns, texts.ColumnText)].Numbers
		of, windows := map[int]float64{}, map[int]int{}
		for i, id := range slices.Concat(c.Train.IDs, c.Test.IDs) {
			if known, is := of[groups[i]]; is && known != same[id] {
				t.Fatalf("group %d has the texts %v and %v", groups[i], known, same[id])
			}
			of[groups[i]] = same[id]
			windows[groups[i]]++
		}
		if len(of) == len(groups) || len(of) < 10 {
			t.Errorf("%d groups of %d windows", len(of), len(groups))
		}
		judged := map[int]bool{}
		for _, r := range c.EvalRows() {
			judged[groups[c.Train.X.Rows+r]] = true
		}
		for _, r := range c.heldOutRows() {
			if judged[groups[c.Train.X.Rows+r]] {
				t.Fatalf("methods may see row %d, a window of a text that judges them", r)
			}
		}
	}
}

// Texts of a file have other windows with another split, whose vocabulary is another one, and with documents that a
// condition adds to a sample.
func TestTextsOfAFileHaveOtherWindowsInAnotherRun(t *testing.T) {
	var file strings.Builder
	file.WriteString("patient,note,ward\n")
	rng := engine.Root(3).Stream(engine.StreamBench)
	for i := range 80 {
		fmt.Fprintf(&file, "%d,", i/2)
		for range 20 + rng.IntN(60) { // words that a vocabulary of 2,000 tokens has or has not
			fmt.Fprintf(&file, "%s ", strconv.FormatInt(100000+rng.Int64N(900000), 36))
		}
		fmt.Fprintf(&file, ",%c\n", 'a'+i%2)
	}
	path := filepath.Join(t.TempDir(), "notes.csv")
	if err := os.WriteFile(path, []byte(file.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	rows := map[int]bool{}
	for _, options := range [][]userdata.TableOption{nil, {userdata.MaxDocuments(40)}, {userdata.MaxDocuments(40), userdata.Group("patient")}} {
		data, err := userdata.ReadTexts(path, append(options, userdata.Column("note"), userdata.Target("ward"), userdata.Tokens(32))...)
		if err != nil {
			t.Fatal(err)
		}
		for run := range 3 {
			c, err := newLab(t).Reseed(run).Case(t.Context(), Setting{Data: data, Forget: Where{Column: "patient", Op: datasets.In, Values: []string{"7", "39"}},
				Model: text.Classifier{Layers: 1, Width: 8, Heads: 2}})
			if err != nil {
				t.Fatalf("run %d: %v", run, err)
			}
			if n := len(documentsOf(t, c.Prepared, c.Train.Gather(c.Forget).IDs)); n != 4 {
				t.Errorf("run %d: %d texts are forgotten", run, n)
			}
			rows[c.Train.X.Rows+c.Test.X.Rows] = true
		}
	}
	if len(rows) < 5 {
		t.Errorf("the runs have %v records: the test could not fail", rows)
	}
}
