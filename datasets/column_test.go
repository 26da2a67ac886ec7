package datasets

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestColumnsAreKeptAsTheyWereRead(t *testing.T) {
	table, err := read("b,1,n\n?,2,y\na,?,n\nB,5,y\nb,9,n\n", layout{comma: ','}, slices.Concat(categories("c"), numbers("v")), "n", "y")
	if err != nil {
		t.Fatal(err)
	}
	c, v, class := table.Columns[0], table.Columns[1], table.Columns[2]
	if c.Name != "c" || c.Kind != Category || !slices.Equal(c.Values, []string{"B", "a", "b"}) || !slices.Equal(c.Codes, []int32{2, -1, 1, 0, 2}) {
		t.Errorf("%+v", c)
	}
	if v.Kind != Number || !math.IsNaN(v.Numbers[2]) || table.X.Row(2)[1] != 3.5 || v.Numbers[4] != 9 {
		t.Errorf("%+v: a missing number stays missing", v)
	}
	if class.Name != "class" || !slices.Equal(class.Codes, []int32{0, 1, 0, 1, 0}) || !slices.Equal(class.Values, []string{"n", "y"}) {
		t.Errorf("%+v", class)
	}
	if rows, err := table.About.Rows("c=b"); err != nil || !slices.Equal(rows, []int{0, 4}) {
		t.Errorf("rows %v, %v", rows, err)
	}
	some := GatherColumns(table.Columns, []int{4, 1})
	if rows, err := (About{Columns: some}).Rows("class=y"); err != nil || !slices.Equal(rows, []int{1}) || !some[0].Missing(1) || some[1].Rows() != 2 {
		t.Errorf("of two rows: %v, %v, %+v", rows, err, some)
	}
}

func TestBuiltInTablesKeepTheirColumns(t *testing.T) {
	for _, name := range []string{"breast_cancer", "tabular_outliers", "moons_island"} {
		table, err := Load(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if len(table.Columns) != table.X.Cols+1 {
			t.Fatalf("%s: %d columns for %d features and the class", name, len(table.Columns), table.X.Cols)
		}
		x, features, err := Encode(table.Columns[:table.X.Cols])
		if err != nil || !slices.Equal(x.Data, table.X.Data) || len(features) != len(table.Features) || features[0].Name != table.Features[0].Name {
			t.Errorf("%s: its columns encode to something else: %v", name, err)
		}
		rows, err := table.About.Rows("class=" + table.Classes[1])
		if err != nil || len(rows) == 0 || slices.ContainsFunc(rows, func(r int) bool { return table.Y[r] != 1 }) {
			t.Errorf("%s: %d rows of class 1, %v", name, len(rows), err)
		}
	}
}

func TestColumnsThatDoNotFitAreNotEncoded(t *testing.T) {
	for want, columns := range map[string][]Column{
		"column 2 (b): 1 rows, the first column has 2": {{Name: "a", Numbers: []float64{1, 2}}, {Name: "b", Numbers: []float64{1}}},
		"column 1 (a): all 2 values are missing":       {{Name: "a", Numbers: []float64{math.NaN(), math.NaN()}}},
	} {
		if _, _, err := Encode(columns); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestDatesAreDays(t *testing.T) {
	for text, want := range map[string]float64{
		"1970-01-01": 0, "2021-04-03": 18720, "1969-12-31": -1, "2021-04-03T12:00:00": 18720.5, "2021-04-03 06:00": 18720.25,
		"2021-04-03T00:00:00+06:00": 18719.75, "2021-04-03 12:00:00.000000": 18720.5, "2021-04-03 00:00:00+00:00": 18720,
		"2021-04-03T18:00Z": 18720.75, "1960-03-01T18:00:00-0600": -3592, "0001-01-01": -719162, "2000-02-29": 11016,
	} {
		got, err := ParseDate(text)
		if err != nil || got != want {
			t.Errorf("%s is %v days, want %v; %v", text, got, want, err)
		}
		if again, err := ParseDate(FormatDays(got)); err != nil || again != got {
			t.Errorf("%s is printed as %s, %v", text, FormatDays(got), err)
		}
	}
	for _, text := range []string{"", "2021", "2021-4-3", "2021-02-29", "2021-13-01", "03/04/2021", "2021-04-03T", "2021-04-03T25:00", "2021-04-03T1:00",
		"2021-04-03X12:00", "2021-04-03 noon", "+021-04-03", "2021-04-03T12:00:00 GMT", "20210403"} {
		if got, err := ParseDate(text); err == nil {
			t.Errorf("%q is read as %v days", text, got)
		}
	}
}

// A time with an offset in a condition would be compared with times whose offset was left out.
func TestAConditionHasNoOffset(t *testing.T) {
	for text, refused := range map[string]bool{"2020-03-10": false, "2020-03-10T12:00:00": false, "2020-03-10T12:00:00-05:00": true, "2020-03-10 12:00:00+02:00": true} {
		if _, _, err := parsePeriod(text); (err != nil) != refused {
			t.Errorf("%s: %v", text, err)
		}
	}
}
