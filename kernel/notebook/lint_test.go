// Tests of lint.go.

package notebook

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func good(t *testing.T) *Notebook {
	t.Helper()
	nb, err := ReadFile("testdata/good.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

func lint(t *testing.T, nb *Notebook) []Problem {
	t.Helper()
	return Lint(fstest.MapFS{"a/x.ipynb": {Data: rewritten(nb).Text}}, "a/x.ipynb")
}

func TestAGoodNotebookHasNoProblems(t *testing.T) {
	for _, p := range Lint(os.DirFS("testdata"), "good.ipynb") {
		t.Error(p)
	}
}

func TestAFileThatIsNoNotebookIsOneProblem(t *testing.T) {
	for name, want := range map[string]string{"missing.ipynb": "does not exist", "bad.ipynb": "bad.ipynb: no notebook: line 1"} {
		got := Lint(fstest.MapFS{"bad.ipynb": {Data: []byte("{")}}, name)
		if len(got) != 1 || !strings.Contains(got[0].String(), want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Every case corrupts the good notebook in one way, and exactly that is found.
func TestEachDefectIsFoundAndNothingElse(t *testing.T) {
	source := func(cell int, old, new string) func(*Notebook) {
		return func(nb *Notebook) {
			c := &nb.Cells[cell-1]
			if !strings.Contains(c.Source, old) {
				t.Fatalf("cell %d has no %q", cell, old)
			}
			c.Source = strings.Replace(c.Source, old, new, 1)
		}
	}
	output := func(cell int, change func(*Output)) func(*Notebook) {
		return func(nb *Notebook) { change(nb.Cells[cell-1].Outputs[0]) }
	}
	for _, c := range []struct {
		name    string
		corrupt func(*Notebook)
		want    string // the beginning of the problem
	}{
		{"kernel", func(nb *Notebook) { nb.Metadata["kernelspec"] = Object{"name": "gonb"} }, `kernel "gonb": choose`},
		{"highlighter", func(nb *Notebook) { delete(nb.Metadata, "language_info") }, "web pages would not highlight"},
		{"size", output(4, func(o *Output) { o.Data["image/png"] = strings.Repeat("A", 2<<20) }), "2.0 MB with its outputs"},
		{"path in code", source(3, "fmt.Println(", `open("/home/me/x.csv"); fmt.Println(`), "cell 3: the path /home/me/x.csv: use"},
		{"path of root", source(3, "fmt.Println(", `dir("/root"); fmt.Println(`), "cell 3: the path /root: use"},
		{"path in text", source(1, "A model", "In /Users/me, a model"), "cell 1: the path /Users/me: use"},
		{"path of Windows", source(3, "fmt.Println(", "open(`C:\\Users\\me`); fmt.Println("), `cell 3: the path C:\Users: use`},
		{"path in an output", output(3, func(o *Output) { o.Text = "saved /tmp/x\n" }), "cell 3: the path /tmp/x in an output"},
		{"path in a picture's text", output(4, func(o *Output) { o.Data["text/plain"] = "a figure from /tmp/x.png" }), "cell 4: the path /tmp/x.png in an output"},
		{"shell", source(3, "%% -epochs", "!ls -l\n%% -epochs"), `cell 3: line 10 runs a shell command, "!ls -l"`},
		{"magic", source(3, "%% -epochs", "%goflags -race\n%% -epochs"), `cell 3: line 10 is a command of GoNB, "%goflags -race"`},
		{"cell magic, tests", source(3, "%% -epochs", "%tests\n%% -epochs"), `cell 3: line 10 is a command of GoNB, "%tests"`},
		{"cell magic", source(3, "import (", "%%writefile x.go\nimport ("), `cell 3: line 1 is a command of GoNB`},
		{"escaped magic", source(3, "%% -epochs", "//gonb:!ls\n%% -epochs"), `cell 3: line 10 runs a shell command, "!ls"`},
		{"shell in a raw string", source(4, "  !like this", "!like this"), "cell 4: line 3, \"!like this`\", inside a text or comment: indent it"},
		{"main in a comment", source(4, "// The curve.", "/* The curve.\n%%\n*/"), `cell 4: line 2, "%%", inside a text or comment`},
		{"dot import", source(3, "\t\"fmt\"", "\t\"fmt\"\n\t. \"math\""), "cell 3: dot import of math"},
		{"lone dot import", source(4, "// The curve.", "import . \"math\""), "cell 4: dot import of math"},
		{"network", source(3, "\t\"fmt\"", "\t\"fmt\"\n\t\"net/http\""), `cell 3: "net/http" reaches for the network`},
		{"download", source(4, "%%", `%%`+"\nhttp.Get(u)"), "cell 4: http.Get reaches for the network"},
		{"not executed", func(nb *Notebook) { nb.Cells[9].Count = 0 }, "cell 10: 1 of 4 code cells are not executed, this one first: execute"},
		{"out of order", func(nb *Notebook) { nb.Cells[9].Count = 9 }, "cell 10: executed as [9], expected [4]"},
		{"empty cell", func(nb *Notebook) { nb.Cells = append(nb.Cells, Cell{Kind: Code, ID: "e"}) }, "cell 12: an empty code cell"},
		{"error", func(nb *Notebook) {
			nb.Cells[9].Outputs = append(nb.Cells[9].Outputs, &Output{Type: ErrorOutput, Evalue: "\nbad"})
		}, "cell 10: failed: bad"},
		{"stderr", output(10, func(o *Output) { o.Name = "stderr" }), "cell 10: output on stderr: your turn"},
		{"no title", source(1, "# Has", "Has"), "cell 1: no title"},
		{"title not first", func(nb *Notebook) {
			nb.Cells = append([]Cell{{Kind: Markdown, ID: "before", Source: "Words."}}, nb.Cells...)
		}, `cell 2: the heading "Has it forgotten?" has level 1`},
		{"two titles", source(5, "### In short", "# In short"), `cell 5: the heading "In short" has level 1`},
		{"skipped level", source(5, "### In short", "#### In short"), `cell 5: the heading "In short" has level 4 after one of level 2`},
		{"Markdown picture", source(5, "![the loss falls]", "![]"), "cell 5: a picture without a text: say"},
		{"HTML picture", source(5, "![the loss falls](https://example.org/loss.png)", `<img src="x">`), "cell 5: a picture without a text: give"},
		{"HTML picture in an output", output(4, func(o *Output) { o.Data["text/html"] = `<img src="x" alt="">` }), "cell 4: a picture without a text: give"},
		{"no text", output(4, func(o *Output) { delete(o.Data, "text/plain") }), `cell 4: a figure whose text is "nothing"`},
		{"a type's name", output(4, func(o *Output) { o.Data["text/plain"] = "<Figure size 640x480 with 1 Axes>" }), `cell 4: a figure whose text is "<Figure`},
		{"a word", output(4, func(o *Output) { o.Data["text/plain"] = "plot.Curves" }), `cell 4: a figure whose text is "plot.Curves"`},
		{"SVG", output(4, func(o *Output) { o.Data["image/svg+xml"] = "<svg/>"; delete(o.Data, "image/png") }), "cell 4: a figure that is SVG only"},
		{"no claims", output(7, func(o *Output) { o.Text = "claims:\n" }), "no claims: end with"},
		{"claims too early", func(nb *Notebook) {
			nb.Cells[3].Outputs, nb.Cells[6].Outputs = nb.Cells[6].Outputs, nb.Cells[3].Outputs
		}, "cell 4: code follows the claims"},
		{"a claim twice", output(7, func(o *Output) { o.Text += "claim holds: the loss falls — 3\n" }), `cell 7: the claim "the loss falls" appears twice`},
		{"two exercises", source(9, "### Exercise 3: look", "### More"), "2 exercises: end with at least 3"},
		{"exercise numbers", source(8, "Exercise 2", "Exercise 4"), "cell 8: exercise 4, expected 2"},
		{"no solution", source(11, "</details>", ""), "cell 9: exercise 3 has no folded solution"},
		{"a long cell", source(3, "fmt.Println(half", strings.Repeat("fmt.Println()\n", 14)+"fmt.Println(half"), "cell 3: a code cell of 26 lines: 25"},
		{"long cells", func(nb *Notebook) {
			for _, i := range []int{6, 9} {
				nb.Cells[i].Source += strings.Repeat("\nfmt.Println()", 9)
			}
		}, "half of the code cells have 11 lines and more: 10"},
		{"no slider", source(4, `nb.NewSlider("epochs (of training)", &epochs, 1, 9)`, "epochs"), "no slider: give the reader"},
		{"a slider that is not named", source(2, "Turn the **epochs** and watch", "Turn it and watch"), `cell 4: the slider "epochs" is not named in the text above it`},
		{"a dropdown that is not named", source(4, `nb.NewSlider("epochs (of training)", &epochs, 1, 9)`, `nb.NewDropdown("method", &epochs, 1, 9)`), `cell 4: the slider "method" is not named in the text above it`},
		{"a slider without a question", source(2, "and watch the curve", "at will"), "cell 4: sliders without a hint what to look for"},
		{"a long sentence", source(1, "A model has seen some records, and now one of them must go.", strings.Repeat("a model has seen it and ", 8)+"so on."), "cell 1: a sentence of 50 words"},
	} {
		nb := good(t)
		c.corrupt(nb)
		got := lint(t, nb)
		if len(got) != 1 || !strings.HasPrefix(got[0].String(), "a/x.ipynb: "+c.want) {
			t.Errorf("%s: %d problems %v, want %s", c.name, len(got), got, c.want)
		}
	}
}

func TestClaimsMayStandInTheLastCodeCellOfAll(t *testing.T) {
	nb := good(t)
	nb.Cells[6].Outputs, nb.Cells[9].Outputs = nb.Cells[9].Outputs, nb.Cells[6].Outputs
	for _, p := range lint(t, nb) {
		t.Error(p)
	}
}
