package judge

import (
	"fmt"
	"strings"
)

// Problems lists everything that is wrong with a folder, in the order in which it is read.
type Problems struct {
	Folder string
	List   []Problem
}

// Problem is one thing that is wrong.
type Problem struct {
	File string `json:"file"` // below the folder; empty: the folder itself
	What string `json:"what"` // what was found, and what to do
}

// Error lists all problems, one line each. Line ends inside names are escaped.
func (p *Problems) Error() string {
	var b strings.Builder
	things := "problems"
	if len(p.List) == 1 {
		things = "problem"
	}
	fmt.Fprintf(&b, "%s cannot be audited, %d %s:", p.Folder, len(p.List), things)
	for _, one := range p.List {
		b.WriteString("\n  - ")
		if one.File != "" {
			b.WriteString(strings.ReplaceAll(one.File, "\n", `\n`) + ": ")
		}
		b.WriteString(strings.ReplaceAll(one.What, "\n", `\n`))
	}
	return b.String()
}

func (p *Problems) add(file, format string, args ...any) {
	p.List = append(p.List, Problem{file, fmt.Sprintf(format, args...)})
}
