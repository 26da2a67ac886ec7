// Keys of programs with code from outside Lethe.

package store

import (
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// Box is a type of ours made of another.
type Box[T any] struct{}

// Code of a module with a sum is known by the sums of all modules; whatever has none is
// known by the program.
func TestCodeIsKnownByTheSumsOfModulesOrByTheProgram(t *testing.T) {
	module := func(path, version, sum string) *debug.Module {
		return &debug.Module{Path: path, Version: version, Sum: sum}
	}
	info := func(change func(*debug.BuildInfo)) buildInfo {
		b := &debug.BuildInfo{Main: *module("example.com/mine", "v0.0.0-dirty", ""), Deps: []*debug.Module{
			module(modulePath, "v1.0.0", ""), module("example.com/a", "v1.2.3", "h1:a"), module("example.com/a/b", "v2.0.0", "h1:b")}}
		change(b)
		return newBuildInfo(b, func() (string, error) { return "hash", nil })
	}
	origin := func(b buildInfo, pkg string) string {
		s, err := b.origin(pkg)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	plain := info(func(*debug.BuildInfo) {})
	if got := origin(plain, "example.com/a/c"); !strings.HasPrefix(got, "of example.com/a@v1.2.3 h1:a among modules ") {
		t.Error(got)
	}
	if got := origin(plain, "example.com/a/b/c"); !strings.HasPrefix(got, "of example.com/a/b@v2.0.0 h1:b ") {
		t.Error(got)
	}
	for _, pkg := range []string{"main", "example.com/mine/parts", "example.com/abc", "elsewhere", modulePath + "/lib/lab_test", "command-line-arguments"} {
		if got := origin(plain, pkg); got != "of program hash" {
			t.Errorf("%s is %s", pkg, got)
		}
	}
	before := origin(plain, "example.com/a")
	for name, change := range map[string]func(*debug.BuildInfo){
		"another version":          func(b *debug.BuildInfo) { b.Deps[1].Sum = "h1:c" },
		"another of what it calls": func(b *debug.BuildInfo) { b.Deps[2].Sum = "h1:c" },
		"another in its place":     func(b *debug.BuildInfo) { b.Deps[1].Replace = module("example.com/fork", "v1.0.0", "h1:f") },
	} {
		if got := origin(info(change), "example.com/a"); got == before || !strings.HasPrefix(got, "of example.com/") {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, change := range map[string]func(*debug.BuildInfo){
		"a folder in its place":                  func(b *debug.BuildInfo) { b.Deps[1].Replace = module("../a", "", "") },
		"a folder in the place of what it calls": func(b *debug.BuildInfo) { b.Deps[2].Replace = module("../b", "", "") },
		"no sum":                                 func(b *debug.BuildInfo) { b.Deps[1].Sum = "" },
	} {
		if got := origin(info(change), "example.com/a"); got != "of program hash" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := origin(info(func(b *debug.BuildInfo) { b.Deps[0].Version = "v2.0.0" }), "example.com/a"); got != before {
		t.Error("another version of Lethe, whose code is known by its versions, moved the key")
	}
}

// The list of folders is that of the standard library: what is missing in it would be
// somebody else's, and what is too much somebody could be called.
func TestTheStandardLibraryIsKnown(t *testing.T) {
	out, err := exec.Command("go", "list", "std").Output()
	if err != nil {
		t.Skip(err)
	}
	for _, pkg := range strings.Fields(string(out)) {
		root, _, _ := strings.Cut(pkg, "/")
		if !slices.Contains(standardFolders, root) || isExternal(pkg) {
			t.Errorf("%s counts as somebody else's", pkg)
		}
	}
	for _, pkg := range []string{"main", "mine", "mine/strings", "example.com/x", "github.com/lethe-ml/lethes", modulePath + "/lib/lab_test", "command-line-arguments"} {
		if !isExternal(pkg) {
			t.Errorf("%s counts as ours", pkg)
		}
	}
	for _, pkg := range []string{modulePath, modulePath + "/lib/lab", ""} {
		if isExternal(pkg) {
			t.Errorf("%s counts as somebody else's", pkg)
		}
	}
}

func TestTheProgramThatRunsHasAHash(t *testing.T) {
	one, err := hashOfProgram()
	if err != nil || len(one) != 64 {
		t.Errorf("%q, %v", one, err)
	}
}
