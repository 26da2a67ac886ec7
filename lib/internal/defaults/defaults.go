// Package defaults selects the settings in force of a value whose type may embed a type of this
// library.
package defaults

import "reflect"

// InForce returns the settings of v: r, which is the result of v's method WithDefaults, if it has v's
// type, else v itself. If r has another type, the method is that of an embedded type: v overrides
// something of that type and has no WithDefaults of its own, and r would drop the override.
func InForce[T any](v, r T) T {
	if reflect.TypeOf(v) != reflect.TypeOf(r) {
		return v
	}
	return r
}
