package plot

import (
	"fmt"
	"strings"
)

// text prints one line per group and series: the points on a ruler, then the median or mean with
// its spread.
func (s Strips) text() string {
	var b strings.Builder
	r := ruler{s: s.rangeY(), log: s.Y.Log, cols: textWidth}
	names := make([]string, len(s.Series))
	for i, series := range s.Series {
		names[i] = "  " + oneLine(series.Name)
	}
	w := widest(names...) + 2
	what := "median [quartiles], n"
	if s.Summary == MeanInterval {
		what = "mean [95 % interval], n"
	}
	if s.Y.Label != "" {
		writeLine(&b, strings.Repeat(" ", w), oneLine(s.Y.Label))
	}
	writeLine(&b, strings.Repeat(" ", w), r.scale(), "  ", what)
	for g, group := range s.Groups {
		writeLine(&b, oneLine(group))
		null := s.Null
		if len(s.GroupNulls) > 0 {
			null = &s.GroupNulls[g]
		}
		for i, series := range s.Series {
			writeLine(&b, padRight(names[i], w), s.textRow(r, null, series, g))
		}
	}
	b.WriteString(textLegend(s.Null != nil || len(s.GroupNulls) > 0, "\u2022 one point   \u25cf several   \u25c7 printed in the paper"))
	return b.String()
}

func (s Strips) textRow(r ruler, null *Null, series StripSeries, g int) string {
	l := r.row(null)
	vs := series.Values[g]
	seen := map[int]int{}
	for _, v := range vs {
		i, ok := r.col(v)
		seen[i]++
		switch {
		case !ok:
		case seen[i] > 1:
			l.set(v, '\u25cf')
		default:
			l.set(v, '\u2022')
		}
	}
	numbers := "no points"
	if sum := s.summary(vs); sum.ok {
		numbers = fmt.Sprintf("%s [%s, %s], %d", formatFixed(sum.mid, 3), formatFixed(sum.low, 3), formatFixed(sum.high, 3), len(vs))
	} else if len(vs) > 0 {
		numbers = fmt.Sprintf("%s, %d", formatFixed(vs[0], 3), len(vs))
	}
	if series.Paper != nil && series.Paper[g] != nil {
		l.set(*series.Paper[g], '\u25c7')
		numbers += ", paper " + formatFixed(*series.Paper[g], 3)
	}
	return l.String() + "  " + numbers
}

// textLegend explains the characters of a text drawing.
func textLegend(null bool, marks string) string {
	if null {
		marks += "   \u250a null   \u2591 chance band"
	}
	return marks + "\n"
}
