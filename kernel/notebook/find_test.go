// Tests of find.go.

package notebook

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestFoldersOfThisMachineAreNamed(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	t.Setenv("TMPDIR", "/var/folders/x/")
	want := [][2]string{{"/home/me/lethe", "."}, {"/var/folders/x", "$TMPDIR"}, {"/tmp", "$TMPDIR"}, {"/home/me", "~"}}
	if got := hiddenFolders("/home/me/lethe"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	t.Setenv("HOME", "")
	if got := hiddenFolders(""); !slices.Equal(got, want[1:3]) {
		t.Errorf("without a home or a root: %q", got)
	}
}

func TestNotebooksAreFoundInReadingOrder(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, name := range []string{"ruler/02-b.ipynb", "ruler/01-a.ipynb", "start/01.ipynb", "start/00.ipynb", "zoo/x.ipynb", "top.ipynb",
		"start/.ipynb_checkpoints/00.ipynb", "out/notebooks/00.ipynb", "start/readme.md", "start/.hidden.ipynb"} {
		fsys[name] = &fstest.MapFile{}
	}
	got, err := Find(fsys)
	want := []string{"start/00.ipynb", "start/01.ipynb", "ruler/01-a.ipynb", "ruler/02-b.ipynb", "top.ipynb", "zoo/x.ipynb"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestACellsTitleIsItsCommentOrItsFirstLine(t *testing.T) {
	for source, want := range map[string]string{
		"import (\n\t\"fmt\"\n)\n\n// The engine.\n%%\nx()": "The engine",
		"%%\n\tx()\n\t// indented\n":                        "x()",
		"import \"fmt\"":                                    "imports",
		"!ls\nfunc f() {\n}":                                "func f() {",
	} {
		if got := title(source); got != want {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}
