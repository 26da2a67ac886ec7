package own_test

// Tables as pandas, R, Excel and a person write them.

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/own"
)

// testdata/make.py wrote the file with pandas.
func TestATableOfPandas(t *testing.T) {
	table := readTable(t, filepath.Join("testdata", "pandas.csv"), own.Target("income"))
	want := "index:number:identifier person_id:number:identifier age:number:feature weight:number:feature city:category:feature " +
		"smokes:category:feature visit:date:feature remark:text:identifier country:category:constant income:category:target"
	if got := columns(table); got != want {
		t.Errorf("columns\n%s\nwant\n%s", got, want)
	}
	for _, name := range []string{"age", "weight", "city"} {
		if c := found(t, table, name); c.Missing != 1 {
			t.Errorf("%s: %d missing cells", name, c.Missing)
		}
	}
	if c := found(t, table, "city"); !slices.Contains(c.Examples, `Biel, "Bienne"`) || !slices.Contains(c.Examples, "Genève") || c.Distinct != 3 {
		t.Errorf("city %+v", c)
	}
	if !strings.Contains(table.String(), `line one\nline two of 0`) || !strings.Contains(table.String(), `Number("person_id")`) {
		t.Errorf("the report:\n%s", table)
	}
	p, err := table.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if p.Train.X.Rows != 48 || p.Test.X.Rows != 12 || p.Train.X.Cols != 5 || !slices.Equal(p.About.Classes, []string{"<=50K", ">50K"}) {
		t.Errorf("%d and %d rows of %d, classes %q", p.Train.X.Rows, p.Test.X.Rows, p.Train.X.Cols, p.About.Classes)
	}
	for condition, want := range map[string][]int{
		"person_id=103": {4, 5}, "visit=2020-01-01..2020-01-03": {0, 1}, "index=59": {59}, "visit=2020-01-02T12:00": {1},
		"remark=line one\nline two of 7": {7}, "weight<0": nil,
	} {
		if got, err := p.About.Rows(condition); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: rows %v, want %v; %v", condition, got, want, err)
		}
	}
}

// r.csv is what write.csv prints: names and factors in quotes, NA without, row names first.
func rTable(comma bool) string {
	separator, mark := ",", "."
	if comma { // write.csv2
		separator, mark = ";", ","
	}
	cells := func(cells ...string) string { return strings.Join(cells, separator) }
	return rows(cells(`""`, `"Sepal.Length"`, `"zip"`, `"Species"`, `"born"`), 30, func(i int) string {
		length := fmt.Sprintf("%d%s%d", 4+i%3, mark, i%10)
		if i == 4 {
			length = "NA"
		}
		return cells(fmt.Sprintf(`"%d"`, i+1), length, fmt.Sprintf(`"0%d"`, 1000+i%4), fmt.Sprintf(`"%s"`, []string{"setosa", "virginica"}[i%2]),
			fmt.Sprintf("2021-03-%02d", 1+i%28))
	})
}

func TestTablesOfR(t *testing.T) {
	want := "index:number:identifier Sepal.Length:number:feature zip:category:feature Species:category:target born:date:feature"
	for name, comma := range map[string]bool{"write.csv": false, "write.csv2": true} {
		table := readTable(t, write(t, "r.csv", rTable(comma)), own.Target("Species"))
		if got := columns(table); got != want {
			t.Errorf("%s: columns\n%s\nwant\n%s", name, got, want)
		}
		if r := table.Report(); r.DecimalComma != comma || r.Rows != 30 || found(t, table, "Sepal.Length").Missing != 1 {
			t.Errorf("%s: %+v", name, r)
		}
		p, err := table.Prepare(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if v := p.About.Columns[1].Numbers; v[1] != 5.1 || v[9] != 4.9 {
			t.Errorf("%s: numbers %v", name, v)
		}
		if zip := p.About.Columns[2]; zip.Values[0] != "01000" {
			t.Errorf("%s: a leading zero is lost: %q", name, zip.Values)
		}
	}
	// write.table(x, sep = ",") writes row names and no name for them. A cell with a comma and no
	// quotes looks alike, so it is refused.
	_, err := own.ReadTable(write(t, "r.txt", strings.Replace(rTable(false), `"",`, "", 1)), own.Target("Species"))
	wants(t, "write.table", err, "r.txt:2: 5 cells, the header has 4", "col.names=NA")
}

// A German Excel writes a byte-order mark, semicolons, decimal commas, and lines that end as on
// Windows. Lines that were once in use stay as separators.
func TestATableOfExcel(t *testing.T) {
	text := "\ufeff" + strings.ReplaceAll(rows("Größe;Gewicht;Ort;Datum;Kaufpreis;", 40, func(i int) string {
		return fmt.Sprintf("1,%d;%d;%s;%02d.%02d.2021;%d;", 50+i, 50+i%7, []string{"Köln", `"Bonn; Süd"`}[i/2%2], 1+i%28, 1+i%12, 1000*(1+i%3))
	}), "\n", "\r\n") + ";;;;;\r\n;;;;;\r\n"
	path := write(t, "Käufer 2021.csv", text)
	table := readTable(t, path, own.Above("Kaufpreis", 1500))
	if got, want := columns(table), "Größe:number:feature Gewicht:number:feature Ort:category:feature Datum:text:identifier Kaufpreis:number:target"; got != want {
		t.Errorf("columns\n%s\nwant\n%s", got, want)
	}
	r := table.Report()
	if r.Rows != 40 || !r.DecimalComma || r.Separator != ';' || r.Classes[0] != (own.ClassCount{Name: "up to 1500", Records: 14}) || r.Classes[1].Name != "above 1500" {
		t.Errorf("%+v", r)
	}
	for _, note := range []string{"2 lines without any value", "1 column without a name", `Date("Datum", "02.01.2006")`} {
		if !strings.Contains(table.String(), note) {
			t.Errorf("the report lacks %q:\n%s", note, table)
		}
	}
	if table.Name() != "K_ufer_2021" {
		t.Errorf("the name is %q", table.Name())
	}
	dated := readTable(t, path, own.Above("Kaufpreis", 1500), own.Date("Datum", "02.01.2006"))
	p, err := dated.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.About.Rows("Datum=2021-02-02"); err != nil || !slices.Equal(got, []int{1}) {
		t.Errorf("rows %v, %v", got, err)
	}
	if got, err := p.About.Rows(`Ort="Bonn; Süd"`); err != nil || len(got) != 20 || p.About.Columns[0].Numbers[5] != 1.55 {
		t.Errorf("rows %v, %v, %v", got, err, p.About.Columns[0].Numbers[:6])
	}
}

func TestATableOfAPerson(t *testing.T) {
	line := func(i int) string {
		return fmt.Sprintf(`%d , "a ""quoted"" word %d",  %s|x`, i*i, i%3, []string{"no", "yes"}[i%2])
	}
	for name, text := range map[string]string{
		"commas":     rows("n, w, y", 30, func(i int) string { return strings.ReplaceAll(line(i), "|x", "") }),
		"tabs":       strings.ReplaceAll(rows("n\tw\ty", 30, func(i int) string { return strings.ReplaceAll(strings.ReplaceAll(line(i), "|x", ""), ",", "\t") }), ` "a`, `"a`),
		"bars":       rows("n|w|y", 30, func(i int) string { return strings.ReplaceAll(strings.ReplaceAll(line(i), "|x", ""), ",", "|") }),
		"sep":        "sep=,\n" + rows("n, w, y", 30, func(i int) string { return strings.ReplaceAll(line(i), "|x", "") }),
		"blank line": strings.Replace(rows("n, w, y", 30, func(i int) string { return strings.ReplaceAll(line(i), "|x", "") }), "\n", "\n\n", 3),
		"no end":     strings.TrimSuffix(rows("n, w, y", 30, func(i int) string { return strings.ReplaceAll(line(i), "|x", "") }), "\n"),
	} {
		table, err := own.ReadTable(write(t, "a.txt", text), own.Target("y"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, want := columns(table), "n:number:feature w:category:feature y:category:target"; got != want || table.Report().Rows != 30 {
			t.Errorf("%s: %d rows, columns\n%s\nwant\n%s", name, table.Report().Rows, got, want)
		}
		if c := found(t, table, "w"); c.Examples[0] != `a "quoted" word 0` {
			t.Errorf("%s: %q", name, c.Examples)
		}
	}
}

func TestACompressedTableIsTheSameData(t *testing.T) {
	text := rTable(false)
	plain := readTable(t, write(t, "r.csv", text), own.Target("Species"))
	path := filepath.Join(t.TempDir(), "other.csv.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if z.Close() != nil || f.Close() != nil {
		t.Fatal("not written")
	}
	packed := readTable(t, path, own.Target("Species"))
	a, err := plain.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := packed.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if a.Hash != b.Hash || !slices.Equal(a.Train.X.Data, b.Train.X.Data) || packed.Name() != "other" || b.About.Sources[0].Name != "other.csv.gz" {
		t.Errorf("hashes %s and %s, name %s, sources %v", a.Hash, b.Hash, packed.Name(), b.About.Sources)
	}
}

func TestAHundredColumns(t *testing.T) {
	header, cells := make([]string, 100), make([]string, 100)
	for j := range header {
		header[j] = fmt.Sprintf("c%d", j)
	}
	text := rows(strings.Join(header, ","), 200, func(i int) string {
		for j := range cells {
			cells[j] = fmt.Sprint((i * (j + 3)) % 103)
		}
		cells[50] = "same"
		return strings.Join(cells, ",")
	})
	table := readTable(t, write(t, "wide.csv", text), own.Above("c99", 50), own.Category("c1"), own.Ignore("c2"), own.Identifier("c3"))
	info, err := table.Info()
	if err != nil || info.Features != 96 || info.Rows != 200 {
		t.Errorf("%+v, %v", info, err)
	}
	if c := found(t, table, "c50"); c.Role != own.RoleConstant {
		t.Errorf("%+v", c)
	}
}
