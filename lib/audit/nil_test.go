package audit

import (
	"strings"
	"testing"
)

// What is not there is an error that says what is missing.
func TestNothingToReadIsAnError(t *testing.T) {
	for words, read := range map[string]func() (*Reading, error){
		"the lens is nil":             func() (*Reading, error) { return (&Case{}).Read(nil, &Model{}) },
		"the model is nil":            func() (*Reading, error) { return (&Case{}).Read(Loss{}, nil) },
		"audit: the lens is nil":      func() (*Reading, error) { return (&Evidence{}).ReadBy(nil, &Arrays{}) },
		"arrays of the model are nil": func() (*Reading, error) { return (&Evidence{}).ReadBy(Loss{}, nil) },
	} {
		if _, err := read(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}
