// Tests with a real gonb.

package relay

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/paths"
)

// realGonb finds a gonb to test with, and puts it on PATH beside goimports.
func realGonb(t testing.TB) string {
	t.Helper()
	file := os.Getenv("LETHE_TEST_GONB")
	if file == "" {
		home, err := paths.Home()
		if err != nil {
			t.Skipf("no gonb: %v", err)
		}
		file = filepath.Join(home, "bin", "gonb")
		// Where the set-up puts its tools, by a hash of their versions.
		if built, _ := filepath.Glob(filepath.Join(home, "kernel", "tools-*", "bin", "gonb")); len(built) > 0 {
			file = built[len(built)-1]
		}
	}
	if _, err := os.Stat(file); err != nil {
		t.Skipf("no gonb to test with (set LETHE_TEST_GONB): %v", err)
	}
	t.Setenv("PATH", filepath.Dir(file)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, tool := range []string{"go", "goimports"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("gonb needs %s: %v", tool, err)
		}
	}
	return file
}

// stepsText is what a reader sees of a cell: standard output and error, and errors.
func stepsText(all []step) string {
	var out strings.Builder
	for _, s := range all {
		f := s.msg.fields()
		switch s.msg.head.Type {
		case "stream":
			out.WriteString(f["name"].(string) + ": " + f["text"].(string))
		case "error":
			var e failure
			s.msg.read(&e)
			out.WriteString(strings.Join(e.Trace, "\n"))
		}
	}
	return out.String()
}

func TestRealGonb(t *testing.T) {
	gonb := realGonb(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "-buildvcs=false -tags=noxla -ldflags=-s")
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOTOOLCHAIN", "local")
	c := prepareClient(t)
	c.start(Options{Gonb: gonb, GoWork: root, NoCompletion: true})
	for _, cell := range []struct{ code, want string }{
		{"%%\nfmt.Println(\"hello\")", "stdout: hello\n"},
		{"import \"github.com/lethe-ml/lethe/lib/array\"\n\n%%\nm := array.New[float32](2, 3)\nfmt.Println(m.Rows, m.Cols)", "stdout: 2 3\n"},
		{"func f(a int) string {\n\treturn a\n}", "cell [3], line 2, column 9: cannot use a (variable of type int) as string value in return statement\n    return a\n           ^"},
		{"func g(m map[string]int) { m[\"a\"] = 1 }", ""},
		{"%%\nvar m map[string]int\ng(m)", "panic: assignment to entry in nil map\n\ncell [4], line 1, in g\n    func g(m map[string]int) { m[\"a\"] = 1 }\ncell [5], line 3, in main\n    g(m)"},
		{"!exit 3", "shell command failed: !exit 3 (exit status 3)"},
		{"%%\nos.Exit(4)", "program failed: exit status 4"},
		{"! ", "cell [8], line 1, column 1: expected declaration, found '!'\n    !\n    ^"},
		{"c := 1", "cell [9], line 1, column 1: expected declaration, found c\n    c := 1\n    ^\n\n" + mainHint},
	} {
		if got := stepsText(c.until(c.run(cell.code))); got != cell.want {
			t.Errorf("%s\n--- told:\n%s\n--- want:\n%s", cell.code, got, cell.want)
		}
	}
	got := stepsText(c.until(c.run("%%\nfmt.Println(array.New(2, 3))")))
	if !strings.HasPrefix(got, "cell [10], line 2, column 22: ") || !strings.Contains(got, "(declared at lib/array/array.go:") {
		t.Errorf("a place in the library: %s", got)
	}
	a, b := c.run("%%\ntime.Sleep(time.Minute)"), c.run("%%\nfmt.Println(\"must not run\")")
	time.Sleep(500 * time.Millisecond)
	c.send(jupyterControl, request("interrupt_request", `{}`))
	all := append(c.until(a), c.until(c.run("%%\nfmt.Println(\"goes on\")"))...)
	if got := findStep(all, b); got != "shell execute_reply aborted" {
		t.Errorf("waiting: %s", got)
	}
	if got := stepsText(all); !strings.HasPrefix(got, "interrupted: the cell") || !strings.HasSuffix(got, "stdout: goes on\n") {
		t.Errorf("told %s", got)
	}
	r := request("complete_request", `{"code":"fmt.Pr","cursor_pos":6}`)
	c.send(jupyterShell, r)
	if got := findStep(c.until(r), r); got != "shell complete_reply ok" {
		t.Errorf("completion without gopls: %s", got)
	}
	c.stop()
	if err := c.ended(); err != nil {
		t.Error(err)
	}
	c.nothingLeft()
}

// withNotebook sets the environment of a kernel with completion that runs the notebook with the
// given source, and returns the root of the module. Without gopls the test is skipped.
func withNotebook(tb testing.TB, source string) (root string) {
	tb.Helper()
	if _, err := exec.LookPath("gopls"); err != nil {
		tb.Skip(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Setenv("GOFLAGS", "-buildvcs=false -tags=noxla -ldflags=-s")
	tb.Setenv("GOPROXY", "off")
	tb.Setenv("GOTOOLCHAIN", "local")
	notebook := filepath.Join(tb.TempDir(), "a.ipynb")
	if err := os.WriteFile(notebook, []byte(source), 0o600); err != nil {
		tb.Fatal(err)
	}
	tb.Setenv(notebookEnv, notebook)
	return root
}

// TestRealGopls asks for what a reader asks for, without waiting, and before and
// after a cell has run.
func TestRealGopls(t *testing.T) {
	gonb := realGonb(t)
	source := `{"cells":[{"cell_type":"code","source":"import \"github.com/lethe-ml/lethe/lib/array\"\n\nfunc zeros() array.Matrix[float32] { return array.New[float32](2, 3) }"}]}`
	root := withNotebook(t, source)
	c := prepareClient(t)
	c.start(Options{Gonb: gonb, GoWork: root})
	ask := func(kind, code string) string {
		before, after, _ := strings.Cut(code, "|")
		r := request(kind, string(encode(map[string]any{"code": before + after, "cursor_pos": len([]rune(before)), "detail_level": 0})))
		c.send(jupyterShell, r)
		for _, s := range c.until(r) {
			if s.msg.parent.ID == r.head.ID && s.to == jupyterShell {
				return string(s.msg.content)
			}
		}
		return ""
	}
	has := func(kind, code string, parts ...string) {
		t.Helper()
		got := ask(kind, code)
		for _, part := range parts {
			if !strings.Contains(got, part) {
				t.Errorf("%s of %q lacks %s: %s", kind, code, part, got)
			}
		}
	}
	has("complete_request", "%%\nm := zeros()\nm.|", `"Rows"`, `"Row"`, `"cursor_start":18`)
	has("complete_request", "%%\nfmt.Println(\"ä𝄞\", array.Ne|)", `"New"`, `"cursor_start":27`, `"cursor_end":29`, `"type":"function"`)
	has("complete_request", "strings.HasPr|", `"HasPrefix"`)
	has("complete_request", "%%script bash\narray.|", `"matches":[]`)
	has("inspect_request", "%%\narray.N|ew[int](1, 2)", `"found":true`, "New ")
	has("inspect_request", "%%\narray.New[int](|)", `"found":true`, "rows int")
	has("inspect_request", "%%\n|", `"found":false`)
	c.until(c.run("type pair struct{ left, right int }\n\nfunc twins() pair { return pair{} }"))
	has("complete_request", "%%\ntwins().|", `"left"`, `"right"`)
	c.stop()
	if err := c.ended(); err != nil {
		t.Error(err)
	}
	c.nothingLeft()
}

// realRelay starts a relay with a real gonb on the module's code.
func realRelay(t *testing.T, gonb string) *client {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "-buildvcs=false -tags=noxla -ldflags=-s")
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOTOOLCHAIN", "local")
	c := prepareClient(t)
	c.start(Options{Gonb: gonb, GoWork: root, NoCompletion: true})
	return c
}

// end stops the relay and checks that nothing is left.
func (c *client) end() {
	c.t.Helper()
	c.stop()
	if err := c.ended(); err != nil {
		c.t.Error(err)
	}
	c.nothingLeft()
}

func TestRealGonbSpeaksToPeopleFromPython(t *testing.T) {
	c := realRelay(t, realGonb(t))
	for _, cell := range []struct{ code, want string }{
		{"%%\nx := []int{1, 2}\nx", "stdout: [1 2]\n"},
		{"%%\nfmt.Println(x)", "cell [2], line 2, column 13: undefined: x\n    fmt.Println(x)\n                ^\nx is declared under %% in cell [1], and is gone when that cell ends; make it a function or a top-level var"},
		{"%%\n1 +\n\ty", "cell [3], line 3, column 2: undefined: y\n    y\n    ^"},
		{"type pair struct{ Left, Right int }\n\nfunc both() (pair, error) { return pair{1, 2}, nil }\n\nvar counter = 0\n\n%%\ncounter++\nboth()", "stdout: {Left:1 Right:2}\n"},
		{"%%\ncounter", "stdout: 0\nstderr: counter has the value of its declaration here, not the one that cell [4] gave it: each cell is a program of its own, and GoNB keeps declarations, not values. Return the value from a function, or write it to a file.\n"},
		{"type broken struct{}\n\nfunc wrong() int { return \"\" }", "cell [6], line 3, column 27: cannot use \"\" (untyped string constant) as int value in return statement\n    func wrong() int { return \"\" }\n                              ^"},
		{"%%\nvar b broken\n_ = b", "cell [7], line 2, column 7: undefined: broken\n    var b broken\n          ^\nbroken is declared in cell [6], which failed; run it again"},
		{"%%\n1 + 2\nfmt.Println()", "cell [8], line 2, column 1: 1 + 2 (untyped int constant 3) is not used\n    1 + 2\n    ^\n\n" + showHint},
		{"import \"github.com/lethe-ml/lethe/lib/report\"\n\nfunc table() *report.Table {\n\tt := &report.Table{ID: \"a\", Title: \"numbers\", Columns: report.Columns(\"one\")}\n\tt.Add(report.Num(1.5, 2))\n\treturn t\n}\n\n%%\ntable()", ""},
	} {
		all := c.until(c.run(cell.code))
		if got := stepsText(all); got != cell.want {
			t.Errorf("%s\n--- told:\n%s\n--- want:\n%s", cell.code, got, cell.want)
		}
		if cell.want == "" && !strings.Contains(summary(all), "display_data") {
			t.Errorf("no table is shown: %s", summary(all))
		}
	}
	c.end()
}

// slidersCell is a cell with a slider for x.
const slidersCell = `import (
	"context"
	"github.com/lethe-ml/lethe/lib/nb"
)

%%
x := 1
fmt.Println("begun")
nb.Interact(func(ctx context.Context, live *nb.Live) error {
	live.Markdown(fmt.Sprint("drawn for ", x))
	if x == 9 {
		panic("nine")
	}
	return nil
}, nb.NewSlider("x", &x, 1, 10).Step(1))`

// runAs runs a cell as the notebook's cell of that identifier.
func (c *client) runAs(id, code string) *message {
	m := request("execute_request", string(encode(map[string]any{"code": code, "silent": false, "store_history": true, "stop_on_error": true})))
	m.metadata = encode(map[string]any{"cellId": id})
	c.send(jupyterShell, m)
	return m
}

// untilText reads until an output for a request holds a text, and returns that output.
func (c *client) untilText(r *message, text string) *message {
	c.t.Helper()
	return c.untilTextOr(r, text, func() {})
}

// untilTextOr is untilText that calls again whenever nothing has come for two seconds.
func (c *client) untilTextOr(r *message, text string, again func()) *message {
	c.t.Helper()
	for i, quiet := 0, 0; ; i++ {
		for i == len(c.seen) {
			if p, m, ok := c.nextWithin(2 * time.Second); ok {
				c.seen, quiet = append(c.seen, step{to: p, msg: m}), 0
			} else if quiet++; quiet == 30 {
				c.t.Fatalf("no message for a minute, before %q", text)
			} else {
				again()
			}
		}
		if m := c.seen[i].msg; m.parent.ID == r.head.ID && strings.Contains(string(m.content), text) {
			return m
		}
	}
}

// slide moves a slider until an output of the cell holds a text, and returns that output. As the
// page does, it sends the position again while no answer comes: what it sends may arrive before
// the cell has told the relay that it listens.
func (c *client) slide(r *message, address string, x int, text string) *message {
	c.t.Helper()
	send := func() {
		c.moves++
		value := fmt.Sprintf(`{"number":%d,"at":[%d],"values":[%d],"waiting":false,"done":false}`, c.moves, x-1, x)
		m := request("comm_msg", string(encode(map[string]any{"comm_id": "c", "data": map[string]any{"address": address, "value": value}})))
		c.send(jupyterShell, m)
	}
	send()
	return c.untilTextOr(r, text, send)
}

// slidersAddress returns where the slider of a cell listens.
func (c *client) slidersAddress(r *message) string {
	html := string(c.untilText(r, `/lethe/sliders/`).content)
	_, rest, _ := strings.Cut(html, "/lethe/sliders/")
	end := strings.IndexFunc(rest, func(r rune) bool { return r == '\\' || r == '"' })
	c.untilText(r, "drawn for 1") // the program listens
	return "/lethe/sliders/" + rest[:end]
}

func TestRealGonbsSlidersAnswerWhileAnotherCellComputes(t *testing.T) {
	gonb := realGonb(t)
	if len(processes()) == 0 {
		t.Skip("no /proc here")
	}
	t.Setenv(notebookEnv, "a.ipynb")
	t.Setenv(headlessEnv, "")
	c := realRelay(t, gonb)
	a := c.runAs("a", slidersCell)
	address := c.slidersAddress(a)
	c.slide(a, address, 1, `"idle"`) // the cell is over
	b := c.runAs("b", "%%\nfmt.Println(\"training\")\ntime.Sleep(time.Minute)")
	c.untilText(b, "training\\n\"}")
	for _, x := range []int{4, 7} {
		began := time.Now()
		m := c.slide(a, address, x, fmt.Sprintf("drawn for %d", x))
		if m.head.Type != "update_display_data" {
			t.Errorf("the figure is a new output, a %s", m.head.Type)
		}
		t.Logf("the slider answers after %v, while a cell computes", time.Since(began).Round(time.Millisecond))
	}
	c.send(jupyterControl, request("interrupt_request", `{}`))
	if got := stepsText(c.until(b)); !strings.Contains(got, "interrupted") {
		t.Errorf("the training told %q", got)
	}
	c.slide(a, address, 5, "drawn for 5") // the interrupt was for the other cell
	c.slide(a, address, 9, "panic: nine") // its crash is told in its cell

	// The cell runs again: its old program ends, and the new one answers.
	again := c.runAs("a", slidersCell)
	newer := c.slidersAddress(again)
	c.slide(again, newer, 3, "drawn for 3")
	c.slide(again, newer, 3, `"idle"`)
	programs := func() (n int) {
		for _, p := range processes() {
			if strings.HasPrefix(filepath.Base(p.Name), "gonb_") {
				n++
			}
		}
		return n
	}
	before := programs()
	third := c.runAs("a", slidersCell)
	c.slide(third, c.slidersAddress(third), 2, `"idle"`)
	for end := time.Now().Add(10 * time.Second); programs() > before && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	if got := programs(); got > before {
		t.Errorf("%d programs go on, before the cell ran again %d did", got, before)
	}
	c.end()
}
