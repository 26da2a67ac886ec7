package notebook

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// HTML turns the notebook into a web page, with nbconvert; name is its title.
func (j Jupyter) HTML(ctx context.Context, nb *Notebook, name, page string) error {
	dir, err := os.MkdirTemp("", "lethe-page-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	source := filepath.Join(dir, name+".ipynb")
	described, err := nb.withAlt()
	if err != nil {
		return err
	}
	if err := described.WriteFile(source); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, j.Python, "-m", "nbconvert", "--to", "html", "--log-level", "ERROR", "--stdout", source)
	c.Env = j.Env
	said := &tail{}
	c.Stderr = said
	html, err := c.Output()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("no web page: nbconvert: %w: %s", err, said.last())
	}
	return inOneStep(page, func(w io.Writer) error {
		_, err := w.Write(html)
		return err
	})
}

// withAlt is a copy of the notebook in which the first line of the text beside
// a picture is where nbconvert looks for what the picture shows.
func (nb *Notebook) withAlt() (*Notebook, error) {
	var b bytes.Buffer
	if err := nb.Write(&b); err != nil {
		return nil, err
	}
	described, err := Read(&b, "the notebook")
	if err != nil {
		return nil, err
	}
	described.eachOutput(func(o *Output) {
		alt := visibleLines(o.text("text/plain"))
		for media := range o.Data {
			_, has := o.Metadata[media]
			if strings.HasPrefix(media, "image/") && len(alt) > 0 && !has {
				o.Metadata[media] = Object{"alt": strings.TrimSpace(alt[0])}
			}
		}
	})
	return described, nil
}
