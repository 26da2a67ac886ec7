package comparison

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/lab"
)

func TestAFolderWithTheReportOfOtherDataIsKnown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "adult.csv")
	if err := os.WriteFile(path, []byte("a,y\n"+strings.Repeat("1,no\n2,yes\n3,yes\n4,no\n", 10)), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := own.ReadTable(path, own.Target("y"))
	if err != nil {
		t.Fatal(err)
	}
	hash := file.Sources()[0].SHA256
	for _, c := range []struct {
		there string
		data  lab.Data
		same  bool
	}{
		{`{"data": "adult"}`, file, true}, // of the first version
		{`{"data": "people"}`, file, false},
		{`{"data": "adult", "sources": []}`, file, false},
		{`{"data": "adult", "sources": []}`, lab.Table{Set: "adult"}, true},
		{`{"data": "wine", "sources": []}`, lab.Table{Set: "adult"}, false},
		{`{"data": "adult", "sources": [{"sha256": "` + hash + `"}]}`, file, true},
		{`{"data": "adult", "sources": [{"sha256": "` + hash + `"}]}`, lab.Table{Set: "adult"}, false},
		{`{"data": "adult", "sources": [{"sha256": "00"}]}`, file, false},
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "report.json"), []byte(c.there), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := CheckFolder(folder, c.data); (err == nil) != c.same || err != nil && !errors.Is(err, ErrOtherReport) {
			t.Errorf("%s for %T: %v", c.there, c.data, err)
		}
	}
	if err := CheckFolder(filepath.Join(t.TempDir(), "none"), file); err != nil {
		t.Error(err)
	}
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "report.json"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := CheckFolder(broken, file); err == nil || errors.Is(err, ErrOtherReport) {
		t.Errorf("a file that is no report: %v", err)
	}
}
