package plot

import (
	"fmt"
	"strings"
)

// fieldSigns are the characters of the classes in a text drawing.
var fieldSigns = []rune{'\u00b7', '-', ':', '=', '~', '^'}

// fieldLetter returns the character of the decision at a point.
func (d Decision) fieldLetter(x, y float64) rune {
	probs := make([]float64, len(d.Classes))
	d.Grid.standard().interpolate(d.Probabilities, x, y, probs)
	class, _ := topClass(probs)
	return fieldSigns[class]
}

// countNotes returns the share of the area per class and how many points are predicted as their
// class.
func (d Decision) countNotes() []string {
	var out []string
	for c, share := range d.shares() {
		out = append(out, fmt.Sprintf("%c decided %s (class %c): %.0f %% of the area", fieldSigns[c], oneLine(d.Classes[c]), letter(c), 100*share))
	}
	for _, s := range d.Points {
		out = append(out, d.countText(s))
	}
	return out
}

// pointSign returns a small letter for a retained point, a capital for a forgotten one, and a
// digit for a held-out one.
func pointSign(s DecisionPoints, i int) rune {
	switch {
	case s.Class == nil:
		return []rune{'o', '#', '+'}[s.Kind]
	case s.Kind == Forgotten:
		return letter(s.Class[i]) - 'a' + 'A'
	case s.Kind == HeldOut:
		return rune('1' + s.Class[i])
	}
	return letter(s.Class[i])
}

// shares returns the share of the grid that each class has.
func (d Decision) shares() []float64 {
	out := make([]float64, len(d.Classes))
	probs := make([]float64, len(d.Classes))
	for k := range d.Probabilities.Rows {
		for c, v := range d.Probabilities.Row(k) {
			probs[c] = float64(v)
		}
		class, _ := topClass(probs)
		out[class]++
	}
	for c := range out {
		out[c] /= float64(d.Probabilities.Rows)
	}
	return out
}

var signWords = [...]string{"small letters", "capitals", "digits"}

// countText returns the number of points of a set and how many of them are predicted as their
// class, interpolated on the grid.
func (d Decision) countText(s DecisionPoints) string {
	signs := signWords[s.Kind]
	if s.Class == nil {
		signs = string(pointSign(s, 0))
	}
	line := fmt.Sprintf("%s (%s): %d points", oneLine(s.name()), signs, len(s.X))
	if n := d.outside(s); n > 0 {
		line += fmt.Sprintf(", %d outside", n)
	}
	if s.Class == nil {
		return line
	}
	right, all := d.countCorrect(s)
	var parts []string
	for c, n := range all {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d of %d", oneLine(d.Classes[c]), right[c], n))
		}
	}
	if len(parts) > 0 {
		line += "; on the side of their class: " + strings.Join(parts, ", ")
	}
	return line
}

// countCorrect counts, per class, the points inside the rectangle and those of them that are
// predicted as their class.
func (d Decision) countCorrect(s DecisionPoints) (right, all []int) {
	right, all = make([]int, len(d.Classes)), make([]int, len(d.Classes))
	probs := make([]float64, len(d.Classes))
	for i, class := range s.Class {
		if !d.Grid.contains(s.X[i], s.Y[i]) {
			continue
		}
		all[class]++
		d.Grid.standard().interpolate(d.Probabilities, s.X[i], s.Y[i], probs)
		if predicted, _ := topClass(probs); predicted == class {
			right[class]++
		}
	}
	return right, all
}
