// Package arff reads Weka's attribute-relation file format: the dense form with numeric, nominal,
// string and date attributes that OpenML publishes.
//
// It reads comments, quoted names and values with backslash escapes, nominal declarations, missing
// values ("?"), and an instance weight in braces (ignored). It refuses relational attributes,
// sparse rows, and numbers that are not finite decimals (see ParseNumber).
package arff

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

// Missing is the text of a missing value in a record.
const Missing = "?"

// Limits on what a header and a line may hold; a file beyond them is refused.
const (
	MaxLine       = 1 << 20
	MaxAttributes = 1 << 14
)

// Kind is the type of an attribute.
type Kind int

// Kinds of attributes: numbers, one of listed values, text, and dates.
const (
	Numeric Kind = iota // numeric, real or integer
	Nominal
	String
	Date
)

// Attribute is one declared column.
type Attribute struct {
	Name   string
	Kind   Kind
	Values []string // of a nominal attribute, in the declared order
}

// Decoder reads one file: the header in NewDecoder, the rows in Each.
type Decoder struct {
	relation   string
	attributes []Attribute
	names      map[string]bool
	allowed    []map[string]bool
	scan       *bufio.Scanner
	line       int
}

// NewDecoder reads the header up to and including @data. Errors start with the line number.
func NewDecoder(r io.Reader) (*Decoder, error) {
	text, err := files.NewTextReader(r)
	if err != nil {
		return nil, err
	}
	d := &Decoder{scan: bufio.NewScanner(text), names: map[string]bool{}}
	d.scan.Buffer(make([]byte, 0, 1<<16), MaxLine)
	for {
		text, err := d.next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("line %d: the file ends before @data", d.line)
		}
		if err != nil {
			return nil, err
		}
		done, err := d.declare(text)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", d.line, err)
		}
		if done {
			return d, nil
		}
	}
}

// Relation returns the name after @relation.
func (d *Decoder) Relation() string { return d.relation }

// Attributes returns the declared columns.
func (d *Decoder) Attributes() []Attribute { return d.attributes }

// next returns the next line that is neither empty nor a comment, trimmed.
func (d *Decoder) next() (string, error) {
	for d.scan.Scan() {
		d.line++
		text := strings.TrimSpace(d.scan.Text())
		if text != "" && text[0] != '%' {
			return text, nil
		}
	}
	if err := d.scan.Err(); err != nil {
		return "", fmt.Errorf("line %d: %w", d.line+1, err)
	}
	return "", io.EOF
}

// declare handles one header line and reports whether it was @data.
func (d *Decoder) declare(text string) (bool, error) {
	word, rest := cutWord(text)
	switch strings.ToLower(word) {
	case "@relation":
		name, _, err := parseName(rest)
		d.relation = name
		return false, err
	case "@attribute":
		return false, d.attribute(rest)
	case "@data":
		if len(d.attributes) == 0 {
			return false, errors.New("@data before any @attribute")
		}
		return true, nil
	}
	return false, fmt.Errorf("expected @relation, @attribute or @data, got %q", clip(word))
}

func (d *Decoder) attribute(text string) error {
	if len(d.attributes) >= MaxAttributes {
		return fmt.Errorf("more than %d attributes", MaxAttributes)
	}
	name, rest, err := parseName(text)
	if err != nil {
		return err
	}
	if name == "" {
		return errors.New("an attribute without a name")
	}
	if d.names[name] {
		return fmt.Errorf("attribute %q is declared twice", clip(name))
	}
	d.names[name] = true
	a := Attribute{Name: name}
	var allowed map[string]bool
	if strings.HasPrefix(rest, "{") {
		a.Kind = Nominal
		a.Values, allowed, err = parseNominal(rest)
	} else {
		a.Kind, err = parseKind(rest)
	}
	if err != nil {
		return fmt.Errorf("attribute %q: %w", clip(name), err)
	}
	d.attributes = append(d.attributes, a)
	d.allowed = append(d.allowed, allowed)
	return nil
}

func parseKind(text string) (Kind, error) {
	word, _ := cutWord(text)
	switch strings.ToLower(word) {
	case "numeric", "real", "integer":
		return Numeric, nil
	case "string":
		return String, nil
	case "date":
		return Date, nil
	}
	return 0, fmt.Errorf("type %q is not supported", clip(word))
}

func parseNominal(text string) ([]string, map[string]bool, error) {
	values, rest, err := parseList(text[1:], '}')
	if err != nil {
		return nil, nil, err
	}
	if rest != "" {
		return nil, nil, fmt.Errorf("unexpected %q after the list of values", clip(rest))
	}
	allowed := make(map[string]bool, len(values))
	for _, v := range values {
		if allowed[v] {
			return nil, nil, fmt.Errorf("value %q is declared twice", clip(v))
		}
		allowed[v] = true
	}
	return values, allowed, nil
}

// Each calls row for every data row with its fields as text. The slice is valid during the call
// only. A malformed number and an undeclared nominal value are errors with line, column and value.
// An error of row is returned unchanged.
func (d *Decoder) Each(ctx context.Context, row func(record []string, line int) error) error {
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		text, err := d.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		record, err := d.record(text)
		if err != nil {
			return fmt.Errorf("line %d: %w", d.line, err)
		}
		if err := row(record, d.line); err != nil {
			return err
		}
	}
}

func (d *Decoder) record(text string) ([]string, error) {
	if text[0] == '{' {
		return nil, errors.New("sparse rows are not supported")
	}
	record, rest, err := parseList(text, 0)
	if err != nil {
		return nil, err
	}
	if rest != "" && !isWeight(rest) {
		return nil, fmt.Errorf("unexpected %q after the values", clip(rest))
	}
	if len(record) != len(d.attributes) {
		return nil, fmt.Errorf("%d values for %d attributes", len(record), len(d.attributes))
	}
	for j, v := range record {
		if err := d.check(j, v); err != nil {
			return nil, fmt.Errorf("column %d (%s): %w", j+1, quotedName(d.attributes[j].Name), err)
		}
	}
	return record, nil
}

func (d *Decoder) check(j int, v string) error {
	if v == Missing {
		return nil
	}
	switch d.attributes[j].Kind {
	case Numeric:
		_, err := ParseNumber(v)
		return err
	case Nominal:
		if !d.allowed[j][v] {
			return fmt.Errorf("%q is not a declared value", clip(v))
		}
	}
	return nil
}

// ParseNumber parses a finite decimal such as -1, 2.5 or 3e-7. It refuses nan, infinities and
// hexadecimal numbers, which readers of the format treat differently.
func ParseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || strings.ContainsAny(text, "xX_") {
		return 0, fmt.Errorf("%q is not a finite decimal number (a missing value is written %s)", clip(text), Missing)
	}
	return v, nil
}
