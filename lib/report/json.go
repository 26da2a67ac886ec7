// Tables as JSON.

package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/lethe-ml/lethe/lib/stats"
)

// The types of the JSON form: fields in a fixed order, and every number a pointer,
// because JSON has no NaN and a missing number is null.
type (
	jsonTable struct {
		ID         string       `json:"id"`
		Title      string       `json:"title"`
		Caption    string       `json:"caption"`
		Columns    []jsonColumn `json:"columns"`
		Rows       []jsonRow    `json:"rows"`
		Notes      []string     `json:"notes"`
		Provenance Provenance   `json:"provenance"`
	}
	jsonColumn struct {
		Name  string `json:"name"`
		Unit  string `json:"unit,omitempty"`
		Note  string `json:"note,omitempty"`
		Align Align  `json:"align,omitempty"`
		Paper bool   `json:"paper,omitempty"`
	}
	jsonRow struct {
		Kind  Kind       `json:"kind"`
		Group string     `json:"group,omitempty"`
		Cells []jsonCell `json:"cells"`
	}
	jsonCell struct {
		Text     string        `json:"text"`
		Value    *float64      `json:"value"`
		Estimate *jsonEstimate `json:"estimate,omitempty"`
		P        *float64      `json:"p,omitempty"`
		Missing  string        `json:"missing,omitempty"`
	}
	jsonEstimate struct {
		Value  *float64        `json:"value"`
		Low    *float64        `json:"low"`
		High   *float64        `json:"high"`
		Level  *float64        `json:"level"`
		Over   string          `json:"over"`
		Null   *float64        `json:"null"`
		Better stats.Direction `json:"better,omitempty"`
		N      int             `json:"n"`
	}
)

// JSON writes the table with its fields in a fixed order. A number that is not finite becomes
// null, and the cell's field missing has the reason.
func (t *Table) JSON(w io.Writer) error {
	if err := t.Check(); err != nil {
		return err
	}
	out := jsonTable{
		ID: t.ID, Title: t.Title, Caption: t.Caption,
		Columns: make([]jsonColumn, len(t.Columns)),
		Rows:    make([]jsonRow, len(t.Rows)),
		Notes:   append([]string{}, t.Notes...), Provenance: t.Provenance,
	}
	for j, c := range t.Columns {
		out.Columns[j] = jsonColumn(c)
	}
	for i, r := range t.Rows {
		out.Rows[i] = jsonRow{Kind: r.kind(), Group: r.Group, Cells: make([]jsonCell, len(r.Cells))}
		for j, c := range r.Cells {
			out.Rows[i].Cells[j] = toJSON(c)
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func toJSON(c Cell) jsonCell {
	out := jsonCell{Text: c.Text, Value: number(c.Value), P: number(c.P), Missing: c.Missing}
	for _, v := range []*float64{c.Value, c.P} {
		if v != nil && !finite(*v) && out.Missing == "" {
			out.Missing = FormatNumber(*v, 0)
		}
	}
	if e := c.Estimate; e != nil {
		out.Estimate = &jsonEstimate{
			Value: number(&e.Value), Low: number(&e.Low), High: number(&e.High), Level: number(&e.Level),
			Over: e.Over, Null: number(e.Null), Better: e.Better, N: e.N,
		}
		if out.Missing == "" && !finite(e.Value) {
			out.Missing = FormatNumber(e.Value, 0)
		}
	}
	return out
}

// number returns v, or nil if JSON cannot hold it.
func number(v *float64) *float64 {
	if v == nil || !finite(*v) {
		return nil
	}
	return v
}

// maxJSON bounds the size that ReadJSON accepts.
const maxJSON = 64 << 20

// ReadJSON reads a table that JSON wrote. Unknown fields, trailing data and rows that do not fit
// the columns are errors. A bound of an interval that was not finite becomes NaN.
func ReadJSON(r io.Reader) (*Table, error) {
	lim := &io.LimitedReader{R: r, N: maxJSON + 1}
	dec := json.NewDecoder(lim)
	dec.DisallowUnknownFields()
	var in jsonTable
	if err := dec.Decode(&in); err != nil {
		if lim.N <= 0 {
			return nil, fmt.Errorf("table: larger than %d bytes", maxJSON)
		}
		return nil, fmt.Errorf("table: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("table: data after the end of the table")
	}
	t := &Table{ID: in.ID, Title: in.Title, Caption: in.Caption, Notes: in.Notes, Provenance: in.Provenance}
	for _, c := range in.Columns {
		t.Columns = append(t.Columns, Column(c))
	}
	for _, r := range in.Rows {
		row := Row{Kind: r.Kind, Group: r.Group}
		for _, c := range r.Cells {
			row.Cells = append(row.Cells, fromJSON(c))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, t.Check()
}

func fromJSON(c jsonCell) Cell {
	out := Cell{Text: c.Text, Value: c.Value, P: c.P, Missing: c.Missing}
	if e := c.Estimate; e != nil {
		out.Estimate = &stats.Estimate{
			Value: orNaN(e.Value), Low: orNaN(e.Low), High: orNaN(e.High), Level: orNaN(e.Level),
			Over: e.Over, Null: e.Null, Better: e.Better, N: e.N,
		}
		out.Verdict = verdictBehind(c.Text)
	}
	return out
}
