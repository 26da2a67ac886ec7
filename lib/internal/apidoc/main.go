// Command apidoc writes the library pages of the documentation site.
//
//	go run ./lib/internal/apidoc -out FOLDER [-source ADDRESS]
//	go run ./lib/internal/apidoc -names
//
// The first form writes one page of Markdown for every public package of the
// module in the current folder, an index of them (index.md), and the list of
// pages (pages.json), from which the site makes its navigation. Each heading of
// a page has the name that it documents as its anchor: #Name, #Type.Method. So
// has each constant, variable and field, inside the code that declares it.
//
// The second form prints which exported names there are, page by page, as JSON.
// It reads the syntax alone and shares no code with the pages, so that a check
// of the site can hold the pages against it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("out", "", "the folder for the pages")
	source := flag.String("source", "", "the address of the repository's files, ending with a slash; without it pages have no links to the source")
	names := flag.Bool("names", false, "print the exported names of every page as JSON, and write nothing")
	flag.Parse()
	if err := run(*out, *source, *names); err != nil {
		fmt.Fprintln(os.Stderr, "apidoc:", err)
		os.Exit(1)
	}
}

func run(out, source string, names bool) error {
	packages, err := listPackages(".")
	if err != nil {
		return err
	}
	if names {
		list, err := namesByPage(packages)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(list)
	}
	if out == "" {
		return fmt.Errorf("-out names the folder for the pages")
	}
	return writeSite(packages, out, source)
}
