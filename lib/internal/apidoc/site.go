// All pages together: their files, the links between them, the index and pages.json.

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/doc"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// site has every package that gets a page.
type site struct {
	packages []*documentedPackage
	module   string
	anchors  map[string]map[string]bool // by import path, then name
	pages    map[string]string          // page name by import path
}

// sitePage is an entry of pages.json.
type sitePage struct {
	Title string `json:"title"`
	File  string `json:"file"` // relative to the folder of the pages
}

// writeSite writes the pages, their index and pages.json to the folder out.
func writeSite(listed []listedPackage, out, source string) error {
	s, err := newSite(listed)
	if err != nil {
		return err
	}
	pages := []sitePage{}
	for _, g := range s.groups(firstFolder) {
		for _, p := range g.packages {
			w := &pageWriter{documentedPackage: p, site: s, source: source}
			page := sitePage{p.pageName(), p.pageName() + ".md"}
			if err := writeFile(filepath.Join(out, page.File), w.page()); err != nil {
				return err
			}
			pages = append(pages, page)
		}
	}
	if err := writeFile(filepath.Join(out, "index.md"), s.index()); err != nil {
		return err
	}
	list, err := json.MarshalIndent(pages, "", " ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(out, "pages.json"), string(list)+"\n")
}

func writeFile(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

func newSite(listed []listedPackage) (*site, error) {
	s := &site{anchors: map[string]map[string]bool{}, pages: map[string]string{}}
	for _, l := range listed {
		p, err := loadPackage(l)
		if err != nil {
			return nil, err
		}
		s.packages = append(s.packages, p)
		s.module = p.Module.Path
		s.anchors[p.ImportPath] = anchorsOf(p.doc)
		s.pages[p.ImportPath] = p.pageName()
	}
	return s, nil
}

// anchorsOf has the names that links can go to: all but fields.
func anchorsOf(d *doc.Package) map[string]bool {
	anchors := map[string]bool{}
	values := func(groups []*doc.Value) {
		for _, v := range groups {
			for _, name := range v.Names {
				anchors[name] = true
			}
		}
	}
	functions := func(prefix string, funcs []*doc.Func) {
		for _, f := range funcs {
			anchors[prefix+f.Name] = true
		}
	}
	values(d.Consts)
	values(d.Vars)
	functions("", d.Funcs)
	for _, t := range d.Types {
		anchors[t.Name] = true
		values(t.Consts)
		values(t.Vars)
		functions("", t.Funcs)
		functions(t.Name+".", t.Methods)
	}
	return anchors
}

// names has the names of a package that links can go to.
func (w *pageWriter) names(importPath string) map[string]bool { return w.site.anchors[importPath] }

// address is where a link to a name of a package goes: to its anchor, to its page
// on pkg.go.dev where another module has it, or nowhere ("").
func (w *pageWriter) address(importPath, name string) string {
	anchor := ""
	if name != "" {
		anchor = "#" + name
	}
	page, hasPage := w.site.pages[importPath]
	switch {
	case hasPage && !w.names(importPath)[name]:
		anchor = ""
		fallthrough
	case hasPage:
		if importPath == w.ImportPath && anchor != "" {
			return anchor
		}
		return relativePage(w.pageName(), page) + anchor
	case importPath == w.site.module || strings.HasPrefix(importPath, w.site.module+"/"):
		return ""
	case importPath == "C":
		return ""
	}
	return "https://pkg.go.dev/" + importPath + anchor
}

// relativePage is the address of a page as seen from another page. Both are named
// without an ending.
func relativePage(from, to string) string {
	relative, err := filepath.Rel(path.Dir(from), to+".html")
	if err != nil {
		return to + ".html" // both are relative: this does not happen
	}
	return filepath.ToSlash(relative)
}

// testHelpers is the title above packages that only tests import.
const testHelpers = "Helpers for tests"

// group is a part of the index: packages with one first folder, or the helpers for
// tests.
type group struct {
	title    string
	packages []*documentedPackage
}

// groups returns the packages in the order of the index: the largest group first,
// the helpers for tests last.
func (s *site) groups(titleOf func(listedPackage) string) []group {
	var groups []group
	for _, p := range s.packages {
		title := titleOf(p.listedPackage)
		at := slices.IndexFunc(groups, func(g group) bool { return g.title == title })
		if at < 0 {
			at = len(groups)
			groups = append(groups, group{title: title})
		}
		groups[at].packages = append(groups[at].packages, p)
	}
	rank := func(g group) int {
		if g.title == testHelpers {
			return 1
		}
		return -len(g.packages)
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.title, b.title))
	})
	return groups
}

// firstFolder is the title of a package's group in the navigation.
func firstFolder(p listedPackage) string {
	first, _, _ := strings.Cut(p.pageName(), "/")
	return first
}

// indexTitle is the title that a package stands under in the index.
func indexTitle(p listedPackage) string {
	if p.isForTests() {
		return testHelpers
	}
	return firstFolder(p)
}

// index is the page that lists the packages, each with the first sentence of its
// documentation.
func (s *site) index() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Library\n\nThe packages of the module `%s`, made from the comments in their source. "+
		"Every exported name has an anchor; the search finds them.\n\n", s.module)
	for _, g := range s.groups(indexTitle) {
		fmt.Fprintf(&b, "## %s\n\n<dl class=\"packages\">\n", g.title)
		for _, p := range g.packages {
			name := escape(p.pageName())
			fmt.Fprintf(&b, "<dt><a href=\"%s.html\">%s</a></dt>\n<dd>%s</dd>\n", name, name, escape(p.doc.Synopsis(p.doc.Doc)))
		}
		b.WriteString("</dl>\n\n")
	}
	return b.String()
}
