package notebook

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// WriteFile writes the notebook to path in one step: a reader sees the old
// notebook or the new. Folders that are missing are made.
func (nb *Notebook) WriteFile(path string) error { return inOneStep(path, nb.Write) }

func inOneStep(path string, write func(io.Writer) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("%s cannot be written: %w", path, err)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// HTML turns the notebook file at path into a web page, with nbconvert.
func (j Jupyter) HTML(ctx context.Context, path, page string) error {
	if err := os.MkdirAll(filepath.Dir(page), 0o755); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, j.Python, "-m", "nbconvert", "--to", "html", "--log-level", "ERROR",
		"--output-dir", filepath.Dir(page), "--output", filepath.Base(page), path)
	c.Env = j.Env
	said := &tail{}
	c.Stdout, c.Stderr = said, said
	if err := c.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("no web page: nbconvert: %w: %s", err, said.last())
	}
	return nil
}
