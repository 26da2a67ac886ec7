package datasets

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// someColumns are five rows with a missing cell in every column.
func someColumns() []Column {
	nan := math.NaN()
	return []Column{
		{Name: "person_id", Numbers: []float64{17, 4, 17, nan, 9}},
		{Name: "length in cm", Numbers: []float64{1.5, -2, nan, 3, 10}},
		{Name: "hospital", Kind: Category, Codes: []int32{0, 2, -1, 1, 0}, Values: []string{"A", "B", "St. Mary, north"}},
		{Name: "visit", Kind: Date, Numbers: []float64{18262, 18262.5, 18351.99, 18352, nan}}, // 2020-01-01, its noon, 2020-03-30, 2020-03-31
		{Name: "income", Kind: Category, Codes: []int32{1, 0, 1, 0, -1}, Values: []string{"<=50K", ">50K"}},
	}
}

func TestAConditionMatchesRows(t *testing.T) {
	for text, want := range map[string][]int{
		"person_id=17":                           {0, 2},
		" person_id == 17.0 ":                    {0, 2},
		"person_id!=17":                          {1, 4},
		"person_id<9":                            {1},
		"person_id<=9":                           {1, 4},
		"person_id>9":                            {0, 2},
		"person_id >= 9":                         {0, 2, 4},
		"person_id=4..9":                         {1, 4},
		"person_id in 4, 9":                      {1, 4},
		"length in cm>1":                         {0, 3, 4},
		`"length in cm" in -2,3`:                 {1, 3},
		"length in cm=-2..1.5":                   {0, 1},
		"length in cm>1000":                      nil,
		"hospital=A":                             {0, 4},
		"hospital != A":                          {1, 3},
		`hospital in A,"St. Mary, north"`:        {0, 1, 4},
		"visit=2020-01-01":                       {0, 1},
		"visit=2020-01-01T12:00":                 {1},
		"visit>2020-01-01":                       {2, 3},
		"visit<=2020-01-01":                      {0, 1},
		"visit=2020-01":                          {0, 1},
		"visit=2020":                             {0, 1, 2, 3},
		"visit=2020-01-01..2020-03-30":           {0, 1, 2},
		"visit=2020-01-01 12:00:00..2020-03-31":  {1, 2, 3},
		"visit in 2020-03, 2020-01-01T12:00:00Z": {1, 2, 3},
		"visit!=2020-01":                         {2, 3},
		"income=>50K":                            {0, 2},
		"income!=<=50K":                          {0, 2},
		`income in "<=50K",">50K"`:               {0, 1, 2, 3},
	} {
		got, err := About{Columns: someColumns()}.Rows(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: rows %v, want %v; %v", text, got, want, err)
		}
		c, err := ParseCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseCondition(c.String()); err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%s is printed as %s, read as %+v, %v", text, c, again, err)
		}
	}
}

func TestAConditionThatCannotBeMetSaysWhatWouldBeRight(t *testing.T) {
	var syntax *ConditionError
	var column *UnknownColumnError
	var value *UnknownValueError
	var comparison *ComparisonError
	for text, want := range map[string]struct {
		as   any
		text string
	}{
		"":                         {&syntax, "there is no operator"},
		"person_id":                {&syntax, "conditions are column=value"},
		"=17":                      {&syntax, "the name of the column is missing"},
		"person_id=":               {&syntax, "a value is missing"},
		"person_id in 4,,9":        {&syntax, "a value is missing"},
		"person_id=1..":            {&syntax, "a value is missing"},
		"person_id=1..2..3":        {&syntax, "two ends"},
		`person_id="17`:            {&syntax, "a quote is not closed"},
		`hospital=O"Brien`:         {&syntax, `the whole is written in double quotes, and the quote twice: "O""Brien"; conditions are`},
		`hospital=6" pipe`:         {&syntax, `twice: "6"" pipe"`},
		`hospital in A,6" pipe`:    {&syntax, `twice: "6"" pipe"`},
		`hospital in 6",B`:         {&syntax, `twice: "O""Brien"`},
		"person_id=17,18":          {&comparison, `found "17,18"; several values are written person_id in 17,18; a number has a decimal point, 17.18, whatever`},
		"person_id=17, 18,19":      {&comparison, `found "17, 18,19"; several values are written person_id in 17, 18,19`},
		"person_id=78,060.45":      {&comparison, `several values are written person_id in 78,060.45; a number has no marks between thousands, 78060.45`},
		"person_id>1.5,2.5":        {&comparison, `found "1.5,2.5"`},
		"person_id>1200,5":         {&comparison, `found "1200,5"; a number has a decimal point, 1200.5, whatever the mark in the file`},
		"person_id=1,5..9":         {&comparison, `found "1,5"; a number has a decimal point, 1.5`},
		"visit=2020,2021":          {&comparison, `; several values are written visit in 2020,2021`},
		`person_id=1"7"`:           {&syntax, "a quote is not closed, or is inside a word"},
		"person=17":                {&column, `there is no column "person"; did you mean "person_id"?`},
		"quux=1":                   {&column, `there are "person_id", "length in cm", "hospital", "visit", "income"`},
		"person_id=18":             {&value, "no row has person_id = \"18\"; the column has values from 4 to 17"},
		"person_id in 17,18,19":    {&value, `"18"`},
		"hospital=C":               {&value, `"A"`},
		"hospital!=C":              {&value, `"C"`},
		"hospital=st mary":         {&value, `the column has "A", "B", "St. Mary, north"`},
		"hospital=A,B":             {&value, `? Several values are hospital in A,B`},
		"hospital=A and visit=1":   {&value, `. A condition names one column`},
		"visit=2021":               {&value, "values from 2020-01-01 to 2020-03-31"},
		"person_id=old":            {&comparison, `a number is expected, found "old"`},
		"person_id in 4-17":        {&comparison, `found "4-17"; a range is written person_id=4..17`},
		"person_id in 4..17":       {&comparison, `found "4..17"; a range is written person_id=4..17`},
		"visit=2020-01 to 2020-03": {&comparison, `; a range is written visit=2020-01..2020-03`},
		"person_id=0x11":           {&comparison, "a number is expected"},
		"person_id=1..nan":         {&comparison, "a number is expected"},
		"person_id=9..4":           {&comparison, "ends before it begins"},
		"visit=03/04/2020":         {&comparison, "not a date such as 2021-04-03"},
		"visit<2020-02-30":         {&comparison, "there is no such day"},
		"hospital<B":               {&comparison, "hospital is a column of kind category"},
		"hospital=A..B":            {&comparison, "compared by =, != and in"},
	} {
		_, err := About{Columns: someColumns()}.Rows(text)
		if !errors.As(err, want.as) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%q: %v, want a %T with %q", text, err, want.as, want.text)
		}
	}
	for text, hint := range map[string]string{"person_id>17,18": " in 17", "person_id=17,18,19": "decimal point", "visit=2020,2021": "decimal point", "person_id=1,old": ";",
		"person_id=1-old": ";", "visit=2020-02-30": "a range", "person_id=-x": ";"} {
		if _, err := (About{Columns: someColumns()}).Rows(text); err == nil || strings.Contains(err.Error(), hint) {
			t.Errorf("%q: %v, which has %q", text, err, hint)
		}
	}
	quoted := Column{Name: "name", Kind: Category, Codes: []int32{0, 1}, Values: []string{"Ann", `O"Brien`}}
	if rows, err := (About{Columns: []Column{quoted}}).Rows(`name="O""Brien"`); err != nil || !slices.Equal(rows, []int{1}) {
		t.Errorf("what the error on a quote advises: %v, %v", rows, err)
	}
	if _, err := (About{}).Rows("a=1"); !errors.As(err, &column) || !strings.Contains(err.Error(), "are not kept") {
		t.Errorf("no columns: %v", err)
	}
	for _, made := range []Condition{{}, {Column: "person_id", Op: Equal}, {Column: "person_id", Op: Between, Values: []string{"1"}}, {Column: "person_id", Op: In}} {
		if _, err := made.Rows(someColumns()); !errors.As(err, &syntax) {
			t.Errorf("%+v: %v", made, err)
		}
	}
}

func FuzzParseCondition(f *testing.F) {
	for _, text := range []string{"person_id=17", "a in b,c", `"a=b"!="c,""d"`, "x=1..2", "income=>50K", `a"=1`, "visit=2020-01..2020-02-03T04:05", " in ", "=="} {
		f.Add(text)
	}
	columns := someColumns()
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCondition(text)
		if err != nil {
			return
		}
		again, err := ParseCondition(c.String())
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%q is %+v, printed as %q, read as %+v, %v", text, c, c.String(), again, err)
		}
		for _, column := range columns { // every operator meets every kind of column
			c.Column = column.Name
			rows, err := c.Rows(columns)
			if err != nil && rows != nil {
				t.Fatalf("%v and %v", rows, err)
			}
			for _, row := range rows {
				if column.Missing(row) {
					t.Fatalf("%s matches a missing cell", c)
				}
			}
		}
	})
}
