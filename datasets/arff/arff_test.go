package arff_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/arff"
)

const weather = `% a comment
@RELATION 'the weather'

@attribute outlook {sunny, 'very rainy', "it's ok"}
@attribute 'wind speed' REAL
@attribute note string
@attribute day date "yyyy-MM-dd"
@data
% another comment
sunny,1.5,'a, b',2020-01-01
'very rainy', ? , plain words ,"2020-01-02"
"it's ok",-3e2,'it\'s',?,{2.5}
`

func read(text string) (relation string, attributes []arff.Attribute, rows [][]string, err error) {
	d, err := arff.NewDecoder(strings.NewReader(text))
	if err != nil {
		return "", nil, nil, err
	}
	err = d.Each(context.Background(), func(record []string, _ int) error {
		rows = append(rows, slices.Clone(record))
		return nil
	})
	return d.Relation(), d.Attributes(), rows, err
}

func TestQuotesCommentsWeightsAndMissingValuesAreRead(t *testing.T) {
	relation, attributes, rows, err := read(weather)
	if err != nil {
		t.Fatal(err)
	}
	if relation != "the weather" {
		t.Errorf("relation %q", relation)
	}
	var kinds []arff.Kind
	var names []string
	for _, a := range attributes {
		kinds, names = append(kinds, a.Kind), append(names, a.Name)
	}
	if !slices.Equal(kinds, []arff.Kind{arff.Nominal, arff.Numeric, arff.String, arff.Date}) ||
		!slices.Equal(names, []string{"outlook", "wind speed", "note", "day"}) {
		t.Errorf("attributes %v %v", names, kinds)
	}
	if want := []string{"sunny", "very rainy", "it's ok"}; !slices.Equal(attributes[0].Values, want) {
		t.Errorf("declared values %q", attributes[0].Values)
	}
	want := [][]string{
		{"sunny", "1.5", "a, b", "2020-01-01"},
		{"very rainy", "?", "plain words", "2020-01-02"},
		{"it's ok", "-3e2", "it's", "?"},
	}
	if fmt.Sprint(rows) != fmt.Sprint(want) {
		t.Errorf("rows %q", rows)
	}
}

func TestWindowsLineEndsAreRead(t *testing.T) {
	_, _, rows, err := read(strings.ReplaceAll(weather, "\n", "\r\n"))
	if err != nil || len(rows) != 3 || rows[0][3] != "2020-01-01" {
		t.Errorf("%q, %v", rows, err)
	}
}

func TestAMarkBeforeTheFirstLineIsPassedOver(t *testing.T) {
	if relation, attributes, rows, err := read("\xef\xbb\xbf" + strings.TrimPrefix(weather, "% a comment\n")); err != nil || relation != "the weather" || len(attributes) != 4 || len(rows) != 3 {
		t.Errorf("%q, %v, %v, %v", relation, attributes, rows, err)
	}
	if _, _, _, err := read("\xff\xfe@\x00r\x00"); err == nil || !strings.Contains(err.Error(), "UTF-16") {
		t.Error(err)
	}
}

func TestBrokenFilesAreRefusedWithLineAndValue(t *testing.T) {
	const head = "@relation r\n@attribute a numeric\n@attribute c {x,y}\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":               {"", "before @data"},
		"no data":             {head, "line 3: the file ends before @data"},
		"no attributes":       {"@relation r\n@data\n", "line 2: @data before any @attribute"},
		"unknown word":        {"@relation r\n@atribute a numeric\n", `line 2: expected @relation, @attribute or @data, got "@atribute"`},
		"unknown type":        {"@attribute a relational\n@data", `"relational" is not supported`},
		"no type":             {"@attribute a\n@data", `type "" is not supported`},
		"doubled name":        {head + "@attribute a real\n@data", `line 4: attribute "a" is declared twice`},
		"doubled value":       {"@attribute a {x,x}\n@data", `"x" is declared twice`},
		"open braces":         {"@attribute a {x,y\n@data", "at the end of the list"},
		"open quote":          {"@attribute 'a numeric\n@data", "no closing quote"},
		"not a number":        {head + "@data\n1,x\n2a,y\n", `line 6: column 1 (a): "2a" is not a finite decimal number`},
		"nan":                 {head + "@data\nnan,x\n", `line 5: column 1 (a): "nan" is not a finite decimal number (a missing value is written ?)`},
		"infinity":            {head + "@data\n-Infinity,x\n", `"-Infinity" is not a finite`},
		"hexadecimal":         {head + "@data\n0x1p3,x\n", `"0x1p3" is not a finite decimal`},
		"underscores":         {head + "@data\n1_000,x\n", `"1_000" is not a finite decimal`},
		"control characters":  {"@attribute 'a\x1b[2J' real\n@data\n\x1b\n", `(a\x1b[2J): "\x1b" is not a finite`},
		"undeclared value":    {head + "@data\n1,z\n", `line 5: column 2 (c): "z" is not a declared value`},
		"too few values":      {head + "@data\n1\n", "line 5: 1 values for 2 attributes"},
		"too many values":     {head + "@data\n1,x,y\n", "3 values for 2 attributes"},
		"an empty value":      {head + "@data\n1,\n", "an empty value"},
		"sparse":              {head + "@data\n{0 1, 1 x}\n", "sparse rows are not supported"},
		"text after a quote":  {head + "@data\n1,'x'y\n", "expected a comma"},
		"a line without end":  {head + "@data\n" + strings.Repeat("1", arff.MaxLine+1), "token too long"},
		"text after the list": {"@attribute a {x,y} z\n@data", `unexpected "z"`},
	} {
		if _, _, _, err := read(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestEachStopsOnCancelAndOnItsCallersError(t *testing.T) {
	d, err := arff.NewDecoder(strings.NewReader(weather))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Each(ctx, func([]string, int) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	stop := errors.New("enough")
	if err := d.Each(t.Context(), func([]string, int) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("caller's error: %v", err)
	}
}

// write prints a file in a form that must read back to the same records.
func write(attributes []arff.Attribute, rows [][]string) string {
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + "'"
	}
	var b strings.Builder
	for _, a := range attributes {
		fmt.Fprintf(&b, "@attribute %s ", quote(a.Name))
		switch a.Kind {
		case arff.Numeric:
			b.WriteString("numeric\n")
		case arff.String:
			b.WriteString("string\n")
		case arff.Date:
			b.WriteString("date\n")
		case arff.Nominal:
			var values []string
			for _, v := range a.Values {
				values = append(values, quote(v))
			}
			fmt.Fprintf(&b, "{%s}\n", strings.Join(values, ","))
		}
	}
	b.WriteString("@data\n")
	for _, row := range rows {
		var values []string
		for _, v := range row {
			values = append(values, quote(v))
		}
		b.WriteString(strings.Join(values, ",") + "\n")
	}
	return b.String()
}

func FuzzDecoder(f *testing.F) {
	f.Add(weather)
	f.Add("@relation r\n@attribute a numeric\n@data\n1\n?\n")
	f.Add("@attribute a {x,'y z'}\n@data\nx,{1}\n'y z'")
	f.Add("@attribute 'q\\'s' string\n@data\n\"\\n\"\n{}")
	f.Add("@data")
	f.Fuzz(func(t *testing.T, text string) {
		_, attributes, rows, err := read(text)
		if err != nil {
			return
		}
		_, attributes2, rows2, err := read(write(attributes, rows))
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v\n%s", err, write(attributes, rows))
		}
		if fmt.Sprintf("%+v", attributes) != fmt.Sprintf("%+v", attributes2) || fmt.Sprintf("%q", rows) != fmt.Sprintf("%q", rows2) {
			t.Fatalf("read %+v %q, then %+v %q", attributes, rows, attributes2, rows2)
		}
	})
}

func TestADoubledNameIsFoundAmongAsManyAsAreAllowed(t *testing.T) {
	var head strings.Builder
	for k := range arff.MaxAttributes {
		fmt.Fprintf(&head, "@attribute %s%d real\n", strings.Repeat("a", 200), k)
	}
	if _, attributes, _, err := read(head.String() + "@data\n"); err != nil || len(attributes) != arff.MaxAttributes {
		t.Errorf("%d attributes, %v", len(attributes), err)
	}
	if _, _, _, err := read(strings.Replace(head.String(), "a16383 ", "a0 ", 1) + "@data\n"); err == nil || !strings.Contains(err.Error(), "line 16384: attribute") {
		t.Error(err)
	}
}
