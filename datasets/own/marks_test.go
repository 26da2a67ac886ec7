package own_test

// Numbers that can be read in two ways, texts among numbers, and the numbers of records.

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/datasets/own"
)

func yes(i int) string { return []string{"no", "yes"}[i%2] }

// salary is a number with a mark between thousands where it is above 999.
func salary(i int, mark string) string {
	if i%3 == 0 {
		return fmt.Sprint(300 + i)
	}
	return fmt.Sprintf("%d%s%03d", 1+i%40, mark, (7*i)%1000)
}

func TestMarksBetweenThousandsAreNoDecimalMarks(t *testing.T) {
	y := own.Target("y")
	german := rows("salary;height;y", 90, func(i int) string { return fmt.Sprintf("%s;%d,%d;%s", salary(i, "."), 150+i%40, 1+i%9, yes(i)) })
	semicolons := rows("salary;y", 90, func(i int) string { return salary(i, ",") + ";" + yes(i) })
	commas := rows("salary,y", 90, func(i int) string { return `"` + salary(i, ",") + `",` + yes(i) })
	above := rows("salary;height;y", 90, func(i int) string {
		return fmt.Sprintf("%d.%03d;%d,%d;%s", 1+i%40, (7*i)%1000, 150+i%40, 1+i%9, yes(i))
	})
	for name, c := range map[string]struct {
		text    string
		options []own.TableOption
		want    string
	}{
		"German":                 {german, []own.TableOption{y}, `column 1 (salary): every number with the mark "." has three digits after it, such as 2.007 in line 3`},
		"another mark elsewhere": {above, []own.TableOption{y}, `elsewhere the decimal mark is ","`},
		"semicolons":             {semicolons, []own.TableOption{y}, `the others are below 1000, such as 300 in line 2`},
		"decimal commas":         {commas, []own.TableOption{y, own.DecimalComma()}, `say Thousands("salary") if it stands between thousands, Number("salary") if decimals`},
		"as they stand":          {commas, []own.TableOption{y}, `Thousands("salary") reads them as numbers if the comma stands between thousands, DecimalComma() with Number("salary")`},
		"the target":             {german, []own.TableOption{own.Above("salary", 900)}, `Thousands("salary")`},
	} {
		_, err := own.ReadTable(write(t, "t.csv", c.text), c.options...)
		wants(t, name, err, c.want)
	}
	for name, c := range map[string]struct {
		text    string
		options []own.TableOption
		second  float64
	}{
		"thousands":   {german, []own.TableOption{own.Thousands("salary")}, 2007},
		"decimals":    {german, []own.TableOption{own.Number("salary")}, 2.007},
		"commas":      {commas, []own.TableOption{own.Thousands("salary")}, 2007},
		"both":        {commas, []own.TableOption{own.DecimalComma(), own.Number("salary")}, 2.007},
		"all marks":   {strings.ReplaceAll(german, "2.007;", "1.002.007,5;"), []own.TableOption{own.Thousands("salary")}, 1002007.5},
		"apostrophes": {strings.ReplaceAll(german, ".", "'"), []own.TableOption{own.Thousands("salary")}, 2007},
	} {
		p, err := readTable(t, write(t, "t.csv", c.text), append(c.options, y)...).Prepare(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.About.Columns[0].Numbers[1]; got != c.second {
			t.Errorf("%s: %v, want %v", name, got, c.second)
		}
	}
	_, err := own.ReadTable(write(t, "t.csv", strings.Replace(german, "2.007;", "2,007.5;", 1)), y, own.Thousands("salary"))
	wants(t, "two marks", err, "different marks between thousands")
}

// What is said of a column follows what was done with it.
func TestMarksBetweenThousandsAreNotCalledDecimal(t *testing.T) {
	number := func(i int) string { return fmt.Sprintf("%d.%03d", 1+i%40, (7*i)%1000) }
	commas := rows("thou,y", 90, func(i int) string { return fmt.Sprintf(`"%s",%s`, strings.ReplaceAll(number(i), ".", ","), yes(i)) })
	for name, c := range map[string]struct {
		text  string
		comma bool // there are decimal commas
	}{
		"commas":                     {commas, false},
		"semicolons":                 {rows("thou;y", 90, func(i int) string { return number(i) + ";" + yes(i) }), false},
		"decimal commas beside":      {rows("a;thou;y", 90, func(i int) string { return fmt.Sprintf("%d,5;%s;%s", i%9, number(i), yes(i)) }), true},
		"decimals after the marks":   {rows("thou;y", 90, func(i int) string { return number(i) + ",5;" + yes(i) }), true},
		"semicolons and commas":      {rows("thou;y", 90, func(i int) string { return strings.ReplaceAll(number(i), ".", ",") + ";" + yes(i) }), false},
		"a decimal point after them": {rows("thou;y", 90, func(i int) string { return strings.ReplaceAll(number(i), ".", ",") + ".5;" + yes(i) }), false},
	} {
		table := readTable(t, write(t, "t.csv", c.text), own.Target("y"), own.Thousands("thou"))
		if strings.Contains(table.String(), "every number with the mark") {
			t.Errorf("%s: a note on the decimal mark\n%s", name, table)
		}
		if table.Report().DecimalComma != c.comma {
			t.Errorf("%s: decimal commas %v\n%s", name, !c.comma, table)
		}
	}
}

func TestDecimalsAreReadAsBefore(t *testing.T) {
	for name, cell := range map[string]func(i int) string{
		"three decimals":      func(i int) string { return fmt.Sprintf("%d.%03d", 1+i%40, 100+i) },
		"a zero before":       func(i int) string { return fmt.Sprintf("%d.%03d", i%40, 100+i) },
		"whole numbers above": func(i int) string { return []string{fmt.Sprintf("%d.125", 1+i), fmt.Sprint(12000 + i)}[i%2] },
	} {
		table := readTable(t, write(t, "t.csv", rows("x,y", 90, func(i int) string { return cell(i) + "," + yes(i) })), own.Target("y"))
		if c := found(t, table, "x"); c.Kind.String() != "number" || strings.Contains(table.String(), "Thousands") {
			t.Errorf("%s: %+v\n%s", name, c, table)
		}
	}
}

func TestTextsAmongNumbersAreMissingOrRefused(t *testing.T) {
	among := func(text string, every int) string {
		return rows("x,c,y", 90, func(i int) string {
			x := fmt.Sprint(100 + 7*i)
			if i%every == 1 {
				x = text
			}
			return fmt.Sprintf("%s,%s,%s", x, []string{"None", "mild", "n/a"}[i%3], yes(i))
		})
	}
	for _, text := range []string{"None", "n/a", "#NA", "-nan", "N/A", "null"} {
		table := readTable(t, write(t, "t.csv", among(text, 3)), own.Target("y"))
		if c := found(t, table, "x"); c.Kind.String() != "number" || c.Missing != 30 || slices.Contains(c.Examples, text) {
			t.Errorf("%s: %+v", text, c)
		}
		if c := found(t, table, "c"); c.Distinct != 3 || c.Missing != 0 || !strings.Contains(table.String(), `c: "None" (line 2) is read as a name; Missing("None")`) {
			t.Errorf("a category: %+v\n%s", c, table)
		}
	}
	for _, text := range []string{"-", "unknown", "<0.6"} {
		path := write(t, "t.csv", among(text, 2))
		_, err := own.ReadTable(path, own.Target("y"))
		wants(t, text, err, fmt.Sprintf("45 of 90 cells are numbers, line 3 has %q (45 cells): say Missing(%q)", text, text), `Category("x")`)
		if c := found(t, readTable(t, path, own.Target("y"), own.Missing(text)), "x"); c.Kind.String() != "number" || c.Missing != 45 {
			t.Errorf("%s: %+v", text, c)
		}
	}
	_, err := own.ReadTable(write(t, "t.csv", rows("x,y", 90, func(i int) string { return fmt.Sprintf("%d,%s", i%7, []string{"0", "1", "None"}[i%3]) })), own.Target("y"))
	wants(t, "a target", err, `the target y: line 4 has "None" among numbers: say Missing("None") with DropUnlabelled`)
	// Few numbers beside names can be a category: it is noted.
	table := readTable(t, write(t, "t.csv", rows("x,y", 90, func(i int) string { return []string{"0", "1", "2", "3+"}[i%4] + "," + yes(i/2) })), own.Target("y"))
	if !strings.Contains(table.String(), "are numbers, line 5 has") {
		t.Errorf("no note:\n%s", table)
	}
}

func TestIdentifiersKeepTheirDigits(t *testing.T) {
	floats := rows("person_id,x,y", 90, func(i int) string { return fmt.Sprintf("%d.0,%d,%s", i/3, i%7, yes(i)) })
	table := readTable(t, write(t, "t.csv", floats), own.Target("y"))
	if c := found(t, table, "person_id"); c.Role != own.RoleIdentifier || !strings.Contains(table.String(), `Number("person_id") makes it one`) {
		t.Errorf("%+v\n%s", c, table)
	}
	long := rows("person_id,x,y", 90, func(i int) string { return fmt.Sprintf("%d,%d,%s", 12345678901234561+i/3, i%7, yes(i)) })
	_, err := own.ReadTable(write(t, "t.csv", long), own.Target("y"), own.Number("person_id"))
	wants(t, "17 digits", err, `"12345678901234561" has more digits than a number holds; Identifier("person_id")`)
	if text := readTable(t, write(t, "t.csv", long), own.Target("y")).String(); strings.Contains(text, "Number(") {
		t.Errorf("Number is advised:\n%s", text)
	}
}

func TestRecordsKeepTheirNumbersInTheFile(t *testing.T) {
	text := rows("person_id,x,y", 90, func(i int) string {
		switch {
		case i == 20:
			return ",,"
		case i < 10:
			return fmt.Sprintf("%d,%d,", i, i%7)
		}
		return fmt.Sprintf("%d,%d,%s", i, i%7, yes(i))
	})
	p, err := readTable(t, write(t, "t.csv", text), own.Target("y"), own.DropUnlabelled()).Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := p.About.Numbering.IDs([]int{10, 21, 89})
	if err != nil || !slices.Equal(ids, []int{0, 10, 78}) || p.About.Columns[0].Numbers[10] != 21 {
		t.Errorf("%v, %v", ids, err)
	}
	for number, want := range map[int]string{3: "record 3 was left out", 20: "record 20 was left out", 90: "there is no record 90"} {
		_, err := p.About.Numbering.IDs([]int{number})
		wants(t, strconv.Itoa(number), err, want)
	}
	p, err = readTable(t, write(t, "t.csv", strings.Replace(good("c,n,y"), "\n", "\n\n", 5)), own.Target("y")).Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.About.Numbering.IDs([]int{3})
	wants(t, "blank lines", err, "without anything between its records, the first is line 2")
}

// What a note on dates advises is typed, and reads them.
func TestWhatANoteAdvisesWorks(t *testing.T) {
	options := regexp.MustCompile(`(Date|Missing)\("([^"]*)"(?:, "([^"]*)")?\)`)
	for _, layout := range []string{"02/01/2006", "2006/01/02", "02-Jan-2006", "02.01.2006 15:04", "02.01.2006", "02Jan2006", "1/2/2006 3:04 PM", "2-Jan-2006",
		"2-1-2006", "1-2-2006", "2/1/06", "1/2/06", "2.1.06", "2-Jan-06", "2Jan2006"} {
		for _, first := range []string{"", "unknown"} {
			path := write(t, "t.csv", rows("d,x,y", 90, func(i int) string {
				if i == 0 && first != "" {
					return first + ",1,no"
				}
				return fmt.Sprintf("%s,%d,%s", day(i).Format(layout), i%7, yes(i))
			}))
			note := readTable(t, path, own.Target("y")).String()
			advice := options.FindAllStringSubmatch(note, -1)
			if len(advice) == 0 || advice[0][1] != "Date" {
				t.Errorf("%s: no advice in\n%s", layout, note)
				continue
			}
			settings := []own.TableOption{own.Target("y")}
			for _, a := range advice {
				if a[1] == "Date" {
					settings = append(settings, own.Date(a[2], a[3]))
				} else {
					settings = append(settings, own.Missing(a[2]))
				}
			}
			if c := found(t, readTable(t, path, settings...), "d"); c.Kind.String() != "date" {
				t.Errorf("%s: %+v", layout, c)
			}
		}
	}
	for name, cell := range map[string]func(i int) string{
		"percent": func(i int) string { return fmt.Sprintf("%d%%", i) }, "kg": func(i int) string { return fmt.Sprintf("%d kg", i) },
		"minus": func(i int) string { return fmt.Sprintf("\u2212%d", i) }, "time": func(i int) string { return fmt.Sprintf("%02d:30", i%24) },
		"duration": func(i int) string { return fmt.Sprintf("%d days 01:00:00", i) },
		"month":    func(i int) string { return fmt.Sprintf("20%02d-06", 10+i%20) },
	} {
		text := rows("d,x,y", 90, func(i int) string {
			return []string{"unknown", cell(i)}[min(i, 1)] + fmt.Sprintf(",%d,%s", i%7, yes(i))
		})
		if note := readTable(t, write(t, "t.csv", text), own.Target("y")).String(); !strings.Contains(note, "read as a name") {
			t.Errorf("%s: no note in\n%s", name, note)
		}
	}
}

// A date without separators is a number, and noted where all values can be one.
func TestDatesWithoutSeparatorsAreNoted(t *testing.T) {
	const note = `d: every value has eight digits and can be a date, such as 20200331 (line 2); it is read as a number. Date("d", "20060102") reads it as a date.`
	for other, noted := range map[string]bool{"20991231": true, "": true, "20200230": false, "21010101": false, "18991231": false, "2020033": false, "202003310": false} {
		text := rows("d,x,y", 90, func(i int) string {
			return fmt.Sprintf("%s,%d,%s", []string{"20200331", "20210401", other}[i%3], i%7, yes(i))
		})
		path := write(t, "t.csv", text)
		table := readTable(t, path, own.Target("y"))
		if dated := found(t, readTable(t, path, own.Target("y"), own.Date("d", "20060102"), own.Missing(other)), "d"); noted && dated.Kind.String() != "date" {
			t.Errorf("%q: what the note advises reads a %s", other, dated.Kind)
		}
		if c := found(t, table, "d"); c.Kind.String() != "number" || strings.Contains(table.String(), note) != noted {
			t.Errorf("%q: %+v\n%s", other, c, table)
		}
	}
}

// None can be a class or a missing value: it is noted, as it is for a feature.
func TestAClassNoneIsNoted(t *testing.T) {
	classes := []string{"mild", "None", "severe", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11", "c12"}
	text := func(n int) string {
		return rows("x,c,y", 120, func(i int) string { return fmt.Sprintf("%d,%s,%s", i%7, []string{"a", "b"}[i%2], classes[(i+n/2)%n]) })
	}
	for _, n := range []int{3, 12} {
		table := readTable(t, write(t, "t.csv", text(n)), own.Target("y"))
		if want := `y: "None" (line `; !strings.Contains(table.String(), want) || !strings.Contains(table.String(), `is read as a class; Missing("None") with DropUnlabelled`) {
			t.Errorf("%d classes: no note\n%s", n, table)
		}
	}
	path := write(t, "t.csv", text(3))
	if table := readTable(t, path, own.Target("y"), own.Missing("None"), own.DropUnlabelled()); strings.Contains(table.String(), "as a class") || table.Report().Rows != 80 {
		t.Errorf("the advice is no use:\n%s", table)
	}
	if table := readTable(t, path, own.Target("y"), own.Category("y")); strings.Contains(table.String(), "as a class") {
		t.Errorf("a note on what was said:\n%s", table)
	}
	reports := strings.ReplaceAll(notes(",", 60), ",bone", ",None")
	if table := readTexts(t, write(t, "notes.csv", reports)); !strings.Contains(table.String(), `ward: "None" (line `) {
		t.Errorf("texts: no note\n%s", table)
	}
}

// As the guide says: a missing number is the median of all records, held-out ones included, and a missing
// category comes before the first name. The scale is that of the train part.
func TestWhatStandsForAMissingCell(t *testing.T) {
	text := rows("x,c,y", 60, func(i int) string {
		if i%10 == 3 {
			return ",," + yes(i/2)
		}
		return fmt.Sprintf("%d,%s,%s", i*i, []string{"b", "a", "C"}[i%3], yes(i/2))
	})
	p, err := readTable(t, write(t, "t.csv", text), own.Target("y")).Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var known []float64
	for _, v := range p.About.Columns[0].Numbers {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	slices.Sort(known)
	raw := [2][]float64{slices.Clone(p.About.Columns[0].Numbers), make([]float64, 60)}
	for i, code := range p.About.Columns[1].Codes {
		raw[1][i] = float64(code)
		if math.IsNaN(raw[0][i]) {
			raw[0][i] = (known[26] + known[27]) / 2
		}
	}
	for j, values := range raw {
		var sum, squares float64
		for _, id := range p.Train.IDs {
			sum, squares = sum+values[id], squares+values[id]*values[id]
		}
		n := float64(len(p.Train.IDs))
		mean := sum / n
		for i, id := range p.Test.IDs {
			if want := (values[id] - mean) / math.Sqrt(squares/n-mean*mean); math.Abs(float64(p.Test.X.Row(i)[j])-want) > 1e-5 {
				t.Errorf("column %d, record %d: %v, want %v", j, id, p.Test.X.Row(i)[j], want)
			}
		}
	}
	if codes := p.About.Columns[1].Codes; codes[3] != -1 || p.About.Columns[1].Values[0] != "C" {
		t.Errorf("a missing category is %d, the first name %s", codes[3], p.About.Columns[1].Values[0])
	}
}

func day(i int) time.Time { return time.Date(2021, 1, 1+3*i, 13, 30, 0, 0, time.UTC) }

func TestADayIsTheDayInTheFile(t *testing.T) {
	text := rows("visit,x,y", 90, func(i int) string { return fmt.Sprintf("2020-03-%02dT22:30:00-05:00,%d,%s", 1+i%30, i%7, yes(i)) })
	for name, option := range map[string]own.TableOption{"ISO": own.Target("y"), "a layout": own.Date("visit", "2006-01-02T15:04:05-07:00")} {
		table := readTable(t, write(t, "t.csv", text), own.Target("y"), option)
		p, err := table.Prepare(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.About.Rows("visit=2020-03-10"); err != nil || !slices.Equal(got, []int{9, 39, 69}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if !strings.Contains(table.String(), "without their offset (-05:00): a day is the day in the file") {
			t.Errorf("%s: no note in\n%s", name, table)
		}
	}
}

// A text that is missing elsewhere can be a value: NA is Namibia. One that is called missing and is in no cell is noted.
func TestWhatIsMissingIsTheUsersToSay(t *testing.T) {
	lines := []string{"country,n,y"}
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("%s,%s,%s", []string{"NA", "DE", "CH"}[i%3], []string{"1", "2", "-9"}[i%3], []string{"yes", "no"}[i%2]))
	}
	path := write(t, "t.csv", strings.Join(lines, "\n")+"\n")
	table := readTable(t, path, own.Target("y"), own.Missing("-9", "-9.0"), own.NotMissing("NA"))
	if c := found(t, table, "country"); c.Missing != 0 || c.Distinct != 3 {
		t.Errorf("countries: %+v", c)
	}
	if c := found(t, table, "n"); c.Missing != 20 {
		t.Errorf("numbers: %+v", c)
	}
	if notes := strings.Join(table.Report().Notes, "\n"); notes != `Missing("-9.0"): no cell is written so.` {
		t.Errorf("notes: %s", notes)
	}
	if c := found(t, readTable(t, path, own.Target("y")), "country"); c.Missing != 20 {
		t.Errorf("countries without the option: %+v", c)
	}
	for want, options := range map[string][]own.TableOption{
		`Missing("NA") and NotMissing("NA")`: {own.NotMissing("NA"), own.Missing("NA")},
		`an empty cell is always`:            {own.NotMissing("")},
	} {
		_, err := own.ReadTable(path, append(options, own.Target("y"))...)
		wants(t, want, err, want)
	}
}

// More whole numbers than the usual labels may be counts: it is said that they are classes.
func TestManyNumbersOfATargetAreNoted(t *testing.T) {
	for numbers, want := range map[int]string{10: "", 12: `y: its 12 numbers are 12 classes, without an order; Above("y", 5) makes two classes of them.`} {
		var lines []string
		for i := range 30 * numbers {
			lines = append(lines, fmt.Sprintf("%s,%d", []string{"a", "b", "c"}[i%3], i%numbers))
		}
		path := write(t, "t.csv", "k,y\n"+strings.Join(lines, "\n")+"\n")
		for k, options := range [][]own.TableOption{nil, {own.Category("y")}, {own.Above("y", 4)}} {
			table := readTable(t, path, append(options, own.Target("y"))...)
			if got := strings.Join(table.Report().Notes, "\n"); k == 0 && got != want || k > 0 && got != "" {
				t.Errorf("%d numbers: %q, want %q", numbers, got, want)
			}
		}
	}
}
