// Help texts and exported names use the field's terms.

package command

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/cli/clitest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestHelpTextsUseTheFieldsTerms keeps private words out of the help of all commands. The
// commands of package kernel have the same test there.
func TestHelpTextsUseTheFieldsTerms(t *testing.T) {
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if c.Name() == "judgements" {
			return // the hidden name of lethe list audit-lenses, which scripts use
		}
		texts := map[string]string{"use": c.Use, "short": c.Short, "long": c.Long, "examples": c.Example}
		c.Flags().VisitAll(func(f *pflag.Flag) { texts["--"+f.Name] = f.Usage })
		for where, text := range texts {
			for _, word := range clitest.FindPrivateWords(text) {
				t.Errorf("%s, %s: %s", c.CommandPath(), where, word)
			}
		}
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(Root())
}

// privateNames are parts of names that mean nothing to a reader of the field, with the terms
// that replace them. A name is split where an upper-case letter follows a lower-case one.
var privateNames = map[string]string{
	"Arm": "Variant", "Arms": "Variants", "Fleet": "ShadowModels", "Fleets": "ShadowModels", "Sail": "Train", "Caught": "AttackResults",
	"Stranger": "NonMember", "Strangers": "NonMembers", "Judgement": "Lens", "Judgements": "Lenses", "Ashore": "Host", "Aboard": "OnDevice",
	"Crew": "Workers", "Desk": "Panel", "Knob": "Slider", "Shelf": "Cache", "Garden": "Fixture", "Village": "Fixture", "Stray": "Unexpected",
	"Surgeon": "Transform", "Surgeons": "Transforms", "Mixer": "Combiner", "Corrupter": "Augmenter", "Twinned": "StateDictNamer",
	"Coupled": "UsesBatchStats", "Chunked": "MaxBatch", "Settling": "FinalGoal", "Oddities": "Warnings", "Undone": "Skipped", "Dealt": "Assigned",
	"Behind": "Fallback", "Elsewhere": "Other", "Lend": "Wrap", "Resolved": "WithDefaults",
}

// vagueNames are names of functions and methods that cannot be searched for and do not say
// what they return.
var vagueNames = regexp.MustCompile(`^(Of|At|Look|Take|Said|From|To|By|On|In|Near|Own|Whole|Among|Across|UpTo|What|Here|Given|Asked|Made|` +
	`Shown|Left|Seen|So|Over|Under|After|Before|Again|Once)$`)

// unsearchable are names of functions that are words of any text.
var unsearchable = map[string]bool{
	"of": true, "at": true, "take": true, "look": true, "said": true, "from": true, "to": true, "by": true, "on": true, "near": true,
	"pick": true, "own": true, "whole": true, "among": true, "between": true, "each": true, "upTo": true, "what": true,
	"here": true, "given": true, "asked": true, "made": true, "shown": true, "left": true, "seen": true, "known": true,
}

// conventional methods have the names that other Go packages give them.
var conventional = map[string]string{"At": "an element of a matrix: At(i, j)"}

// TestNamesUseTheFieldsTerms keeps private words, and names that say nothing, out of the exported
// names of all packages of the module, and names that cannot be searched for out of all functions.
func TestNamesUseTheFieldsTerms(t *testing.T) {
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Skip("the module's sources are not here")
	}
	part := regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)
	names := 0
	check := func(set *token.FileSet, id *ast.Ident, function bool) {
		if function && unsearchable[id.Name] {
			t.Errorf("%s: %s does not say what it returns", set.Position(id.Pos()), id.Name)
		}
		if !id.IsExported() {
			return
		}
		names++
		for _, word := range part.FindAllString(id.Name, -1) {
			if instead := privateNames[word]; instead != "" {
				t.Errorf("%s: %s: say %s", set.Position(id.Pos()), id.Name, instead)
			}
		}
		if function && vagueNames.MatchString(id.Name) && conventional[id.Name] == "" {
			t.Errorf("%s: %s does not say what it returns", set.Position(id.Pos()), id.Name)
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				check(set, d.Name, true)
			case *ast.GenDecl:
				ast.Inspect(d, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.TypeSpec:
						check(set, n.Name, false)
					case *ast.ValueSpec:
						for _, id := range n.Names {
							check(set, id, false)
						}
					case *ast.StructType:
						for _, f := range n.Fields.List {
							for _, id := range f.Names {
								check(set, id, false)
							}
						}
					case *ast.InterfaceType:
						for _, m := range n.Methods.List {
							for _, id := range m.Names {
								check(set, id, true)
							}
						}
					}
					return true
				})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if names < 2000 {
		t.Errorf("only %d exported names were found", names)
	}
}
