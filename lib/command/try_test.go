// Tests of try.go.

package command

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/cli/clitest"

	"github.com/spf13/cobra"
)

// tryFile writes a file and returns its path.
func tryFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// tryTables are the same 120 persons as pandas, R, a German Excel, and two persons by hand
// write them.
func tryTables() map[string]string {
	table := func(head, sep, mark, end string, row func(i int) []string) string {
		b := head + end
		for i := range 120 {
			b += strings.ReplaceAll(strings.Join(row(i), sep), "#", mark) + end
		}
		return b
	}
	person := func(i int) (id int, weight, city, answer string) {
		return 100 + i/3, fmt.Sprintf("%d#%d", 50+(i*i)%40, i%10), []string{"Bern", "Biel", "Genève"}[i%3], []string{"no", "yes"}[(i*i)%40/20]
	}
	return map[string]string{
		"pandas.csv": table(",person_id,weight,city,answer", ",", ".", "\n", func(i int) []string {
			id, w, c, a := person(i)
			if i == 5 {
				w = ""
			}
			return []string{fmt.Sprint(i), fmt.Sprint(id), w, c, a}
		}),
		"r.csv": table(`"","person_id","weight","city","answer"`, ",", ".", "\n", func(i int) []string {
			id, w, c, a := person(i)
			if i == 5 {
				w = "NA"
			}
			return []string{fmt.Sprintf("%q", fmt.Sprint(i+1)), fmt.Sprint(id), w, `"` + c + `"`, `"` + a + `"`}
		}),
		"excel.csv": "\ufeff" + table("person_id;weight;city;answer", ";", ",", "\r\n", func(i int) []string {
			id, w, c, a := person(i)
			return []string{fmt.Sprint(id), w, c, a}
		}),
		"hand.tsv": table("person_id\tweight\tcity\tanswer\tvisit", "\t", ".", "\n", func(i int) []string {
			id, w, c, a := person(i)
			return []string{fmt.Sprint(id), w, c, a, fmt.Sprintf("2021-%02d-%02d", 1+i%12, 1+i%28)}
		}),
		"quoted.csv": table(`person_id,weight,"the ""city""",answer,constant`, ",", ".", "\n", func(i int) []string {
			id, w, c, a := person(i)
			return []string{fmt.Sprint(id), w, `"` + c + ", CH\"", a, "1"}
		}),
	}
}

// Tables of five programs are tried, the person's records are forgotten and nobody else's,
// and the report is written; asked again, nothing is computed.
func TestTryComparesMethodsOnTablesOfManyPrograms(t *testing.T) {
	t.Setenv("LETHE_STORE", t.TempDir())
	for name, text := range tryTables() {
		out := filepath.Join(t.TempDir(), "report")
		args := []string{"try", tryFile(t, name, text), "--target", "answer", "--forget", "person_id in 107,109", "--seeds", "2", "--epochs", "2",
			"--methods", "fine-tuning,gradient-ascent", "--out", out}
		r := lethe(t, args...)
		if r.Code != 0 || !strings.Contains(r.Out, "What is left of the 6 records with person_id in 107,109") || !strings.Contains(r.Stderr, "person_id") {
			t.Fatalf("%s: %d\n%s%s", name, r.Code, r.Out, r.Stderr)
		}
		var found struct {
			Answers []string
			Runs    []struct {
				Forget, Retain int
				Models         []struct{ Model string }
			}
		}
		b, err := os.ReadFile(filepath.Join(out, "report.json"))
		check(t, err)
		check(t, json.Unmarshal(b, &found))
		if len(found.Runs) != 2 || found.Runs[0].Forget != 6 || len(found.Runs[0].Models) != 6 || found.Runs[1].Retain < 80 {
			t.Errorf("%s: %+v", name, found)
		}
		for _, a := range found.Answers {
			if !strings.Contains(strings.Join(strings.Fields(r.Out), " "), strings.Join(strings.Fields(a), " ")) {
				t.Errorf("%s: the terminal does not say %q", name, a)
			}
		}
		if len(found.Answers) == 0 {
			t.Errorf("%s: no answer", name)
		}
		if again := lethe(t, args...); again.Code != 0 || again.Out != r.Out {
			t.Errorf("%s: the second time (%d)\n%s", name, again.Code, again.Out)
		}
	}
}

// A folder of images is tried, and one with a broken file is refused by its name.
func TestTryReadsAFolderOfImages(t *testing.T) {
	t.Setenv("LETHE_STORE", t.TempDir())
	dir := t.TempDir()
	for class, shade := range map[string]uint8{"dark": 40, "light": 200} {
		check(t, os.MkdirAll(filepath.Join(dir, class), 0o755))
		for i := range 30 {
			m := image.NewGray(image.Rect(0, 0, 8, 8))
			for k := range m.Pix {
				m.Pix[k] = color.Gray{Y: shade + uint8((i*k)%50)}.Y
			}
			f, err := os.Create(filepath.Join(dir, class, fmt.Sprintf("%d.png", i)))
			check(t, err)
			check(t, png.Encode(f, m))
			check(t, f.Close())
		}
	}
	args := []string{"try", "--images", dir, "--forget-share", "0.3", "--seeds", "1", "--epochs", "2", "--methods", "fine-tuning", "--out", filepath.Join(t.TempDir(), "r")}
	if r := lethe(t, args...); r.Code != 0 || !strings.Contains(r.Out, "fine-tuning") {
		t.Fatalf("%d\n%s%s", r.Code, r.Out, r.Stderr)
	}
	check(t, os.WriteFile(filepath.Join(dir, "dark", "3.png"), []byte("no image"), 0o644))
	if r := lethe(t, args...); r.Code == 0 || !strings.Contains(r.Stderr, "3.png") {
		t.Errorf("a broken file: %s", r.Stderr)
	}
}

// What cannot be tried is refused before anything is trained, with what would be right.
func TestTryRefusesWhatItDoesNotUnderstand(t *testing.T) {
	stored := t.TempDir()
	t.Setenv("LETHE_STORE", stored)
	path := tryFile(t, "pandas.csv", tryTables()["pandas.csv"])
	hand := tryFile(t, "hand.tsv", tryTables()["hand.tsv"])
	one := tryFile(t, "one.csv", strings.ReplaceAll(tryTables()["pandas.csv"], "yes", "no"))
	with := func(more ...string) []string { return append([]string{"try", path, "--target", "answer"}, more...) }
	for words, args := range map[string][]string{
		"name the data":                           {"try"},
		"--target COLUMN":                         {"try", path},
		`did you mean "answer"?`:                  {"try", path, "--target", "anwser"},
		"name one source of data":                 with("--data", "adult"),
		"--target belongs to a table":             {"try", "--data", "glyphs", "--target", "x"},
		"--above abc: that is not a number":       {"try", path, "--target", "answer", "--above", "abc"},
		"--seeds 2.5: that is not a whole number": {"try", path, "--target", "answer", "--seeds", "2.5"},
		"--missing belongs to a table":            {"try", "--data", "glyphs", "--missing", "x"},
		"--size belongs to --images":              with("--size", "32"),
		"--grey belongs to --npy":                 with("--grey"),
		"it is one character, or tab":             with("--separator", "::"),
		"--channels middle: there are":            {"try", "--npy", "X.npy", "y.npy", "--channels", "middle"},
		"--size 0: a side":                        {"try", "--images", "photos", "--size", "0"},
		"--drop-unlabelled leaves such":           {"try", path, "--target", "weight"},
		"the folder for the report":               with("--out", path),
		"--cells and --label belong":              {"try", "--cells", "x.h5ad"},
		"name the array of labels":                {"try", "--npy", "X.npy"},
		"name one forget set":                     with("--forget", "city=Bern", "--forget-class", "yes"),
		`there is no column "town"`:               with("--forget", "town=Bern"),
		`the column "city" is left out by --ignore city, and cannot be named; --identifier city keeps it`: with("--forget", "city=Bern", "--ignore", "city"),
		`no data set is called "mnst"; did you mean mnist?`:                                               {"try", "--data", "mnst"},
		`there are adult, diabetes130`:                                                                    {"try", "--data", "xyzzy"},
		`it holds dates; name a column of classes; --category visit makes every date a class`:             {"try", hand, "--target", "visit"},
		`no row has person_id = "999"`:                                                                    with("--forget", "person_id=999"),
		"--forget: the condition":                                                                         with("--forget", "person_id"),
		"names every record that would be held out":                                                       with("--forget", "person_id>=0"),
		"a share lies between":                                                                            with("--forget-share", "1.5"),
		`there is no class "maybe"`:                                                                       with("--forget-class", "maybe"),
		"--methods foo: there are":                                                                        with("--methods", "foo"),
		`"all" stands alone`:                                                                              with("--methods", "all,scrub"),
		"--model cnn: there are tabular-mlp":                                                              with("--model", "cnn"),
		"small-cnn takes images":                                                                          with("--model", "small-cnn"),
		"are positive numbers":                                                                            with("--seeds", "0"),
		"--epochs and --batch are positive numbers":                                                       with("--epochs", "0"),
		"--batch are positive numbers":                                                                    with("--batch", "0"),
		"--methods unroll: it needs weights from":                                                         with("--methods", " unroll"),
		"--methods retrain: it is a control":                                                              with("--methods", "retrain"),
		"--methods hbfu-ascent: it is for other":                                                          with("--methods", "hbfu-ascent"),
		"needs two classes or more":                                                                       {"try", one, "--target", "answer"},
		"every row needs a target":                                                                        {"try", path, "--target", "weight"},
		"is not the number of a record":                                                                   with("--forget-records", path),
	} {
		r := lethe(t, args...)
		if r.Code == 0 || !strings.Contains(r.Stderr, words) {
			t.Errorf("%v: %s, want %q", args[1:], r.Stderr, words)
		}
	}
	if runs, err := filepath.Glob(filepath.Join(stored, "runs", "*")); err != nil || len(runs) > 0 {
		t.Errorf("%d runs were computed (%v)", len(runs), err)
	}
}

// What a reader calls an option of a program is a flag here.
func TestTryNamesFlagsForOptions(t *testing.T) {
	for option, flag := range map[string]string{
		`NotMissing("NA") and Missing("-9")`:              `--not-missing NA and --missing -9`,
		`say Missing("oops") or Identifier("a b")`:        `say --missing oops or --identifier 'a b'`,
		`Number(column) or Category(column) makes`:        `--number COLUMN or --category COLUMN makes`,
		`Above("y", 493.03) makes two classes`:            `--above 493.03 makes two classes`,
		`Date("born", "02/01/2006") reads it`:             `--date born=02/01/2006 reads it`,
		`Category("it's") makes`:                          `--category 'it'\''s' makes`,
		`Size(16) cuts; DropUnlabelled; DecimalComma()`:   `--size 16 cuts; --drop-unlabelled; --decimal-comma`,
		`say ChannelsFirst() or ChannelsLast() or Grey()`: `say --channels first or --channels last or --grey`,
		`Header("a", "b", ...) gives names to a file`:     `--header a,b,... gives names to a file`,
		`a .npy file: ReadArrays reads it`:                `a .npy file: --npy reads it`,
		`the column "Number" of sizes`:                    `the column "Number" of sizes`,
	} {
		if got := asFlags(option); got != flag {
			t.Errorf("%s: %s, want %s", option, got, flag)
		}
	}
}

// A file without a header, with decimal commas and rows without a target, is read by flags.
func TestTryReadsWhatTheFlagsSay(t *testing.T) {
	text := ""
	for i := range 120 {
		answer := []string{"no", "yes", ""}[i%3]
		text += fmt.Sprintf("%d|%d,5|%s\n", i, i%7, answer)
	}
	var d ownData
	c := &cobra.Command{}
	d.flags(c)
	check(t, c.ParseFlags([]string{"--target", "answer", "--header", "nr,weight,answer", "--decimal-comma", "--drop-unlabelled", "--separator", "|"}))
	data, err := d.read([]string{tryFile(t, "x.csv", text)})
	check(t, err)
	if found := data.(*own.Table).Report(); found.Rows != 80 || found.Columns[1].Kind != datasets.Number {
		t.Errorf("%+v", found)
	}
}

// With --group the rows of a person are forgotten and held out together, and a share is one of people.
func TestTryKeepsGroupsTogether(t *testing.T) {
	t.Setenv("LETHE_STORE", t.TempDir())
	var b strings.Builder
	b.WriteString("person,height,weight,smokes\n")
	for i := range 300 {
		fmt.Fprintf(&b, "P%d,%d,%d,%s\n", i/5, 150+i*7%50, 50+i*11%60, []string{"yes", "no"}[i*i%7%2])
	}
	path := tryFile(t, "people.csv", b.String())
	args := func(more ...string) []string {
		return append([]string{"try", path, "--target", "smokes", "--group", "person", "--epochs", "2", "--methods", "fine-tuning", "--out", t.TempDir()}, more...)
	}
	one := lethe(t, args("--forget", "person=P7", "--seeds", "1")...)
	wantWords(t, one, "What is left of the 5 records with person=P7", "The split kept the records of one person together. Intervals of a seed count records all the same",
		"95 % interval over records", "are of 1 person only")
	const fewRecords = "no lens will have a verdict: 5 records to forget, and with fewer than 6"
	if !strings.Contains(one.Stderr, fewRecords) {
		t.Errorf("five records are not said to be too few: %s", one.Stderr)
	}
	share := lethe(t, args("--seeds", "1")...)
	if strings.Contains(share.Stderr, "no lens will have a verdict") {
		t.Errorf("40 records are said to be too few: %s", share.Stderr)
	}
	wantWords(t, share, "What is left of the 40 records of a random 5 % of the groups by person, at least 8", "95 % interval over persons")
	if strings.Contains(share.Out, "count records all the same") {
		t.Errorf("eight people are few:\n%s", share.Out)
	}
	three := lethe(t, args("--forget-share", "0.2", "--seeds", "3")...)
	wantWords(t, three, "records of a random 20 % of the groups by person", "minus retrained", "and the verdict of all seeds")
	// All who smoke are of one person, too many to be held out.
	b.Reset()
	b.WriteString("person,height,smokes\n")
	for i := range 200 {
		person, smokes := fmt.Sprintf("P%d", i/5), "no"
		if i%4 == 0 {
			person, smokes = "S", "yes"
		}
		fmt.Fprintf(&b, "%s,%d,%s\n", person, 150+i*7%50, smokes)
	}
	one = lethe(t, "try", tryFile(t, "smokers.csv", b.String()), "--target", "smokes", "--group", "person", "--forget", "person=P7", "--seeds", "1", "--epochs", "1",
		"--methods", "fine-tuning", "--out", t.TempDir())
	wantWords(t, one, `No record of the class "yes" is held out`)
	if strings.Contains(share.Out, "is held out:") {
		t.Errorf("both classes are held out:\n%s", share.Out)
	}
	copies := lethe(t, "try", path, "--target", "smokes", "--group", "person", "--copies-together", "--epochs", "1", "--seeds", "1", "--methods", "fine-tuning", "--out", t.TempDir())
	if copies.Code != 0 {
		t.Errorf("copies together (%d): %s", copies.Code, copies.Stderr)
	}
}

// wantWords checks that a command succeeded and printed these words, on whatever lines.
func wantWords(t *testing.T, r clitest.Result, words ...string) {
	t.Helper()
	said := strings.Join(strings.Fields(r.Out), " ")
	for _, w := range words {
		if r.Code != 0 || !strings.Contains(said, w) {
			t.Errorf("code %d, no %q in\n%s\n%s", r.Code, w, r.Out, r.Stderr)
		}
	}
}

// Another condition, network or number of epochs asks another question: its report does not replace the first, and the same question
// finds its own again. Another method extends a report.
func TestTryKeepsTheReportOfAnotherQuestion(t *testing.T) {
	t.Setenv("LETHE_STORE", t.TempDir())
	t.Chdir(t.TempDir())
	check(t, os.WriteFile("people.csv", []byte(tryTables()["hand.tsv"]), 0o644))
	try := func(forget string, more ...string) (folders []string) {
		r := lethe(t, append([]string{"try", "people.csv", "--target", "answer", "--forget", forget, "--seeds", "1", "--epochs", "1", "--methods", "fine-tuning"}, more...)...)
		if r.Code != 0 {
			t.Fatal(r.Stderr)
		}
		folders, err := filepath.Glob("people-report*")
		check(t, err)
		return folders
	}
	const first, second = "person_id in 107,109", "person_id in 101,109"
	for k, c := range []struct {
		forget string
		more   []string
		want   int
	}{
		{first, nil, 1}, {first, []string{"--methods", "ssd"}, 1}, {second, nil, 2}, {second, []string{"--seeds", "2"}, 2}, {first, nil, 2},
		{first, []string{"--epochs", "2"}, 3}, {first, []string{"--model", "residual-mlp"}, 4},
	} {
		if got := try(c.forget, c.more...); len(got) != c.want {
			t.Errorf("run %d: %v, want %d folders", k, got, c.want)
		}
	}
	b, err := os.ReadFile(filepath.Join("people-report", "report.md"))
	if err != nil || !strings.Contains(string(b), first) {
		t.Errorf("the first report is another one (%v)", err)
	}
}

// Files with names in any script have reports of their own, with their names in the title; the report of other data is not replaced.
func TestTryReplacesNoReportOfOtherData(t *testing.T) {
	t.Setenv("LETHE_STORE", t.TempDir())
	dir := t.TempDir()
	t.Chdir(dir)
	try := func(file string, more ...string) clitest.Result {
		return lethe(t, append([]string{"try", file, "--target", "answer", "--forget", "person_id in 107,109", "--seeds", "1", "--epochs", "1", "--methods", "fine-tuning"}, more...)...)
	}
	for _, name := range []string{"患者", "病院", "a.b", "a b", "données"} {
		check(t, os.WriteFile(name+".csv", []byte(tryTables()["hand.tsv"]), 0o644))
		wantWords(t, try(name+".csv"), "person_id in 107,109 of "+name, name+"-report")
		if b, err := os.ReadFile(filepath.Join(name+"-report", "report.md")); err != nil || !strings.Contains(string(b), " of "+name) {
			t.Errorf("%s: the report does not name it (%v)", name, err)
		}
	}
	check(t, os.Mkdir("b", 0o755))
	check(t, os.WriteFile("b/a b.csv", []byte(tryTables()["excel.csv"]), 0o644))
	before, err := os.ReadFile(filepath.Join("a b-report", "report.json"))
	check(t, err)
	r := try("b/a b.csv")
	if want := "a b-report holds the report of other data"; r.Code == 0 || !strings.Contains(r.Stderr, want) || !strings.Contains(r.Stderr, "--out FOLDER") {
		t.Errorf("%d, want %q: %s", r.Code, want, r.Stderr)
	}
	if after, err := os.ReadFile(filepath.Join("a b-report", "report.json")); err != nil || string(after) != string(before) {
		t.Errorf("the report changed (%v)", err)
	}
	wantWords(t, try("b/a b.csv", "--out", "a b-report"), "fine-tuning")
	wantWords(t, try("b/a b.csv", "--forget", "person_id=108"), "person_id=108 of a b")
}
