// The controls of Interact beside sliders: a dropdown, a checkbox, a field for text.

package nb

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Dropdown is a choice among a few values that a reader can change in Interact. NewDropdown
// makes it.
type Dropdown[T comparable] struct {
	name       string
	variable   *T
	options    []T
	optionsNow func() []T // nil: the options hold always
}

// NewDropdown makes a dropdown for a variable of the cell. It starts at the variable's value,
// which must be one of the options. A reader sees each option as fmt.Sprint prints it.
func NewDropdown[T comparable](name string, variable *T, options ...T) Dropdown[T] {
	return Dropdown[T]{name: oneLine(name), variable: variable, options: slices.Clone(options)}
}

// OptionsFrom makes the options follow other controls: options returns them, from variables of
// controls that stand before this one in Interact's arguments. It is called after every change.
// A value that is no longer among the options becomes the first of them.
//
//	set, column := "adult", "age"
//	nb.NewDropdown("data set", &set, "adult", "bank"),
//	nb.NewDropdown("column", &column).OptionsFrom(func() []string { return columns[set] })
func (d Dropdown[T]) OptionsFrom(options func() []T) Dropdown[T] {
	d.optionsNow = options
	return d
}

// maxOptions bounds a dropdown's length: a longer list cannot be read.
const maxOptions = 1000

// current returns the options that hold now, by the label that a reader sees.
func (d Dropdown[T]) current() (labels []any, values map[string]T, err error) {
	options := d.options
	if d.optionsNow != nil {
		options = d.optionsNow()
	}
	if len(options) == 0 || len(options) > maxOptions {
		return nil, nil, fmt.Errorf("the dropdown %q has %d options; it needs 1 to %d", d.name, len(options), maxOptions)
	}
	values = make(map[string]T, len(options))
	for _, v := range options {
		label := oneLine(fmt.Sprint(v))
		if _, twice := values[label]; twice {
			return nil, nil, fmt.Errorf("the dropdown %q has two options that read %q", d.name, label)
		}
		labels, values[label] = append(labels, label), v
	}
	return labels, values, nil
}

func (d Dropdown[T]) control() *control {
	return &control{
		name: d.name, kind: "dropdown", follows: d.optionsNow != nil,
		choices: func() ([]any, error) {
			labels, _, err := d.current()
			return labels, err
		},
		get: func() any { return oneLine(fmt.Sprint(*d.variable)) },
		set: func(v any) {
			_, values, _ := d.current()
			if value, ok := values[v.(string)]; ok {
				*d.variable = value
			}
		},
		print: func(v any) string { return v.(string) },
	}
}

// Checkbox is a yes or no that a reader can change in Interact. NewCheckbox makes it.
type Checkbox struct {
	name     string
	variable *bool
}

// NewCheckbox makes a checkbox for a variable of the cell. It starts at the variable's value.
func NewCheckbox(name string, variable *bool) Checkbox { return Checkbox{oneLine(name), variable} }

func (c Checkbox) control() *control {
	return &control{
		name: c.name, kind: "checkbox",
		choices: func() ([]any, error) { return []any{false, true}, nil },
		get:     func() any { return *c.variable },
		set:     func(v any) { *c.variable = v.(bool) },
		print: func(v any) string {
			if v.(bool) {
				return "yes"
			}
			return "no"
		},
	}
}

// TextField is a line of text that a reader can change in Interact. NewTextField makes it.
type TextField struct {
	name     string
	variable *string
}

// NewTextField makes a field for a variable of the cell. It starts at the variable's value. The
// drawing gets every text that a reader writes, up to 1000 characters, and returns an error for
// one that it does not understand.
func NewTextField(name string, variable *string) TextField {
	return TextField{oneLine(name), variable}
}

// maxText bounds a text from the browser, in characters.
const maxText = 1000

func (f TextField) control() *control {
	return &control{
		name: f.name, kind: "text",
		get:   func() any { return *f.variable },
		set:   func(v any) { *f.variable = cutText(v.(string)) },
		print: func(v any) string { return fmt.Sprintf("%q", v) },
	}
}

// cutText returns the first maxText characters of a text.
func cutText(text string) string {
	if utf8.RuneCountInString(text) <= maxText {
		return text
	}
	return string([]rune(text)[:maxText])
}
