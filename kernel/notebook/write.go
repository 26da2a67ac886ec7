package notebook

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Write writes the notebook byte for byte as Jupyter does: keys sorted, one
// space of indentation, texts as lists of lines, a line feed at the end. What
// has not changed makes no difference between two files.
func (nb *Notebook) Write(w io.Writer) error {
	e := &encoder{}
	e.value(nb.json(), 0)
	e.WriteByte('\n')
	if e.err != nil {
		return e.err
	}
	_, err := io.WriteString(w, e.String())
	return err
}

func (nb *Notebook) json() Object {
	cells := []any{}
	for _, c := range nb.Cells {
		cells = append(cells, c.json())
	}
	return Object{"cells": cells, "metadata": orEmpty(nb.Metadata), "nbformat": json.Number("4"), "nbformat_minor": json.Number("5")}
}

func (c Cell) json() Object {
	o := Object{"cell_type": string(c.Kind), "id": c.ID, "metadata": orEmpty(c.Metadata), "source": splitLines(c.Source)}
	if c.Attachments != nil {
		files := Object{}
		for name, data := range c.Attachments {
			files[name] = bundle(data)
		}
		o["attachments"] = files
	}
	if c.Kind == Code {
		outputs := []any{}
		for _, out := range c.Outputs {
			outputs = append(outputs, out.json())
		}
		o["execution_count"], o["outputs"] = count(c.Count), outputs
	}
	return o
}

func (o *Output) json() Object {
	j := Object{"output_type": o.Type}
	switch o.Type {
	case StreamOutput:
		j["name"], j["text"] = o.Name, splitLines(o.Text)
	case ErrorOutput:
		trace := []any{}
		for _, line := range o.Traceback {
			trace = append(trace, line)
		}
		j["ename"], j["evalue"], j["traceback"] = o.Ename, o.Evalue, trace
	case ResultOutput:
		j["execution_count"] = count(o.Count)
		fallthrough
	default:
		j["data"], j["metadata"] = bundle(o.Data), orEmpty(o.Metadata)
	}
	return j
}

func orEmpty(o Object) Object {
	if o == nil {
		return Object{}
	}
	return o
}

func count(n int) any {
	if n == 0 {
		return nil
	}
	return json.Number(strconv.Itoa(n))
}

// bundle splits the texts of a bundle; pictures stay in one piece.
func bundle(data Object) Object {
	o := Object{}
	for media, v := range data {
		s, isText := v.(string)
		if isText && (strings.HasPrefix(media, "text/") || media == "application/javascript" || media == "image/svg+xml") {
			o[media] = splitLines(s)
			continue
		}
		o[media] = v
	}
	return o
}

// splitLines cuts behind line ends, and behind all that Python takes for one.
func splitLines(s string) []any {
	lines := []any{}
	start := 0
	for i, r := range s {
		switch r {
		case '\r':
			if strings.HasPrefix(s[i+1:], "\n") {
				continue
			}
		case '\n', '\v', '\f', '\x1c', '\x1d', '\x1e', '\u0085', '\u2028', '\u2029':
		default:
			continue
		}
		end := i + utf8.RuneLen(r)
		lines = append(lines, s[start:end])
		start = end
	}
	if start < len(s) {
		lines = append(lines, s[start:])
	}
	return lines
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// encoder prints JSON as Python's json module does with indent=1, sorted keys
// and ensure_ascii off. Go's own encoder escapes more characters.
type encoder struct {
	strings.Builder
	err error
}

func (e *encoder) value(v any, depth int) {
	switch v := v.(type) {
	case nil:
		e.WriteString("null")
	case bool:
		e.WriteString(strconv.FormatBool(v))
	case json.Number:
		e.WriteString(v.String())
	case string:
		e.string(v)
	case []any:
		e.items(len(v), '[', ']', depth, func(i int) { e.value(v[i], depth+1) })
	case Object:
		keys := sortedKeys(v)
		e.items(len(v), '{', '}', depth, func(i int) {
			e.string(keys[i])
			e.WriteString(": ")
			e.value(v[keys[i]], depth+1)
		})
	default:
		e.err = fmt.Errorf("a notebook cannot hold %v, a %T", v, v)
	}
}

func (e *encoder) items(n int, open, shut byte, depth int, item func(int)) {
	e.WriteByte(open)
	for i := range n {
		if i > 0 {
			e.WriteByte(',')
		}
		e.line(depth + 1)
		item(i)
	}
	if n > 0 {
		e.line(depth)
	}
	e.WriteByte(shut)
}

func (e *encoder) line(depth int) {
	e.WriteByte('\n')
	for range depth {
		e.WriteByte(' ')
	}
}

var escapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}

func (e *encoder) string(s string) {
	e.WriteByte('"')
	for _, r := range s {
		if escaped, ok := escapes[r]; ok {
			e.WriteString(escaped)
		} else if r < ' ' {
			fmt.Fprintf(e, `\u%04x`, r)
		} else {
			e.WriteRune(r)
		}
	}
	e.WriteByte('"')
}
