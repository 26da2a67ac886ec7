// Records: the values behind a table, as JSON and CSV.

package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Records are the values behind a table, one record per run: structs of any types, written under
// their JSON names, from which the table's means and intervals can be computed again.
type Records []any

// HashColumn is the last column of values in a file beside their table: the hash of the table's
// runs (Provenance.RunsHash), which links the two.
const HashColumn = "runs_hash"

// NewRecords returns rows of one type as Records.
func NewRecords[T any](rows []T) Records {
	out := make(Records, len(rows))
	for i, r := range rows {
		out[i] = r
	}
	return out
}

// Records returns the cells of a table that hold a number, one record each.
func (t *Table) Records() Records {
	var out Records
	for _, r := range t.Rows {
		if r.Kind == Header || len(r.Cells) == 0 {
			continue
		}
		for i, c := range r.Cells {
			if c.Value == nil && c.Estimate == nil && c.P == nil {
				continue
			}
			out = append(out, cellRecord{r.Group, r.Cells[0].Text, t.columnName(i), toJSON(c)})
		}
	}
	return out
}

// columnName is the name of a column, after that of the nearest column on its left whose name is
// its own where several have the same name: "loss, minus retrained".
func (t *Table) columnName(i int) string {
	unique := func(name string) bool {
		n := 0
		for _, c := range t.Columns {
			if c.Name == name {
				n++
			}
		}
		return n < 2
	}
	name := t.Columns[i].Name
	if unique(name) {
		return name
	}
	for k := i - 1; k > 0; k-- {
		if unique(t.Columns[k].Name) {
			return t.Columns[k].Name + ", " + name
		}
	}
	return name
}

type cellRecord struct {
	Group  string `json:"group"`
	Row    string `json:"row"`
	Column string `json:"column"`
	jsonCell
}

// JSON writes the records as an array, one per line.
func (r Records) JSON(w io.Writer) error {
	if err := r.checkZeros(); err != nil {
		return err
	}
	b := bytes.NewBufferString("[")
	for i, record := range r {
		line, err := json.Marshal(record)
		if err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n")
		b.Write(line)
	}
	b.WriteString("\n]\n")
	_, err := w.Write(b.Bytes())
	return err
}

// CSV writes the records as lines under one header, which holds every name that occurs, in order
// of appearance. A nested value has its name after a dot ("f1.value"), a list element its index
// ("f1.0.value"). A field is empty if a record lacks it or its number is null. A type that omits
// zeros is refused, because 0 is a value.
func (r Records) CSV(w io.Writer) error { return r.CSVWithHash(w, "") }

// CSVWithHash is CSV with the hash of the table's runs in HashColumn; an empty hash gives no such
// column.
func (r Records) CSVWithHash(w io.Writer, runsHash string) error {
	if err := r.checkZeros(); err != nil {
		return err
	}
	var header []string
	column := map[string]int{}
	flat := make([]map[string]string, len(r))
	for i, record := range r {
		line, err := json.Marshal(record)
		if err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
		flat[i] = map[string]string{}
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var twice string
		err = flatten(d, "", func(name, value string) {
			if _, there := flat[i][name]; there || strings.HasSuffix(name, ".") {
				twice = name
			}
			if _, known := column[name]; !known {
				column[name] = len(header)
				header = append(header, name)
			}
			flat[i][name] = value
		})
		if err == nil && twice != "" {
			err = fmt.Errorf("two values have the name %q, or one has none in a map: a column holds one", twice)
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
	}
	if _, taken := column[HashColumn]; runsHash != "" && !taken {
		column[HashColumn] = len(header)
		header = append(header, HashColumn)
	}
	out := csv.NewWriter(w)
	if err := out.Write(header); err != nil {
		return err
	}
	for _, record := range flat {
		line := make([]string, len(header))
		for name, value := range record {
			line[column[name]] = value
		}
		if runsHash != "" {
			line[column[HashColumn]] = runsHash
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// flatten calls add for the next value of d: a scalar under its name, members of an object or a
// list under nested names, in the order written.
func flatten(d *json.Decoder, name string, add func(name, value string)) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, nested := token.(json.Delim)
	if !nested {
		if token != nil {
			add(name, fmt.Sprint(token))
		} else {
			add(name, "")
		}
		return nil
	}
	for n := 0; d.More(); n++ {
		inner := strconv.Itoa(n)
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return err
			}
			inner = fmt.Sprint(key)
		}
		if name != "" {
			inner = name + "." + inner
		}
		if err := flatten(d, inner, add); err != nil {
			return err
		}
	}
	_, err = d.Token() // the closing bracket
	return err
}
