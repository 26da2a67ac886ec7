// Helpers: running command lines in the tests of this package.

package command

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
)

// lethe runs a command line in this process.
func lethe(t *testing.T, args ...string) clitest.Result {
	return clitest.Run(t.Context(), Root(), "", args...)
}

var fails = clitest.Fails

func TestListShowsEveryKindAsTextAndJSON(t *testing.T) {
	all := clitest.Decoded[map[string][]map[string]any](t, lethe(t, "list", "--json"))
	for kind, one := range map[string]string{
		"methods": "scrub", "attacks": "modified-entropy", "metrics": "sde/spread-only", "lenses": "against the oracle",
		"datasets": "breast_cancer", "models": "tabular-mlp", "recipes": "ruler/table1",
	} {
		found := false
		for _, e := range all[kind] {
			found = found || e["name"] == one
		}
		if !found {
			t.Errorf("%s: no %s", kind, one)
		}
		if kind == "methods" {
			for _, e := range all[kind] {
				if e["about"] == nil || e["from"] == nil || e["sees"] == nil {
					t.Errorf("%v: what it does, its paper or what it sees is missing", e)
				}
			}
		}
		if r := lethe(t, "list", kind); r.Code != cli.ExitOK || !strings.Contains(r.Out, one) {
			t.Errorf("list %s: exit code %d, no %s", kind, r.Code, one)
		}
		if only := clitest.Decoded[map[string]any](t, lethe(t, "list", kind, "--json")); len(only) != 1 || only[kind] == nil {
			t.Errorf("list %s --json has other kinds", kind)
		}
	}
}
