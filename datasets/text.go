// Parsing of text files with separated fields.

package datasets

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// layout is the format of a text file with one record per line.
type layout struct {
	comma   rune // 0: fields are separated by blanks
	comment rune // a line that starts with it is skipped; 0: none
	header  bool // the first record holds the column names
}

// maxField bounds one value; the published files stay below 100 bytes.
const maxField = 1 << 12

// eachRecord calls each for every record after the header. The slice is valid during the call
// only.
func eachRecord(ctx context.Context, file string, b []byte, l layout, each func(record []string, line int) error) error {
	return scan(ctx, file, l.reader(b), l.header, each)
}

// recordReader returns the next record and its line number, or io.EOF.
type recordReader func() ([]string, int, error)

// scan is eachRecord for any reader. If header is true the first record is skipped.
func scan(ctx context.Context, file string, next recordReader, header bool, each func(record []string, line int) error) error {
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		record, line, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("datasets: %s: %w", file, err)
		}
		if n == 0 && header {
			continue
		}
		if err := checkFields(record, file, line); err != nil {
			return err
		}
		if err := each(record, line); err != nil {
			return err
		}
	}
}

func checkFields(record []string, file string, line int) error {
	for j, v := range record {
		if len(v) > maxField {
			return fmt.Errorf("datasets: %s:%d: column %d: a value of %d bytes, the limit is %d: %q",
				file, line, j+1, len(v), maxField, clip(v))
		}
	}
	return nil
}

func (l layout) reader(b []byte) recordReader {
	if l.comma == 0 {
		return blankReader(b)
	}
	return l.csv(bytes.NewReader(b))
}

// csv returns a reader of records whose fields are separated by l.comma.
func (l layout) csv(from io.Reader) recordReader {
	r := csv.NewReader(from)
	r.Comma, r.Comment = l.comma, l.comment
	r.TrimLeadingSpace = true
	r.ReuseRecord = true
	r.FieldsPerRecord = 0 // every record like the first
	return func() ([]string, int, error) {
		record, err := r.Read()
		if err != nil {
			return nil, 0, err
		}
		line, _ := r.FieldPos(0)
		return record, line, nil
	}
}

func blankReader(b []byte) recordReader {
	line := 0
	return func() ([]string, int, error) {
		for len(b) > 0 {
			var text []byte
			text, b, _ = bytes.Cut(b, []byte("\n"))
			line++
			if record := strings.Fields(string(text)); len(record) > 0 {
				return record, line, nil
			}
		}
		return nil, 0, io.EOF
	}
}

// addTable adds the records of one file, which have the fields and then the target.
func (r *loader) addTable(name string, l layout, e *encoder) error {
	path, b, err := r.open(name)
	if err != nil {
		return err
	}
	return eachRecord(r.ctx, path, b, l, func(record []string, line int) error {
		return e.add(record, path, line)
	})
}
