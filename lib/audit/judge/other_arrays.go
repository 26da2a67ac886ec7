package judge

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// CheckName refuses what no model's folder is called: "unlearned", "retrained-2" and
// "retrained/2" are.
func CheckName(model string) error {
	first, inner, nested := strings.Cut(filepath.ToSlash(model), "/")
	lost := inner == "" || inner == "activations" || strings.HasPrefix(inner, ".") || strings.Contains(inner, "/")
	if !roleName.MatchString(first) || nested && lost || strings.ContainsFunc(model, unicode.IsControl) {
		return fmt.Errorf("%q is no name for a model's folder%s", model, suggestion(first, roleNames))
	}
	return nil
}

// OtherArrays lists the arrays of models that an audit would judge beside those about to be
// written, which are named as paths in the folder: they are of another day, perhaps of
// another network. What a config names is there on purpose, and so is what a shadow
// model was trained on, which no network says.
func OtherArrays(folder, config string, written []string) ([]string, error) {
	l, err := findLayout(folder, config)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range l.recordArrays() {
		for _, name := range c.files {
			if c.what != "labels" && !slices.Contains(written, name) && !l.named.namesFile(name) {
				out = append(out, filepath.ToSlash(name))
			}
		}
	}
	return out, nil
}
