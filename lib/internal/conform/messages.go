package conform

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// CheckSubtestsSay is CheckSubtestsFail for subtests whose messages must contain the words given for
// them: an author who gets a message has to find the fault by it.
func CheckSubtestsSay(t *testing.T, test string, words map[string]string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self, "-test.run=^"+test+"$", "-test.v")
	child.Env = append(os.Environ(), envRunBroken+"=1")
	out, err := child.CombinedOutput()
	if err == nil {
		t.Fatalf("the suite passes every broken implementation:\n%s", out)
	}
	said := messages(string(out))
	for subtest, want := range words {
		name := test + "/" + strings.ReplaceAll(subtest, " ", "_")
		if !strings.Contains(string(out), "--- FAIL: "+name+" (") {
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
