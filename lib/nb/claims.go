// Claims: statements of a notebook that are checked against its numbers.

package nb

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Claim is a statement that was checked against the numbers of a notebook.
type Claim struct {
	Statement string
	Holds     bool
	Evidence  string // the numbers behind it
}

// Claims prints one line for each claim, in this form:
//
//	claim holds: STATEMENT — EVIDENCE
//	claim FAILS: STATEMENT — EVIDENCE
//
// A claim that fails is printed and does not end the cell. The evidence follows the last
// dash of the line.
func Claims(claims ...Claim) {
	for _, c := range claims {
		std.printLine(std.out, "%s", c.line())
	}
}

func (c Claim) line() string {
	word := "FAILS"
	if c.Holds {
		word = "holds"
	}
	evidence := strings.ReplaceAll(oneLine(c.Evidence), "—", "-")
	evidence = cmp.Or(evidence, "no evidence given")
	return fmt.Sprintf("claim %s: %s — %s", word, oneLine(c.Statement), evidence)
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
