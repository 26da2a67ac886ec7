// Tests of unpack.go.

package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func notebooks(content string) fstest.MapFS {
	return fstest.MapFS{
		"start/00.ipynb": {Data: []byte(content)}, "ruler/01.ipynb": {Data: []byte("ruler")}, "notebooks.go": {Data: []byte("package notebooks")},
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestNotebooksAreUnpackedOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	fresh, kept, err := unpackInto(dir, notebooks("one"))
	if err != nil || len(fresh) != 2 || len(kept) != 0 || read(t, filepath.Join(dir, "start", "00.ipynb")) != "one" {
		t.Error(fresh, kept, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "notebooks.go")); err == nil {
		t.Error("the Go file was unpacked")
	}
	if fresh, kept, err := unpackInto(dir, notebooks("one")); err != nil || len(fresh)+len(kept) != 0 {
		t.Error(fresh, kept, err)
	}
}

func TestANewVersionReplacesUnchangedFilesOnly(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := unpackInto(dir, notebooks("one")); err != nil {
		t.Fatal(err)
	}
	if fresh, _, err := unpackInto(dir, notebooks("two")); err != nil || !slices.Equal(fresh, []string{"start/00.ipynb"}) {
		t.Error(fresh, err)
	}
	mine := filepath.Join(dir, "start", "00.ipynb")
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if fresh, kept, err := unpackInto(dir, notebooks("two")); err != nil || len(fresh)+len(kept) != 0 {
		t.Errorf("the version that was unpacked is no news: %v %v %v", fresh, kept, err)
	}
	fresh, kept, err := unpackInto(dir, notebooks("three"))
	if err != nil || len(fresh) != 0 || !slices.Equal(kept, []string{"start/00.ipynb"}) || read(t, mine) != "mine" {
		t.Errorf("%v %v %v, content %q", fresh, kept, err, read(t, mine))
	}
}

func TestAFileOfTheSameNameThatWasThereBeforeStays(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "start"), 0o755); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "start", "00.ipynb")
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, kept, err := unpackInto(dir, notebooks("one")); err != nil || len(kept) != 1 || read(t, mine) != "mine" {
		t.Error(kept, err)
	}
}

func TestADamagedLedgerChangesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, unpackedFile), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := unpackInto(dir, notebooks("one")); err == nil || !strings.Contains(err.Error(), unpackedFile) {
		t.Error(err)
	}
}

func TestANotebookThatWasOnlyRunIsRenewed(t *testing.T) {
	dir := t.TempDir()
	text := func(source, output string) string {
		return `{"cells":[{"cell_type":"code","source":` + source + `,"outputs":[` + output + `]}]}`
	}
	if _, _, err := unpackInto(dir, notebooks(text(`["a\n","b"]`, ""))); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "start", "00.ipynb")
	run := text(`"a\nb"`, `{"text":"3"}`)
	if err := os.WriteFile(mine, []byte(run), 0o644); err != nil {
		t.Fatal(err)
	}
	if fresh, kept, err := unpackInto(dir, notebooks(text(`["a\n","b"]`, ""))); err != nil || len(fresh)+len(kept) != 0 || read(t, mine) != run {
		t.Errorf("without news the outputs went: %v %v %v", fresh, kept, err)
	}
	if fresh, kept, err := unpackInto(dir, notebooks(text(`"c"`, ""))); err != nil || len(fresh) != 1 || len(kept) != 0 {
		t.Errorf("the new version did not come: %v %v %v", fresh, kept, err)
	}
	if err := os.WriteFile(mine, []byte(text(`"mine"`, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	if fresh, kept, err := unpackInto(dir, notebooks(text(`"d"`, ""))); err != nil || len(fresh) != 0 || len(kept) != 1 {
		t.Errorf("an edited notebook was replaced: %v %v %v", fresh, kept, err)
	}
}

func TestACloneServesCopiesThatFollowIt(t *testing.T) {
	w := newTestMachine(t)
	prepare := func() *Ready {
		t.Helper()
		r, err := Prepare(t.Context(), Options{Home: w.home, Folder: filepath.Join(w.root, "lib"), Out: w.out, Notebooks: os.DirFS(w.root), Copies: true})
		if err != nil || r.Root != w.root || r.Notebooks != filepath.Join(w.root, copiesFolder) {
			t.Fatalf("%+v, %v", r, err)
		}
		return r
	}
	copied := filepath.Join(prepare().Notebooks, "start", "00.ipynb")
	if got := read(t, copied); got != "{}" {
		t.Errorf("the copy holds %s", got)
	}
	w.writeFile("clone/notebooks/start/00.ipynb", `{"a":1}`)
	prepare()
	if got := read(t, copied); got != `{"a":1}` {
		t.Errorf("after a pull the copy holds %s", got)
	}
	w.writeFile("clone/"+copiesFolder+"/start/00.ipynb", "mine")
	w.writeFile("clone/notebooks/start/00.ipynb", `{"a":2}`)
	prepare()
	if got := read(t, copied); got != "mine" || !strings.Contains(w.out.String(), "newer versions of start/00.ipynb were not unpacked over yours") {
		t.Errorf("the reader's notebook holds %s; said %s", got, w.out)
	}
}
