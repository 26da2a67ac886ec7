// Recipes, and the committed tables and figures that they made, use the field's terms.

package command

import (
	"bufio"
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/figures"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

// recordedLabels hold private words that stay: labels of rows and columns and names of engines in
// committed tables and in keys of stored results, names of random streams, and names of folders.
var recordedLabels = []string{
	"original (do nothing)", "'do nothing'", "do nothing, difference", "M2 < 0, do nothing",
	"frozen critics, strangers, sum loss", "weights aboard", "attacks-fleet", "/arms-%d",
}

// findWords returns the private words of a text, except those of recorded labels. The row "do
// nothing" is one where it is the whole text, or begins a figure's line.
func findWords(text string) []string {
	if label := strings.TrimSpace(text); label == "do nothing" || strings.HasPrefix(label, "do nothing  ") {
		return nil
	}
	for _, recorded := range recordedLabels {
		text = strings.ReplaceAll(text, recorded, "")
	}
	return clitest.FindPrivateWords(text)
}

func checkWords(t *testing.T, where, text string) {
	t.Helper()
	for _, word := range findWords(text) {
		t.Errorf("%s: %s in %q", where, word, text)
	}
}

// TestRecipesUseTheFieldsTerms reads the titles and descriptions of all recipes.
func TestRecipesUseTheFieldsTerms(t *testing.T) {
	for _, p := range Papers() {
		checkWords(t, p.Name, p.Title)
		for _, s := range p.Scales {
			checkWords(t, p.Name+", scale "+s.Name, s.About)
		}
		for _, r := range p.Recipes {
			checkWords(t, r.ID+", title", r.Title)
			checkWords(t, r.ID+", description", r.Doc)
		}
	}
}

// TestTextsOfPapersUseTheFieldsTerms reads all strings of the papers' packages: captions, names of
// columns, notes and labels, without making a table.
func TestTextsOfPapersUseTheFieldsTerms(t *testing.T) {
	root := filepath.Join("..", "paper")
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the module's sources are not here")
	}
	texts := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.StructType, *ast.ImportSpec: // tags and paths
				return false
			case *ast.BinaryExpr: // a text in several lines
				if text, all := joinStrings(n); all {
					checkWords(t, set.Position(n.Pos()).String(), text)
					texts++
					return false
				}
			case *ast.BasicLit:
				if text, is := joinStrings(n); is {
					checkWords(t, set.Position(n.Pos()).String(), text)
					texts++
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if texts < 1000 {
		t.Errorf("only %d texts were found", texts)
	}
}

// joinStrings returns the text of string literals that are added up, and false for any other
// expression.
func joinStrings(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, is := joinStrings(e.X)
		right, too := joinStrings(e.Y)
		return left + right, is && too && e.Op == token.ADD
	}
	return "", false
}

// TestCommittedFiguresUseTheFieldsTerms reads the committed tables and the texts of the committed
// figures.
func TestCommittedFiguresUseTheFieldsTerms(t *testing.T) {
	tables, pictures := 0, 0
	err := fs.WalkDir(figures.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch path.Ext(name) {
		case ".json":
			tables++
			table, err := paper.Committed(figures.Files, strings.TrimSuffix(name, ".json"))
			if err != nil {
				return err
			}
			for _, text := range textsOfTable(table) {
				checkWords(t, name, text)
			}
		case ".txt":
			pictures++
			b, err := fs.ReadFile(figures.Files, name)
			if err != nil {
				return err
			}
			lines := bufio.NewScanner(bytes.NewReader(b))
			for n := 1; lines.Scan(); n++ {
				checkWords(t, name+":"+strconv.Itoa(n), lines.Text())
			}
			return lines.Err()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if tables < 50 || pictures < 20 {
		t.Errorf("only %d tables and %d figures were read", tables, pictures)
	}
}

// textsOfTable are the texts of a table, each once.
func textsOfTable(t *report.Table) []string {
	out := append([]string{t.Title, t.Caption, t.Provenance.Kernel}, t.Notes...)
	for _, c := range t.Columns {
		out = append(out, c.Name, c.Unit, c.Note)
	}
	for _, r := range t.Rows {
		out = append(out, r.Group)
		for _, c := range r.Cells {
			out = append(out, c.Text, c.Missing)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestRecordedLabelsHideNoOtherWords(t *testing.T) {
	for text, found := range map[string]bool{
		"do nothing": false, "  do nothing      ●": false, "'do nothing' is the original": false, "frozen critics, strangers, sum loss": false,
		"arm": true, "doing nothing passes": true, "models that do nothing": true, "strangers": true, "known by heart": true,
		"'do nothing' is an arm": true,
	} {
		if words := findWords(text); (len(words) > 0) != found {
			t.Errorf("%q: %q", text, words)
		}
	}
}
