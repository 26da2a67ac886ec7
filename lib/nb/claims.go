// Claims: statements of a notebook that are checked against its numbers.

package nb

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/report"
)

// Claim is a statement that was checked against the numbers of a notebook.
type Claim struct {
	Statement string
	Holds     bool
	Evidence  string // the numbers behind it
}

// Claims shows one line for each claim, in this form:
//
//	claim holds: STATEMENT — EVIDENCE
//	claim FAILS: STATEMENT — EVIDENCE
//
// A claim that fails is shown and does not end the cell. The evidence follows the last
// dash of the line. In a notebook a claim has a mark and a colour too, and no line breaks inside
// a number.
func Claims(claims ...Claim) { std.claims(claims) }

func (s *outputTarget) claims(claims []Claim) {
	if len(claims) == 0 {
		return
	}
	var text, page strings.Builder
	for _, c := range claims {
		text.WriteString(c.line() + "\n")
		page.WriteString(c.html())
	}
	if !s.notebook {
		s.printLine(s.out, "%s", strings.TrimSuffix(text.String(), "\n"))
		return
	}
	s.show(output{data: bundle{"text/plain": text.String(), "text/html": page.String()}}, text.String())
}

func (c Claim) line() string {
	return fmt.Sprintf("claim %s: %s — %s", c.word(), oneLine(c.Statement), c.evidence())
}

func (c Claim) word() string {
	if c.Holds {
		return "holds"
	}
	return "FAILS"
}

func (c Claim) evidence() string {
	return cmp.Or(strings.ReplaceAll(oneLine(c.Evidence), "—", "-"), "no evidence given")
}

// html returns the line as HTML. Its styles are attributes, which JupyterLab keeps in a notebook
// that is not trusted.
func (c Claim) html() string {
	return fmt.Sprintf("<p style=\"margin: 0.15em 0\">%s %s — %s</p>\n", report.VerdictHTML("claim "+c.word(), c.Holds),
		report.TextHTML(oneLine(c.Statement)), report.TextHTML(c.evidence()))
}

// Less claims that a < b. It fails for NaN.
func Less(statement string, a, b float64) Claim {
	return newComparison(statement, a < b, "<", a, b)
}

// Greater claims that a > b. It fails for NaN.
func Greater(statement string, a, b float64) Claim {
	return newComparison(statement, a > b, ">", a, b)
}

// Positive claims that v > 0.
func Positive(statement string, v float64) Claim { return Greater(statement, v, 0) }

// Negative claims that v < 0.
func Negative(statement string, v float64) Claim { return Less(statement, v, 0) }

// Within claims that low <= v <= high.
func Within(statement string, v, low, high float64) Claim {
	c := Claim{Statement: statement, Holds: low <= v && v <= high}
	c.Evidence = fmt.Sprintf("%s is %s %s to %s", formatNumber(v), insideOrOutside(c.Holds), formatNumber(low), formatNumber(high))
	return c
}

// Ascending claims that each value is larger than the one before it. It fails for fewer
// than two values.
func Ascending(statement string, values ...float64) Claim {
	c := Claim{Statement: statement, Holds: len(values) > 1}
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = formatNumber(v)
		if i > 0 && !(values[i-1] < v) {
			c.Holds = false
		}
	}
	c.Evidence = "in this order: " + strings.Join(words, ", ")
	return c
}

func newComparison(statement string, holds bool, sign string, a, b float64) Claim {
	evidence := fmt.Sprintf("%s %s %s", formatNumber(a), sign, formatNumber(b))
	if !holds {
		evidence = fmt.Sprintf("%s against %s, expected %s", formatNumber(a), formatNumber(b), sign)
	}
	return Claim{Statement: statement, Holds: holds, Evidence: evidence}
}

func insideOrOutside(in bool) string {
	if in {
		return "inside"
	}
	return "outside"
}

// formatNumber prints a number with four significant digits.
func formatNumber(v float64) string {
	if math.IsNaN(v) {
		return "not a number"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
