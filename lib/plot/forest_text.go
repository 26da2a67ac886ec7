package plot

import "strings"

// text prints one line per row: the interval on a ruler and the numbers.
func (f Forest) text() string {
	var b strings.Builder
	r := ruler{s: f.rangeX(), log: f.X.Log, cols: textWidth}
	t := f.columns()
	var labels []string
	var widths [3]int
	for _, row := range f.Rows {
		labels = append(labels, f.textLabel(row))
		for j, s := range t.cellTexts(row) {
			if s != "" {
				widths[j] = max(widths[j], widest(s, columnHeads[j]))
			}
		}
	}
	w := widest(labels...) + 2
	if f.X.Label != "" {
		writeLine(&b, strings.Repeat(" ", w), oneLine(f.X.Label))
	}
	writeLine(&b, strings.Repeat(" ", w), r.scale(), textColumns(columnHeads, widths))
	i := 0
	for _, l := range f.lines() {
		if l.row == nil {
			writeLine(&b, oneLine(l.group))
			continue
		}
		writeLine(&b, padRight(labels[i], w), f.textRow(r, *l.row), textColumns(t.cellTexts(*l.row), widths))
		i++
	}
	b.WriteString(textLegend(f.Null != nil, "\u25cf method   \u25a0 control   \u25c7 printed in the paper"))
	return b.String()
}

func (f Forest) textLabel(r ForestRow) string {
	if r.Group == "" {
		return oneLine(r.Label)
	}
	return "  " + oneLine(r.Label)
}

func (f Forest) textRow(r ruler, row ForestRow) string {
	l := r.row(f.Null)
	if row.Missing == "" && row.hasInterval() {
		l.interval(row.Estimate.Low, row.Estimate.High)
	}
	if row.Missing == "" {
		mark := '\u25cf'
		if row.Control {
			mark = '\u25a0'
		}
		l.set(row.Estimate.Value, mark)
	}
	if row.Paper != nil {
		l.set(*row.Paper, '\u25c7')
	}
	return l.String()
}

func textColumns(cells [3]string, widths [3]int) string {
	out := ""
	for j, w := range widths {
		if w > 0 {
			out += "  " + padLeft(oneLine(cells[j]), w)
		}
	}
	return out
}
