// Marks between thousands: 27.398 can be a number of thousands, or a number with three decimals.

package own

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// thousandsCell is a number that can have marks between thousands.
type thousandsCell struct {
	plain   string // as a program writes it
	group   rune   // between thousands; 0: none
	decimal rune   // before the decimals; 0: none
}

// cutThousands reads 1.234.567,8 and 1,234,567.8 and 1'234'567.8, and the same with blanks. One point
// or comma with three digits after it and one to three before stands between thousands.
func cutThousands(cell string) (c thousandsCell, is bool) {
	digits, sign := strings.TrimLeft(cell, "+-"), ""
	if sign = cell[:len(cell)-len(digits)]; len(sign) > 1 {
		return c, false
	}
	parts, marks, is := cutAtMarks(digits)
	if !is || len(marks) == 0 {
		return thousandsCell{plain: cell}, is
	}
	last := len(marks) - 1
	fits := func(n int) bool { // the first n marks stand between thousands
		for k := range n {
			if marks[k] != marks[0] || len(parts[k+1]) != 3 {
				return false
			}
		}
		return n == 0 || parts[0] != "" && len(parts[0]) <= 3 && parts[0][0] != '0'
	}
	c.group = marks[0]
	switch decimal := marks[last] == '.' || marks[last] == ','; {
	case fits(len(marks)):
		c.plain = sign + strings.Join(parts, "")
	case decimal && fits(last) && (last == 0 || marks[last] != marks[0]):
		c.decimal = marks[last]
		c.plain = sign + strings.Join(parts[:last+1], "") + "." + parts[last+1]
		if last == 0 {
			c.group = 0
		}
	default:
		return c, false
	}
	return c, parts[0] != "" || last == 0 && parts[1] != ""
}

// maxGroups bounds the marks of one number.
const maxGroups = 8

// cutAtMarks divides a text into digits and the marks between them. Blanks of any width are one mark,
// apostrophes of any form another.
func cutAtMarks(text string) (parts []string, marks []rune, is bool) {
	if text == "" || len(text) > 40 || strings.IndexFunc(text, isDigit) < 0 {
		return nil, nil, false
	}
	for {
		digits, rest := cutDigits(text)
		parts = append(parts, digits)
		if rest == "" {
			return parts, marks, true
		}
		mark, size := utf8.DecodeRuneInString(rest)
		switch mark {
		case '.', ',', '\'', ' ':
		case '\u2019':
			mark = '\''
		case '\u00a0', '\u2009', '\u202f':
			mark = ' '
		default:
			return nil, nil, false
		}
		if marks = append(marks, mark); len(marks) > maxGroups {
			return nil, nil, false
		}
		text = rest[size:]
	}
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// marks are what the first reading sees of the points and commas in a column.
type marks struct {
	of               [2]markCells // of the point and of the comma
	below, four, big firstCell    // whole numbers below 1000, from 1000 to 9999, and above, without a mark
	exponent         firstCell
	group            map[rune]firstCell // of a column that is said to have marks between thousands
	decimal          map[rune]firstCell
}

// markCells are the numbers with one mark.
type markCells struct {
	cells   int
	three   firstCell // 27.398: it can be a mark between thousands
	lead    bool      // 7.398 is among these
	decimal firstCell // 27.39, 0.398, 2739.812: it is none
}

// add counts a number.
func (m *marks) add(cell string, line int) {
	n, is := cutNumber(cell)
	if !is {
		return
	}
	here := func(first *firstCell) {
		if first.line == 0 {
			*first = firstCell{line, clip(cell)}
		}
	}
	if n.exponent {
		here(&m.exponent)
	}
	of := &m.of[0]
	switch {
	case n.mark == 0 && len(n.whole) <= 3:
		here(&m.below)
		return
	case n.mark == 0 && len(n.whole) == 4:
		here(&m.four)
		return
	case n.mark == 0:
		here(&m.big)
		return
	case n.mark == ',':
		of = &m.of[1]
	}
	of.cells++
	if len(n.fraction) == 3 && n.whole != "" && len(n.whole) <= 3 && n.whole[0] != '0' && !n.exponent {
		here(&of.three)
		of.lead = of.lead || len(n.whole) == 1
		return
	}
	here(&of.decimal)
}

// addThousands counts a cell of a column that is said to have marks between thousands. It reports
// whether the cell is a number.
func (m *marks) addThousands(cell string, line int) bool {
	c, is := cutThousands(cell)
	if !is {
		return false
	}
	if m.group == nil {
		m.group, m.decimal = map[rune]firstCell{}, map[rune]firstCell{}
	}
	if c.group != 0 && m.group[c.group].line == 0 {
		m.group[c.group] = firstCell{line, clip(cell)}
	}
	if c.decimal != 0 && m.decimal[c.decimal].line == 0 {
		m.decimal[c.decimal] = firstCell{line, clip(cell)}
	}
	return true
}

// checkThousands refuses a column whose marks between thousands are read as decimal marks, or can be
// both: every mark has three digits after it, and one to three before.
func (v *survey) checkThousands(j int) error {
	text, sure := v.thousands(j)
	if text == "" || !sure {
		return nil
	}
	name := v.names[j]
	return fmt.Errorf("%s: column %d (%s): %s: say Thousands(%q) if it stands between thousands, Number(%q) if decimals follow it",
		v.path, j+1, name, text, name, name)
}

// thousands says why the marks of a column of numbers can stand between thousands, "" if they cannot.
// It is not sure where the same mark stands before decimals elsewhere in the file.
func (v *survey) thousands(j int) (text string, sure bool) {
	m := &v.columns[j].marks
	k := 0
	if m.of[1].cells > 0 {
		k = 1
	}
	of := m.of[k]
	switch what := v.settings.Forced[v.names[j]].What; {
	case what == forcedNumber || what == forcedThousands || of.three.line == 0 || of.decimal.line > 0 || m.exponent.line > 0:
		return "", false
	case m.big.line > 0 || m.four.line > 0 && of.lead:
		return "", false // numbers without marks that would have one
	}
	if v.settings.Forced[v.names[j]].What == forcedIdentifier {
		defer func() { sure = false }() // a note: no second flag can be given for the column
	}
	same, other := v.decimals[k], v.decimals[1-k]
	text = fmt.Sprintf("every number with the mark %q has three digits after it, such as %s in line %d", ".,"[k:k+1], of.three.text, of.three.line)
	switch usual := k == 0 && !v.commas(); {
	case m.below.line > 0:
		return fmt.Sprintf("%s, and the others are below 1000, such as %s in line %d", text, m.below.text, m.below.line), same.line == 0
	case same.line > 0 && (usual || other.line == 0):
		return "", false
	case other.line > 0:
		return fmt.Sprintf("%s, and elsewhere the decimal mark is %q, as of %s in line %d", text, ".,"[1-k:2-k], other.text, other.line), same.line == 0
	case usual:
		return "", false
	}
	return text, true
}

// findDecimals finds cells whose mark stands before decimals without doubt, by mark.
func (v *survey) findDecimals() {
	for j := range v.columns {
		o := &v.columns[j]
		if v.settings.Forced[v.names[j]].What == forcedCategory || !o.only(integer, point, comma, grouped) {
			continue
		}
		for k := range v.decimals {
			if v.decimals[k].line == 0 {
				v.decimalOf[k] = j
				v.decimals[k] = o.marks.of[k].decimal
			}
		}
	}
}

// checkGroups refuses a column that is said to have marks between thousands and has several kinds of
// them, or one mark for both.
func (v *survey) checkGroups(j int) error {
	m := &v.columns[j].marks
	var seen []firstCell
	for _, mark := range []rune{'.', ',', '\'', ' '} {
		group, decimal := m.group[mark], m.decimal[mark]
		if group.line > 0 && decimal.line > 0 {
			return v.twoMarks(j, group, decimal)
		}
		if group.line > 0 {
			seen = append(seen, group)
		}
	}
	if a, b := m.decimal['.'], m.decimal[',']; a.line > 0 && b.line > 0 {
		return v.twoMarks(j, a, b)
	}
	if len(seen) > 1 {
		return v.twoMarks(j, seen[0], seen[1])
	}
	return nil
}

func (v *survey) twoMarks(j int, a, b firstCell) error {
	return fmt.Errorf("%s: column %d (%s): %q in line %d and %q in line %d have different marks between thousands or before decimals: "+
		"write all numbers of the column alike", v.path, j+1, v.names[j], a.text, a.line, b.text, b.line)
}

// fitThousands reports whether all numbers of a column can be read with marks between thousands.
func (m *marks) fitThousands() bool {
	group, decimal := map[rune]bool{}, map[rune]bool{}
	for mark := range m.group {
		group[mark] = true
	}
	for mark := range m.decimal {
		decimal[mark] = true
	}
	for k, mark := range []rune{'.', ','} {
		if m.of[k].three.line > 0 {
			group[mark] = true
		}
		if m.of[k].decimal.line > 0 {
			decimal[mark] = true
		}
	}
	for mark := range group {
		if decimal[mark] {
			return false
		}
	}
	return len(group) <= 1 && len(decimal) <= 1
}
