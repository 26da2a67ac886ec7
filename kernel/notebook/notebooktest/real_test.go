// Tests with a real kernel.

package notebooktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/kernel/notebook"
)

type obj = map[string]any

func newNotebook(t *testing.T, sources ...string) *notebook.Notebook {
	t.Helper()
	nb, err := notebook.New(sources...)
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

// outputs are the texts that a cell has put out, per stream or media type.
func outputs(c notebook.Cell) string {
	var b strings.Builder
	for _, o := range c.Outputs {
		b.WriteString(o.Name + o.Text + o.Evalue + strings.Join(o.Traceback, "\n"))
		if html, ok := o.Data["text/html"].(string); ok {
			b.WriteString("html " + html + "\n")
		}
	}
	return b.String()
}

func TestARealKernelRunsCellsAndItsFailuresAreSeen(t *testing.T) {
	run := Kernel(t)
	run.Folder = t.TempDir()
	nb := newNotebook(t,
		"import (\n\t\"fmt\"\n\t\"os\"\n\t\"github.com/lethe-ml/lethe/lib/stats\"\n)\n%%\nm, _ := stats.Median([]float64{1, 2, 4})\nfmt.Println(m, os.Getenv(\"LETHE_SCALE\"), os.Getenv(\"GOPROXY\"))",
		"import \"github.com/janpfeifer/gonb/gonbui\"\n%%\nfor i := range 4 {\n\tgonbui.UpdateHtml(\"bar\", fmt.Sprint(i))\n}\ngonbui.Sync()",
		"%%\nfmt.Print(\"1 %\\r2 %\\r\")\nos.Stdout.Sync()\nfmt.Print(\"3 %\\ndone\\r\\n\")\nfmt.Println(\"in \"+os.TempDir()+\"/gonb_0123abcd/main.go, not https://a.org/tmp/x or /tmpfile\")",
		"%%\ngonbui.UpdateHtml(\"bar\", \"changed later, in "+run.Root+"/lib\")\ngonbui.Sync()",
		"%%\nfmt.Println(undefinedName)",
		"%%\nfmt.Println(\"never\")",
	)
	total, err := run.Execute(t.Context(), nb)
	if err == nil || !strings.HasPrefix(err.Error(), "cell 5 [5]: ") || total.Cells != 5 || !strings.Contains(err.Error(), "undefined: undefinedName") {
		t.Fatalf("%+v, %v", total, err)
	}
	for i, want := range []string{"stdout2 quick off\n", "html changed later, in ./lib\n", "stdout3 %\ndone\nin $TMPDIR/gonb/main.go, not https://a.org/tmp/x or /tmpfile\n"} {
		if got := outputs(nb.Cells[i]); got != want {
			t.Errorf("cell %d: %q, want %q", i+1, got, want)
		}
	}
	if last := nb.Cells[5]; len(last.Outputs) != 0 || last.Count != 0 {
		t.Errorf("the cell after the failure: %q", outputs(last))
	}
	path := filepath.Join(t.TempDir(), "x.ipynb")
	if err := nb.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), os.TempDir()+"/gonb") || !strings.HasSuffix(string(b), "\n}\n") {
		t.Errorf("the saved notebook has a temporary folder, or another form: %v", err)
	}
}

// A kernel that dies before it answers is started again, on other ports: another program may have taken one of
// them. One that always dies is an error.
func TestAKernelThatDiesAtItsStartIsStartedAgain(t *testing.T) {
	run := Kernel(t)
	specs := t.TempDir()
	run.Env = append(slices.Clone(run.Env), "JUPYTER_PATH="+specs)
	for name, lives := range map[string]string{"dies-once": "2", "dies": "9"} {
		folder := filepath.Join(specs, "kernels", name)
		count := filepath.Join(t.TempDir(), "starts")
		program := "import os, sys; open(sys.argv[1], 'a').write('x'); " +
			"os.path.getsize(sys.argv[1]) < int(sys.argv[2]) and sys.exit(1); " +
			"os.execv(sys.executable, [sys.executable, '-m', 'ipykernel_launcher', '-f', sys.argv[3]])"
		spec, err := json.Marshal(obj{
			"argv":         []string{run.Python, "-c", program, count, lives, "{connection_file}"},
			"display_name": name, "language": "python",
		})
		if err := errors.Join(err, os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, "kernel.json"), spec, 0o644)); err != nil {
			t.Fatal(err)
		}
		run.Kernel = name
		nb := newNotebook(t, "print(6 * 7)")
		_, err = run.Execute(t.Context(), nb)
		switch {
		case name == "dies-once" && (err != nil || outputs(nb.Cells[0]) != "stdout42\n"):
			t.Errorf("%v, %q", err, outputs(nb.Cells[0]))
		case name == "dies" && (err == nil || !strings.Contains(err.Error(), "the kernel dies did not start: RuntimeError: Kernel died")):
			t.Errorf("a kernel that dies at every start: %v", err)
		}
		if b, _ := os.ReadFile(count); name == "dies" && len(b) != 3 {
			t.Errorf("%s: %d starts", name, len(b))
		}
	}
}

// What Jupyter has written, with line ends of every kind, control characters and
// all kinds of cells, nbformat writes again byte for byte.
func TestARealRunKeepsWhatItDoesNotTouch(t *testing.T) {
	run := Kernel(t)
	before, err := notebook.ReadFile("../testdata/jupyter.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	nb := *before
	if _, err := run.Execute(t.Context(), &nb); err == nil {
		t.Fatal("its cells are no Go")
	}
	for i, c := range before.Cells {
		now := nb.Cells[i]
		if now.Source != c.Source || now.Kind != c.Kind || now.ID != c.ID || fmt.Sprint(now.Attachments) != fmt.Sprint(c.Attachments) {
			t.Errorf("cell %d was changed: %+v", i+1, now)
		}
	}
	refused, err := notebook.Read(strings.NewReader(`{"cells":[{"cell_type":"code","id":"a b","metadata":{},"source":"x","execution_count":1,"outputs":[]}],"metadata":{},"nbformat":4,"nbformat_minor":5}`), "x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Execute(t.Context(), refused); err == nil || !strings.Contains(err.Error(), "NotebookValidationError: 'a b' does not match") {
		t.Errorf("an id that the format forbids: %v", err)
	}
}

// Standard input is at its end for every cell, and what a cell prints comes whole,
// however long it is.
func TestARealCellFindsNoInputAndPrintsAsMuchAsItLikes(t *testing.T) {
	run := Kernel(t)
	run.Timeout = time.Minute
	nb := newNotebook(t,
		"import (\n\t\"fmt\"\n\t\"io\"\n\t\"os\"\n\t\"strings\"\n)\n%%\nvar x int\n_, err := fmt.Scan(&x)\nfmt.Println(x, err)\nb, err := io.ReadAll(os.Stdin)\nfmt.Println(len(b), err)",
		"!cat; read x; echo \"got:$x\"",
		"%with_inputs\n!read x; echo \"got:$x\"",
		"%%bash\necho script | cat",
		"%%\nfmt.Println(strings.Repeat(\"a\", 1_000_000))",
		"%%\nfor i := range 100_000 {\n\tfmt.Println(\"line\", i)\n}",
		"%%\nfor i := range 100_000 {\n\tfmt.Print(\"\\r\", i, \" %\")\n}",
	)
	if _, err := run.Execute(t.Context(), nb); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"stdout0 EOF\n0 <nil>\n", "stdoutgot:\n", "stdoutgot:\n", "stdoutscript\n", "stdout" + strings.Repeat("a", 1_000_000) + "\n"} {
		if got := outputs(nb.Cells[i]); got != want {
			t.Errorf("cell %d: %.100q of %d, want %.100q of %d", i+1, got, len(got), want, len(want))
		}
	}
	if got := outputs(nb.Cells[5]); strings.Count(got, "\n") != 100_000 || !strings.HasSuffix(got, "line 99999\n") || len(nb.Cells[5].Outputs) != 1 {
		t.Errorf("%d lines in %d outputs", strings.Count(got, "\n"), len(nb.Cells[5].Outputs))
	}
	if got := outputs(nb.Cells[6]); got != "stdout99999 %" {
		t.Errorf("an update: %.100q", got)
	}
}

func TestARealShellLineThatFailsAnInterruptAndATimeout(t *testing.T) {
	run := Kernel(t)
	run.Folder = t.TempDir()
	if _, err := run.Execute(t.Context(), newNotebook(t, "!exit 3")); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("a shell line: %v", err)
	}
	const sleep = "import (\n\t\"fmt\"\n\t\"time\"\n)\n%%\nfmt.Println(\"begun\")\ntime.Sleep(time.Minute)"
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(5*time.Second, stop)
	began := time.Now()
	nb := newNotebook(t, sleep, "%%\nfmt.Println(\"never\")")
	_, err := run.Execute(ctx, nb)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "cell 1 [1]: interrupted after") || time.Since(began) > 30*time.Second {
		t.Errorf("interrupted: %v after %v", err, time.Since(began))
	}
	if got := outputs(nb.Cells[0]); !strings.HasPrefix(got, "stdoutbegun\n") || len(nb.Cells[1].Outputs) != 0 {
		t.Errorf("the interrupted cell shows %q", got)
	}
	run.Timeout = 4 * time.Second
	_, err = run.Execute(t.Context(), newNotebook(t, "import \"fmt\"\n%%\nfmt.Println(\"quick\")", sleep))
	if err == nil || !strings.Contains(err.Error(), "cell 2 [2]: ran longer than 4s and was stopped") {
		t.Errorf("too long: %v", err)
	}
}

func TestARealKernelThatDiesIsAnErrorAndWhatRanIsKept(t *testing.T) {
	run := Kernel(t)
	nb := newNotebook(t,
		"import \"fmt\"\n%%\nfmt.Println(\"before\")",
		// The cell's program is a child of gonb, and that of the relay.
		"import (\n\t\"os\"\n\t\"os/exec\"\n\t\"strings\"\n)\n%%\nout, _ := exec.Command(\"ps\", \"-o\", \"ppid=\", \"-p\", fmt.Sprint(os.Getppid())).Output()\nexec.Command(\"kill\", \"-9\", strings.TrimSpace(string(out))).Run()\nselect {}",
	)
	_, err := run.Execute(t.Context(), nb)
	if err == nil || !strings.Contains(err.Error(), "cell 2 [2]: the kernel died while the cell ran") {
		t.Errorf("%v", err)
	}
	if got := outputs(nb.Cells[0]); got != "stdoutbefore\n" {
		t.Errorf("the cell before it shows %q", got)
	}
}

func TestAPageSaysWhatItsPicturesShow(t *testing.T) {
	run := Kernel(t)
	picture := func(text string) obj {
		return obj{"output_type": "display_data", "metadata": obj{}, "data": obj{"image/png": "AAAA\n", "text/plain": text}}
	}
	cell := obj{"cell_type": "code", "id": "a", "metadata": obj{}, "source": "x", "execution_count": 1, "outputs": []obj{
		picture("\nthe loss < 1\n  a curve of letters"), picture(""), picture("again"),
	}}
	b, err := json.Marshal(obj{"cells": []obj{cell}, "metadata": obj{}, "nbformat": 4, "nbformat_minor": 5})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.ipynb")
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run.HTML(t.Context(), path, path+".html"); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path + ".html")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range regexp.MustCompile(`<img alt="([^"]*)"`).FindAllStringSubmatch(string(page), -1) {
		said = append(said, m[1])
	}
	if want := []string{"the loss &lt; 1", "No description has been provided for this image", "again"}; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// loads are what makes a browser fetch something: attributes, styles and modules with an
// address on the network. Links are none of them.
var loads = regexp.MustCompile(`(?i)<(?:script|img|iframe|source|video|audio|embed|object|input|track)\b[^>]*\b(?:src|srcset|data|poster)\s*=\s*["']?(?:https?:)?//[^"' >]*` +
	`|<link\b[^>]*\bhref\s*=\s*["']?(?:https?:)?//[^"' >]*|url\(\s*["']?(?:https?:)?//[^"')]*|@import\s+["'](?:https?:)?//[^"']*|import\(?\s*["'](?:https?:)?//[^"']*`)

// A page loads nothing from elsewhere; its formulas are MathML.
func TestAPageLoadsNothingFromElsewhere(t *testing.T) {
	run := Kernel(t)
	cell := obj{"cell_type": "markdown", "id": "m", "metadata": obj{}, "source": "The *advantage* is $|2\\,\\mathrm{AUC} - 1| < 1$, not `$HOME$`, and $5.\n\n" +
		"$$a * b * c = \\frac{1}{2} \\tag{3}$$\n\n[a link](https://a.org/x)\n\n    $code$\n"}
	text, err := json.Marshal(obj{"cells": []obj{cell}, "metadata": obj{}, "nbformat": 4, "nbformat_minor": 5})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.ipynb")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run.HTML(t.Context(), path, path+".html"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path + ".html")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	for _, load := range loads.FindAllString(page, -1) {
		t.Errorf("it loads %s", load)
	}
	for _, want := range []string{
		`<meta content="default-src 'none';`, `http-equiv="Content-Security-Policy"`, `href="https://a.org/x"`, "<em>advantage</em>", `<math display="inline"`,
		`<math display="block"`, "<mfrac>", "(3)", "$HOME$", "$code$", "and $5.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("it has no %s", want)
		}
	}
	if n := strings.Count(page, "<math"); n != 2 {
		t.Errorf("%d formulas", n)
	}
	for _, bad := range []string{`<script src="https://a.org/x.js">`, `<img alt="" src='//a.org/x.png'>`, `<link rel="stylesheet" href="http://a.org/x.css">`, `@import "https://a.org"`,
		`url(https://a.org/x.woff)`, `import("https://a.org/x.mjs")`} {
		if !loads.MatchString(bad) {
			t.Errorf("%s would not be seen", bad)
		}
	}
}
