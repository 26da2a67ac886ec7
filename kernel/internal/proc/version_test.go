// Tests of version.go.

package proc

import "testing"

func TestVersionsAreReadFromWhatTheLinkerWrote(t *testing.T) {
	if version, mod := Version("version_test.go"); version != "" || mod != "" {
		t.Errorf("a text file is version %s of %s", version, mod)
	}
}
