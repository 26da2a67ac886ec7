// Pages and notebooks use the field's terms.

package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// pages are the patterns of the pages that are read. CHANGELOG and docs/history.md quote old names.
var pages = []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/guide/*.md"}

// TestPagesUseTheFieldsTerms reads the pages in Markdown, outside code and links, by paragraph: a term
// may be broken over two lines.
func TestPagesUseTheFieldsTerms(t *testing.T) {
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Skip("the module's sources are not here")
	}
	seen := 0
	for _, pattern := range pages {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if base := filepath.Base(file); base == "history.md" || base == "commands.md" {
				continue // TestHelpTextsUseTheFieldsTerms reads what commands.md is made from
			}
			seen++
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for paragraph := range strings.SplitSeq(withoutCode(string(text)), "\n\n") {
				checkWords(t, file, strings.Join(strings.Fields(paragraph), " "))
			}
		}
	}
	if seen < 18 {
		t.Errorf("only %d pages were read", seen)
	}
}

// rowLabel removes the name of a recorded row, at the start of a sentence too.
var rowLabel = strings.NewReplacer("do nothing", "", "Do nothing", "")

// TestNotebooksUseTheFieldsTerms reads the text and the code of all notebooks, not their outputs:
// these show rows of committed tables.
func TestNotebooksUseTheFieldsTerms(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "notebooks", "*", "*.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Skip("the notebooks are not here")
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var notebook struct {
			Cells []struct {
				Source []string `json:"source"`
			} `json:"cells"`
		}
		if err := json.Unmarshal(b, &notebook); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, cell := range notebook.Cells {
			for _, line := range cell.Source {
				checkWords(t, file, rowLabel.Replace(line))
			}
		}
	}
}

// withoutCode removes blocks of code and code in lines: they hold names and recorded labels.
func withoutCode(text string) string {
	var out strings.Builder
	for i, block := range strings.Split(text, "```") {
		if i%2 == 1 {
			continue
		}
		for k, span := range strings.Split(block, "`") {
			if k%2 == 0 {
				out.WriteString(span)
			}
		}
	}
	return out.String()
}
