// Package notebook executes and checks Jupyter notebooks: a runner that uses nbclient
// instead of a browser, the comparison of claims, and a linter. It reads notebooks;
// nbformat writes them.
package notebook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

// Object is a JSON object of any content.
type Object = map[string]any

// Kind is the kind of a cell.
type Kind string

// Kinds of cells.
const (
	Code     Kind = "code"
	Markdown Kind = "markdown"
	Raw      Kind = "raw"
)

// Notebook is a notebook of format 4.5.
type Notebook struct {
	Text     []byte // the file
	Metadata Object
	Cells    []Cell
}

// Cell is one cell. Count and Outputs are for code cells.
type Cell struct {
	Kind        Kind              `json:"cell_type"`
	ID          string            `json:"id"` // unique in its notebook
	Source      string            `json:"source"`
	Metadata    Object            `json:"metadata"`
	Attachments map[string]Object `json:"attachments,omitempty"`
	Count       int               `json:"execution_count"` // 0: not executed
	Outputs     []*Output         `json:"outputs"`
}

// Types of outputs.
const (
	StreamOutput  = "stream"         // Name, Text
	DisplayOutput = "display_data"   // Data, Metadata
	ResultOutput  = "execute_result" // Data, Metadata, Count
	ErrorOutput   = "error"          // Ename, Evalue, Traceback
)

// Output is an output of a cell. Its Type decides which fields are in use.
type Output struct {
	Type      string   `json:"output_type"`
	Name      string   `json:"name,omitempty"` // stdout or stderr
	Text      string   `json:"text,omitempty"`
	Data      Object   `json:"data,omitempty"` // per media type: a text, or any value where the type is JSON
	Metadata  Object   `json:"metadata,omitempty"`
	Count     int      `json:"execution_count,omitempty"`
	Ename     string   `json:"ename,omitempty"`
	Evalue    string   `json:"evalue,omitempty"`
	Traceback []string `json:"traceback,omitempty"`
}

// text returns the output's content of a media type, or "".
func (o *Output) text(media string) string {
	s, _ := o.Data[media].(string)
	return s
}

// maxBytes bounds the size of a notebook file.
const maxBytes = 64 << 20

// Read reads a notebook of format 4.5. Errors name the file and the cell, counted from 1.
// nbformat checks the rest of the format before a notebook is executed.
func Read(r io.Reader, name string) (*Notebook, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err == nil && len(b) > maxBytes {
		err = fmt.Errorf("larger than %d MB", maxBytes>>20)
	}
	var nb *Notebook
	if err == nil {
		nb, err = parse(b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return nb, nil
}

// ReadFile reads the notebook at path.
func ReadFile(path string) (*Notebook, error) {
	f, err := files.Open(path)
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

func parse(b []byte) (*Notebook, error) {
	b, err := files.TrimBOM(b)
	if err != nil {
		return nil, err
	}
	var file struct {
		Metadata Object
		Cells    []Object
		Major    json.RawMessage `json:"nbformat"`
		Minor    json.RawMessage `json:"nbformat_minor"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("no notebook: %w", withLine(b, err))
	}
	if string(file.Major) != "4" || string(file.Minor) != "5" {
		return nil, fmt.Errorf("nbformat: %s.%s, expected 4.5: open the notebook in JupyterLab and save it", file.Major, file.Minor)
	}
	if file.Cells == nil || file.Metadata == nil {
		return nil, errors.New("no notebook: a notebook has cells and metadata")
	}
	nb := &Notebook{Text: b, Metadata: file.Metadata}
	seen := map[string]int{}
	for i, raw := range file.Cells {
		c, err := parseCell(raw)
		if first := seen[c.ID]; err == nil && first > 0 {
			err = fmt.Errorf("id: %q is the id of cell %d too", c.ID, first)
		}
		if err != nil {
			return nil, fmt.Errorf("cell %d: %w", i+1, err)
		}
		seen[c.ID] = i + 1
		nb.Cells = append(nb.Cells, c)
	}
	return nb, nil
}

func (nb *Notebook) replaceWith(text string) error {
	now, err := parse([]byte(text))
	if err == nil {
		*nb = *now
	}
	return err
}

// withLine adds the line of a JSON error.
func withLine(b []byte, err error) error {
	at := int64(len(b))
	var wrong *json.SyntaxError
	var other *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		at = wrong.Offset
	case errors.As(err, &other):
		at = other.Offset
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(b[:at], []byte("\n")), err)
}

// parseCell parses a cell, whose texts may be stored as lists of lines.
func parseCell(raw Object) (c Cell, err error) {
	if raw == nil {
		return c, errors.New("null is no cell")
	}
	raw["source"] = joinLines(raw["source"])
	if s, ok := raw["source"].(string); ok { // lines as Windows ends them
		raw["source"] = strings.ReplaceAll(s, "\r\n", "\n")
	}
	outputs, _ := raw["outputs"].([]any)
	for _, o := range outputs {
		if o, ok := o.(Object); ok {
			joinOutput(o)
		}
	}
	b, err := json.Marshal(raw)
	if err != nil {
		return c, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, err
	}
	switch {
	case c.Kind != Code && c.Kind != Markdown && c.Kind != Raw:
		return c, fmt.Errorf("cell_type: %q: there are code, markdown and raw", c.Kind)
	case c.ID == "":
		return c, errors.New("id: it is missing")
	case slices.Contains(c.Outputs, nil):
		return c, errors.New("outputs: null is no output")
	}
	return c, nil
}

func joinOutput(o Object) {
	if text, ok := o["text"]; ok {
		o["text"] = joinLines(text)
	}
	data, _ := o["data"].(Object)
	for media, v := range data {
		if !isJSON(media) {
			data[media] = joinLines(v)
		}
	}
}

// isJSON reports whether a media type holds JSON values; all others hold texts.
func isJSON(media string) bool {
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// joinLines joins a list of lines, and returns any other value unchanged.
func joinLines(v any) any {
	list, _ := v.([]any)
	var b strings.Builder
	for _, line := range list {
		s, ok := line.(string)
		if !ok {
			return v
		}
		b.WriteString(s)
	}
	if list == nil {
		return v
	}
	return b.String()
}

// New returns a notebook of code cells.
func New(sources ...string) (*Notebook, error) {
	nb := &Notebook{Metadata: Object{}}
	for i, s := range sources {
		nb.Cells = append(nb.Cells, Cell{Kind: Code, ID: fmt.Sprintf("cell-%d", i+1), Source: s, Metadata: Object{}, Outputs: []*Output{}})
	}
	var err error
	nb.Text, err = json.Marshal(Object{"cells": nb.Cells, "metadata": nb.Metadata, "nbformat": 4, "nbformat_minor": 5})
	return nb, err
}
