package datasets

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
)

// read encodes a text in one go.
func read(text string, l layout, fs []field, classes ...string) (*Table, error) {
	e := newEncoder(fs, classes, targetCodes(classes...))
	err := eachRecord(context.Background(), "f.csv", []byte(text), l, func(record []string, line int) error {
		return e.add(record, "f.csv", line)
	})
	if err != nil {
		return nil, err
	}
	return e.table()
}

func TestCategoriesAreSortedAndMissingOnesAreMinusOne(t *testing.T) {
	table, err := read("b,1,n\n?,2,y\na,?,n\nB,5,y\nb,9,n\n", layout{comma: ','}, slices.Concat(categories("c"), numbers("v")), "n", "y")
	if err != nil {
		t.Fatal(err)
	}
	// Byte order: B < a < b. The median of 1, 2, 5, 9 is 3.5.
	want := []float64{2, 1, -1, 2, 1, 3.5, 0, 5, 2, 9}
	if !slices.Equal(table.X.Data, want) {
		t.Errorf("values %v, want %v", table.X.Data, want)
	}
	if f := table.Features[0]; !f.Categorical || !slices.Equal(f.Categories, []string{"B", "a", "b"}) {
		t.Errorf("feature %+v", f)
	}
	if f := table.Features[1]; f.Categorical || f.Categories != nil {
		t.Errorf("feature %+v", f)
	}
	if !slices.Equal(table.Y, []int{0, 1, 0, 1, 0}) {
		t.Errorf("labels %v", table.Y)
	}
}

func TestBadValuesAreNamedWithFileLineAndColumn(t *testing.T) {
	fs := numbers("height", "weight")
	for name, c := range map[string]struct{ text, want string }{
		"a word":           {"1,2,n\n\n1,two,n\n", `f.csv:3: column 2 (weight): "two" is not a finite decimal number`},
		"not a number":     {"1,NaN,n\n", `column 2 (weight): "NaN" is not a finite decimal number`},
		"infinite":         {"inf,1,n\n", `column 1 (height): "inf" is not a finite decimal number`},
		"too large":        {"1e999,1,n\n", `"1e999" is not a finite decimal number`},
		"an empty value":   {"1,,n\n", `f.csv:1: column 2 (weight): ""`},
		"an unknown class": {"1,2,n\n1,2,x\n", `f.csv:2: column 3 (target): unexpected value "x"`},
		"a short record":   {"1,2,n\n1,2\n", "wrong number of fields"},
		"too few columns":  {"1,n\n", "f.csv:1: 2 fields, expected 3"},
		"an open quote":    {"1,\"2,n\n", "f.csv: "},
		"a huge value":     {strings.Repeat("1", maxField+1) + ",2,n\n", "a value of 4097 bytes"},
		"all missing":      {"?,1,n\n?,2,y\n", "column 1 (height): all 2 values are missing"},
	} {
		if _, err := read(c.text, layout{comma: ','}, fs, "n", "y"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestBlankSeparatedFilesAreRead(t *testing.T) {
	table, err := read("1  2 n\n\n\t3 4 y \r\n5 6 n", layout{}, numbers("a", "b"), "n", "y")
	if err != nil || !slices.Equal(table.X.Data, []float64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("%v, %v", table, err)
	}
	if _, err := read("1 2 n\n1 x y\n", layout{}, numbers("a", "b"), "n", "y"); err == nil || !strings.Contains(err.Error(), "f.csv:2: column 2 (b)") {
		t.Error(err)
	}
}

func TestUnknownCodesAreRefusedBeforeTheyAreTranslated(t *testing.T) {
	record := []string{"A11", "?"}
	words := map[int]map[string]string{0: {"A11": "low"}, 1: {"x": "y"}}
	if err := translate(record, words, "g", 4); err != nil || !slices.Equal(record, []string{"low", "?"}) {
		t.Errorf("%v, %v", record, err)
	}
	if err := translate([]string{"A19", "x"}, words, "g", 4); err == nil || !strings.Contains(err.Error(), `g:4: column 1: unknown code "A19"`) {
		t.Error(err)
	}
}

func TestPrepareRefusesImpossibleSplits(t *testing.T) {
	table, err := read("1,2,n\n3,4,y\n5,6,n\n", layout{comma: ','}, numbers("a", "b"), "n", "y")
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]Split{
		"empty part 3 train and 0": {Train: []int{0, 1, 2}},
		"empty part 0 train and 1": {Test: []int{0}},
		"row 3 of 3":               {Train: []int{0, 3}, Test: []int{1}},
		"row -1 of 3":              {Train: []int{0}, Test: []int{-1}},
		"row 0 twice":              {Train: []int{0, 1}, Test: []int{0}},
	} {
		if _, err := Prepare(table, s); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(name, "empty part ")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Prepare(nil, Split{}); err == nil {
		t.Error("no table was prepared")
	}
	table.X.Data[3] = math.NaN()
	if _, err := Prepare(table, Split{Train: []int{0, 1}, Test: []int{2}}); err == nil || !strings.Contains(err.Error(), "row 1, column 1 is NaN") {
		t.Errorf("NaN: %v", err)
	}
}

func TestConstantColumnsAreOnlyCentred(t *testing.T) {
	// The train part of column b is 0.1 throughout; its mean is not exactly 0.1.
	table, err := read("1,0.1,n\n3,0.1,y\n5,0.1,n\n7,0.4,y\n", layout{comma: ','}, numbers("a", "b"), "n", "y")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Prepare(table, Split{Train: []int{2, 0, 1}, Test: []int{3}})
	if err != nil {
		t.Fatal(err)
	}
	// scikit-learn 1.9.1: StandardScaler().fit([[5, .1], [1, .1], [3, .1]]).transform([[7, .4]]) = [[2.44948974, 0.3]]
	if got := p.Test.X.Data; got[0] != 2.4494898 || got[1] != 0.3 {
		t.Errorf("test row %v", got)
	}
	for i := range 3 {
		if v := p.Train.X.Row(i)[1]; math.Abs(float64(v)) > 1e-16 {
			t.Errorf("train row %d: %v", i, v)
		}
	}
	if !slices.Equal(p.Train.Y, []int{0, 0, 1}) {
		t.Errorf("train labels %v", p.Train.Y)
	}
}

func FuzzRecords(f *testing.F) {
	f.Add("1,2,n\n3,4,y\n", ',')
	f.Add("\"1\";2;n\n3;\"4\";y\n", ';')
	f.Add("1 2 n\n\n3 ? y", rune(0))
	f.Add("a,\"b\n\"\"c\",n\n", ',')
	f.Add("|c\n1, 2, n.\n", ',')
	f.Fuzz(func(t *testing.T, text string, comma rune) {
		if comma != 0 && comma != ',' && comma != ';' {
			return
		}
		fs := slices.Concat(numbers("a"), categories("b"))
		table, err := read(text, layout{comma: comma, comment: '|'}, fs, "n", "y")
		if err != nil {
			return
		}
		if err := table.X.Check("table"); err != nil {
			t.Fatal(err)
		}
		top := float64(len(table.Features[1].Categories))
		for i := range table.X.Rows {
			if c := table.X.Row(i)[1]; c < -1 || c >= top || c != math.Trunc(c) {
				t.Fatalf("row %d has category code %v of %v", i, c, top)
			}
		}
	})
}
