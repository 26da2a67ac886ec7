// Tests of data.go.

package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
)

func TestDataVerifyTellsMissingFromDamaged(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LETHE_DATA", dir)
	if r := lethe(t, "data", "verify"); r.Code != cli.ExitOK || !strings.Contains(r.Out, "missing") || !strings.Contains(r.Out, "built in") {
		t.Errorf("nothing there: %+v", r)
	}
	if r := lethe(t, "data", "verify", "adult"); r.Code != cli.ExitFailure || !strings.Contains(r.Stderr, "adult") {
		t.Errorf("adult asked for and missing: %+v", r)
	}
	path := filepath.Join(dir, "breast_cancer", "wdbc.data")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("not the data"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := lethe(t, "data", "verify", "--json")
	var files []fileStatusJSON
	if err := json.Unmarshal([]byte(r.Out), &files); err != nil || r.Code != cli.ExitFailure || !strings.Contains(r.Stderr, "breast_cancer") {
		t.Fatalf("%v, %+v", err, r)
	}
	for _, f := range files {
		if f.DataSet == "breast_cancer" && (f.State != "damaged" || !strings.Contains(f.Problem, path)) {
			t.Errorf("%+v", f)
		}
	}
}

func TestDataGetNeedsNothingForGeneratedSets(t *testing.T) {
	t.Setenv("LETHE_DATA", t.TempDir())
	if r := lethe(t, "data", "get", "two_moons"); r.Code != cli.ExitOK || !strings.Contains(r.Out, "generated") {
		t.Errorf("%+v", r)
	}
}

func TestDataListSaysWhatIsHere(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LETHE_DATA", dir)
	if err := os.MkdirAll(filepath.Join(dir, "adult"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"adult.data", "adult.test"} {
		if err := os.WriteFile(filepath.Join(dir, "adult", f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]string{}
	for _, d := range clitest.Decoded[[]dataSetJSON](t, lethe(t, "data", "list", "--json")) {
		got[d.Name] = d.State
	}
	for name, want := range map[string]string{"adult": "here", "bank_marketing": "missing", "breast_cancer": "built in", "two_moons": "generated"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}

func TestDataListCarriesLicenceSizeAndHashes(t *testing.T) {
	byHand := []string{"cifar10_first4000", "cifar10_jpeg", "lfw", "mtsamples", "olivetti_idx", "sotu", "tabula_muris_sample"}
	noSHA256 := []string{"lfw", "pbmc33k", "tabula_muris", "bio_clinicalbert"} // which nobody to be trusted states
	noRecords := []string{"minilm", "bio_clinicalbert", "tofu_logs"}           // weights and logs
	for _, d := range clitest.Decoded[[]dataSetJSON](t, lethe(t, "data", "list", "--json")) {
		if k := slices.Index(noRecords, d.Name); k >= 0 && d.Rows == 0 && d.Licence != "" {
			noRecords = slices.Delete(noRecords, k, k+1)
		} else if d.Licence == "" || d.Rows == 0 || d.ClassCount < 2 && d.Name != "pbmc33k" { // nobody publishes labels of that
			t.Errorf("%+v", d)
		}
		for _, f := range d.Files {
			if unseen := f.Size == 0 && f.SHA256 == ""; unseen && slices.Contains(noSHA256, d.Name) {
				continue
			}
			if len(f.SHA256) != 64 || f.Size == 0 && d.Name != "olivetti" || (len(f.URLs) == 0 && !f.Optional) != slices.Contains(byHand, d.Name) {
				t.Errorf("%s: %+v", d.Name, f)
			}
		}
	}
	if len(noRecords) > 0 {
		t.Errorf("data get takes %v, and data list lacks them", noRecords)
	}
}

// What cannot be downloaded is said to be put there by hand in the list, whether or not its size is known; and what is there, or
// generated, is not.
func TestDataListSaysByHandOfWhatCannotBeDownloaded(t *testing.T) {
	t.Setenv("LETHE_DATA", t.TempDir())
	published := map[string]bool{}
	for _, i := range filesOfData() {
		published[i.Name] = i.Published()
	}
	seen := 0
	for line := range strings.Lines(lethe(t, "data", "list").Out) {
		name, rest, _ := strings.Cut(line, " ")
		if is, known := published[name]; known {
			if seen++; strings.Contains(rest, "by hand") == is {
				t.Errorf("can be downloaded: %v: %s", is, line)
			}
		}
	}
	if seen != len(published) {
		t.Errorf("%d of %d are listed", seen, len(published))
	}
}

// The only way to a file that nobody publishes is said wherever the file is missed.
func TestAFileThatIsMadeByHandSaysHow(t *testing.T) {
	t.Setenv("LETHE_DATA", t.TempDir())
	const how = "head -c 12292000 > cifar10_lossless_first4000.bin"
	if page, err := os.ReadFile("../../docs/guide/coverage.md"); err != nil || !strings.Contains(string(page), how) {
		t.Errorf("the page on what is reproduced does not say it: %v", err)
	}
	if r := lethe(t, "data", "get", "cifar10_first4000"); r.Code != cli.ExitFailure || !strings.Contains(r.Stderr, how) ||
		!strings.Contains(r.Stderr, "after `lethe data get cifar10`") {
		t.Errorf("%+v", r)
	}
	if r := lethe(t, "try", "--data", "cifar10_first4000", "--out", t.TempDir()); r.Code != cli.ExitFailure || !strings.Contains(r.Stderr, how) {
		t.Errorf("%+v", r)
	}
}

func TestImageSetsAreListedFetchedAndVerifiedLikeTables(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LETHE_DATA", dir)
	shapes := map[string]string{}
	for _, d := range clitest.Decoded[[]dataSetJSON](t, lethe(t, "data", "list", "--json")) {
		if _, twice := shapes[d.Name]; twice {
			t.Errorf("%s is listed twice", d.Name)
		}
		shapes[d.Name] = fmt.Sprint(d.Shape, d.TestRows)
	}
	if shapes["cifar10"] != "[3 32 32] 10000" || shapes["adult"] != "[] 0" {
		t.Errorf("shapes %v", shapes)
	}
	if r := lethe(t, "data", "list"); !strings.Contains(r.Out, "3 x 64 x 64") || !strings.Contains(r.Out, "by hand") {
		t.Errorf("%+v", r)
	}
	if r := lethe(t, "data", "get", "glyphs"); r.Code != cli.ExitOK || !strings.Contains(r.Out, "generated") {
		t.Errorf("%+v", r)
	}
	if r := lethe(t, "data", "get", "cifar10_jpeg"); r.Code != cli.ExitFailure || !strings.Contains(r.Stderr, "no address is known") {
		t.Errorf("%+v", r)
	}
	if r := lethe(t, "data", "get", "cifar_10"); r.Code == cli.ExitOK || !strings.Contains(r.Stderr, "did you mean cifar10") {
		t.Errorf("%+v", r)
	}
	if r := lethe(t, "data", "verify", "mnist"); r.Code != cli.ExitFailure || !strings.Contains(r.Out, "missing") {
		t.Errorf("%+v", r)
	}
}
