// Package notebook reads, writes, executes and checks Jupyter notebooks: the
// file format (nbformat 4.5), a runner that talks to the kernel without a
// browser, the comparison of claims, and a linter.
package notebook

// Object is a JSON object whose contents the format leaves open.
type Object = map[string]any

// Kind is the kind of a cell.
type Kind string

// Kinds of cells.
const (
	Code     Kind = "code"
	Markdown Kind = "markdown"
	Raw      Kind = "raw"
)

// Notebook is a notebook in memory.
type Notebook struct {
	Metadata Object
	Cells    []Cell
}

// Cell is one cell. Count and Outputs belong to code cells.
type Cell struct {
	Kind        Kind
	ID          string // unique in its notebook: 1 to 64 of A-Z a-z 0-9 _ -
	Source      string
	Metadata    Object
	Attachments map[string]Object // per file name, contents per media type; nil: none
	Count       int               // the execution count, 0: not executed
	Outputs     []*Output
}

// Types of outputs.
const (
	StreamOutput  = "stream"         // Name, Text
	DisplayOutput = "display_data"   // Data, Metadata
	ResultOutput  = "execute_result" // Data, Metadata, Count
	ErrorOutput   = "error"          // Ename, Evalue, Traceback
)

// Output is what a cell has put out; which fields are in use depends on its
// Type.
type Output struct {
	Type      string
	Name      string // stdout or stderr
	Text      string
	Data      Object // per media type: a string, or any value where the type is JSON
	Metadata  Object
	Count     int
	Ename     string
	Evalue    string
	Traceback []string
}

// isJSON reports whether a media type holds JSON values, which are kept as they
// are; all others hold texts.
func isJSON(media string) bool {
	const prefix, suffix = "application/", "+json"
	return media == "application/json" ||
		len(media) >= len(prefix)+len(suffix) && media[:len(prefix)] == prefix && media[len(media)-len(suffix):] == suffix
}

// text returns the output's contents of a media type, "" where it has none.
func (o *Output) text(media string) string {
	s, _ := o.Data[media].(string)
	return s
}
