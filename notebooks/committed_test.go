package notebooks_test

import (
	"encoding/base64"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/figures"
	"github.com/lethe-ml/lethe/kernel/notebook"
	"github.com/lethe-ml/lethe/notebooks"
)

var (
	madeBefore = regexp.MustCompile(`computed before, scale [a-z]+\)`)
	runsHash   = regexp.MustCompile(`(?m)^runs: \d+, ([0-9a-f]{64})$`)
	picture    = regexp.MustCompile(`nb\.Picture\(figures\.Files, "([^"]+)"`)
)

// What a notebook was saved with is what is committed now: a table or picture that was
// made anew is shown anew.
func TestNotebooksShowTheCommittedTablesAndPictures(t *testing.T) {
	committed := committedRuns(t)
	paths, err := notebook.Find(notebooks.Files)
	if err != nil {
		t.Fatal(err)
	}
	tables, pictures := 0, 0
	for _, path := range paths {
		nb, err := notebook.ReadFS(notebooks.Files, path)
		if err != nil {
			t.Fatal(err)
		}
		for n, cell := range nb.Cells {
			for _, text := range texts(cell.Outputs, "text/plain") {
				runs := runsHash.FindStringSubmatch(text)
				if !madeBefore.MatchString(text) || runs == nil {
					continue
				}
				if tables++; !committed[runs[1]] {
					t.Errorf("%s, cell %d: the table was made of runs %.12s, which no committed table is made of", path, n+1, runs[1])
				}
			}
			for _, name := range picture.FindAllStringSubmatch(cell.Source, -1) {
				pictures++
				there, err := fs.ReadFile(figures.Files, name[1])
				if err != nil {
					t.Fatalf("%s, cell %d: %v", path, n+1, err)
				}
				shown := strings.ReplaceAll(strings.Join(texts(cell.Outputs, "image/png"), " "), "\n", "")
				if !strings.Contains(shown, base64.StdEncoding.EncodeToString(there)) {
					t.Errorf("%s, cell %d: the picture is not the committed %s", path, n+1, name[1])
				}
			}
		}
	}
	if tables < 20 || pictures < 6 {
		t.Errorf("%d tables and %d pictures were looked at", tables, pictures)
	}
}

// texts are the outputs' contents of a media type.
func texts(outputs []*notebook.Output, media string) []string {
	var out []string
	for _, o := range outputs {
		if s, is := o.Data[media].(string); is {
			out = append(out, s)
		}
	}
	return out
}

// committedRuns are the hashes of the runs that committed tables were made of.
func committedRuns(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := fs.WalkDir(figures.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json") {
			return err
		}
		b, err := fs.ReadFile(figures.Files, path)
		for _, found := range regexp.MustCompile(`[0-9a-f]{64}`).FindAllString(string(b), -1) {
			out[found] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
