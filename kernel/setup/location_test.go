// Tests of location.go and of the folders that unpack.go chooses.

package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// released is what a program of a release was built from: it has a version and no sum.
var released = build{path: Module, version: "v1.4.0"}

// installedMachine returns a test machine without a clone, whose working directory is the empty
// folder elsewhere, and on which the fake go tool can fetch version 1.4.0 of the library.
func installedMachine(t *testing.T) (w *testMachine, elsewhere string) {
	t.Helper()
	w = newTestMachine(t)
	w.writeFile("published/go.mod", "module "+Module+"\n\ngo 1.26.5\n\nrequire gonum.org/v1/gonum v0.17.0\n")
	w.writeFile("published/go.sum", "gonum.org/v1/gonum v0.17.0 h1:x=\n")
	dir := filepath.Join(w.dir, "published")
	w.writeFile("published.json", fmt.Sprintf(`{"Dir":%q,"GoMod":%q,"Sum":"h1:lib=","GoModSum":"h1:mod="}`, dir, filepath.Join(dir, "go.mod")))
	elsewhere = filepath.Join(w.dir, "elsewhere")
	if err := os.Mkdir(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(elsewhere)
	return w, elsewhere
}

// start prepares the machine as a program that was built from b.
func (w *testMachine) start(b build, o Options) (*Ready, error) {
	w.t.Helper()
	o.Home, o.Out = w.home, w.out
	m, err := newMachine(o)
	if err != nil {
		return nil, err
	}
	m.built = b
	return m.prepare(w.t.Context())
}

func TestAReleasedProgramUnpacksItsNotebooksAndImportsItsOwnVersion(t *testing.T) {
	w, _ := installedMachine(t)
	folder := filepath.Join(w.dir, "new", "mine")
	start := func(content string) *Ready {
		t.Helper()
		r, err := w.start(released, Options{Folder: folder, Notebooks: notebooks(content)})
		if err != nil || r.Clone || r.Notebooks != folder || r.Unpacked != folder {
			t.Fatalf("%+v, %v", r, err)
		}
		return r
	}
	r := start("one")
	gomod := read(t, filepath.Join(r.Root, "go.mod"))
	if !strings.HasPrefix(r.Root, w.home) || !strings.Contains(gomod, Module+" v1.4.0\n") || !strings.Contains(gomod, "gonum.org/v1/gonum v0.17.0") {
		t.Errorf("%s has the go.mod:\n%s", r.Root, gomod)
	}
	if sums := read(t, filepath.Join(r.Root, "go.sum")); !strings.Contains(sums, Module+" v1.4.0 h1:lib=\n") {
		t.Errorf("go.sum:\n%s", sums)
	}
	first := filepath.Join(folder, "start", "00.ipynb")
	if got := read(t, first); got != "one" {
		t.Errorf("unpacked is %q", got)
	}
	if err := os.WriteFile(first, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.printed()
	start("two")
	if got, said := read(t, first), w.printed(); got != "mine" || !strings.Contains(said, "newer versions of start/00.ipynb were not unpacked over yours") {
		t.Errorf("the changed notebook is %q; said %q", got, said)
	}
}

func TestALibraryThatIsNotTheOneTheProgramWasBuiltFromIsRefused(t *testing.T) {
	w, _ := installedMachine(t)
	other := released
	other.sum = "h1:other="
	if _, err := w.start(other, Options{Notebooks: notebooks("one")}); err == nil || !strings.Contains(err.Error(), "h1:lib=") || !strings.Contains(err.Error(), "h1:other=") {
		t.Error(err)
	}
	other.sum = "h1:lib="
	if _, err := w.start(other, Options{Notebooks: notebooks("one")}); err != nil {
		t.Error(err)
	}
}

// What cannot work is said first: nothing is built, and nothing is written for the user.
func TestWithoutALibraryItIsSaidAtOnceWhatIsNeeded(t *testing.T) {
	w, elsewhere := installedMachine(t)
	unreachable := `{"Error":"` + Module + `@v1.4.0: dial tcp: lookup proxy.golang.org:\n\tno such host"}`
	w.writeFile("unreachable", unreachable)
	for name, c := range map[string]struct {
		built build
		words []string
	}{
		"no version": {build{path: Module, version: "(devel)"}, []string{"not in a clone", "has no version", "--module DIR", "go install " + Module + "@latest"}},
		"unknown":    {build{}, []string{"has no version", "--module DIR"}},
		"changed":    {build{path: Module, version: "v1.4.1-0.20260102030405-abcdefabcdef+dirty"}, []string{"with changes", "+dirty", "--module DIR"}},
		"another":    {build{path: "example.com/other", version: "v1.0.0"}, []string{"has no version"}},
		"offline":    {released, []string{Module + "@v1.4.0 cannot be fetched", "network", "GOPROXY", "--module DIR", "(" + Module + "@v1.4.0: dial tcp", "no such host)"}},
	} {
		_, err := w.start(c.built, Options{Notebooks: notebooks("one")})
		for _, word := range c.words {
			if err == nil || !strings.Contains(err.Error(), word) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %v does not say %q, in one line", name, err, word)
			}
		}
		if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) != 0 || len(w.calls()) != 0 {
			t.Errorf("%s: the folder has %v, %v", name, entries, err)
		}
	}
	// The library is fetched once: later starts need no network.
	w.remove("unreachable")
	if _, err := w.start(released, Options{}); err != nil {
		t.Fatal(err)
	}
	w.writeFile("unreachable", unreachable)
	if _, err := w.start(released, Options{}); err != nil {
		t.Error(err)
	}
}

func TestANamedCloneServesWhereverTheNotebooksAre(t *testing.T) {
	w, elsewhere := installedMachine(t)
	r, err := w.start(build{}, Options{Module: filepath.Join("..", "clone"), Notebooks: notebooks("of the program"), Copies: true})
	if err != nil || !r.Clone || r.Root != w.root || r.Notebooks != elsewhere {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := read(t, filepath.Join(elsewhere, "start", "00.ipynb")); got != "{}" {
		t.Errorf("unpacked is %q, not what fits the clone", got)
	}
	for _, dir := range []string{elsewhere, "missing"} {
		if _, err := w.start(released, Options{Module: dir}); err == nil || !strings.Contains(err.Error(), "expected a clone of Lethe") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	// Named inside another clone, it is used instead of that one, and that one stays as it is.
	w.writeFile("second/go.mod", "module "+Module+"\n\ngo 1.26.5\n")
	t.Chdir(filepath.Join(w.dir, "second"))
	r, err = w.start(build{}, Options{Module: w.root})
	if err != nil || r.Root != w.root || strings.HasPrefix(r.Notebooks, w.root) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestTheFolderOfTheNotebooksIsTheUsersChoice(t *testing.T) {
	w, elsewhere := installedMachine(t)
	w.writeFile("thesis/thesis.tex", "")
	w.writeFile("thesis/.git/config", "")
	w.writeFile("clone/own/a.ipynb", "{}")
	at := func(names ...string) string { return filepath.Join(append([]string{w.dir}, names...)...) }
	for _, c := range []struct {
		name             string
		in, folder       string
		copies           bool
		opened, unpacked string
	}{
		{"an empty working directory", elsewhere, "", true, elsewhere, elsewhere},
		{"the same again", elsewhere, "", true, elsewhere, elsewhere},
		{"a working directory in use", at("thesis"), "", true, at("thesis", copiesFolder), at("thesis", copiesFolder)},
		{"a named folder in use", elsewhere, at("thesis"), false, at("thesis"), at("thesis", copiesFolder)},
		{"the folder of the notebooks", at("thesis", copiesFolder), "", true, at("thesis", copiesFolder), at("thesis", copiesFolder)},
		{"a new folder", elsewhere, at("a", "b"), false, at("a", "b"), at("a", "b")},
		{"in a clone", at("clone"), "", true, at("clone", copiesFolder), at("clone", copiesFolder)},
		{"in a clone, without copies", at("clone", "lib"), "", false, at("clone", "notebooks"), ""},
		{"the clone's own", at("clone"), at("clone", "notebooks"), false, at("clone", "notebooks"), ""},
		{"the clone's root", at("clone"), at("clone"), false, at("clone", "notebooks"), ""},
		{"the user's own in a clone", at("clone"), at("clone", "own"), false, at("clone", "own"), ""},
		{"a new folder in a clone", at("clone"), at("clone", "out", "try"), false, at("clone", "out", "try"), at("clone", "out", "try")},
		{"a new folder outside, from a clone", at("clone"), at("c"), false, at("c"), at("c")},
	} {
		t.Chdir(c.in)
		r, err := w.start(released, Options{Folder: c.folder, Copies: c.copies, Notebooks: notebooks("one")})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if r.Notebooks != c.opened || r.Unpacked != c.unpacked {
			t.Errorf("%s: opened %s, unpacked in %q, want %s and %q", c.name, r.Notebooks, r.Unpacked, c.opened, c.unpacked)
		}
		if c.unpacked != "" && !isFile(filepath.Join(c.unpacked, "start", "00.ipynb")) {
			t.Errorf("%s: no notebook in %s", c.name, c.unpacked)
		}
	}
	if _, err := os.Stat(at("clone", "notebooks", unpackedFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the clone's own notebooks were touched")
	}
}
