package nb

import (
	"reflect"

	"github.com/lethe-ml/lethe/lib/plot"
)

// notebookWidth is the width of a figure on the page in CSS pixels, seven
// inches: it fits beside JupyterLab's folders on a small screen, with letters
// as large as those of the text around it.
const notebookWidth = 672

// sized gives a figure that names no width the width of a notebook, and returns
// the image pixels per CSS pixel. Panels keep their own width, they hold several
// figures side by side.
func sized(f plot.Figure) (plot.Figure, int) {
	v := reflect.Indirect(reflect.ValueOf(f))
	if v.Kind() != reflect.Struct {
		return f, 2
	}
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	meta, ok := metaOf(c)
	if !ok {
		return f, 2
	}
	if _, several := f.(plot.Panels); meta.Width == 0 && !several {
		meta.Width = notebookWidth
	}
	scale := meta.Scale
	if scale == 0 {
		scale = 2
	}
	if out, ok := c.Interface().(plot.Figure); ok {
		return out, scale
	}
	return f, scale
}

// metaOf finds what stands around the drawing in a copy of a figure.
func metaOf(c reflect.Value) (*plot.Meta, bool) {
	field := c.FieldByName("Meta")
	if !field.IsValid() || !field.CanAddr() {
		return nil, false
	}
	meta, ok := field.Addr().Interface().(*plot.Meta)
	return meta, ok
}
