// Values behind committed tables, and their agreement with the tables.

package project

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lethe-ml/lethe/lib/command"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// The values behind a committed table are in NAME.runs.csv beside it. From them, and from a
// table's provenance, the template computes what would else be counted by hand:
//
//	{{count "blindu/table3" "MNIST, backdoor" "BlindU_w/o" "erased" "<" "0.05"}}   3 of 5
//	{{runs "blindu/table3" "MNIST, backdoor" "BlindU_w/o" "erased" "low.2"}}       0.01
//	{{seeds "ruler/table1"}} {{datasets "ruler/table1"}} {{groups "ruler/table1"}} ten ten three
//	{{scale "sde/table1"}}                                                         hour
//
// The column of count and runs is that of the file. The form of runs is n, low.N, high.N
// or all.N, with N digits. capital makes the first letter of a word large.

// committedRuns returns the values behind a committed table, a map per line.
func committedRuns(files fs.FS, table string) ([]map[string]string, error) {
	f, err := files.Open(table + ".runs.csv")
	if err != nil {
		return nil, fmt.Errorf("the values behind %s: %w", table, err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, fmt.Errorf("the values behind %s: no lines, %w", table, err)
	}
	var out []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		out = append(out, row)
	}
	return out, nil
}

// lineMatches reports whether a line is of the group and the row of its table: of a case, and of a
// variant or what else the row is about.
func lineMatches(line map[string]string, group, row string) bool {
	var parts []string
	for _, column := range []string{"arm", "attack", "upload", "lens"} {
		if text, ok := line[column]; ok {
			parts = append(parts, text)
		}
	}
	return line["case"] == group && strings.Join(parts, ", ") == row
}

// valuesOf returns the numbers of a column, one per run. A run without a number is an error.
func valuesOf(files fs.FS, table, group, row, column string) (out []float64, err error) {
	lines, err := committedRuns(files, table)
	if err != nil {
		return nil, err
	}
	for i, line := range lines {
		if !lineMatches(line, group, row) {
			continue
		}
		text, there := line[column]
		if !there {
			return nil, fmt.Errorf("%s: the values behind it have no column %q", table, column)
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%s, %s, %s: line %d has no %q", table, group, row, i+2, column)
		}
		out = append(out, v)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no run of %q in %q", table, row, group)
	}
	return out, nil
}

// count returns how many runs have a value on one side of a limit: "3 of 5".
func count(files fs.FS, table, group, row, column, operator, limit string) (string, error) {
	x, err := valuesOf(files, table, group, row, column)
	if err != nil {
		return "", err
	}
	bound, err := strconv.ParseFloat(limit, 64)
	holds := map[string]func(v float64) bool{
		"<": func(v float64) bool { return v < bound }, "<=": func(v float64) bool { return v <= bound },
		">": func(v float64) bool { return v > bound }, ">=": func(v float64) bool { return v >= bound },
		"=": func(v float64) bool { return v == bound },
	}[operator]
	if err != nil || holds == nil || math.IsNaN(bound) {
		return "", fmt.Errorf("%s: %q %q is no condition", table, operator, limit)
	}
	n := 0
	for _, v := range x {
		if holds(v) {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, len(x)), nil
}

// span returns the number of runs, or the least, the greatest or all of their values.
func span(files fs.FS, table, group, row, column, form string) (string, error) {
	x, err := valuesOf(files, table, group, row, column)
	if err != nil {
		return "", err
	}
	what, digits, _ := strings.Cut(form, ".")
	d, err := strconv.Atoi(digits)
	if form != "n" && (err != nil || d < 0 || d > 15) {
		return "", fmt.Errorf("%s: %q is none of n, low.N, high.N and all.N", table, form)
	}
	slices.Sort(x)
	switch what {
	case "n":
		return fmt.Sprint(len(x)), nil
	case "low":
		return report.FormatNumber(x[0], d), nil
	case "high":
		return report.FormatNumber(x[len(x)-1], d), nil
	case "all":
		var all []string
		for _, v := range x {
			all = append(all, report.FormatNumber(v, d))
		}
		return strings.Join(all, ", "), nil
	}
	return "", fmt.Errorf("%s: %q is none of n, low.N, high.N and all.N", table, form)
}

// provenanceCount returns a number of a table's provenance, or of its groups, in words.
func provenanceCount(files fs.FS, table, what string) (string, error) {
	t, err := paper.Committed(files, table)
	if err != nil {
		return "", err
	}
	groups := map[string]bool{}
	for _, r := range t.Rows {
		groups[r.Group] = true
	}
	n := map[string]int{"seeds": len(t.Provenance.Seeds), "datasets": len(t.Provenance.Data), "groups": len(groups)}[what]
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	if n < len(words) {
		return words[n], nil
	}
	return fmt.Sprint(n), nil
}

func scaleOf(files fs.FS, table string) (string, error) {
	t, err := paper.Committed(files, table)
	if err != nil {
		return "", err
	}
	return t.Provenance.Scale, nil
}

// capital makes the first letter of a value upper case, which may be after its mark.
func capital(v string) string {
	inner := strings.TrimPrefix(v, open)
	return v[:len(v)-len(inner)] + strings.ToUpper(inner[:1]) + inner[1:]
}

func markResult(v string, err error) (string, error) { return open + v + shut, err }

// committedFiles returns the committed tables and the values behind them.
func committedFiles() fs.FS { return os.DirFS("figures") }

// A table and the values behind it are of the same runs, and the table is what its recipe
// shows of them.
func TestCommittedTablesAreThoseOfTheirRuns(t *testing.T) {
	for _, problem := range tableProblems(committedFiles()) {
		t.Error(problem)
	}
}

// tableProblems returns the reasons why tables differ from the values beside them.
func tableProblems(files fs.FS) (out []error) {
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if table, is := strings.CutSuffix(name, ".runs.csv"); is {
			if err := checkTable(files, table); err != nil {
				out = append(out, fmt.Errorf("%s: %w", name, err))
			}
		}
		return nil
	})
	if err != nil {
		out = append(out, err)
	}
	return out
}

func checkTable(files fs.FS, table string) error {
	t, err := paper.Committed(files, table)
	if err != nil {
		return err
	}
	b, err := fs.ReadFile(files, table+".runs.csv")
	if err != nil {
		return err
	}
	hash, err := report.ReadRunsHash(bytes.NewReader(b))
	if err != nil {
		return err
	}
	if hash == "" || hash != t.Provenance.RunsHash {
		return fmt.Errorf("it is of the runs %q, the table of %q", hash, t.Provenance.RunsHash)
	}
	if err := sameWords(files, table); err != nil {
		return err
	}
	r, err := recipeOf(t.ID)
	if err != nil {
		return err
	}
	switch {
	case t.ID == "fishing/within":
		return meansOf(files, table, t)
	case r.FromRuns == nil: // its values are of several kinds, and the hash is all that is compared
		return nil
	}
	out, err := r.FromRuns(&paper.Env{}, t.Provenance.Scale, bytes.NewReader(b))
	if err != nil {
		return err
	}
	return sameCells(t, out.Table)
}

// sameWords compares the Markdown of a table with its JSON.
func sameWords(files fs.FS, table string) error {
	f, err := files.Open(table + ".json")
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := report.ReadJSON(f)
	if err != nil {
		return err
	}
	got, err := fs.ReadFile(files, table+".md")
	if err != nil {
		return err
	}
	var want bytes.Buffer
	if err := t.Markdown(&want); err != nil {
		return err
	}
	if !bytes.Equal(got, want.Bytes()) {
		return fmt.Errorf("%s.md is not %s.json", table, table)
	}
	return nil
}

func recipeOf(id string) (paper.Recipe, error) {
	for _, p := range command.Papers() {
		for _, r := range p.Recipes {
			if r.ID == id {
				return r, nil
			}
		}
	}
	return paper.Recipe{}, fmt.Errorf("no recipe is called %q", id)
}

// sameCells compares everything under a table's columns. Notes and provenance depend on data and
// engine too, which are not in the values.
func sameCells(committed, again *report.Table) error {
	if !reflect.DeepEqual(committed.Columns, again.Columns) {
		return fmt.Errorf("its values make the columns %v, the table has %v", again.Columns, committed.Columns)
	}
	if len(committed.Rows) != len(again.Rows) {
		return fmt.Errorf("its values make %d rows, the table has %d", len(again.Rows), len(committed.Rows))
	}
	for i, r := range committed.Rows {
		want, err := json.Marshal(rowJSON(again, i))
		if err != nil {
			return err
		}
		got, err := json.Marshal(rowJSON(committed, i))
		if err != nil {
			return err
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("row %d, %s, %s: the table has\n%s\nits values make\n%s", i, r.Group, names(r), got, want)
		}
	}
	return nil
}

// rowJSON returns a row as parsed JSON, so that rows are equal if they are written the same.
func rowJSON(t *report.Table, row int) any {
	part := *t
	part.Title, part.Caption, part.Rows, part.Notes, part.Provenance = "", "", t.Rows[row:row+1], nil, report.Provenance{}
	var b bytes.Buffer
	var out any
	if err := errors.Join(part.JSON(&b), json.Unmarshal(b.Bytes(), &out)); err != nil {
		return err.Error()
	}
	return out
}

// meansOf compares the means of a table whose rates are over all models: Fishing's within-cluster
// table, attack by attack. A mean over pairs is the mean over models.
func meansOf(files fs.FS, table string, t *report.Table) error {
	lines, err := committedRuns(files, table)
	if err != nil {
		return err
	}
	compared := 0
	for _, r := range t.Rows {
		for i, c := range r.Cells {
			kind, variant, _ := strings.Cut(t.Columns[i].Name, ", ")
			column := map[string]string{"within": "auc_within", "matched": "auc_matched"}[kind]
			if column == "" || c.Value == nil {
				continue
			}
			sum, n := 0.0, 0.0
			for _, line := range lines {
				if v, err := strconv.ParseFloat(line[column], 64); err == nil && lineMatches(line, r.Group, variant+", "+r.Cells[0].Text) {
					sum, n = sum+v, n+1
				}
			}
			if mean := sum / n; !(math.Abs(mean-*c.Value) < 1e-9) {
				return fmt.Errorf("%s, %s, %s: the table has %v, its values have the mean %v", r.Group, r.Cells[0].Text, t.Columns[i].Name, *c.Value, mean)
			}
			compared++
		}
	}
	if compared == 0 {
		return fmt.Errorf("nothing of the table is in the values beside it")
	}
	return nil
}

// someRuns returns made-up values behind BlindU's Table III, with the table that its recipe
// computes from them.
func someRuns(t *testing.T) fstest.MapFS {
	t.Helper()
	var runs strings.Builder
	runs.WriteString("case,arm,seed,erased,masked,retain,test,test_drawn,n_triggered,triggered,runs_hash\n")
	for i, variant := range []string{"original", "retrained", "BlindU_w/o"} {
		for seed := range 5 {
			fmt.Fprintf(&runs, "\"glyphs, backdoor\",%s,%d,%v,0,1,0.5,0.5,40,%v,abc\n", variant, seed, []float64{0, .25, .04, .5, .05}[seed]*float64(i), float64(seed)/100)
		}
	}
	r, err := recipeOf("blindu/table3")
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.FromRuns(&paper.Env{}, "quick", strings.NewReader(runs.String()))
	if err != nil {
		t.Fatal(err)
	}
	out.Table.Provenance.RunsHash = "abc"
	return withTable(t, out.Table, "blindu/x/table3", fstest.MapFS{"blindu/x/table3.runs.csv": {Data: []byte(runs.String())}})
}

// withTable adds a table as JSON and Markdown.
func withTable(t *testing.T, table *report.Table, name string, files fstest.MapFS) fstest.MapFS {
	t.Helper()
	var programs, people bytes.Buffer
	if err := errors.Join(table.JSON(&programs), table.Markdown(&people)); err != nil {
		t.Fatal(err)
	}
	files[name+".json"], files[name+".md"] = &fstest.MapFile{Data: programs.Bytes()}, &fstest.MapFile{Data: people.Bytes()}
	return files
}

func TestTablesThatAreNotThoseOfTheirRunsAreFound(t *testing.T) {
	if found := tableProblems(someRuns(t)); len(found) > 0 {
		t.Fatal(found)
	}
	const table, runs = "blindu/x/table3.json", "blindu/x/table3.runs.csv"
	for name, change := range map[string]func(fstest.MapFS){
		"of the runs": func(f fstest.MapFS) { f[runs].Data = bytes.ReplaceAll(f[runs].Data, []byte("abc"), []byte("abd")) },
		"other runs than those above": func(f fstest.MapFS) {
			f[runs].Data = bytes.Replace(f[runs].Data, []byte("abc"), []byte("abd"), 1)
		},
		"its values make\n": func(f fstest.MapFS) {
			f[runs].Data = bytes.Replace(f[runs].Data, []byte(",0.25,"), []byte(",0.2501,"), 1)
		},
		"rows": func(f fstest.MapFS) {
			f[runs].Data = append(bytes.SplitAfterN(f[runs].Data, []byte("\n"), 7)[0], bytes.SplitAfterN(f[runs].Data, []byte("\n"), 7)[1]...)
		},
		"table3":    func(f fstest.MapFS) { delete(f, table) },
		"table3.md": func(f fstest.MapFS) { f["blindu/x/table3.md"].Data[40]++ },
		"columns": func(f fstest.MapFS) {
			rewriteTable(t, f, func(table *report.Table) { table.Columns[2].Name = "hidden" })
		},
		"no recipe": func(f fstest.MapFS) {
			rewriteTable(t, f, func(table *report.Table) { table.ID = "blindu/table99" })
		},
		"scale": func(f fstest.MapFS) {
			rewriteTable(t, f, func(table *report.Table) { table.Provenance.Scale = "vast" })
		},
		"no column": func(f fstest.MapFS) {
			f[runs].Data = bytes.Replace(f[runs].Data, []byte("masked"), []byte("hidden"), 1)
		},
	} {
		files := someRuns(t)
		change(files)
		word := map[string]string{"no column": `"hidden" is none`}[name]
		if word == "" {
			word = name
		}
		if found := tableProblems(files); len(found) != 1 || !strings.Contains(found[0].Error(), word) {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// rewriteTable writes the table of some made-up runs anew.
func rewriteTable(t *testing.T, files fstest.MapFS, change func(*report.Table)) {
	t.Helper()
	table, err := report.ReadJSON(bytes.NewReader(files["blindu/x/table3.json"].Data))
	if err != nil {
		t.Fatal(err)
	}
	change(table)
	withTable(t, table, "blindu/x/table3", files)
}

// The within-cluster table is compared by its means.
func TestMeansAreComparedWhereATableHoldsMore(t *testing.T) {
	const table = "fishing/within"
	made := func(mean float64) fstest.MapFS {
		e := stats.Estimate{Value: mean, Low: 0, High: 1}
		tab := &report.Table{ID: table, Columns: report.Columns("attack", "within, original", "TPR at 1 %", "matched, retrained"),
			Provenance: report.Provenance{RunsHash: "h", Scale: "quick"},
			Rows:       []report.Row{{Group: "cells", Cells: []report.Cell{report.Str("lira"), report.Est(e, 3), report.Num(0.3, 3), report.Gap("not asked")}}}}
		runs := "case,arm,attack,auc_within,auc_matched,runs_hash\ncells,original,lira,0.5,,h\ncells,original,lira,1,,h\ncells,original,other,0,,h\n"
		return withTable(t, tab, table, fstest.MapFS{table + ".runs.csv": {Data: []byte(runs)}})
	}
	if found := tableProblems(made(0.75)); len(found) > 0 {
		t.Error(found)
	}
	if found := tableProblems(made(0.7501)); len(found) != 1 || !strings.Contains(found[0].Error(), "mean 0.75") {
		t.Error(found)
	}
}

func TestCountsAreThoseOfTheRuns(t *testing.T) {
	files := someRuns(t)
	const table, group, variant = "blindu/x/table3", "glyphs, backdoor", "retrained"
	for _, c := range [][3]string{{"<", "0.05", "2 of 5"}, {"<=", "0.05", "3 of 5"}, {">", "0.25", "1 of 5"}, {">=", "0.25", "2 of 5"}, {"=", "0", "1 of 5"}, {"<", "-1", "0 of 5"}} {
		if got, err := count(files, table, group, variant, "erased", c[0], c[1]); err != nil || got != c[2] {
			t.Errorf("%s %s: %q, %v, want %q", c[0], c[1], got, err, c[2])
		}
	}
	for form, want := range map[string]string{"n": "5", "low.2": "0.00", "high.1": "0.5", "all.2": "0.00, 0.04, 0.05, 0.25, 0.50"} {
		if got, err := span(files, table, group, variant, "erased", form); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", form, got, err, want)
		}
	}
	for word, call := range map[string]func() (string, error){
		"no condition": func() (string, error) { return count(files, table, group, variant, "erased", "!", "1") },
		"NaN":          func() (string, error) { return count(files, table, group, variant, "erased", "<", "NaN") },
		"erazed":       func() (string, error) { return count(files, table, group, variant, "erazed", "<", "1") },
		"no run of":    func() (string, error) { return count(files, table, group, "nobody", "erased", "<", "1") },
		"has no":       func() (string, error) { return count(files, table, group, variant, "runs_hash", "<", "1") },
		"not exist":    func() (string, error) { return count(files, "blindu/none", group, variant, "erased", "<", "1") },
		"none of n":    func() (string, error) { return span(files, table, group, variant, "erased", "mean.2") },
		"low.x":        func() (string, error) { return span(files, table, group, variant, "erased", "low.x") },
	} {
		if got, err := call(); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %q, %v", word, got, err)
		}
	}
	for what, want := range map[string]string{"seeds": "ten", "datasets": "ten", "groups": "three"} {
		if got, err := provenanceCount(committedFiles(), path.Join("ruler", "table1"), what); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", what, got, err, want)
		}
	}
	if got := capital(open + "ten" + shut); got != open+"Ten"+shut {
		t.Errorf("%q", got)
	}
}
