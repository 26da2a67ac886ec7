// Tests of jupyter.go.

package setup

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestJupytersFilesAreWhatJupyterReads(t *testing.T) {
	files, err := jupyterFiles()
	if err != nil {
		t.Fatal(err)
	}
	const extension = "data/labextensions/lethe-launcher/"
	for name, content := range files {
		var v any
		if ext := filepath.Ext(name); (ext == ".json" || ext == ".ipynb") && json.Unmarshal([]byte(content), &v) != nil {
			t.Errorf("%s is no JSON", name)
		}
	}
	var pkg struct {
		Jupyterlab struct {
			Build struct{ Load string } `json:"_build"`
		}
	}
	if err := json.Unmarshal([]byte(files[extension+"package.json"]), &pkg); err != nil {
		t.Fatal(err)
	}
	script := files[extension+pkg.Jupyterlab.Build.Load]
	for _, name := range []string{"template.ipynb", "new-notebook.svg", "looks.css", "table.js"} {
		if !strings.Contains(script, `"`+name+`"`) || files[extension+"static/"+name] == "" {
			t.Errorf("the launcher's %s is not there", name)
		}
	}
}

// JupyterLab shows a card per kernel and one for our notebook, side by side.
func TestEntriesOfTheLauncherHaveDifferentIcons(t *testing.T) {
	files, err := jupyterFiles()
	if err != nil {
		t.Fatal(err)
	}
	notebook := files["data/labextensions/lethe-launcher/static/new-notebook.svg"]
	if notebook == "" || notebook == logoSVG || notebook == logoXLASVG || logoSVG == logoXLASVG || logoPNG == logoXLAPNG {
		t.Error("two entries have one icon")
	}
}

// The pages of executed notebooks have the looks of JupyterLab.
func TestPagesIncludeTheLooks(t *testing.T) {
	files, err := jupyterFiles()
	if err != nil {
		t.Fatal(err)
	}
	if looks := files["data/nbconvert/templates/lethe/looks.css"]; !strings.Contains(looks, "word-break: normal") ||
		!strings.Contains(files["data/nbconvert/templates/lethe/index.html.j2"], "{% include 'looks.css' %}") {
		t.Error("the style sheet is not in the page")
	}
}

// TestTheTemplateCompiles keeps it up with the library.
func TestTheTemplateCompiles(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil || testing.Short() {
		t.Skip("compiles a program, with the go tool")
	}
	files, err := jupyterFiles()
	if err != nil {
		t.Fatal(err)
	}
	var notebook struct {
		Cells []struct {
			Kind   string `json:"cell_type"`
			Source []string
		}
	}
	if err := json.Unmarshal([]byte(files["data/labextensions/lethe-launcher/static/template.ipynb"]), &notebook); err != nil {
		t.Fatal(err)
	}
	program := "package main\n"
	for _, c := range notebook.Cells {
		if source := strings.Join(c.Source, ""); c.Kind == "code" {
			if body, runs := strings.CutPrefix(source, "%%\n"); runs {
				source = "func main() {\n" + body + "\n}"
			}
			program += source + "\n"
		}
	}
	path := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(path, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "vet", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
