package notebook

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
)

// maxBytes bounds the size of a notebook file.
const maxBytes = 64 << 20

// Read reads a notebook of format 4.5 and refuses what that format does not
// allow; the error names the file (name), the cell, counted from 1, and the
// field. Metadata of every kind is kept.
func Read(r io.Reader, name string) (*Notebook, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > maxBytes {
		return nil, fmt.Errorf("%s: larger than %d MB", name, maxBytes>>20)
	}
	v, err := parseJSON(b)
	if err != nil {
		return nil, fmt.Errorf("%s: no notebook: %w", name, err)
	}
	d := &reader{}
	nb := d.notebook(v)
	if d.err != nil {
		return nil, fmt.Errorf("%s: %w", name, d.err)
	}
	return nb, nil
}

// ReadFile reads the notebook at path.
func ReadFile(path string) (*Notebook, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// ReadFS reads the notebook at path of fsys.
func ReadFS(fsys fs.FS, path string) (*Notebook, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// reader turns JSON values into a notebook and keeps the first error.
type reader struct {
	where string // the cell
	err   error
}

func (d *reader) fail(field, format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%s%s: %s", d.where, field, fmt.Sprintf(format, args...))
	}
}

func (d *reader) notebook(v any) *Notebook {
	o := d.object(v, "the file")
	d.format(o)
	d.only(o, "", "metadata", "nbformat", "nbformat_minor", "cells")
	nb := &Notebook{Metadata: d.object(o["metadata"], "metadata")}
	for _, transient := range []string{"orig_nbformat", "orig_nbformat_minor", "signature"} {
		delete(nb.Metadata, transient)
	}
	seen := map[string]int{}
	for i, c := range d.list(o["cells"], "cells") {
		d.where = fmt.Sprintf("cell %d: ", i+1)
		cell := d.cell(c)
		if first := seen[cell.ID]; first > 0 {
			d.fail("id", "%q is the id of cell %d too", cell.ID, first)
		}
		seen[cell.ID] = i + 1
		nb.Cells = append(nb.Cells, cell)
		if d.err != nil {
			break
		}
	}
	return nb
}

// format refuses other versions before their fields look like mistakes.
func (d *reader) format(o Object) {
	if d.err != nil {
		return
	}
	major, minor := o["nbformat"], o["nbformat_minor"]
	if major != json.Number("4") || minor != json.Number("5") {
		d.fail("nbformat", "%v.%v, expected 4.5: open the notebook in JupyterLab and save it", major, minor)
	}
}

var idPattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (d *reader) cell(v any) Cell {
	o := d.object(v, "the cell")
	c := Cell{Kind: Kind(d.string(o["cell_type"], "cell_type"))}
	fields := []string{"cell_type", "id", "metadata", "source"}
	switch c.Kind {
	case Code:
		fields = append(fields, "execution_count", "outputs")
	case Markdown, Raw:
		fields = append(fields, "attachments")
	default:
		d.fail("cell_type", "%q: there are code, markdown and raw", c.Kind)
	}
	d.only(o, "", fields...)
	c.ID = d.string(o["id"], "id")
	if !idPattern.MatchString(c.ID) {
		d.fail("id", "%q: expected 1 to 64 of the characters A-Z a-z 0-9 _ -", c.ID)
	}
	c.Metadata = d.object(o["metadata"], "metadata")
	delete(c.Metadata, "trusted")
	c.Source = d.lines(o["source"], "source")
	if files, ok := o["attachments"]; ok {
		c.Attachments = map[string]Object{}
		all := d.object(files, "attachments")
		for _, name := range sortedKeys(all) {
			c.Attachments[name] = d.bundle(all[name], "attachments."+name)
		}
	}
	if c.Kind == Code {
		c.Count = d.count(o, "execution_count")
		for i, out := range d.list(o["outputs"], "outputs") {
			c.Outputs = append(c.Outputs, d.output(out, fmt.Sprintf("outputs[%d]", i)))
		}
	}
	return c
}

func (d *reader) output(v any, at string) *Output {
	o := d.object(v, at)
	out := &Output{Type: d.string(o["output_type"], at+".output_type")}
	switch out.Type {
	case StreamOutput:
		d.only(o, at+".", "output_type", "name", "text")
		out.Name = d.string(o["name"], at+".name")
		out.Text = d.lines(o["text"], at+".text")
	case DisplayOutput, ResultOutput:
		fields := []string{"output_type", "data", "metadata"}
		if out.Type == ResultOutput {
			fields = append(fields, "execution_count")
			out.Count = d.count(o, at+".execution_count")
		}
		d.only(o, at+".", fields...)
		out.Data = d.bundle(o["data"], at+".data")
		out.Metadata = d.object(o["metadata"], at+".metadata")
	case ErrorOutput:
		d.only(o, at+".", "output_type", "ename", "evalue", "traceback")
		out.Ename = d.string(o["ename"], at+".ename")
		out.Evalue = d.string(o["evalue"], at+".evalue")
		for i, line := range d.list(o["traceback"], at+".traceback") {
			out.Traceback = append(out.Traceback, d.string(line, fmt.Sprintf("%s.traceback[%d]", at, i)))
		}
	default:
		d.fail(at+".output_type", "%q: there are stream, display_data, execute_result and error", out.Type)
	}
	return out
}

// bundle is a value per media type; texts may be stored as lists of lines.
func (d *reader) bundle(v any, at string) Object {
	o := d.object(v, at)
	for _, media := range sortedKeys(o) {
		if !isJSON(media) {
			o[media] = d.lines(o[media], at+"."+media)
		}
	}
	return o
}

// only refuses fields other than those known.
func (d *reader) only(o Object, at string, known ...string) {
	for _, key := range sortedKeys(o) {
		if !slices.Contains(known, key) {
			d.fail(at+key, "unknown field")
		}
	}
}

func (d *reader) count(o Object, at string) int {
	field := at[strings.LastIndexByte(at, '.')+1:]
	v, given := o[field]
	n, ok := v.(json.Number)
	switch {
	case given && v == nil:
		return 0
	case !ok:
		d.fail(at, "expected a number or null, got %s", describe(v))
		return 0
	}
	i, err := n.Int64()
	if err != nil || i < 1 || i > 1<<30 {
		d.fail(at, "%s: expected null or a whole number from 1", n)
		return 0
	}
	return int(i)
}

// lines is a text, stored as a string or as a list of strings to be joined.
func (d *reader) lines(v any, at string) string {
	if s, ok := v.(string); ok {
		return s
	}
	list, ok := v.([]any)
	if !ok {
		d.fail(at, "expected a string or a list of strings, got %s", describe(v))
	}
	var b strings.Builder
	for i, line := range list {
		b.WriteString(d.string(line, fmt.Sprintf("%s[%d]", at, i)))
	}
	return b.String()
}

func (d *reader) object(v any, at string) Object {
	o, ok := v.(Object)
	if !ok {
		d.fail(at, "expected an object, got %s", describe(v))
		return Object{}
	}
	return o
}

func (d *reader) list(v any, at string) []any {
	l, ok := v.([]any)
	if !ok {
		d.fail(at, "expected a list, got %s", describe(v))
	}
	return l
}

func (d *reader) string(v any, at string) string {
	s, ok := v.(string)
	if !ok {
		d.fail(at, "expected a string, got %s", describe(v))
	}
	return s
}

// describe names a JSON value for an error.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("the string %.40q", v)
	case []any:
		return "a list"
	case Object:
		return "an object"
	}
	return fmt.Sprint(v)
}
