// Figures and pictures as outputs of a cell.

package nb

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"math"
	"reflect"
	"strings"

	"github.com/lethe-ml/lethe/lib/plot"
)

// Figure shows a figure: in a notebook as a PNG with the figure's text as alternative text,
// in a terminal as that text. Figures that also have a Vega-Lite form are interactive in
// JupyterLab. A figure that cannot be drawn ends the cell.
func Figure(f plot.Figure) {
	Check(std.figure(f, ""))
}

func (s *outputTarget) figure(f plot.Figure, id string) error {
	if f == nil {
		return fmt.Errorf("there is no figure to show: it is nil")
	}
	if !s.notebook {
		if err := f.Render(io.Discard, "txt"); err != nil {
			return err
		}
		s.printLine(s.out, "%s", strings.TrimRight(f.Text(), "\n"))
		return nil
	}
	o, err := figureOutput(f)
	if err != nil {
		return err
	}
	o.id = id
	s.show(o, f.Text()+"\n")
	return nil
}

// figureOutput returns the figure in all its forms.
func figureOutput(f plot.Figure) (output, error) {
	picture, err := plot.WithWidth(f, plot.NotebookWidth).PNG()
	if err != nil {
		return output{}, err
	}
	o, err := pictureOutput(picture, f.Text(), density(f))
	if err != nil {
		return output{}, err
	}
	if v, ok := f.(plot.Interactive); ok {
		if spec, err := v.VegaLite(); err == nil { // too much data: the PNG is enough
			o.data[vegaLite] = dataURL(spec)
		}
	}
	return o, nil
}

// density returns the number of pixels of the figure's PNG per CSS pixel.
func density(f plot.Figure) float64 {
	v := reflect.Indirect(reflect.ValueOf(f))
	if v.Kind() == reflect.Struct {
		field := v.FieldByName("Meta")
		if field.IsValid() && field.CanInterface() {
			if m, ok := field.Interface().(plot.Meta); ok && m.Scale > 0 {
				return float64(m.Scale)
			}
		}
	}
	return plot.NotebookDPI / 96.0
}

// vegaLite is the media type that JupyterLab draws by itself, offline and in a notebook
// that is not trusted.
const vegaLite = "application/vnd.vegalite.v5+json"

// dataURL returns a specification as a data URL. The kernel's pipe (gob) cannot carry the
// nulls that a specification may hold.
func dataURL(spec []byte) string {
	return "data:application/json;base64," + base64.StdEncoding.EncodeToString(spec)
}

// pictureOutput returns a PNG with its alternative text. density is the number of pixels
// per CSS pixel.
func pictureOutput(picture []byte, alt string, density float64) (output, error) {
	head, err := png.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		return output{}, fmt.Errorf("not a PNG picture: %w", err)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(alt), "\n")
	return output{
		data: bundle{"image/png": picture, "text/plain": alt},
		meta: map[string]any{"image/png": map[string]any{"alt": first, "width": int(math.Round(float64(head.Width) / density))}},
	}, nil
}

// Picture shows a committed PNG file at half its size, under a label that says what it is
// and where its numbers come from. A terminal prints the label and the file's name.
func Picture(files fs.FS, name, label string) {
	Check(std.picture(files, name, label))
}

func (s *outputTarget) picture(files fs.FS, name, label string) error {
	picture, err := fs.ReadFile(files, name)
	if err != nil {
		return fmt.Errorf("the picture %s cannot be read: %w", name, err)
	}
	label = oneLine(label)
	o, err := pictureOutput(picture, label, 2)
	if err != nil {
		return fmt.Errorf("the picture %s: %w", name, err)
	}
	if !s.notebook {
		s.printLine(s.out, "[picture %s: %s]", name, label)
		return nil
	}
	s.show(output{data: bundle{"text/markdown": "*" + markdownText(label) + "*", "text/plain": label}}, label+"\n")
	s.show(o, fmt.Sprintf("[picture %s]\n", name))
	return nil
}
