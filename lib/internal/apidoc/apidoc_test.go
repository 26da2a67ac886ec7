package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

func fixture(t *testing.T) []listedPackage {
	t.Helper()
	packages, err := listPackages("testdata/fixture")
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// writtenSite writes the fixture's pages and returns their folder.
func writtenSite(t *testing.T, source string) string {
	t.Helper()
	out := t.TempDir()
	if err := writeSite(fixture(t), out, source); err != nil {
		t.Fatal(err)
	}
	return out
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPublicPackagesHavePages(t *testing.T) {
	var pages []string
	for _, p := range fixture(t) {
		pages = append(pages, p.pageName())
	}
	if want := []string{"shape", "shape/area", "shape/shapetest"}; !slices.Equal(pages, want) {
		t.Errorf("pages of %q, want %q: neither commands nor internal packages", pages, want)
	}
}

func TestPagesAreAsTheyWere(t *testing.T) {
	out := writtenSite(t, "https://example.org/blob/main/")
	for _, page := range []string{"index.md", "pages.json", "shape.md", "shape/area.md", "shape/shapetest.md"} {
		golden := filepath.Join("testdata", "golden", filepath.FromSlash(page)+".golden")
		has := readFile(t, filepath.Join(out, page))
		if *update {
			if err := writeFile(golden, has); err != nil {
				t.Fatal(err)
			}
		}
		if want := readFile(t, golden); has != want {
			t.Errorf("%s has changed; if that was meant, run the test with -update. Now:\n%s", page, has)
		}
	}
}

// The names come from the syntax, the pages from go/doc.
func TestEveryExportedNameHasAnAnchor(t *testing.T) {
	out := writtenSite(t, "")
	names, err := namesByPage(fixture(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Base", "Base.Colour", "Colour", "Colour.String", "Draw", "ErrLimit", "Green", "Limit", "NewSquare", "Red", "Set", "Set.Add", "Set.Items",
		"Shape", "Shape.Area", "Square", "Square.Area", "Square.Base", "Square.Next", "Square.Side",
	}
	if !slices.Equal(names["shape"], want) {
		t.Errorf("names of shape:\n%q, want\n%q", names["shape"], want)
	}
	for page, list := range names {
		text := readFile(t, filepath.Join(out, page+".md"))
		for _, name := range list {
			if n := strings.Count(text, ` id="`+name+`"`); n != 1 {
				t.Errorf("%s has %d anchors for %s", page, n, name)
			}
		}
	}
}

func TestLinksLeadToAnchorsOfPages(t *testing.T) {
	out := writtenSite(t, "")
	links := regexp.MustCompile(`href="([^"#:]*)(#[^"]*)?"`)
	seen := 0
	for _, page := range []string{"index", "shape", "shape/area", "shape/shapetest"} {
		text := readFile(t, filepath.Join(out, page+".md"))
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			seen++
			to := text
			if link[1] != "" {
				to = readFile(t, filepath.Join(out, filepath.Dir(page), strings.TrimSuffix(link[1], ".html")+".md"))
			}
			if anchor := strings.TrimPrefix(link[2], "#"); anchor != "" && !strings.Contains(to, ` id="`+anchor+`"`) {
				t.Errorf("%s: %s has no such anchor", page, link[0])
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d links were looked at", seen)
	}
}

func TestPagesWithoutAnAddressHaveNoLinksToTheSource(t *testing.T) {
	out := writtenSite(t, "")
	if text := readFile(t, filepath.Join(out, "shape.md")); strings.Contains(text, `class="source"`) {
		t.Error("a link to the source goes nowhere")
	}
}

// Markdown reads HTML to the end of an element: one that is left open would swallow
// the rest of the page.
func TestElementsAreClosed(t *testing.T) {
	out := writtenSite(t, "")
	tags := regexp.MustCompile(`<(/?)([a-z][a-z0-9]*)[^>]*>`)
	for _, page := range []string{"index", "shape", "shape/area"} {
		var open []string
		for _, tag := range tags.FindAllStringSubmatch(readFile(t, filepath.Join(out, page+".md")), -1) {
			if tag[1] == "" {
				open = append(open, tag[2])
			} else if len(open) == 0 || open[len(open)-1] != tag[2] {
				t.Fatalf("%s: %s closes %q", page, tag[0], open)
			} else {
				open = open[:len(open)-1]
			}
		}
		if len(open) > 0 {
			t.Errorf("%s leaves %q open", page, open)
		}
	}
}

func TestNamesAreJSON(t *testing.T) {
	names, err := namesByPage(fixture(t))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(names); err != nil || !strings.Contains(b.String(), `"shape/area":["Total"]`) {
		t.Errorf("%v, %s", err, b.String())
	}
}

func TestNameOfImport(t *testing.T) {
	for importPath, want := range map[string]string{"fmt": "fmt", "math/rand/v2": "rand", "example.org/vae": "vae", "example.org/v": "v"} {
		if has := nameOfImport(importPath); has != want {
			t.Errorf("the name of %q is %q, want %q", importPath, has, want)
		}
	}
}

func TestRelativePage(t *testing.T) {
	for _, c := range [][3]string{
		{"lib/a", "lib/a", "a.html"}, {"lib/a", "lib/a/b", "a/b.html"}, {"lib/a/b", "lib/a", "../a.html"}, {"lib/a/b", "data", "../../data.html"},
	} {
		if has := relativePage(c[0], c[1]); has != c[2] {
			t.Errorf("%s seen from %s is %s, want %s", c[1], c[0], has, c[2])
		}
	}
}
