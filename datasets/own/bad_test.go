package own_test

// Tables that are refused, and what the errors say.

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/own"
)

// good is a table of 30 rows with a category, numbers and a target.
func good(header string) string {
	return rows(header, 30, func(i int) string {
		return fmt.Sprintf("%s,%d,%s", []string{"a", "b", "c"}[i%3], i%7, []string{"no", "yes"}[i%2])
	})
}

func TestATableThatIsNotUnderstoodIsRefused(t *testing.T) {
	y := own.Target("y")
	text := good("c,n,y")
	edit := func(old, by string) string { return strings.Replace(text, old, by, 1) }
	for name, c := range map[string]struct {
		text    string
		options []own.TableOption
		want    []string
	}{
		"empty":                {"", []own.TableOption{y}, []string{"t.csv: the file is empty"}},
		"blank":                {"\n \n", []own.TableOption{y}, []string{"the file is empty"}},
		"header only":          {"c,n,y\n", []own.TableOption{y}, []string{"t.csv:1: there is no record"}},
		"one column":           {"y\na\nb\n", []own.TableOption{y}, []string{"t.csv:1: the header has one column only"}},
		"no target named":      {text, nil, []string{"say Target(column), with one of c, n, y"}},
		"no such target":       {text, []own.TableOption{own.Target("income")}, []string{`there is no column "income"`, `"n"`}},
		"a similar target":     {good("c,n,income"), []own.TableOption{own.Target("incme")}, []string{`did you mean "income"?`}},
		"two targets":          {text, []own.TableOption{y, own.Target("n")}, []string{"one column is the target"}},
		"no such column":       {text, []own.TableOption{y, own.Number("agee")}, []string{`there is no column "agee"`}},
		"forced twice":         {text, []own.TableOption{y, own.Number("n"), own.Category("n")}, []string{`"n" is said to be number and category`}},
		"an ignored target":    {text, []own.TableOption{y, own.Ignore("y")}, []string{`the target "y" cannot be said to be ignored`}},
		"duplicate names":      {good("n,n,y"), []own.TableOption{y}, []string{`t.csv:1: columns 1 and 2 are both called "n"`}},
		"a name is missing":    {good("c,,y"), []own.TableOption{y}, []string{`t.csv:2: column 2: the column has the value "0" and no name`}},
		"no header":            {rows("1,2,3", 20, func(i int) string { return "4,5,6" }), []own.TableOption{y}, []string{"t.csv:1: the first line has numbers only", "Header("}},
		"a short row":          {edit("b,1,yes", "b,1"), []own.TableOption{y}, []string{"t.csv:3: 2 cells, the header has 3: are cells missing"}},
		"a long row":           {edit("b,1,yes", "b, c,1,yes"), []own.TableOption{y}, []string{"t.csv:3: 4 cells, the header has 3", "must stand in quotes"}},
		"a trailing separator": {edit("b,1,yes", "b,1,yes,"), []own.TableOption{y}, []string{"t.csv:3: 4 cells", "ends with a separator"}},
		"an open quote":        {edit("b,1,yes", `"b,1,yes`), []own.TableOption{y}, []string{"the quote that opens in line 3 is not closed"}},
		"a bare quote":         {edit("b,1,yes", `5" b,1,yes`), []own.TableOption{y}, []string{"t.csv:3:", `write "5"" pipe"`}},
		"text after a quote":   {edit("b,1,yes", `"b"x,1,yes`), []own.TableOption{y}, []string{"t.csv:3:", "goes on after its quote"}},
		"Latin-1":              {edit("b,1,yes", "M\xfcnchen,1,yes"), []own.TableOption{y}, []string{"t.csv:3: column 1 (c): the byte 0xfc is not UTF-8", "iconv"}},
		"a Latin-1 header":     {edit("c,n,y", "Gr\xf6\xdfe,n,y"), []own.TableOption{y}, []string{"t.csv:1: column 1: the byte 0xf6"}},
		"UTF-16":               {"\xff\xfec\x00,\x00", []own.TableOption{y}, []string{"UTF-16", "save it as UTF-8"}},
		"a zero byte":          {edit("b,1,yes", "b\x00,1,yes"), []own.TableOption{y}, []string{"t.csv:3: column 1 (c): a zero byte"}},
		"an old Mac":           {strings.ReplaceAll(text, "\n", "\r"), []own.TableOption{y}, []string{"carriage return only"}},
		"a workbook":           {"PK\x03\x04 and so on", []own.TableOption{y}, []string{"CSV UTF-8"}},
		"not gzip":             {"\x1f\x8bjunk", []own.TableOption{y}, []string{"t.csv: "}},
		"a forced number":      {edit("b,1,yes", "b,1kg,yes"), []own.TableOption{y, own.Number("n")}, []string{`t.csv:3: column 2 (n): "1kg" is not a finite number`, `Missing("1kg")`}},
		"a forced comma":       {edit("b,1,yes", `b,"1,5",yes`), []own.TableOption{y, own.Number("n")}, []string{`t.csv:3: column 2 (n): "1,5"`, "DecimalComma()"}},
		"a forced date":        {edit("b,1,yes", `b,31/02/2021,yes`), []own.TableOption{y, own.Date("n", "02/01/2006")}, []string{`t.csv:2: column 2 (n): "0" is not a date in the layout`, "03/04/2021 for 3 April 2021"}},
		"a layout":             {text, []own.TableOption{y, own.Date("n", "DD/MM/YYYY")}, []string{`Date("n", "DD/MM/YYYY")`, "02/01/2006 reads day/month/year"}},
		"infinite":             {edit("b,1,yes", "b,-inf,yes"), []own.TableOption{y}, []string{`t.csv:3: column 2 (n): "-inf" in a column of numbers is not finite`}},
		"too large":            {edit("b,1,yes", "b,1e999,yes"), []own.TableOption{y}, []string{`t.csv:3: column 2 (n): "1e999"`}},
		"a word among numbers": {rows("c,n,y", 30, func(i int) string {
			n := fmt.Sprint(i * i)
			if i == 11 {
				n = "unknown"
			}
			return fmt.Sprintf("x%d,%s,%s", i%3, n, []string{"no", "yes"}[i%2])
		}), []own.TableOption{y}, []string{`column 2 (n): 29 of 30 cells are numbers, line 13 has "unknown"`, `Missing("unknown")`, `Category("n")`}},
		"both decimal marks": {"a;n;y\n" + strings.Repeat("1;1,5;b\n", 9) + strings.Repeat("2;2.5;c\n", 9), []own.TableOption{y},
			[]string{`column 2 (n): a decimal point in line 11 ("2.5") and a decimal comma in line 2 ("1,5")`}},
		"a missing target":  {edit("b,1,yes", "b,1,NA"), []own.TableOption{y}, []string{`t.csv:3: column 3 (y): "NA" is a missing value`, "DropUnlabelled"}},
		"no labels":         {"c,y\na,\nb,NA\n", []own.TableOption{y, own.DropUnlabelled()}, []string{"no row has a target"}},
		"one class":         {strings.ReplaceAll(text, "yes", "no"), []own.TableOption{y}, []string{`the target y: all 30 rows are of the class "no"`}},
		"a rare class":      {edit("b,1,yes", "b,1,maybe"), []own.TableOption{y}, []string{`every class needs two rows or more`, `"maybe" (1)`}},
		"distinct classes":  {rows("n,y", 30, func(i int) string { return fmt.Sprintf("%d,name %d", i%5, i) }), []own.TableOption{y}, []string{"all 30 values are different"}},
		"a measured target": {rows("n,y", 90, func(i int) string { return fmt.Sprintf("%d,%d", i%5, 100+i) }), []own.TableOption{y}, []string{`the target y: it holds 90 different numbers, 100 to 189, median 144`, `Above("y", 144)`, `Category("y")`}},
		"a count": {rows("n,y", 90, func(i int) string { return fmt.Sprintf("%d,%d", i%5, max(0, i-80)) }), []own.TableOption{y},
			[]string{`every number is read as a class: every class needs two rows or more`, `"1" (1)`, `; Above("y", 0) makes two classes of them`}},
		"fractions":         {rows("n,y", 30, func(i int) string { return fmt.Sprintf("%d,%.1f", i%5, float64(i%3)/2) }), []own.TableOption{y}, []string{`it holds 3 different numbers, 0 to 1`, "Above"}},
		"a target of dates": {rows("n,y", 30, func(i int) string { return fmt.Sprintf("%d,2021-01-%02d", i%5, 1+i%2) }), []own.TableOption{y}, []string{"it holds dates"}},
		"above all":         {good("c,n,y"), []own.TableOption{own.Above("n", 6)}, []string{`Above("n", 6) makes one class only: the values are 0 to 6, median 3`}},
		"above words":       {text, []own.TableOption{own.Above("y", 6)}, []string{`t.csv:2: column 3 (y): "no" is not a finite number`}},
		"above nothing":     {text, []own.TableOption{own.Above("n", nan())}, []string{"a finite number is needed"}},
		"no feature": {rows("id,name,c,y", 30, func(i int) string { return fmt.Sprintf("%d,n%d,x,%s", 7*i, i, []string{"no", "yes"}[i%2]) }), []own.TableOption{y},
			[]string{"no column is left to learn from: id (identifier), name (identifier), c (constant)"}},
		"one column beside": {"i,y\n" + strings.Repeat("1,a\n2,b\n", 9), []own.TableOption{y, own.Ignore("i")}, []string{"no column is left to learn from: i (ignored)"}},
		"too few rows":      {"n,y\n1,a\n2,b\n3,a\n4,b\n", []own.TableOption{y}, []string{"4 rows are too few for 2 classes"}},
		"two separators":    {"a,b;y\n1,2;u\n3,4;v\n", []own.TableOption{y}, []string{`t.csv:1: the cells can be separated by ',' or by ';'; say which with Separator`}},
	} {
		_, err := own.ReadTable(write(t, "t.csv", c.text), c.options...)
		wants(t, name, err, c.want...)
	}
}

// adult is a file without a header: its first line is a record.
func adult(header string) string {
	return rows(header, 60, func(i int) string {
		return fmt.Sprintf("%d,Private,%d,%s", 20+i%40, 1000+17*i, []string{"<=50K", ">50K"}[i%2])
	})
}

func TestAHeaderThatIsARecordIsNamed(t *testing.T) {
	const record = "the first line looks like a record: 2 of its 4 cells are numbers; Header(\"a\", \"b\", ...) gives names"
	path := write(t, "t.csv", adult("39,State-gov,77516,<=50K"))
	for name, options := range map[string][]own.TableOption{"a target": {own.Target("income")}, "a number": {own.Target("<=50K"), own.Number("age")}} {
		_, err := own.ReadTable(path, options...)
		wants(t, name, err, "there is no column", record)
	}
	_, err := own.ReadTexts(path, own.Column("text"), own.Target("<=50K"))
	wants(t, "texts", err, `there is no column "text"`, record)
	_, err = own.ReadTable(write(t, "t.csv", adult("39,State-gov,39,<=50K")), own.Target("income"))
	wants(t, "a value twice", err, `columns 1 and 3 are both called "39"`, record)

	const note = "The first line was taken for the names of the columns, though 2 of its 4 cells are numbers. If it is a record, Header("
	if table := readTable(t, path, own.Target("<=50K")); !strings.Contains(table.String(), note) {
		t.Errorf("no note in\n%s", table)
	}
	if table := readTable(t, path, own.Header("39", "kind", "77516", "income"), own.Target("income")); strings.Contains(table.String(), "The first line") {
		t.Errorf("a note on names that were given:\n%s", table)
	}
	for name, header := range map[string]string{"one number": "age,kind,2020,y", "as pandas names columns": "0,1,2,y", "after an index": ",0,1,y"} {
		path := write(t, "t.csv", adult(header))
		if table := readTable(t, path, own.Target("y")); strings.Contains(table.String(), "The first line") {
			t.Errorf("%s: a note in\n%s", name, table)
		}
		if _, err := own.ReadTable(path, own.Target("income")); err == nil || strings.Contains(err.Error(), "record") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

func TestAFileThatIsNoneIsRefused(t *testing.T) {
	dir := t.TempDir()
	_, err := own.ReadTable(dir, own.Target("y"))
	wants(t, "a folder", err, dir, "a folder")
	_, err = own.ReadTable(filepath.Join(dir, "absent.csv"), own.Target("y"))
	wants(t, "no file", err, "absent.csv")
}

// A quote that is not closed must not make one cell of gigabytes.
func TestARecordIsBounded(t *testing.T) {
	path := write(t, "t.csv", good("c,n,y")+`"`)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("a,1,no\n", 1000)
	for range 1200 {
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = own.ReadTable(path, own.Target("y"))
	wants(t, "8 MB in quotes", err, "t.csv:32: the record does not end within 4194304 bytes")
}

func TestOptionsChangeWhatIsRead(t *testing.T) {
	text := rows("id,zip,when,age,note,y", 40, func(i int) string {
		age := fmt.Sprint(20 + i%11)
		if i%10 == 3 {
			age = "unknown"
		}
		y := []string{"no", "yes"}[i%2]
		if i == 8 {
			y = ""
		}
		return fmt.Sprintf("%d,%d,%02d/04/2021,%s,note %d,%s", 1000+3*i, 100+i%4, 1+i%30, age, i%3, y)
	})
	path := write(t, "t.csv", text)
	table := readTable(t, path, own.Target("y"), own.DropUnlabelled(), own.Missing("unknown"), own.Category("zip"), own.Date("when", "02/01/2006"),
		own.Number("id"), own.Ignore("note"))
	if got, want := columns(table), "id:number:feature zip:category:feature when:date:feature age:number:feature note:number:ignored y:category:target"; got != want {
		t.Errorf("columns\n%s\nwant\n%s", got, want)
	}
	if c := found(t, table, "age"); c.Missing != 4 || c.Forced || table.Report().Rows != 39 || !strings.Contains(table.String(), "1 row without a target") {
		t.Errorf("%+v\n%s", c, table)
	}
	p, err := table.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.About.Columns) != 5 || p.Train.X.Rows+p.Test.X.Rows != 39 {
		t.Errorf("%d columns, %d rows", len(p.About.Columns), p.Train.X.Rows+p.Test.X.Rows)
	}
	if got, err := p.About.Rows("id=1027"); err != nil || len(got) != 1 || got[0] != 8 { // the row after the one that was left out
		t.Errorf("rows %v, %v", got, err)
	}
	identified := readTable(t, path, own.Target("y"), own.DropUnlabelled(), own.Identifier("age", "zip"))
	if c := found(t, identified, "age"); c.Role != own.RoleIdentifier || found(t, identified, "zip").Kind.String() != "number" {
		t.Errorf("%s", identified)
	}
}

func TestAFileWithoutNamesGetsThem(t *testing.T) {
	path := write(t, "t.csv", strings.TrimPrefix(good("c,n,y"), "c,n,y\n"))
	table := readTable(t, path, own.Header("letter", "number", "answer"), own.Target("answer"))
	if got, want := columns(table), "letter:category:feature number:number:feature answer:category:target"; got != want || table.Report().Rows != 30 {
		t.Errorf("%d rows, columns\n%s\nwant\n%s", table.Report().Rows, got, want)
	}
	_, err := own.ReadTable(path, own.Header("letter", "answer"), own.Target("answer"))
	wants(t, "too few names", err, "t.csv:1: 3 cells, the header has 2")
}

func TestCodesAndIdentifiersAreNoNumbers(t *testing.T) {
	text := rows("person_id,bank,big,count,price,visitID", 40, func(i int) string {
		return fmt.Sprintf("%d,%s,1234567890123456%d,%d,%d,%d", 1+i/2, []string{"007", "010", "100"}[i%3], i%10, 500+(7*i)%40, 17*i*i, 13*i)
	})
	table := readTable(t, write(t, "t.csv", text), own.Above("price", 7000))
	want := "person_id:number:identifier bank:category:feature big:category:feature count:number:identifier price:number:target visitID:number:identifier"
	if got := columns(table); got != want {
		t.Errorf("columns\n%s\nwant\n%s", got, want)
	}
	for _, note := range []string{`person_id: no feature, because it has the name of an identifier; Number("person_id") makes it one.`, "bank: cells such as 007 (line 2) are codes"} {
		if !strings.Contains(table.String(), note) {
			t.Errorf("the report lacks %q:\n%s", note, table)
		}
	}
	// Incomes are all different, and are measured.
	income := readTable(t, write(t, "t.csv", strings.Replace(text, "price", "income", 1)), own.Target("bank"))
	if c := found(t, income, "income"); c.Role != own.RoleFeature || c.Distinct != 40 {
		t.Errorf("%+v", c)
	}
}

func TestNumbersThatAreWrittenOtherwiseAreNoted(t *testing.T) {
	text := rows("a;b;c;y", 40, func(i int) string {
		return fmt.Sprintf("1.%03d,5;%d %%;%d-%d;%s", 100+i%9, i%7, i%3, i%4, []string{"no", "yes"}[i%2])
	})
	table := readTable(t, write(t, "t.csv", text), own.Target("y"))
	for _, note := range []string{`a: cells such as 1.100,5 (line 2) are no numbers with a decimal point: Thousands("a") reads them`, `b: "0 %" (line 2)`} {
		if !strings.Contains(table.String(), note) {
			t.Errorf("the report lacks %q:\n%s", note, table)
		}
	}
}

// Who somebody is, is no feature, and what says the class alone is noted.
func TestPersonsAreNoFeaturesAndCopiesOfTheTargetAreNoted(t *testing.T) {
	text := rows("patient,Customer_email,user,copy,above,noise,y", 100, func(i int) string {
		class := i % 2
		noise := i % 3
		return fmt.Sprintf("%d,a%d@x.org,%s,%s,%d,%d,%d", i/2, i/3, []string{"old", "new"}[i%3/2], []string{"no", "yes"}[class], 1000*class+i, noise, class)
	})
	table := readTable(t, write(t, "t.csv", text), own.Target("y"))
	want := "patient:number:identifier Customer_email:text:identifier user:category:feature copy:category:feature above:number:feature " +
		"noise:number:feature y:number:target"
	if got := columns(table); got != want {
		t.Errorf("columns\n%s\nwant\n%s", got, want)
	}
	for _, note := range []string{`patient: no feature, because it has the name of an identifier; Number("patient")`, `Category("Customer_email") makes it one`,
		`copy: it alone says the class`, `above: it alone says the class`} {
		if !strings.Contains(table.String(), note) {
			t.Errorf("the report lacks %q:\n%s", note, table)
		}
	}
	if n := strings.Count(table.String(), "it alone"); n != 2 {
		t.Errorf("%d columns say the class:\n%s", n, table)
	}
	// Numbers that are all different separate three classes by chance or order only.
	three := rows("x,c,y", 30, func(i int) string { return fmt.Sprintf("%d,%d,%d", 7*i*i, i%5, i/10) })
	if table := readTable(t, write(t, "t.csv", three), own.Target("y")); strings.Contains(table.String(), "it alone") {
		t.Errorf("of three classes:\n%s", table)
	}
}

// Categories and classes that differ in capitals alone are noted, once a column.
func TestNamesThatDifferInCapitalsAreNoted(t *testing.T) {
	text := rows("city,x,y", 60, func(i int) string {
		return fmt.Sprintf("%s,%d,%s", []string{"Köln", "köln", "KÖLN", "Bonn"}[i%4], i*i%17, []string{"yes", "Yes", "no"}[i%3])
	})
	table := readTable(t, write(t, "t.csv", text), own.Target("y"))
	for _, note := range []string{`city: "KÖLN" and "Köln" are two categories, which differ in capitals or spaces alone`, `y: "Yes" and "yes" are two categories`} {
		if !strings.Contains(table.String(), note) {
			t.Errorf("the report lacks %q:\n%s", note, table)
		}
	}
	if n := strings.Count(table.String(), "in capitals or spaces alone"); n != 2 {
		t.Errorf("%d notes on capitals:\n%s", n, table)
	}
}
