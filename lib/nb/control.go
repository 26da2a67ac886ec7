// What the controls of Interact have in common: values, and how one follows another.

package nb

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Control is a variable of the cell that a reader can change in Interact: a Slider, a Dropdown,
// a Checkbox or a TextField.
type Control interface{ control() *control }

// control is a control of any kind. Its values are float64, string or bool, as in JSON.
type control struct {
	name    string
	kind    string                // slider, dropdown, checkbox, text
	follows bool                  // choices depend on the controls before it
	choices func() ([]any, error) // the values that it can take now; nil: every text
	get     func() any            // the variable's value
	set     func(any)             // sets the variable to one of the choices
	print   func(any) string
}

// controls are the controls of one Interact, in the order of its arguments. A control may
// follow those before it.
type controls []*control

// newControls returns the controls and checks them at the values of the code.
func newControls(list []Control) (controls, error) {
	var all controls
	for _, c := range list {
		k := c.control()
		if slices.ContainsFunc(all, func(other *control) bool { return other.name == k.name }) {
			return nil, fmt.Errorf("two controls are called %q", k.name)
		}
		if k.choices != nil {
			choices, err := k.choices()
			if err != nil {
				return nil, err
			}
			if err := k.checkInitial(choices); err != nil {
				return nil, err
			}
		}
		all = append(all, k)
	}
	return all, nil
}

// checkInitial returns an error if the variable's value is none of the choices.
func (k *control) checkInitial(choices []any) error {
	value := k.get()
	if slices.Contains(choices, value) {
		return nil
	}
	if k.kind == "slider" {
		return fmt.Errorf("the slider %q goes from %v to %v, its variable is %v", k.name, choices[0], choices[len(choices)-1], value)
	}
	return fmt.Errorf("the dropdown %q has the options %v, its variable is %q", k.name, choices, value)
}

// values returns the present value of each control.
func (all controls) values() []any {
	out := make([]any, len(all))
	for i, k := range all {
		out[i] = k.get()
	}
	return out
}

// setTo sets the variables to the values that a reader asked for, or to the nearest that a
// control can take. Controls come in order, so that one which follows others sees their new
// values. No drawing may run meanwhile.
func (all controls) setTo(wanted []any) error {
	for i, k := range all {
		if k.choices == nil {
			k.set(wanted[i])
			continue
		}
		choices, err := k.choices()
		if err != nil {
			return err
		}
		k.set(choices[nearest(choices, wanted[i])])
	}
	return nil
}

// nearest returns the index of the choice that is, or comes nearest to, what was wanted. Texts
// have no distance: the first choice stands for one that is missing.
func nearest(choices []any, wanted any) int {
	if i := slices.Index(choices, wanted); i >= 0 {
		return i
	}
	number, ok := wanted.(float64)
	best := 0
	for i, c := range choices {
		v, isNumber := c.(float64)
		if ok && isNumber && math.Abs(v-number) < math.Abs(choices[best].(float64)-number) {
			best = i
		}
	}
	return best
}

// accepts reports whether values can be values of the controls: one for each, of its type.
// They come from the page.
func (all controls) accepts(values []any) bool {
	if len(values) != len(all) {
		return false
	}
	for i, v := range values {
		if number, ok := v.(float64); ok && math.IsNaN(number) || reflect.TypeOf(v) != reflect.TypeOf(all[i].get()) {
			return false
		}
	}
	return true
}

// format prints the values: "learning rate = 0.1, epochs = 5".
func (all controls) format(values []any) string {
	words := make([]string, len(all))
	for i, k := range all {
		words[i] = k.name + " = " + k.print(values[i])
	}
	return strings.Join(words, ", ")
}

// form is a control as the script in the page gets it.
type form struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Values []any    `json:"values,omitempty"` // to choose from, none for a text
	Labels []string `json:"labels,omitempty"` // of the values, as a reader sees them
	Value  any      `json:"value"`
}

// forms returns the controls as they are now. Choices that cannot be had are left out; setTo
// has reported the error.
func (all controls) forms() []form {
	out := make([]form, len(all))
	for i, k := range all {
		out[i] = form{Name: k.name, Kind: k.kind, Value: k.get()}
		if k.choices == nil {
			continue
		}
		out[i].Values, _ = k.choices()
		for _, v := range out[i].Values {
			out[i].Labels = append(out[i].Labels, k.print(v))
		}
	}
	return out
}

// follow reports whether any control follows another.
func (all controls) follow() bool {
	return slices.ContainsFunc(all, func(k *control) bool { return k.follows })
}
