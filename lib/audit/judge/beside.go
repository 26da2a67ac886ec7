package judge

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// CheckName refuses what no model's folder is called: "unlearned", "retrained-2" and
// "retrained/2" are.
func CheckName(model string) error {
	parts := strings.Split(filepath.ToSlash(model), "/")
	inner := parts[1:]
	switch {
	case roleName.FindStringSubmatch(parts[0]) == nil || len(inner) > 1:
		return fmt.Errorf("%q is no name for a model's folder%s", model, meant(parts[0], []string{"unlearned", "original", "retrained", "checkpoint-1", "shadow-1"}))
	case len(inner) == 1 && (inner[0] == "" || inner[0] == "activations" || strings.HasPrefix(inner[0], ".")):
		return fmt.Errorf("%q is no name for a model's folder", model)
	}
	return nil
}

// Beside lists the arrays of models that an audit would judge beside those about to be
// written, which are named as paths in the folder: they are of another day, perhaps of
// another network. What a config names is there on purpose, and so is what a shadow
// model was trained on, which no network says.
func Beside(folder, config string, written []string) ([]string, error) {
	l, err := find(folder, config)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range l.perRecord() {
		for _, name := range c.files {
			if c.what != "labels" && !slices.Contains(written, name) && !l.named.names(name) {
				out = append(out, filepath.ToSlash(name))
			}
		}
	}
	return out, nil
}
