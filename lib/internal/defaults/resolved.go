// Package defaults takes the settings in force of a value that can be somebody else's.
package defaults

import "reflect"

// Of is v with its defaults written out, which v's own method Resolved has returned as r. Where
// that is of another type, the method is not v's own but that of a type embedded in
// it: v overrides something of ours and has no Resolved. Then it is v as it stands,
// since r would be ours and what v overrides would be gone without a word.
func Of[T any](v, r T) T {
	if reflect.TypeOf(v) != reflect.TypeOf(r) {
		return v
	}
	return r
}
