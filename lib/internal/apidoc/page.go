// The Markdown page of one package: its index, declarations, comments and examples.

package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/printer"
	"go/token"
	"path"
	"strings"
)

// pageWriter writes the page of one package.
type pageWriter struct {
	*documentedPackage
	site   *site
	source string // the address of the repository's files; may be empty
	out    strings.Builder
}

// page returns the package's page as Markdown. Most of it is HTML, so that
// Markdown's rules change nothing in what comments say.
func (w *pageWriter) page() string {
	w.print("# " + escapeMarkdown(w.pageName()) + "\n\n")
	w.print(frame(highlight(fmt.Sprintf("import %q", w.ImportPath), nil)))
	w.print(w.htmlOfDoc(w.doc.Doc, w.packageHeading))
	w.examples(2, "", w.doc.Examples)
	w.index()
	w.values(2, "constants", "Constants", w.doc.Consts)
	w.values(2, "variables", "Variables", w.doc.Vars)
	if len(w.doc.Funcs) > 0 {
		w.heading(2, "functions", "Functions")
		for _, f := range w.doc.Funcs {
			w.function(3, f.Name, f)
		}
	}
	if len(w.doc.Types) > 0 {
		w.heading(2, "types", "Types")
		for _, t := range w.doc.Types {
			w.typ(t)
		}
	}
	return w.out.String()
}

func (w *pageWriter) print(text string) { w.out.WriteString(text) }

// heading writes a heading with an anchor, which may be empty.
func (w *pageWriter) heading(level int, anchor, title string) {
	w.print(heading(level, anchor, title, ""))
}

// heading returns a heading. It is HTML whose words Markdown reads, so that it has
// its anchor and stands in the page's table of contents.
func heading(level int, anchor, title, attributes string) string {
	if anchor != "" {
		attributes = fmt.Sprintf(" id=\"%s\"%s", escape(anchor), attributes)
	}
	return fmt.Sprintf("<h%d%s markdown=\"1\">%s</h%d>\n\n", level, attributes, escapeMarkdown(title), level)
}

// index lists what the package has. The search skips it: it would find every
// name twice.
func (w *pageWriter) index() {
	if len(w.doc.Funcs)+len(w.doc.Types) == 0 {
		return
	}
	w.print(heading(2, "index", "Index", " data-search-exclude=\"\"") + "<ul class=\"index\">\n")
	for _, v := range [][2]string{{"constants", "Constants"}, {"variables", "Variables"}} {
		if v[0] == "constants" && len(w.doc.Consts) > 0 || v[0] == "variables" && len(w.doc.Vars) > 0 {
			fmt.Fprintf(&w.out, "<li><a href=\"#%s\">%s</a></li>\n", v[0], v[1])
		}
	}
	w.indexFuncs("", w.doc.Funcs)
	for _, t := range w.doc.Types {
		fmt.Fprintf(&w.out, "<li><code><a href=\"#%s\">type %s</a></code>", t.Name, t.Name)
		if len(t.Funcs)+len(t.Methods) > 0 {
			w.print("\n<ul>\n")
			w.indexFuncs("", t.Funcs)
			w.indexFuncs(t.Name+".", t.Methods)
			w.print("</ul>\n")
		}
		w.print("</li>\n")
	}
	w.print("</ul>\n\n")
}

func (w *pageWriter) indexFuncs(prefix string, funcs []*doc.Func) {
	for _, f := range funcs {
		fmt.Fprintf(&w.out, "<li><code><a href=\"#%s%s\">%s</a></code></li>\n", prefix, f.Name, escape(w.oneLine(f.Decl)))
	}
}

// oneLine is a function's declaration on one line.
func (w *pageWriter) oneLine(decl *ast.FuncDecl) string {
	short := &ast.FuncDecl{Recv: decl.Recv, Name: decl.Name, Type: decl.Type}
	var b strings.Builder
	if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, token.NewFileSet(), short); err != nil {
		return "func " + decl.Name.Name
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// values writes groups of constants or variables. At level 0 they belong to a type
// and have no heading.
func (w *pageWriter) values(level int, anchor, title string, groups []*doc.Value) {
	if len(groups) > 0 && level > 0 {
		w.heading(level, anchor, title)
	}
	for _, v := range groups {
		w.declared(v.Decl)
		w.print(w.htmlOfDoc(v.Doc, w.innerHeading))
	}
}

// function writes the section of a function or a method.
func (w *pageWriter) function(level int, anchor string, f *doc.Func) {
	title := "func " + f.Name
	if f.Recv != "" {
		title = fmt.Sprintf("func (%s) %s", f.Recv, f.Name)
	}
	w.heading(level, anchor, title)
	w.declared(f.Decl)
	w.print(w.htmlOfDoc(f.Doc, w.innerHeading))
	w.examples(level+1, anchor, f.Examples)
}

// typ writes the section of a type: its constants, variables, constructors and
// methods are in it.
func (w *pageWriter) typ(t *doc.Type) {
	w.heading(3, t.Name, "type "+t.Name)
	w.declared(t.Decl)
	w.print(w.htmlOfDoc(t.Doc, w.innerHeading))
	w.examples(4, t.Name, t.Examples)
	w.values(0, "", "", t.Consts)
	w.values(0, "", "", t.Vars)
	for _, f := range t.Funcs {
		w.function(4, f.Name, f)
	}
	for _, m := range t.Methods {
		w.function(4, t.Name+"."+m.Name, m)
	}
}

// declared writes a declaration's code and where it stands in the source.
func (w *pageWriter) declared(decl ast.Decl) {
	w.print(w.declaration(decl))
	if w.source == "" {
		return
	}
	file, line := w.sourceAt(decl.Pos())
	address := fmt.Sprintf("%s%s#L%d", w.source, file, line)
	fmt.Fprintf(&w.out, "<p class=\"source\" data-search-exclude=\"\"><a href=\"%s\">%s:%d</a></p>\n\n", escape(address), escape(path.Base(file)), line)
}

// examples writes a section for each example: its code and its output.
func (w *pageWriter) examples(level int, of string, examples []*doc.Example) {
	for _, e := range examples {
		anchor, title := "example", "Example"
		if of != "" {
			anchor, title = anchor+"-"+of, title+": "+of
		}
		if e.Suffix != "" {
			anchor, title = anchor+"-"+e.Suffix, title+" ("+e.Suffix+")"
		}
		w.heading(level, anchor, title)
		w.print(w.htmlOfDoc(e.Doc, w.innerHeading))
		w.print(w.exampleCode(codeOfExample(w.files, e), w.importsAt(e.Code.Pos())))
		if output := strings.TrimRight(e.Output, "\n"); output != "" {
			w.print("<p class=\"output\">Output</p>\n\n" + frame(escape(output)))
		}
	}
}

// codeOfExample is a whole program where the example can be one, and otherwise the
// function's statements.
func codeOfExample(files *token.FileSet, e *doc.Example) string {
	if e.Play != nil {
		return formatNode(files, e.Play)
	}
	text := formatNode(files, &printer.CommentedNode{Node: e.Code, Comments: e.Comments})
	block, isBlock := strings.CutPrefix(text, "{")
	if !isBlock {
		return text
	}
	block = strings.Trim(strings.TrimSuffix(strings.TrimRight(block, "\n"), "}"), "\n")
	lines := strings.Split(block, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "\t")
	}
	text = strings.Join(lines, "\n")
	if at := strings.LastIndex(text, "\n// Output:"); at >= 0 {
		text = text[:at]
	} else if at := strings.LastIndex(text, "\n// Unordered output:"); at >= 0 {
		text = text[:at]
	}
	return strings.TrimRight(text, "\n")
}

// escapeMarkdown keeps Markdown from reading a title as more than text.
func escapeMarkdown(title string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "`", "\\`", "{", `\{`, "$", `\$`).Replace(title)
}
