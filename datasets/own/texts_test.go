package own_test

// Texts: windows of one text in one part, forget sets that are complete, files that are refused.

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/datasets/texts"
)

// notes is a table of n reports of patients with three reports each. Every fifth is long; quotes, a
// tab, a line break and a comma are inside.
func notes(separator string, n int) string {
	cell := func(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }
	head := strings.Join([]string{"patient_id", "visit", "note", "ward"}, separator)
	return rows(head, n, func(i int) string {
		ward := []string{"heart", "bone"}[i%2]
		text := fmt.Sprintf("Report %d: pain in the %s,\nthe patient said \"no\".\tSeen by nurse %d.", i, ward, i%7)
		if i%5 == 0 {
			text += strings.Repeat(" The "+ward+" was examined again.", 20)
		}
		return strings.Join([]string{fmt.Sprint(1 + i/3), fmt.Sprintf("2021-01-%02d", 1+i%28), cell(text), ward}, separator)
	})
}

func readTexts(t testing.TB, path string, options ...own.TableOption) *own.Texts {
	t.Helper()
	out, err := own.ReadTexts(path, append([]own.TableOption{own.Column("note"), own.Target("ward")}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func column(t testing.TB, p *datasets.Prepared, name string) datasets.Column {
	t.Helper()
	k := slices.IndexFunc(p.About.Columns, func(c datasets.Column) bool { return c.Name == name })
	if k < 0 {
		t.Fatalf("there is no column %s", name)
	}
	return p.About.Columns[k]
}

// parts says of every document in which parts its windows are.
func parts(t testing.TB, p *datasets.Prepared) map[float64][2]int {
	t.Helper()
	document, out := column(t, p, texts.ColumnDocument), map[float64][2]int{}
	for k, ids := range [][]int{p.Train.IDs, p.Test.IDs} {
		for _, id := range ids {
			n := out[document.Numbers[id]]
			n[k]++
			out[document.Numbers[id]] = n
		}
	}
	return out
}

func TestTheWindowsOfATextAreInOnePartAndForgottenTogether(t *testing.T) {
	x := readTexts(t, write(t, "notes.csv", notes(",", 60)), own.Tokens(16), own.Group("patient_id"))
	for shift := range 3 {
		p, err := x.Prepare(t.Context(), shift)
		if err != nil {
			t.Fatal(err)
		}
		patient, of := column(t, p, "patient_id"), parts(t, p)
		long, inPart := 0, map[float64]int{}
		for k, part := range []datasets.Part{p.Train, p.Test} {
			for i, id := range part.IDs {
				if ward := column(t, p, "ward"); ward.Values[ward.Codes[id]] != p.About.Classes[part.Y[i]] {
					t.Fatalf("window %d has another class than its text", id)
				}
				if before, known := inPart[patient.Numbers[id]]; known && before != k {
					t.Errorf("patient %v is in both parts", patient.Numbers[id])
				}
				inPart[patient.Numbers[id]] = k
			}
		}
		for number, n := range of {
			if n[0] > 0 && n[1] > 0 {
				t.Errorf("shift %d: text %v has %d windows in the train part and %d in the test part", shift, number, n[0], n[1])
			}
			if n[0]+n[1] > 1 {
				long++
			}
		}
		if len(of) != 60 || long < 12 || len(inPart) != 20 {
			t.Errorf("%d texts, %d of several windows, %d patients", len(of), long, len(inPart))
		}
		rows, err := p.About.Rows("patient_id=17")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[float64]int{}
		for _, id := range rows {
			seen[column(t, p, texts.ColumnDocument).Numbers[id]]++
		}
		for _, number := range []float64{48, 49, 50} { // those of patient 17
			if n := of[number]; seen[number] == 0 || seen[number] != n[0]+n[1] {
				t.Errorf("of text %v %d windows are forgotten, of %v", number, seen[number], n)
			}
		}
		if len(seen) != 3 {
			t.Errorf("the texts %v are forgotten, want the three of patient 17", seen)
		}
	}
}

// Whoever asks to be forgotten was trained on: one window of a text in the test part moves the
// whole group, and no number of a record changes.
func TestKeptTextsAreWholeInTheTrainPart(t *testing.T) {
	x := readTexts(t, write(t, "notes.csv", notes(",", 60)), own.Tokens(16), own.Group("patient_id"))
	p, err := x.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	id := p.Test.IDs[0]
	patient := column(t, p, "patient_id").Numbers[id]
	q, err := x.PrepareKeeping(t.Context(), 0, []int{id})
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range q.Test.IDs {
		if column(t, q, "patient_id").Numbers[other] == patient {
			t.Errorf("record %d of patient %v is held out", other, patient)
		}
		if !slices.Contains(p.Test.IDs, other) {
			t.Errorf("record %d moved to the test part", other)
		}
	}
	if q.Hash == p.Hash || len(q.Train.IDs) <= len(p.Train.IDs) || !slices.Equal(q.About.Vocabulary, p.About.Vocabulary) {
		t.Error("nothing moved, or the vocabulary is another")
	}
	for _, bad := range []int{-1, len(p.Train.IDs) + len(p.Test.IDs)} {
		if _, err := x.PrepareKeeping(t.Context(), 0, []int{bad}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("there is no record %d", bad)) {
			t.Errorf("record %d: %v", bad, err)
		}
	}
}

func TestTextsOfSeveralProgramsAreTheSame(t *testing.T) {
	plain := readTexts(t, write(t, "notes.csv", notes(",", 40)))
	want, err := plain.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a byte-order mark": "\ufeff" + notes(",", 40), "tabs": notes("\t", 40), "semicolons": notes(";", 40),
		"Windows": strings.ReplaceAll(notes(",", 40), "\n", "\r\n"),
	} {
		got, err := readTexts(t, write(t, "notes.csv", text)).Prepare(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Train.X.Data, want.Train.X.Data) || !slices.Equal(got.Test.Y, want.Test.Y) {
			t.Errorf("%s: other records", name)
		}
	}
	for _, want := range []string{"the texts are in note", "patient_id  number    identifier", "note        text      text", "ward        category  target",
		"The records are ", "56 windows of 64 tokens; those of one text are in the same part and are forgotten together.", "8 of 40 documents are longer than 64 tokens and are cut into windows."} {
		if !strings.Contains(plain.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, plain)
		}
	}
}

func TestTextsThatAreNotUnderstoodAreRefused(t *testing.T) {
	text := notes(",", 40)
	edit := func(old, by string) string { return strings.Replace(text, old, by, 1) }
	first := text[strings.Index(text, `"Report 1:`):strings.Index(text, ",bone")]
	both := []own.TableOption{own.Column("note"), own.Target("ward")}
	with := func(more ...own.TableOption) []own.TableOption { return append(slices.Clone(both), more...) }
	for name, c := range map[string]struct {
		text    string
		options []own.TableOption
		want    []string
	}{
		"empty":                {"", both, []string{"t.csv: the file is empty"}},
		"no column named":      {text, []own.TableOption{own.Target("ward")}, []string{"no column of texts is named: say Column(column)", "patient_id"}},
		"no target named":      {text, []own.TableOption{own.Column("note")}, []string{"no target is named"}},
		"no such column":       {text, []own.TableOption{own.Column("notes"), own.Target("ward")}, []string{`did you mean "note"?`}},
		"no such group":        {text, with(own.Group("patient")), []string{`there is no column "patient"`}},
		"two columns":          {text, with(own.Column("visit")), []string{`the column of the texts is "note" and "visit"`}},
		"two groups":           {text, with(own.Group("visit"), own.Group("patient_id")), []string{`the group is "visit" and "patient_id"`}},
		"text and target":      {text, []own.TableOption{own.Column("ward"), own.Target("ward")}, []string{`the column "ward" is named for the texts and as the target`}},
		"text and group":       {text, with(own.Group("note")), []string{`the column "note" is named for the texts and as the group`}},
		"target and group":     {text, with(own.Group("ward")), []string{`the column "ward" is named as the target and as the group`}},
		"a text of numbers":    {text, with(own.Number("note")), []string{`"note" cannot be that of the texts and number`}},
		"a window of 2":        {text, with(own.Tokens(2)), []string{"Tokens(2): a window has 3 to 512 tokens"}},
		"a window of 0":        {text, with(own.Tokens(0)), []string{"Tokens(0)"}},
		"a window of 513":      {text, with(own.Tokens(513)), []string{"Tokens(513)"}},
		"no text at all":       {text, with(own.MaxDocuments(0)), []string{"MaxDocuments(0)"}},
		"a missing text":       {edit(first, "NA"), both, []string{`t.csv:4: column 3 (note): "NA" is no text`, "DropEmpty()"}},
		"an empty text":        {edit(first, `" "`), both, []string{`t.csv:4: column 3 (note): "" is no text`}},
		"no word":              {edit(first, "\u200b"), both, []string{`line 4, column note: the text`, "has no word"}},
		"broken UTF-8":         {edit("Report 1:", "R\xe9sum\xe9:"), both, []string{"t.csv:4: column 3 (note): the byte 0xe9 is not UTF-8", "iconv"}},
		"a zero byte":          {edit("Report 1:", "\x00"), both, []string{"t.csv:4: column 3 (note): a zero byte"}},
		"one class":            {strings.ReplaceAll(text, ",bone", ",heart"), both, []string{`all 40 rows are of the class "heart"`}},
		"distinct classes":     {rows("note,ward", 30, func(i int) string { return fmt.Sprintf("a text,name %d", i) }), both, []string{"all 30 values are different"}},
		"an open quote":        {text + `9,2021-01-01,"open`, both, []string{"is not closed"}},
		"a reserved name":      {strings.Replace(text, "visit", "document", 1), both, []string{`a column is called "document"`, `Ignore("document")`}},
		"an ignored group":     {text, with(own.Group("visit"), own.Ignore("visit")), []string{`"visit" cannot be the group and ignored`}},
		"only empty texts":     {rows("note,ward", 4, func(i int) string { return fmt.Sprintf("NA,%d", i%2) }), with(own.DropEmpty()), []string{"no row has a target and a text"}},
		"nothing to hold out":  {rows("note,ward", 40, func(i int) string { return fmt.Sprintf("the same text,%c", 'a'+i%2) }), both, []string{"leave no train or no test part"}},
		"a workbook":           {"PK\x03\x04 and so on", both, []string{"CSV UTF-8"}},
		"another kind of data": {text, with(own.Above("visit", 3)), []string{"one column is the target"}},
	} {
		x, err := own.ReadTexts(write(t, "t.csv", c.text), c.options...)
		if x != nil {
			t.Errorf("%s: read", name)
		}
		wants(t, name, err, c.want...)
	}
	_, err := own.ReadTable(write(t, "t.csv", text), both...)
	wants(t, "a table", err, "are options of ReadTexts")
}

func TestRowsWithoutATextCanBeLeftOut(t *testing.T) {
	text := notes(",", 40) + "14,2021-01-01,,heart\n14,2021-01-01,n/a,bone\n14,2021-01-01,\u200b \u200b,bone\n"
	x := readTexts(t, write(t, "notes.csv", text), own.DropEmpty(), own.Missing("n/a"), own.MaxDocuments(30))
	if s := x.String(); !strings.Contains(s, "3 rows without a text: left out.") || !strings.Contains(s, "40 rows") || !strings.Contains(s, "At most 30 of the texts are used") {
		t.Error(s)
	}
	p, err := x.Prepare(t.Context(), 0)
	if err != nil || len(parts(t, p)) != 30 {
		t.Errorf("%d texts: %v", len(parts(t, p)), err)
	}
}

// Texts that are equal are in one part, and the report counts them.
func TestEqualTextsStayTogether(t *testing.T) {
	x := readTexts(t, write(t, "notes.csv", rows("note,ward", 60, func(i int) string { return fmt.Sprintf("text %d,%c", i/2, 'a'+i%2) })))
	if !strings.Contains(x.String(), "60 of 60 texts are in the file more than once") {
		t.Error(x)
	}
	p, err := x.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	copies := column(t, p, texts.ColumnText)
	for _, held := range p.Test.IDs {
		if slices.ContainsFunc(p.Train.IDs, func(id int) bool { return copies.Numbers[id] == copies.Numbers[held] }) {
			t.Errorf("record %d has a copy in the train part", held)
		}
	}
}

// A file of any bytes is read or refused; what is read can be prepared.
func FuzzReadTexts(f *testing.F) {
	for _, text := range []string{notes(",", 12), notes("\t", 6), "\ufeffnote;ward\r\n\"a\nb\";u\r\nc d;v\r\n", "note,ward\n\xff,a\n", "note,ward\n\u200b,a\nx,b\n", "ward,note\n,\n", "\x1f\x8b"} {
		f.Add(text)
	}
	path := f.TempDir() + "/t.csv"
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, more := range [][]own.TableOption{nil, {own.DropEmpty(), own.DropUnlabelled(), own.Tokens(5)}} {
			x, err := own.ReadTexts(path, append([]own.TableOption{own.Column("note"), own.Target("ward")}, more...)...)
			if err != nil {
				continue
			}
			p, err := x.Prepare(t.Context(), 0)
			if err != nil {
				t.Fatalf("%q is read and cannot be prepared: %v", text, err)
			}
			for number, n := range parts(t, p) {
				if n[0] > 0 && n[1] > 0 {
					t.Fatalf("%q: text %v is in both parts", text, number)
				}
			}
		}
	})
}

// Texts that differ in capitals and white space alone are the same to the network: they are counted as copies and stay together.
func TestTextsInCapitalsAreCopies(t *testing.T) {
	text := rows("note,ward", 60, func(i int) string {
		return fmt.Sprintf("%s,%c", []string{"Pain in the  knee %d", "PAIN in the KNEE %d "}[i%2], 'a'+i%2)
	})
	for i := range 30 {
		text = strings.Replace(strings.Replace(text, "%d", fmt.Sprint(i), 1), "%d", fmt.Sprint(i), 1)
	}
	x := readTexts(t, write(t, "notes.csv", text))
	if !strings.Contains(x.String(), "60 of 60 texts are in the file more than once") {
		t.Error(x)
	}
	p, err := x.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	where := parts(t, p)
	for i := 0; i < 60; i += 2 {
		if (where[float64(i)][0] > 0) != (where[float64(i+1)][0] > 0) {
			t.Errorf("texts %d and %d are in two parts", i, i+1)
		}
	}
}

// One person or class in two spellings is said; a person's name is not shown.
func TestSpellingsOfPersonsAndClassesAreNoted(t *testing.T) {
	text := rows("patient,note,ward", 60, func(i int) string {
		return fmt.Sprintf("%s,Report %d of a visit,%s", []string{"Jo Doe", "jo doe", "Al Ray", "P4", "P5"}[i%5], i, []string{"Heart", "bone", "heart"}[i%3])
	})
	x, err := own.ReadTexts(write(t, "notes.csv", text), own.Column("note"), own.Target("ward"), own.Group("patient"))
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(x.Report().Notes, "\n")
	if !strings.Contains(notes, `ward: "Heart" and "heart" are two categories`) || strings.Contains(strings.ToLower(notes), "jo doe") ||
		!strings.Contains(notes, "patient: the values of records 0 and 1, from 0, differ in capitals or spaces alone") {
		t.Error(notes)
	}
}
