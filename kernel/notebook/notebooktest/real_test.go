package notebooktest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/kernel/notebook"
)

func code(source string) notebook.Cell {
	return notebook.Cell{Kind: notebook.Code, Source: source}
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
	nb := &notebook.Notebook{Cells: []notebook.Cell{
		code("import (\n\t\"fmt\"\n\t\"os\"\n\t\"github.com/lethe-ml/lethe/lib/stats\"\n)\n%%\nm, _ := stats.Median([]float64{1, 2, 4})\nfmt.Println(m, os.Getenv(\"LETHE_SCALE\"))"),
		code("import \"github.com/janpfeifer/gonb/gonbui\"\n%%\nfor i := range 4 {\n\tgonbui.UpdateHtml(\"bar\", fmt.Sprint(i))\n}\ngonbui.Sync()"),
		code("%%\nfmt.Println(undefinedName)"),
		code("%%\nfmt.Println(\"never\")"),
	}}
	for i := range nb.Cells {
		nb.Cells[i].ID = "c" + string(rune('0'+i))
	}
	total, err := run.Execute(t.Context(), nb)
	var failed *notebook.CellError
	if !errors.As(err, &failed) || failed.Cell != 3 || total.Cells != 3 || !strings.Contains(err.Error(), "undefined: undefinedName") {
		t.Fatalf("%+v, %v", total, err)
	}
	if got := outputs(nb.Cells[0]); got != "stdout2 quick\n" {
		t.Errorf("first cell: %q", got)
	}
	if got := outputs(nb.Cells[1]); got != "html 3\n" {
		t.Errorf("second cell: %q", got)
	}
	if len(nb.Cells[3].Outputs) != 0 {
		t.Errorf("the cell after the failure: %q", outputs(nb.Cells[3]))
	}
	path := filepath.Join(t.TempDir(), "x.ipynb")
	if err := nb.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), os.TempDir()+"/gonb") {
		t.Errorf("the saved notebook has a temporary folder: %v", err)
	}
}

func TestARealShellLineThatFailsAndAnInterrupt(t *testing.T) {
	run := Kernel(t)
	s, err := run.Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Execute(t.Context(), "!exit 3", time.Minute); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("a shell line: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(3*time.Second, stop)
	began := time.Now()
	_, err = s.Execute(ctx, "import \"time\"\n%%\ntime.Sleep(time.Minute)", 0)
	if !errors.Is(err, context.Canceled) || time.Since(began) > 30*time.Second {
		t.Errorf("interrupted: %v after %v", err, time.Since(began))
	}
	if run, err := s.Execute(t.Context(), "import \"fmt\"\n%%\nfmt.Println(\"alive\")", time.Minute); err != nil || len(run.Outputs) != 1 {
		t.Errorf("afterwards: %v", err)
	}
}
