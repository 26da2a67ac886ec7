// What is said of forget sets, and how the records of a file are numbered.

package lab

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
)

// numbered are four records; three are in the train part, and the file has two more before them.
func numbered() *datasets.Prepared {
	return &datasets.Prepared{
		About: datasets.About{
			Classes:   []string{"common", "rare"},
			Columns:   []datasets.Column{{Name: "age", Numbers: []float64{20, 30, 40, 50}}},
			Numbering: &datasets.Numbering{Kept: []int{2, 3, 4, 5}, Total: 6},
		},
		Train: datasets.Part{X: array.Matrix[float32]{Rows: 3}, Y: []int{1, 0, 1}, IDs: []int{0, 1, 3}},
		Test:  datasets.Part{X: array.Matrix[float32]{Rows: 1}, Y: []int{1}, IDs: []int{2}},
	}
}

// Where IDs are numbers in the source already, a record that was left out is told from one that is not there.
func TestRecordsThatWereLeftOutAreSaidToBe(t *testing.T) {
	p := numbered()
	p.About.Numbering = &datasets.Numbering{Total: 6}
	for record, words := range map[int]string{4: "record 4 was left out", 6: "there is no record 6"} {
		if _, err := (Records{record}).IDs(p); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("record %d: %v", record, err)
		}
	}
}

func TestRecordsHaveTheirNumbersInTheFile(t *testing.T) {
	p := numbered()
	for _, f := range []NamedForgetSet{Records{3, 5}, Mask{5: true, 3: true}} {
		if ids, err := f.IDs(p); err != nil || !slices.Equal(ids, []int{1, 3}) {
			t.Errorf("%s: %v, %v", f.Name(), ids, err)
		}
	}
	for words, f := range map[string]ForgetSet{
		"record 1 was left out":              Records{1, 3},
		"record 3 is named twice":            Records{3, 3},
		"the mask has 4 entries":             Mask{true, false, false, false},
		"the first is record 4":              Records{3, 4},
		"no record has age<18":               Where{Column: "age", Op: datasets.Less, Values: []string{"18"}},
		"the record with age=40: none is in": Where{Column: "age", Op: datasets.Equal, Values: []string{"40"}},
	} {
		if _, err := f.Rows(p); err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "where-") {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

func TestAClassSaysWhereItsRecordsAre(t *testing.T) {
	p := numbered()
	for class, want := range map[string]string{"rare": "2 of the 3 records of class rare (the others are held out)", "common": "all 1 records of class common"} {
		rows, err := Class(class).Rows(p)
		if got := DescribeForgetSet(Class(class), p, len(rows)); err != nil || got != want {
			t.Errorf("%q, want %q; %v", got, want, err)
		}
	}
}

// Data with a test part of their own leave records of a condition there: the title says how many are forgotten, and how many are not.
func TestAConditionSaysWhichRecordsAreNotForgotten(t *testing.T) {
	p := numbered()
	for text, want := range map[string]string{
		"age>=30":      "2 of the 3 records with age>=30 (1 is in the test part)",
		"age in 20,40": "1 of the 2 records with age in 20,40 (1 is in the test part)",
		"age<40":       "the 2 records with age<40",
	} {
		f, err := WhereText(text)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := f.Rows(p)
		if got := DescribeForgetSet(f, p, len(rows)); err != nil || got != want {
			t.Errorf("%q, want %q; %v", got, want, err)
		}
	}
	p.Test.IDs = append(p.Test.IDs, 3)
	p.Train.IDs = p.Train.IDs[:2]
	f := Where{Column: "age", Op: datasets.AtLeast, Values: []string{"30"}}
	if got, want := DescribeForgetSet(f, p, 1), "1 of the 3 records with age>=30 (2 are in the test part)"; got != want || HeldOutNamed(f, p) != 2 {
		t.Errorf("%q, want %q", got, want)
	}
	if n := HeldOutNamed(Random{}, p); n != 0 {
		t.Errorf("a random share names %d held-out records", n)
	}
}

// A share that is raised to the smallest forget set says so; one that is not, is described as before.
func TestARaisedShareSaysSo(t *testing.T) {
	p := numbered()
	p.Train.X.Rows = 150
	for share, want := range map[float64]string{0.01: "10 random records (1 % of the 150 in the train part are 1, and at least 10 are drawn)", 0.1: ""} {
		f := Random{Fraction: share}
		rows, err := f.Rows(p)
		if got := DescribeForgetSet(f, p, len(rows)); err != nil || got != want {
			t.Errorf("%q, want %q; %v", got, want, err)
		}
	}
	p.Train.X.Rows = 9
	if _, err := (Random{Fraction: 0.5}).Rows(p); err == nil || !strings.Contains(err.Error(), "name the records to forget, or take more data") {
		t.Errorf("nine records: %v", err)
	}
}

// A share of a few groups is at least one of them, and says so.
func TestAShareOfFewGroupsSaysSo(t *testing.T) {
	p := numbered()
	column := p.About.Columns[0].Name
	all := len(rowGroups(p, p.About.Columns[0]))
	for share, want := range map[float64]string{
		0.5:  "a random 50 % of the groups by ",
		0.01: fmt.Sprintf("1 random group by %s (1 %% of the %d in the train part are %.3g)", column, all, 0.01*float64(all)),
	} {
		f := RandomGroups{Column: column, Fraction: share}
		rows, err := f.Rows(p)
		if got := DescribeForgetSet(f, p, len(rows)); err != nil || !strings.HasPrefix(got, fmt.Sprintf("the %d records of %s", len(rows), want)) {
			t.Errorf("%q, want %q; %v", got, want, err)
		}
	}
}

// The settings of a report say in words what is forgotten.
func TestASettingSaysWhatIsForgotten(t *testing.T) {
	for want, f := range map[string]ForgetSet{
		"a random 5 % of the records in the train part, at least 10, drawn anew for every seed": nil,
		"a random 2.5 % of the groups by person, at least 8, drawn anew for every seed":         RandomGroups{Column: "person", Fraction: 0.025, Least: 8},
		"the records with person_id in 7,9":                                                     Where{Column: "person_id", Op: datasets.In, Values: []string{"7", "9"}},
		"the records of class cats in the train part":                                           Class("cats"),
		"2 named records": Records{3, 5},
		"1 named record":  Mask{false, true},
		"island":          Planted("island"),
	} {
		if got := (Setting{Forget: f}).ForgetSetWords(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A mistyped name is compared with the names of all kinds of data.
func TestAMistypedDataSetIsSuggested(t *testing.T) {
	for name, want := range map[string]string{"mnst": "mnist", "pbmc3": "pbmc3k", "mtsample": "mtsamples", "adlt": "adult"} {
		if _, err := DataSet(name); err == nil || !strings.Contains(err.Error(), "did you mean "+want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := DataSet("xyzzy"); err == nil || !strings.Contains(err.Error(), "adult") || !strings.Contains(err.Error(), "mnist") || !strings.Contains(err.Error(), "sotu") {
		t.Errorf("%v", err)
	}
}
