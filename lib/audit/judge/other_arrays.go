// Checks before arrays are written into a folder: valid names of models, and which
// other arrays an audit would use.

package judge

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// CheckName refuses names that no model's folder can have. Valid are "unlearned", "retrained-2" and
// "retrained/2", for example.
func CheckName(model string) error {
	first, inner, nested := strings.Cut(filepath.ToSlash(model), "/")
	lost := inner == "" || inner == "activations" || strings.HasPrefix(inner, ".") || strings.Contains(inner, "/")
	if !roleName.MatchString(first) || nested && lost || strings.ContainsFunc(model, unicode.IsControl) {
		return fmt.Errorf("%q is no name for a model's folder%s", model, roleSuggestion(first))
	}
	return nil
}

// sharedArrays are of no model.
var sharedArrays = []string{"labels", groupArray, offsetArray, "zlib", inputArray, inputOffsetArray}

// OtherArrays lists the arrays of models that an audit of the folder would use besides those about
// to be written, whose paths are given relative to the folder. They may be from another day or
// another network. Files that a config names, and the training sets of shadow models, are not
// listed.
func OtherArrays(folder, config string, written []string) ([]string, error) {
	l, err := findLayout(folder, config)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range append(l.recordArrays(), recordArray{files: l.tokenFiles()}) {
		for _, name := range c.files {
			if !slices.Contains(sharedArrays, c.what) && !slices.Contains(written, name) && !l.named.namesFile(name) {
				out = append(out, filepath.ToSlash(name))
			}
		}
	}
	return out, nil
}

// HasInputs reports whether an audit of the folder would find what models are given of the records.
func HasInputs(folder, config string) (bool, error) {
	l, err := findLayout(folder, config)
	if err != nil {
		return false, err
	}
	return len(l.Inputs)+len(l.InputTokens) > 0, nil
}
