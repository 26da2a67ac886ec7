package notebook

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestConsecutiveTextsOfOneStreamAreOneOutput(t *testing.T) {
	var c collector
	for _, m := range []message{{Name: "stdout", Text: "a"}, {Name: "stdout", Text: "b\n"}, {Name: "stderr", Text: "c"}, {Name: "stdout", Text: "d"}} {
		c.add("stream", m)
	}
	c.add("display_data", message{Data: Object{"text/plain": "x", "text/bad": 1.0, "application/json": true}})
	c.add("stream", message{Name: "stdout", Text: "e"})
	var got []string
	for _, o := range c.outputs {
		got = append(got, o.Type+" "+o.Name+" "+o.Text)
	}
	want := []string{"stream stdout ab\n", "stream stderr c", "stream stdout d", "display_data  ", "stream stdout e"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if data := c.outputs[3].Data; len(data) != 2 || data["text/bad"] != nil {
		t.Errorf("%v", data)
	}
}

func TestALineThatIsOverwrittenLeavesItsLastState(t *testing.T) {
	for in, want := range map[string]string{
		"1 %\r2 %\r3 %\ndone": "3 %\ndone", "a\r\nb\r\n": "a\nb\n", "x\ra\ny\r\rb\n": "a\nb\n", "end\r": "end\r", "none": "none",
	} {
		if got := rewind(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	var c collector
	for _, part := range []string{"1\r", "2\r", "\n3\r", "4"} {
		c.add("stream", message{Name: "stdout", Text: part})
	}
	if got := c.outputs[0].Text; got != "2\n4" {
		t.Errorf("in pieces: %q", got)
	}
}

func TestClearingDropsWhatWasShownAtOnceOrWithTheNextOutput(t *testing.T) {
	var c collector
	c.add("stream", message{Name: "stdout", Text: "a"})
	c.add("clear_output", message{Wait: true})
	if len(c.outputs) != 1 {
		t.Error("cleared too early")
	}
	c.add("stream", message{Name: "stdout", Text: "b"})
	if len(c.outputs) != 1 || c.outputs[0].Text != "b" {
		t.Errorf("%+v", c.outputs)
	}
	c.add("clear_output", message{})
	if len(c.outputs) != 0 {
		t.Error("not cleared")
	}
}

func TestMachinePathsAreTakenOutOfTexts(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	t.Setenv("TMPDIR", "/var/folders/x")
	s := newScrubber("/home/me/lethe")
	for in, want := range map[string]string{
		"at /home/me/lethe/lib/x.go:3": "at ./lib/x.go:3",
		"in /home/me/lethe":            "in .",
		"/home/me/.cache/lethe/runs":   "~/.cache/lethe/runs",
		"(/tmp/gonb_0123abcd/main.go)": "($TMPDIR/gonb/main.go)",
		"/var/folders/x/y":             "$TMPDIR/y",
		"https://a.org/tmp/x":          "https://a.org/tmp/x",
		"/data/home/me/x /tmpfile":     "/data/home/me/x /tmpfile",
	} {
		if got := s.text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	o := &Output{Type: ErrorOutput, Evalue: "/tmp/x", Traceback: []string{"/tmp/y"}, Data: Object{"text/html": "/tmp/z", "image/png": "/tmp/k"}, Metadata: Object{"execution": 1}}
	s.output(o)
	if o.Evalue != "$TMPDIR/x" || o.Traceback[0] != "$TMPDIR/y" || o.text("text/html") != "$TMPDIR/z" || o.text("image/png") != "/tmp/k" || len(o.Metadata) != 0 {
		t.Errorf("%+v", o)
	}
}

func TestNotebooksAreFoundInReadingOrder(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, name := range []string{"ruler/02-b.ipynb", "ruler/01-a.ipynb", "start/01.ipynb", "start/00.ipynb", "zoo/x.ipynb", "top.ipynb",
		"start/.ipynb_checkpoints/00.ipynb", "out/notebooks/00.ipynb", "start/readme.md", "start/.hidden.ipynb"} {
		fsys[name] = &fstest.MapFile{}
	}
	got, err := Find(fsys)
	want := []string{"start/00.ipynb", "start/01.ipynb", "ruler/01-a.ipynb", "ruler/02-b.ipynb", "top.ipynb", "zoo/x.ipynb"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestACellsTitleIsItsCommentOrItsFirstLine(t *testing.T) {
	for source, want := range map[string]string{
		"import (\n\t\"fmt\"\n)\n\n// The engine.\n%%\nx()": "The engine",
		"%%\n\tx()\n\t// indented\n":                        "x()",
		"import \"fmt\"":                                    "imports",
		"!ls\nfunc f() {\n}":                                "func f() {",
	} {
		if got := title(source); got != want {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}
