package conform

import (
	"strings"
	"testing"
)

// CheckSubtestsSay is CheckSubtestsFail for subtests whose messages must contain the words given for
// them: an author who gets a message has to find the fault by it.
func CheckSubtestsSay(t *testing.T, test string, words map[string]string) {
	t.Helper()
	out := outputOfBroken(t, test)
	said := messages(out)
	for subtest, want := range words {
		name := test + "/" + strings.ReplaceAll(subtest, " ", "_")
		if !strings.Contains(out, "--- FAIL: "+name+" (") {
			t.Errorf("%s does not fail, expected a failure that says %q; it says:\n%s", name, want, said[name])
		} else if !strings.Contains(said[name], want) {
			t.Errorf("%s does not say %q, but\n%s", name, want, said[name])
		}
	}
}

// messages returns what each test of a verbose output says.
func messages(out string) map[string]string {
	said, current := map[string]string{}, ""
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "===" {
			current = f[2]
			continue
		}
		said[current] += line
	}
	return said
}
