// Package conform holds the common parts of the conformance suites: checks of short names and of
// errors, and the proof that a suite fails for a broken implementation.
package conform

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var shortName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// CheckName checks the name and the description of an item in a list.
func CheckName(t *testing.T, name, about string) {
	t.Helper()
	if !shortName.MatchString(name) {
		t.Errorf("name %q: expected small letters, digits and single hyphens", name)
	}
	if about == "" || about != strings.TrimSpace(about) || strings.Contains(about, "\n") {
		t.Errorf("description %q, expected one line", about)
	}
}

// CheckRefused checks that an error contains the words, ignoring case.
func CheckRefused(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: accepted", what)
		return
	}
	for _, w := range words {
		if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(w)) {
			t.Errorf("%s: the error %q does not say %q", what, err, w)
		}
	}
}

const envRunBroken = "LETHE_RUN_BROKEN"

// RunOnlyByFails skips a test whose subtests are meant to fail, unless CheckSubtestsFail runs it.
func RunOnlyByFails(t *testing.T) {
	t.Helper()
	if os.Getenv(envRunBroken) == "" {
		t.Skip("its subtests must fail; another test runs it and checks that")
	}
}

// CheckSubtestsFail runs a test of this package, one that begins with RunOnlyByFails, in a process
// of its own and checks that each of the subtests fails.
func CheckSubtestsFail(t *testing.T, test string, subtests ...string) {
	t.Helper()
	out := outputOfBroken(t, test)
	for _, s := range subtests {
		want := "--- FAIL: " + test + "/" + strings.ReplaceAll(s, " ", "_")
		if !strings.Contains(out, want) {
			t.Errorf("the output has no %q:\n%s", want, out)
		}
	}
}

// outputOfBroken runs a test that begins with RunOnlyByFails, which must fail, in a process of its own.
func outputOfBroken(t *testing.T, test string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self, "-test.run=^"+test+"$", "-test.v")
	child.Env = append(os.Environ(), envRunBroken+"=1")
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("the suite passes every broken implementation (%v):\n%s", err, out)
	}
	return string(out)
}
