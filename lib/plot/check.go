// What a figure refuses to draw.

package plot

import (
	"fmt"
	"math"
)

// problems keeps the first thing that is wrong with a figure.
type problems struct{ err error }

// noData is the error of a figure without data.
const noData = "no data"

// refuse notes a problem, if it is one and the first.
func (p *problems) refuse(wrong bool, format string, args ...any) {
	if wrong && p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// maxMagnitude bounds the values: beyond it the arithmetic of axes overflows.
const maxMagnitude = 1e150

// value refuses a value that an axis cannot show. The format names the value.
func (p *problems) value(v float64, log bool, format string, args ...any) {
	switch {
	case p.err != nil:
	case math.IsNaN(v) || math.IsInf(v, 0):
		p.err = fmt.Errorf(format+" is %v", append(args, v)...)
	case math.Abs(v) > maxMagnitude:
		p.err = fmt.Errorf(format+" is %v, too large to draw", append(args, v)...)
	case log && v <= 0:
		p.err = fmt.Errorf(format+" is %v, a log axis needs more than 0", append(args, v)...)
	}
}

// optional refuses like value; nil is no value.
func (p *problems) optional(v *float64, log bool, format string, args ...any) {
	if v != nil {
		p.value(*v, log, format, args...)
	}
}

func (a Axis) check(p *problems, name string) {
	p.optional(a.Min, a.Log, "%s axis: limit", name)
	p.optional(a.Max, a.Log, "%s axis: limit", name)
	if a.Min != nil && a.Max != nil {
		p.refuse(*a.Min >= *a.Max, "%s axis: the lower limit %v is not below the upper limit %v", name, *a.Min, *a.Max)
	}
}

func (n *Null) check(p *problems, where string, log bool) {
	if n == nil {
		return
	}
	p.value(n.Value, log, "%s: null value", where)
	p.refuse((n.Low == nil) != (n.High == nil), "%s: the null band needs both limits or none", where)
	p.optional(n.Low, log, "%s: lower limit of the null band", where)
	p.optional(n.High, log, "%s: upper limit of the null band", where)
	if n.Low != nil && n.High != nil {
		p.refuse(*n.Low > *n.High, "%s: the null band runs from %v to %v", where, *n.Low, *n.High)
	}
}

func checkPaper(p *problems, points []PaperPoint, logX, logY bool) {
	for _, pt := range points {
		p.value(pt.X, logX, "paper value %q, x", pt.Label)
		p.value(pt.Y, logY, "paper value %q, y", pt.Label)
	}
}
