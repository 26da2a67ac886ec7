// Saving notebooks, and converting them to web pages.

package notebook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
	"github.com/lethe-ml/lethe/lib/files"
)

// WriteFile writes the notebook to path atomically. Missing folders are made.
func (nb *Notebook) WriteFile(path string) error { return writeInOneStep(path, nb.Text) }

func writeInOneStep(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return files.WriteFile(path, content)
}

// HTML converts the notebook saved at path into a web page, with nbconvert and Lethe's
// template.
func (j Jupyter) HTML(ctx context.Context, path, page string) error {
	argv := []string{j.Python, "-m", "nbconvert", "--to", "html", "--template", "lethe", "--log-level", "ERROR", "--stdout", path}
	text, err := proc.Task{Env: j.Env, Argv: argv}.Output(ctx)
	var failed *proc.Failure
	if errors.As(err, &failed) {
		err = fmt.Errorf("no web page: nbconvert: %w: %s", failed.Err, failed.Message())
	}
	if err != nil {
		return err
	}
	return writeInOneStep(page, []byte(text))
}
