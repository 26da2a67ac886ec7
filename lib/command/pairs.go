// Flags of names with values, each name once.

package command

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// pairs is a flag NAME=VALUE,... that can be given again. pflag's own would keep the last of two values
// of one name without a word.
type pairs struct{ to *map[string]string }

// pairsFlag adds such a flag.
func pairsFlag(f *pflag.FlagSet, to *map[string]string, name, usage string) {
	f.Var(pairs{to}, name, usage)
}

// Set implements pflag.Value.
func (p pairs) Set(text string) error {
	if text == "" {
		return errors.New("a pair NAME=VALUE is expected")
	}
	fields, err := csv.NewReader(strings.NewReader(text)).Read()
	if err != nil {
		return err
	}
	if *p.to == nil {
		*p.to = map[string]string{}
	}
	for _, field := range fields {
		name, value, ok := strings.Cut(field, "=")
		if !ok || name == "" {
			return fmt.Errorf("%s is no pair NAME=VALUE", field)
		}
		if before, twice := (*p.to)[name]; twice {
			return fmt.Errorf("%s is named twice, for %s and %s", name, before, value)
		}
		(*p.to)[name] = value
	}
	return nil
}

// Type implements pflag.Value.
func (pairs) Type() string { return "stringToString" }

// String implements pflag.Value.
func (p pairs) String() string {
	if p.to == nil {
		return ""
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(*p.to)) {
		out = append(out, name+"="+(*p.to)[name])
	}
	return strings.Join(out, ",")
}
