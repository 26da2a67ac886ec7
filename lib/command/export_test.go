// Tests of export.go.

package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExportSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"nobody", "1"}, "ruler"},
		{[]string{"ruler", "99"}, "99"},
		{[]string{"ruler", "1", "--scale", "huge"}, "huge"},
		{[]string{"ruler", "1", "--only", "("}, "--only"},
		{[]string{"ruler", "1", "--layout", "jax"}, "pytorch"},
		{[]string{"ruler", "1", "--only", "no-such-model"}, "no-such-model"},
		{[]string{"ruler", "1", "--only", "breast_cancer"}, "make the table first"},
	} {
		args := append([]string{"export", "--out", filepath.Join(dir, "out"), "--store", filepath.Join(dir, "store")}, c.args...)
		r := lethe(t, args...)
		if r.Code == 0 || !strings.Contains(r.Stderr, c.want) {
			t.Errorf("%q: code %d, %s", c.args, r.Code, r.Stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
		t.Error("a folder was made for nothing")
	}
}
