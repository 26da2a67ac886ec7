// Dates, times and amounts that a program does not read as they stand: notes on columns of them.

package own

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// shapes are what the first reading sees of words with digits in a column.
type shapes struct {
	dates   int // cells that a layout reads
	layouts map[string]int
	date    firstCell
	amounts int // 41%, 41 kg, −41, 12:30
	amount  firstCell
	month   bool // the first amount is a month: 2020-03
	compact int  // 20200331
}

// dayLayouts are the layouts of days that a note can name, clockLayouts those of a time after it.
var (
	dayLayouts = []string{"02/01/2006", "01/02/2006", "02.01.2006", "02-01-2006", "01-02-2006", "2/1/2006", "1/2/2006", "2.1.2006", "2006/01/02", "2006/1/2",
		"2006.01.02", "2006-1-2", "02/01/06", "01/02/06", "02.01.06", "02-Jan-2006", "2-Jan-2006", "02 Jan 2006",
		"2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "02Jan2006", "2Jan2006",
		"02-Jan-06", "2-Jan-06", "2-1-2006", "1-2-2006", "2/1/06", "1/2/06", "2.1.06"}
	clockLayouts = []string{"", " 15:04", " 15:04:05", "T15:04:05", " 3:04 PM", " 3:04:05 PM"}
	layoutsOf    = layoutsByShape()
)

// shapeOf returns a text with a d for one or two digits, Y for four, and L for letters.
func shapeOf(text string) string {
	var b strings.Builder
	for text != "" {
		digits, rest := cutDigits(text)
		letters := text[:len(text)-len(strings.TrimLeftFunc(text, isLetter))]
		switch {
		case len(digits) == 4:
			b.WriteByte('Y')
		case len(digits) > 0 && len(digits) <= 2:
			b.WriteByte('d')
		case len(digits) > 0:
			b.WriteByte('n')
		case letters != "":
			b.WriteByte('L')
			rest = text[len(letters):]
		default:
			b.WriteByte(text[0])
			rest = text[1:]
		}
		text = rest
	}
	return b.String()
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func layoutsByShape() map[string][]string {
	out := map[string][]string{}
	day := time.Date(2023, time.November, 23, 11, 22, 33, 0, time.UTC)
	for _, d := range dayLayouts {
		for _, clock := range clockLayouts {
			shape := shapeOf(day.Format(d + clock))
			out[shape] = append(out[shape], d+clock)
		}
	}
	return out
}

// add counts a word. It reports whether it is a date or an amount.
func (s *shapes) add(cell string, line int) bool {
	if len(cell) > 40 || !strings.ContainsAny(cell, "0123456789") {
		return false
	}
	read := false
	for _, layout := range layoutsOf[shapeOf(cell)] {
		if _, err := time.Parse(layout, cell); err != nil {
			continue
		}
		if s.layouts == nil {
			s.layouts = map[string]int{}
		}
		s.layouts[layout]++
		read = true
	}
	if read {
		if s.dates++; s.date.line == 0 {
			s.date = firstCell{line, strings.Clone(cell)}
		}
		return true
	}
	if !isAmount(cell) {
		return false
	}
	if s.amounts++; s.amount.line == 0 {
		s.amount = firstCell{line, strings.Clone(cell)}
		_, err := time.Parse("2006-01", cell)
		s.month = err == nil
	}
	return true
}

// compactLayout is that of ISO 8601 without separators.
const compactLayout = "20060102"

// isCompactDate reports whether a whole number can be a day of 1900 to 2100 in ISO 8601 without separators.
func isCompactDate(cell string) bool {
	if len(cell) != len(compactLayout) || cell < "1900" || cell >= "2101" {
		return false
	}
	_, err := time.Parse(compactLayout, cell)
	return err == nil
}

// isAmount reports whether a text is a number with a unit, percent, money, or a sign of another
// alphabet, a time of day, or a duration.
func isAmount(cell string) bool {
	rest := strings.TrimLeft(cell, "+-\u2212\u2013$€£ \u00a0")
	if _, err := time.Parse("2006-01", cell); err == nil {
		return true
	}
	number := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789.,':\u2019"))]
	if number == "" || !isDigit(rune(number[0])) && number[0] != '.' && number[0] != ',' {
		return false
	}
	unit := strings.TrimSpace(rest[len(number):])
	if unit == "" || rest != cell && rest[len(number):] == "" {
		return true
	}
	if isLetter(rune(rest[len(number)])) && len(number) == 1 {
		return false // a name such as 3a
	}
	if days, is := strings.CutPrefix(unit, "day"); is { // 3 days 04:05:06
		return strings.Trim(strings.TrimPrefix(days, "s"), "0123456789:., ") == ""
	}
	return !strings.ContainsAny(unit, "0123456789") && strings.Count(unit, " ") == 0 && len(unit) <= 8
}

// shapeNote says how a column most of whose cells are dates or amounts can be read, "" if few are.
func (v *survey) shapeNote(j int) string {
	o, name := &v.columns[j], v.names[j]
	s, known := &o.shapes, o.knownCells()
	switch {
	case s.compact == known:
		c := o.first[integer]
		return fmt.Sprintf("every value has eight digits and can be a date, such as %s (line %d); it is read as a number. Date(%q, %q) reads it as a date.",
			c.text, c.line, name, compactLayout)
	case 2*s.dates > known:
		return v.dateNote(j)
	case 2*s.amounts > known:
		if s.month {
			return fmt.Sprintf("%q (line %d) is a month, and is read as a name, in the order of time; write a day such as %s-01 for a date.",
				s.amount.text, s.amount.line, s.amount.text)
		}
		return fmt.Sprintf("%q (line %d) is read as a name; write a number as 1234.5, without units and without signs between thousands, "+
			"and a time as a number of hours. Category(%q) says that the column holds names.", s.amount.text, s.amount.line, name)
	}
	return ""
}

// dateNote names the layouts that read all dates of a column.
func (v *survey) dateNote(j int) string {
	o, name := &v.columns[j], v.names[j]
	s := &o.shapes
	text := fmt.Sprintf("%q (line %d) looks like a date; ", s.date.text, s.date.line)
	var fit []string
	for _, d := range dayLayouts {
		for _, clock := range clockLayouts {
			if s.layouts[d+clock] == s.dates {
				fit = append(fit, d+clock)
			}
		}
	}
	if len(fit) == 0 || o.forms[isoDate] > 0 {
		return text + "the dates of the column are written in several ways: write all as 2006-01-02."
	}
	text += readsDates(name, fit[0])
	if k := slices.IndexFunc(fit, func(l string) bool { return order(l) != order(fit[0]) }); k > 0 {
		text += ", " + readsDates(name, fit[k])
	}
	if o.manyOdd || len(o.odd) == 0 {
		return text + "."
	}
	return text + fmt.Sprintf(". %s makes the others missing values, which it needs (line %d).", missingOptions(o.oddTexts()), o.odd[0].line)
}

func readsDates(name, layout string) string {
	return fmt.Sprintf("Date(%q, %q) reads it as %s", name, layout, order(layout))
}

// order says in which order a layout has day, month and year.
func order(layout string) string {
	day := time.Date(2023, time.November, 22, 0, 0, 0, 0, time.UTC).Format(strings.NewReplacer("January", "01", "Jan", "01").Replace(layout))
	month, date := strings.Index(day, "11"), strings.Index(day, "22")
	year := strings.Index(day, "23")
	switch {
	case year < month:
		return "year/month/day"
	case date < month:
		return "day/month/year"
	}
	return "month/day/year"
}
