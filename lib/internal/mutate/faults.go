// The list of faults, which stands in the files of the folder faults.

package main

import (
	"bufio"
	"bytes"
	"embed"
	"fmt"
	"strings"
)

// Faults stand one after the other, with an empty line between them:
//
//	file lib/attack/threshold.go
//	protects the smallest of tied thresholds is used
//	tests ./lib/attack ./lib/audit
//	run Threshold
//	-		if acc > accuracy {
//	+		if acc >= accuracy {
//
// See Fault. The lines with - are the text as it is, those with + what takes its place; the last
// line has no line end. Lines with # are comments. Whoever changes a line that a fault quotes
// changes the quotation too.
//
//go:embed faults/*.txt
var faultFiles embed.FS

// readFaults returns the faults of all files, in the order of the files' names.
func readFaults() ([]Fault, error) {
	entries, err := faultFiles.ReadDir("faults")
	if err != nil {
		return nil, err
	}
	var all []Fault
	for _, e := range entries {
		text, err := faultFiles.ReadFile("faults/" + e.Name())
		if err != nil {
			return nil, err
		}
		these, err := parseFaults(e.Name(), text)
		if err != nil {
			return nil, err
		}
		all = append(all, these...)
	}
	return all, nil
}

// parseFaults reads a file of faults. Errors name the file and the line.
func parseFaults(name string, text []byte) (all []Fault, err error) {
	var f Fault
	var before, after []string
	add := func(line int) {
		if f == (Fault{}) && before == nil && after == nil || err != nil {
			return
		}
		f.Old, f.New = strings.Join(before, "\n"), strings.Join(after, "\n")
		if f.File == "" || f.Protects == "" || f.Old == "" {
			err = fmt.Errorf("%s:%d: the fault before this line needs file, protects and a line with -", name, line)
		}
		all, f, before, after = append(all, f), Fault{}, nil, nil
	}
	lines, n := bufio.NewScanner(bytes.NewReader(text)), 0
	for lines.Scan() && err == nil {
		n++
		line := lines.Text()
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "":
			add(n)
		case line[0] == '#':
		case line[0] == '-' && after == nil:
			before = append(before, line[1:])
		case line[0] == '+':
			after = append(after, line[1:])
		case word == "file" && f.File == "":
			f.File = rest
		case word == "protects" && f.Protects == "":
			f.Protects = rest
		case word == "tests" && f.Tests == "":
			f.Tests = rest
		case word == "run" && f.Run == "":
			f.Run = rest
		default:
			return nil, fmt.Errorf("%s:%d: %q is no line of a fault", name, n, line)
		}
	}
	add(n + 1)
	if err == nil {
		err = lines.Err()
	}
	return all, err
}
