package notebook

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/onestep"
	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// WriteFile writes the notebook to path in one step: a reader sees the old
// notebook or the new. Folders that are missing are made.
func (nb *Notebook) WriteFile(path string) error { return inOneStep(path, nb.Text) }

func inOneStep(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return onestep.File(path, content)
}

// HTML turns the notebook, which is saved at path, into a web page, with
// nbconvert.
func (j Jupyter) HTML(ctx context.Context, nb *Notebook, path, page string) error {
	argv := []string{j.Python, "-m", "nbconvert", "--to", "html", "--log-level", "ERROR", "--stdout", path}
	text, err := proc.Task{Env: j.Env, Argv: argv}.Output(ctx)
	var failed *proc.Failure
	if errors.As(err, &failed) {
		err = fmt.Errorf("no web page: nbconvert: %w: %s", failed.Err, failed.Says())
	}
	if err != nil {
		return err
	}
	return inOneStep(page, []byte(nb.describePictures(text)))
}

// inline stands before the contents of a picture in a page.
const inline = "base64,"

var altText = regexp.MustCompile(`\balt="[^"]*"`)

// describePictures gives the pictures of a page the first line of the text
// beside them; nbconvert's own template says that they have no description.
func (nb *Notebook) describePictures(page string) string {
	var done strings.Builder
	picture := func(o *Output) {
		data := strings.TrimSpace(o.text("image/png"))
		alt := visibleLines(o.text("text/plain"))
		at := strings.Index(page, inline+data)
		if data == "" || len(alt) == 0 || at < 0 {
			return
		}
		start := strings.LastIndex(page[:at], "<img ")
		if start < 0 {
			return
		}
		text := `alt="` + html.EscapeString(strings.TrimSpace(alt[0])) + `"`
		done.WriteString(page[:start] + altText.ReplaceAllLiteralString(page[start:at], text) + inline)
		page = page[at+len(inline):]
	}
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			picture(o)
		}
	}
	return done.String() + page
}
