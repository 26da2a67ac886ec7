// Tests of notebook.go.

package notebook

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func readString(t *testing.T, s string) *Notebook {
	t.Helper()
	nb, err := Read(strings.NewReader(s), "x.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

func TestAReadNotebookHasItsTextsInOnePiece(t *testing.T) {
	nb, err := ReadFile("testdata/jupyter.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	c := nb.Cells[1]
	if c.Kind != Code || c.Count != 3 || !strings.HasSuffix(c.Source, "\nCRLF\rCR\nend") {
		t.Errorf("cell 2: %+v", c)
	}
	if strings.Contains(c.Source, "\r\n") {
		t.Errorf("cell 2: %+v", c)
	}
	if got := c.Outputs[0].Text; got != "one\ntwo\n" {
		t.Errorf("stream: %q", got)
	}
	if got := c.Outputs[2].text("text/html"); got != "<p>x</p>\n<p>y</p>" {
		t.Errorf("html: %q", got)
	}
	if o, ok := c.Outputs[2].Data["application/json"].(Object); !ok || o["a"] != "two\nlines" {
		t.Errorf("json: %v", c.Outputs[2].Data["application/json"])
	}
	if nb.Cells[2].Count != 0 || nb.Cells[3].Kind != Raw || nb.Cells[0].Attachments["dot.png"] == nil {
		t.Error("the other cells")
	}
}

func TestANotebookMayBeginWithAMarkButNotInUTF16(t *testing.T) {
	plain := strings.Replace(minimal, "OUT", "", 1)
	marked := readString(t, "\xef\xbb\xbf"+strings.Replace(plain, `"x\n"`, `"x\r\n"`, 1))
	if marked.Cells[0].Source != "x\ny" {
		t.Errorf("%q", marked.Cells[0].Source)
	}
	if _, err := Read(strings.NewReader("\xff\xfe{\x00"), "x.ipynb"); err == nil || !strings.Contains(err.Error(), "x.ipynb: the text is not UTF-8 but UTF-16") {
		t.Error(err)
	}
}

// minimal is a notebook with one code cell; tests put other things in its
// places.
const minimal = `{"cells":[{"cell_type":"code","id":"a","metadata":{},"source":["x\n","y"],"execution_count":1,"outputs":[OUT]}],"metadata":{},"nbformat":4,"nbformat_minor":5}`

func TestWhatIsNoNotebookIsRefusedWithFileAndCell(t *testing.T) {
	plain := strings.Replace(minimal, "OUT", "", 1)
	swap := func(old, new string) string {
		if !strings.Contains(plain, old) {
			t.Fatalf("%q is not in the notebook", old)
		}
		return strings.Replace(plain, old, new, 1)
	}
	out := func(o string) string { return strings.Replace(minimal, "OUT", o, 1) }
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "no notebook: line 1: unexpected end"},
		{"cut", plain[:60], "no notebook: line 1: unexpected end"},
		{"two values", plain + "{}", "after top-level value"},
		{"no JSON", "{\n\n]", "no notebook: line 3"},
		{"deep", strings.Repeat("[", 20000), "exceeded max depth"},
		{"a list", "[]", "no notebook: line 1: json: cannot unmarshal array"},
		{"format 3", swap(`"nbformat":4`, `"nbformat":3`), "nbformat: 3.5, expected 4.5"},
		{"format 4.4", swap(`minor":5`, `minor":4`), "nbformat: 4.4, expected 4.5"},
		{"format as text", swap(`"nbformat":4`, `"nbformat":"4"`), `nbformat: "4".5, expected 4.5`},
		{"no cell", `{"cells":[null],"metadata":{},"nbformat":4,"nbformat_minor":5}`, "cell 1: null is no cell"},
		{"no cells", `{"metadata":{},"nbformat":4,"nbformat_minor":5}`, "a notebook has cells and metadata"},
		{"kind", swap(`"code"`, `"heading"`), `cell 1: cell_type: "heading": there are code, markdown and raw`},
		{"no id", swap(`"id":"a",`, ``), "cell 1: id: it is missing"},
		{"id twice", swap(`"cells":[`, `"cells":[{"cell_type":"raw","id":"a","metadata":{},"source":""},`), `cell 2: id: "a" is the id of cell 1 too`},
		{"cell field", swap(`"id":"a"`, `"id":"a","extra":{}`), `cell 1: json: unknown field "extra"`},
		{"source", swap(`["x\n","y"]`, `["x",1]`), "cell 1: json: cannot unmarshal array into Go struct field Cell.source"},
		{"metadata", swap(`"metadata":{},"source"`, `"metadata":[],"source"`), "Cell.metadata"},
		{"count", swap(`"execution_count":1`, `"execution_count":1.5`), "Cell.execution_count"},
		{"output field", out(`{"output_type":"stream","name":"stdout","text":"","x":1}`), `cell 1: json: unknown field "x"`},
		{"output text", out(`{"output_type":"stream","name":"stdout","text":5}`), "outputs.text of type string"},
	} {
		_, err := Read(strings.NewReader(c.text), "dir/x.ipynb")
		if err == nil || !strings.HasPrefix(err.Error(), "dir/x.ipynb: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	readString(t, plain)
}

func FuzzWhatIsReadCanBeLookedAt(f *testing.F) {
	b, err := os.ReadFile("testdata/jupyter.ipynb")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Add(strings.Replace(minimal, "OUT", `{"output_type":"stream","name":"stdout","text":["a\r","\n"]}`, 1))
	f.Add(strings.Replace(minimal, "OUT", `{"output_type":"display_data","data":{"application/json":[1e5,"\ud800"]},"metadata":{"a":{}}}`, 1))
	f.Add(strings.Replace(minimal, "OUT", "null", 1))
	f.Add(`{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}`)
	f.Fuzz(func(t *testing.T, s string) {
		nb, err := Read(strings.NewReader(s), "f")
		if err != nil {
			return
		}
		nb.Claims()
		Lint(fstest.MapFS{"f.ipynb": {Data: []byte(s)}}, "f.ipynb")
	})
}
