package notebook

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func readString(t *testing.T, s string) *Notebook {
	t.Helper()
	nb, err := Read(strings.NewReader(s), "x.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

func written(t *testing.T, nb *Notebook) string {
	t.Helper()
	var b bytes.Buffer
	if err := nb.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// testdata/jupyter.ipynb was written by nbformat 5.11.1 (Python 3.11): line
// separators of every kind, control characters, numbers, nested metadata, all
// kinds of cells and outputs.
func TestANotebookOfJupyterIsWrittenByteForByte(t *testing.T) {
	want, err := os.ReadFile("testdata/jupyter.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	nb, err := ReadFile("testdata/jupyter.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	if got := written(t, nb); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAReadNotebookHasItsTextsInOnePiece(t *testing.T) {
	nb, err := ReadFile("testdata/jupyter.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	c := nb.Cells[1]
	if c.Kind != Code || c.Count != 3 || !strings.HasSuffix(c.Source, "\r\nCRLF\rCR\nend") {
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

// minimal is a notebook with one code cell; tests put other things in its
// places.
const minimal = `{"cells":[{"cell_type":"code","id":"a","metadata":{},"source":["x\n","y"],"execution_count":1,"outputs":[OUT]}],"metadata":{},"nbformat":4,"nbformat_minor":5}`

func TestWhatTheFormatForbidsIsRefusedWithFileCellAndField(t *testing.T) {
	plain := strings.Replace(minimal, "OUT", "", 1)
	swap := func(old, new string) string {
		if !strings.Contains(plain, old) {
			t.Fatalf("%q is not in the notebook", old)
		}
		return strings.Replace(plain, old, new, 1)
	}
	out := func(o string) string { return strings.Replace(minimal, "OUT", o, 1) }
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "no notebook: line 1: unexpected EOF"},
		{"cut", plain[:60], "no notebook: line 1: unexpected EOF"},
		{"two values", plain + "{}", "something follows"},
		{"no JSON", "{\n\n]", "no notebook: line 3"},
		{"not UTF-8", "{\n\"\xff\"}", "line 2: not UTF-8"},
		{"key twice", swap(`"metadata":{},"source"`, `"metadata":{"k":1,"k":2},"source"`), `the key "k" appears twice`},
		{"deep", strings.Repeat("[", 300), "nested more than 200 deep"},
		{"a list", "[]", "the file: expected an object, got a list"},
		{"format 3", swap(`"nbformat":4`, `"nbformat":3`), "nbformat: 3.5, expected 4.5"},
		{"format 4.4", swap(`minor":5`, `minor":4`), "nbformat: 4.4, expected 4.5"},
		{"unknown field", swap(`"nbformat":4`, `"extra":0,"nbformat":4`), "extra: unknown field"},
		{"no cells", `{"metadata":{},"nbformat":4,"nbformat_minor":5}`, "cells: expected a list, got nothing"},
		{"kind", swap(`"code"`, `"heading"`), `cell 1: cell_type: "heading": there are code, markdown and raw`},
		{"no id", swap(`"id":"a",`, ``), "cell 1: id: expected a string, got nothing"},
		{"bad id", swap(`"id":"a"`, `"id":"a b"`), `cell 1: id: "a b": expected 1 to 64`},
		{"id twice", swap(`"cells":[`, `"cells":[{"cell_type":"raw","id":"a","metadata":{},"source":""},`), `cell 2: id: "a" is the id of cell 1 too`},
		{"cell field", swap(`"id":"a"`, `"id":"a","attachments":{}`), "cell 1: attachments: unknown field"},
		{"source", swap(`["x\n","y"]`, `["x",1]`), "cell 1: source[1]: expected a string, got 1"},
		{"metadata", swap(`"metadata":{},"source"`, `"metadata":[],"source"`), "cell 1: metadata: expected an object, got a list"},
		{"count", swap(`"execution_count":1`, `"execution_count":1.5`), "cell 1: execution_count: 1.5: expected null or a whole number from 1"},
		{"count zero", swap(`"execution_count":1`, `"execution_count":0`), "cell 1: execution_count: 0"},
		{"no count", swap(`"execution_count":1,`, ``), "cell 1: execution_count: expected a number or null, got nothing"},
		{"output type", out(`{"output_type":"pyout"}`), `cell 1: outputs[0].output_type: "pyout"`},
		{"output field", out(`{"output_type":"stream","name":"stdout","text":"","x":1}`), "cell 1: outputs[0].x: unknown field"},
		{"output text", out(`{"output_type":"stream","name":"stdout","text":5}`), "cell 1: outputs[0].text: expected a string or a list of strings, got 5"},
		{"output data", out(`{"output_type":"display_data","data":{"text/plain":{}},"metadata":{}}`), "cell 1: outputs[0].data.text/plain: expected a string or a list of strings, got an object"},
		{"traceback", out(`{"output_type":"error","ename":"","evalue":"","traceback":[null]}`), "cell 1: outputs[0].traceback[0]: expected a string, got nothing"},
	} {
		_, err := Read(strings.NewReader(c.text), "dir/x.ipynb")
		if err == nil || !strings.HasPrefix(err.Error(), "dir/x.ipynb: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	readString(t, plain)
}

func TestTransientMetadataIsNotKept(t *testing.T) {
	s := strings.Replace(minimal, "OUT", "", 1)
	s = strings.Replace(s, `"metadata":{},"source"`, `"metadata":{"trusted":true,"kept":1},"source"`, 1)
	s = strings.Replace(s, `"metadata":{},"nbformat"`, `"metadata":{"signature":"x","orig_nbformat":4},"nbformat"`, 1)
	got := written(t, readString(t, s))
	if strings.Contains(got, "trusted") || strings.Contains(got, "signature") || strings.Contains(got, "orig_nbformat\"") || !strings.Contains(got, "kept") {
		t.Error(got)
	}
}

func TestAValueThatIsNoJSONIsAnErrorOfWrite(t *testing.T) {
	nb := &Notebook{Metadata: Object{"x": struct{}{}}}
	if err := nb.Write(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "struct {}") {
		t.Error(err)
	}
}

func FuzzWhatIsReadIsWrittenAndReadAgain(f *testing.F) {
	b, err := os.ReadFile("testdata/jupyter.ipynb")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Add(strings.Replace(minimal, "OUT", `{"output_type":"stream","name":"stdout","text":["a\r","\n"]}`, 1))
	f.Add(strings.Replace(minimal, "OUT", `{"output_type":"display_data","data":{"application/json":[1e5,"\ud800"]},"metadata":{"a":{}}}`, 1))
	f.Add(`{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}`)
	f.Fuzz(func(t *testing.T, s string) {
		nb, err := Read(strings.NewReader(s), "f")
		if err != nil {
			return
		}
		var once, twice bytes.Buffer
		if err := nb.Write(&once); err != nil {
			t.Fatal(err)
		}
		again, err := Read(bytes.NewReader(once.Bytes()), "f")
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, once.String())
		}
		if err := again.Write(&twice); err != nil {
			t.Fatal(err)
		}
		if once.String() != twice.String() {
			t.Errorf("%s\nbecame\n%s", once.String(), twice.String())
		}
	})
}
