// The diffs of CONTRIBUTING.md apply and build.

package project

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var fencedDiff = regexp.MustCompile("(?ms)^### ([^\n]+)$(?:[^#]|#[^#])*?^```diff\n(.*?)^```$")

// Every diff of CONTRIBUTING.md and docs/extending.md, applied by itself to a copy of the
// module, makes packages that build and pass go vet. The example passes the conformance suite that it
// buys, and builds from another package. The copy is an overlay: nothing is written to the working tree.
func TestContributingShowsDiffsThatBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages once for every diff; not with -short")
	}
	text := read(t, "CONTRIBUTING.md") + "\n" + read(t, filepath.Join("docs", "extending.md"))
	diffs := fencedDiff.FindAllStringSubmatch(text, -1)
	if shown := strings.Count(text, "```diff\n"); len(diffs) != shown || shown < 8 {
		t.Fatalf("%d of %d diffs were found below a heading of their own, at least 8 are expected", len(diffs), shown)
	}
	for _, d := range diffs {
		t.Run(d[1], func(t *testing.T) {
			t.Parallel()
			files, err := applied(d[2])
			if err != nil {
				t.Fatal(err)
			}
			overlay, packages := overlaid(t, files)
			goCommand(t, "build", overlay, packages)
			if !slices.ContainsFunc(packages, isNew) { // vet works in a package's folder, and a new one has none here
				goCommand(t, "vet", overlay, packages)
			}
			x, known := examples[d[1]]
			if !known {
				t.Fatal("no test knows what its suite is, and whether it can stand in another module")
			}
			x.testConforms(t, files)
			if x.inside == "" {
				if err := x.buildOutside(t, files); err != nil {
					t.Errorf("in a package of another module: %v", err)
				}
			}
		})
	}
}

func isNew(folder string) bool {
	_, err := os.Stat(folder)
	return errors.Is(err, os.ErrNotExist)
}

func goCommand(t *testing.T, command, overlay string, packages []string) {
	t.Helper()
	if err := runGo(command, overlay, packages); err != nil {
		t.Error(err)
	}
}

func runGo(command, overlay string, packages []string) error {
	c := exec.Command("go", append([]string{command, "-overlay", overlay}, packages...)...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s %s: %w\n%s", command, strings.Join(packages, " "), err, out)
	}
	return nil
}

// overlaid writes files outside the tree and returns an overlay for the go tool, and the packages
// of the files.
func overlaid(t *testing.T, files map[string]string) (overlay string, packages []string) {
	t.Helper()
	dir, root := t.TempDir(), must(os.Getwd())
	replace := map[string]string{}
	for name, text := range files {
		at := filepath.Join(dir, fmt.Sprint(len(replace))+".go")
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, filepath.FromSlash(name))] = at
		if p := "./" + path.Dir(name); !slices.Contains(packages, p) {
			packages = append(packages, p)
		}
	}
	overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, must(json.Marshal(map[string]any{"Replace": replace})), 0o600); err != nil {
		t.Fatal(err)
	}
	slices.Sort(packages)
	return overlay, packages
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// applied returns the files that result from a diff. What a hunk removes or keeps must occur in
// its file exactly once; line numbers are ignored, so that a list may grow without making its
// example wrong.
func applied(diff string) (map[string]string, error) {
	files := map[string]string{}
	var name string
	var err error
	for part := range strings.SplitSeq(diff, "\n@@\n") {
		hunk, header, more := strings.Cut(part, "--- ")
		if name != "" { // before the first file there is nothing but its header
			if files[name], err = patched(name, files[name], hunk); err != nil {
				return nil, err
			}
		} else if hunk != "" {
			return nil, fmt.Errorf("the diff begins with %q", hunk)
		}
		if !more {
			continue
		}
		old, rest, _ := strings.Cut(header, "\n+++ b/")
		name = strings.TrimSpace(rest)
		if name == "" {
			return nil, fmt.Errorf("the header %q names no file", header)
		}
		if _, err := os.Stat(name); old == "/dev/null" != errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s: the diff says %q of it, the tree: %v", name, old, err)
		}
		if old != "/dev/null" {
			b, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			files[name] = string(b)
		}
	}
	return files, nil
}

// patched applies one hunk to a text.
func patched(name, text, hunk string) (string, error) {
	var before, after []string
	for line := range strings.Lines(strings.TrimSuffix(hunk, "\n") + "\n") {
		switch line[0] {
		case ' ':
			before, after = append(before, line[1:]), append(after, line[1:])
		case '-':
			before = append(before, line[1:])
		case '+':
			after = append(after, line[1:])
		default:
			return "", fmt.Errorf("%s: the line %q of the hunk begins with neither of ' ', + and -", name, line)
		}
	}
	if text == "" && len(before) == 0 {
		return strings.Join(after, ""), nil
	}
	lines, found := slices.Collect(strings.Lines(text)), []int{}
	for i := range lines {
		if len(before) > 0 && i+len(before) <= len(lines) && slices.Equal(lines[i:i+len(before)], before) {
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%s: the lines %q stand in it %d times, not once", name, strings.Join(before, ""), len(found))
	}
	return strings.Join(slices.Concat(lines[:found[0]], after, lines[found[0]+len(before):]), ""), nil
}

func TestAHunkMustFitItsFileExactlyOnce(t *testing.T) {
	for _, c := range []struct{ text, hunk, want string }{
		{"a\nb\nc\n", " b\n+x\n", "a\nb\nx\nc\n"},
		{"a\nb\nc\n", "-a\n+x\n", "x\nb\nc\n"},
		{"", "+x\n", "x\n"},
		{"a\nab\n", " a\n+x\n", "a\nx\nab\n"},
		{"a\na\n", " a\n+x\n", "2 times"},
		{"a\n", "-b\n", "0 times"},
		{"a\n", "+b\n", "times"},
		{"a\n", "b\n", "begins with neither"},
	} {
		got, err := patched("f", c.text, c.hunk)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%q on %q gives %q, want %q", c.hunk, c.text, got, c.want)
		}
	}
}
