// Tests of scope.go.

package relay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/kernel/internal/gopls"
)

func learned(cells ...string) scope {
	var s scope
	for _, code := range cells {
		s.learn(code)
	}
	return s
}

func TestWhatTheLanguageServerSees(t *testing.T) {
	s := learned(
		"import (\n\t\"fmt\"\n\tr \"math/rand/v2\"\n)\n\n// f is one.\nfunc f() int { return 1 }\n\nvar a, b = 1, 2",
		"type T[P any] struct{}\n\nfunc (t *T[P]) M() {}\n\nconst (\n\tx = iota\n\ty\n)\n\n%%\nfmt.Println(f())",
		"func f() string { return \"\" }\nvar b = 3",
		"%%script bash\nfunc no() {",
	)
	cell, above, others := s.files("import \"os\"\n%goflags\n%%\nx := f()\nx.")
	want := "package main\n\nimport \"fmt\"\nimport r \"math/rand/v2\"\nimport \"os\"\n\nfunc main() {\nx := f()\nx.\n}\n"
	if cell != want || above != 4 {
		t.Errorf("%d lines above in\n%s--- want\n%s", above, cell, want)
	}
	for _, part := range []string{"type T[P any] struct{}", "func (t *T[P]) M() {}", "const (\n\tx = iota\n\ty\n)", "func f() string", "var b = 3"} {
		if !strings.Contains(others, part) {
			t.Errorf("the others lack %s:\n%s", part, others)
		}
	}
	for _, old := range []string{"f is one", "a, b", "func main", "no()"} {
		if strings.Contains(others, old) {
			t.Errorf("the others hold %s:\n%s", old, others)
		}
	}
}

func TestACellReplacesWhatItDeclares(t *testing.T) {
	s := learned("func f() {}\nfunc g() {}", "import \"fmt\"")
	cell, _, others := s.files("import \"fmt\"\nfunc g() { fmt.")
	if strings.Contains(others, "func g") || !strings.Contains(others, "func f") || strings.Count(cell, "\"fmt\"") != 1 {
		t.Errorf("cell\n%sothers\n%s", cell, others)
	}
	s.learn("%reset")
	if _, _, others := s.files(""); others != "package main\n\n" {
		t.Errorf("after %%reset: %s", others)
	}
}

func TestAStatementIsCompletedToo(t *testing.T) {
	for code, want := range map[string]bool{
		"c := 1\nc.": true, "fmt.Pr": true, "!ls\nx": true, "for {": true,
		"%%\nc": false, "func f() {}": false, "import \"os\"": false, "// nothing\n": false, "": false, "var x int\n%%\nx": false,
	} {
		if got := isStatement(code); got != want {
			t.Errorf("%q is a statement: %v", code, got)
		}
	}
	if cell, above, _ := (scope{}).files("c := 1\nc."); cell != "package main\n\nfunc main() {\nc := 1\nc.\n}\n" || above != 3 {
		t.Errorf("%d lines above in\n%s", above, cell)
	}
}

func TestPlaces(t *testing.T) {
	for cursor, want := range map[int]gopls.Position{
		-1: {}, 0: {}, 2: {Line: 0, Character: 3}, 3: {Line: 1}, 5: {Line: 1, Character: 2}, 99: {Line: 1, Character: 2},
	} {
		if got := cursorPosition("a𝄞\nbc", cursor); got != want {
			t.Errorf("cursor %d is at %v, want %v", cursor, got, want)
		}
	}
}

func TestCodeOfANotebook(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.ipynb")
	content := `{"cells":[{"cell_type":"markdown","source":"func no() {}"},{"cell_type":"code","source":["a\n","b"]},{"cell_type":"code","source":"c"},{"cell_type":"code","source":3}]}`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(notebookCode(file), "|"); got != "a\nb|c" {
		t.Errorf("got %q", got)
	}
	if got := notebookCode(filepath.Dir(file)); got != nil {
		t.Errorf("a folder holds %q", got)
	}
}

func TestCursorOnAName(t *testing.T) {
	for cursor, want := range map[int]bool{-3: false, 0: true, 1: true, 2: true, 3: false, 4: false, 9: false} {
		if got := cursorOnName("ab()", cursor); got != want {
			t.Errorf("%d: %v", cursor, got)
		}
	}
}
