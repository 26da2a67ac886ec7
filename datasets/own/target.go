// Classes of a table's target.

package own

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/lethe-ml/lethe/datasets"
)

// maxNumberClasses is the number of distinct numbers up to which a target of whole numbers is taken
// for one of classes.
const maxNumberClasses = 50

// maxLabels is the number of distinct numbers up to which they are the usual labels of classes, such as digits.
const maxLabels = 10

// classes returns the classes of the target and the class of every row. Names are sorted as byte
// strings, numbers ascending.
func (s *tableSettings) classes(c *datasets.Column) (classes []string, y []int, err error) {
	switch {
	case s.Above != nil:
		classes, y = aboveClasses(c.Numbers, *s.Above)
	case c.Kind == datasets.Date:
		return nil, nil, fmt.Errorf("it holds dates; name a column of classes; Category(%q) makes every date a class", c.Name)
	case c.Kind == datasets.Number:
		classes, y, err = numberClasses(c)
	default:
		c.Kind = datasets.Category
		classes, y = c.Values, make([]int, len(c.Codes))
		for i, code := range c.Codes {
			y[i] = int(code)
		}
		if len(classes) == len(y) && len(y) > 1 {
			err = fmt.Errorf("all %d values are different: it names rows, not classes", len(y))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return classes, y, s.checkClasses(c, y, classes)
}

func (s *tableSettings) checkClasses(c *datasets.Column, y []int, classes []string) error {
	if s.Above != nil && slices.Contains(counts(y, 2), 0) {
		return fmt.Errorf("Above(%q, %s) makes one class only: the values are %s", c.Name, formatNumber(*s.Above), spread(c.Numbers))
	}
	err := checkLabels(y, classes, "rows")
	if err != nil && s.Above == nil && c.Kind == datasets.Number && len(classes) > 2 {
		return fmt.Errorf("every number is read as a class: %w; Above(%q, %s) makes two classes of them", err, c.Name, formatNumber(median(c.Numbers)))
	}
	return err
}

// numbersNote says of a target with many whole numbers, which may be counts, that they are classes.
func (s *tableSettings) numbersNote(c *datasets.Column, classes []string) string {
	if s.Above != nil || c.Kind != datasets.Number || len(classes) <= maxLabels {
		return ""
	}
	return fmt.Sprintf("%s: its %d numbers are %d classes, without an order; Above(%q, %s) makes two classes of them.", c.Name, len(classes), len(classes),
		c.Name, formatNumber(median(c.Numbers)))
}

// aboveClasses returns two classes of numbers.
func aboveClasses(values []float64, limit float64) (classes []string, y []int) {
	y = make([]int, len(values))
	for i, v := range values {
		if v > limit {
			y[i] = 1
		}
	}
	text := formatNumber(limit)
	return []string{"up to " + text, "above " + text}, y
}

// numberClasses returns a class for every distinct number. It refuses measured numbers.
func numberClasses(c *datasets.Column) (classes []string, y []int, err error) {
	values := slices.Compact(slices.Sorted(slices.Values(c.Numbers)))
	whole := !slices.ContainsFunc(values, func(v float64) bool { return v != math.Trunc(v) })
	if len(values) > maxNumberClasses || len(values) > 2 && !whole {
		return nil, nil, fmt.Errorf("it holds %d different numbers, %s: these are no classes. Above(%q, %s) makes two classes of them; "+
			"Category(%q) makes every number a class", len(values), spread(c.Numbers), c.Name, formatNumber(median(c.Numbers)), c.Name)
	}
	y = make([]int, len(c.Numbers))
	for i, v := range c.Numbers {
		y[i], _ = slices.BinarySearch(values, v)
	}
	for _, v := range values {
		classes = append(classes, formatNumber(v))
	}
	return classes, y, nil
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// median returns a value in the middle; the numbers are all known.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

func spread(values []float64) string {
	return fmt.Sprintf("%s to %s, median %s", formatNumber(slices.Min(values)), formatNumber(slices.Max(values)), formatNumber(median(values)))
}
