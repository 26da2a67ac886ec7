// The examples of the documented diffs pass their conformance suites, and stand in packages of other modules.

package project

import (
	"fmt"
	"path"
	"strings"
	"testing"
)

// example is how the example of a documented diff is tested.
type example struct {
	suite  string // the package of the conformance suite, below lib
	of     string // the package of the example, below lib
	test   string // the statement of the test
	inside string // why it cannot stand in another module; "": it can
}

// examples are those of the documented diffs, by their headings.
var examples = map[string]example{
	"An unlearning method":                            {suite: "unlearn/unlearntest", of: "unlearn", test: "unlearntest.Run(t, unlearn.Halfway{})"},
	"An attack, or a signal for the threshold attack": {suite: "attack/attacktest", of: "attack", test: "attacktest.RunSignal(t, attack.Margin{})"},
	"A lens":                   {suite: "audit/lenstest", of: "audit", test: "lenstest.Run(t, audit.Confidence{})"},
	"A loss":                   {suite: "nn/loss/losstest", of: "nn/loss", test: "losstest.Run(t, loss.LogCosh{}, nil)"},
	"A metric":                 {suite: "verify/metrictest", of: "verify/ruler", test: "metrictest.Run(t, ruler.Metrics()[len(ruler.Metrics())-1])"},
	"A network":                {of: "model/tabular"},
	"A paper":                  {of: "paper/luck"},
	"A data set":               {inside: "it uses the reader of Lethe's own sets"},
	"A table on existing rows": {inside: "it uses what a paper's package measures"},
}

const libraryPath = "github.com/lethe-ml/lethe/lib/"

// testFile is the file and the text of a test that runs the suite on the example; "" without a suite.
func (x example) testFile() (file, text string) {
	if x.suite == "" {
		return "", ""
	}
	return path.Join("lib", x.suite, "documented_test.go"), fmt.Sprintf(
		"package %s_test\n\nimport (\n\t\"testing\"\n\n\t%q\n\t%q\n)\n\nfunc TestDocumented(t *testing.T) { %s }\n",
		path.Base(x.suite), libraryPath+x.of, libraryPath+x.suite, x.test)
}

// testConforms runs the conformance suite on the example of applied files.
func (x example) testConforms(t *testing.T, files map[string]string) {
	t.Helper()
	file, text := x.testFile()
	if file == "" {
		return
	}
	with := map[string]string{file: text}
	for name, text := range files {
		with[name] = text
	}
	overlay, _ := overlaid(t, with)
	goCommand(t, "test", overlay, []string{"-run", "^TestDocumented$", "./" + path.Dir(file)})
}

// buildOutside builds the new files of a diff in another package, which sees no unexported name of theirs.
func (x example) buildOutside(t *testing.T, files map[string]string) error {
	t.Helper()
	alone := x.buildIn(t, files, "")
	if alone == nil || isNew(path.Join("lib", x.of)) {
		return alone // it uses no name of the package
	}
	return x.buildIn(t, files, fmt.Sprintf("\nimport . %q\n", libraryPath+x.of))
}

// buildIn builds the new files of a diff in a package of their own, behind an import.
func (x example) buildIn(t *testing.T, files map[string]string, imported string) error {
	t.Helper()
	outside := map[string]string{}
	for name, text := range files {
		if !isNew(name) {
			continue
		}
		comment, code, found := strings.Cut("\n"+text, "\npackage "+path.Base(x.of)+"\n")
		if !found {
			return fmt.Errorf("%s is not of package %s", name, x.of)
		}
		if strings.Contains(text, "/internal/") {
			return fmt.Errorf("%s imports an internal package", name)
		}
		outside[path.Join("lib", "outside", path.Base(name))] = comment + "\npackage outside\n" + imported + code
	}
	overlay, packages := overlaid(t, outside)
	return runGo("build", overlay, packages)
}

func TestAnExampleOutsideUsesExportedNames(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages; not with -short")
	}
	x := examples["A lens"]
	text := "package audit\n\nimport \"fmt\"\n\nfunc own(r Reading) string { return fmt.Sprint(%s(r.Scores.Forget.Values)) }\n"
	for name, says := range map[string]string{"negated": "undefined: negated", "MeanLoss{}.Info().Measures + fmt.Sprint": ""} {
		err := x.buildOutside(t, map[string]string{"lib/audit/own.go": fmt.Sprintf(text, name)})
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, expected %q", name, err, says)
		}
	}
}

func TestExamplesHaveTheirSuites(t *testing.T) {
	for heading, x := range examples {
		if (x.of == "") == (x.inside == "") {
			t.Errorf("%s: %+v", heading, x)
		}
	}
	for _, heading := range []string{"An unlearning method", "An attack, or a signal for the threshold attack", "A lens", "A loss", "A metric"} {
		x := examples[heading]
		if file, text := x.testFile(); !strings.HasSuffix(file, "/documented_test.go") || !strings.Contains(text, x.test) {
			t.Errorf("%s has no suite: %s\n%s", heading, file, text)
		}
	}
}
