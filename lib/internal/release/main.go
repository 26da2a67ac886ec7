// Command release writes the files that accompany a binary of a release: the licences of
// everything that is linked into it, and its bill of materials.
//
//	go run ./lib/internal/release --version v1.2.3 --licences FILE --bom FILE BINARY
//
// The linked modules are read from the binary, and the packages are those that the go tool builds
// for its system; the two must agree. A module without a licence is an error, and so is a binary
// that was not built from the version's tag.
package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

func main() {
	version := flag.String("version", "", "of the release: v1.2.3")
	licences := flag.String("licences", "", "file to write the licences to")
	bom := flag.String("bom", "", "file to write the bill of materials to: CycloneDX, JSON")
	flag.Parse()
	if flag.NArg() != 1 || *version == "" || *licences == "" || *bom == "" {
		flag.Usage()
		os.Exit(2)
	}
	err := checkVersion(flag.Arg(0), *version)
	if err == nil {
		err = write(*version, flag.Arg(0), *licences, *bom)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func write(version, binary, licences, bom string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	modules, err := linked(info)
	if err != nil {
		return fmt.Errorf("%s: %w", binary, err)
	}
	b, err := billOfMaterials(version, binary, info, modules)
	if err != nil {
		return err
	}
	return errors.Join(files.WriteFile(licences, licenceText(modules)), files.WriteFile(bom, b))
}

// checkVersion refuses a program that was not built from the release's tag: outside a clone,
// lethe lab fetches the library at the version that the go tool has written into the program.
func checkVersion(binary, version string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	if info.Main.Version != version {
		return fmt.Errorf("%s: the go tool says that this is %s: check out the tag %s, without changes", binary, cmp.Or(info.Main.Version, "(devel)"), version)
	}
	return nil
}

// module is a module that is linked into a binary.
type module struct {
	Path, Version, Sum string
	Files              map[string]string // licences and notices, by their names in the module
}

// standard is the standard library's name, as the go tool calls it.
const standard = "std"

// listed is a package as the go tool lists it.
type listed struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path, Version, Dir string }
	}
}

// linked returns the modules of a binary with their licences, the standard library first.
func linked(info *debug.BuildInfo) ([]module, error) {
	packages, err := listPackages(info)
	if err != nil {
		return nil, err
	}
	dirs, roots := map[string]map[string]bool{}, map[string]string{}
	for _, p := range packages {
		if p.Module == nil || p.Module.Main {
			continue
		}
		root := p.Module.Dir
		if p.Module.Replace != nil {
			root = p.Module.Replace.Dir
		}
		if dirs[p.Module.Path] == nil {
			dirs[p.Module.Path] = map[string]bool{}
		}
		roots[p.Module.Path], dirs[p.Module.Path][p.Dir] = root, true
	}
	text, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	root := strings.TrimSpace(string(text))
	std := module{Path: standard, Version: strings.TrimPrefix(info.GoVersion, "go")}
	if std.Files, err = licencesIn(root, map[string]bool{root: true}); err != nil {
		return nil, err
	}
	out := []module{std}
	for _, d := range info.Deps {
		if dirs[d.Path] == nil {
			return nil, fmt.Errorf("%s is linked, but the go tool builds no package of it", d.Path)
		}
		from := d
		if d.Replace != nil {
			from = d.Replace
		}
		m := module{Path: from.Path, Version: from.Version, Sum: from.Sum}
		if m.Files, err = licencesIn(roots[d.Path], dirs[d.Path]); err != nil {
			return nil, err
		}
		out = append(out, m)
		delete(dirs, d.Path)
	}
	if len(dirs) > 0 {
		return nil, fmt.Errorf("the go tool builds %q, which are not linked", slices.Sorted(maps.Keys(dirs)))
	}
	for _, m := range out {
		if len(m.Files) == 0 {
			return nil, fmt.Errorf("%s has no licence", m.Path)
		}
	}
	return out, nil
}

// listPackages returns the packages that the go tool builds for the binary's system.
func listPackages(info *debug.BuildInfo) ([]listed, error) {
	argv, env := []string{"list", "-deps", "-json=Dir,Standard,Module"}, os.Environ()
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED":
			env = append(env, s.Key+"="+s.Value)
		case "-tags":
			argv = append(argv, "-tags="+s.Value)
		}
	}
	c := exec.Command("go", append(argv, info.Path)...)
	var problem bytes.Buffer
	c.Env, c.Stderr = env, &problem
	text, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, problem.String())
	}
	var out []listed
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
}

// licenceName matches the name of a licence file, or of a folder of licences.
var licenceName = regexp.MustCompile(`(?i)^(third[_-]?party[_-]?)?(licen[cs]es?|copying|notices?|patents|copyright)([._-].*)?$`)

// longestLicence bounds the size of a licence in bytes.
const longestLicence = 1 << 20

// licencesIn returns the licences of packages of a module: those in their folders and in all
// folders above, up to the module's.
func licencesIn(root string, dirs map[string]bool) (map[string]string, error) {
	out, seen := map[string]string{}, map[string]bool{}
	for dir := range dirs {
		for ; !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			if err := addLicences(root, dir, licenceName.MatchString, out); err != nil {
				return nil, err
			}
			if dir == root {
				break
			}
		}
	}
	return out, nil
}

// addLicences adds the licences of one folder, and those in a folder of licences in it.
func addLicences(root, dir string, isLicence func(name string) bool, to map[string]string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case !isLicence(e.Name()) || strings.HasSuffix(e.Name(), ".go"):
		case e.IsDir():
			if err := addLicences(root, path, func(string) bool { return true }, to); err != nil {
				return err
			}
		case e.Type().IsRegular():
			b, err := files.Read(path, longestLicence)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			to[filepath.ToSlash(name)] = string(b)
		}
	}
	return nil
}

// licenceText returns one text with the licences of all modules.
func licenceText(modules []module) []byte {
	var b bytes.Buffer
	b.WriteString("Lethe contains the software below, under the licences that follow each name.\nLethe's own is in LICENSE.\n")
	for _, m := range modules {
		for _, name := range slices.Sorted(maps.Keys(m.Files)) {
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n%[1]s\n\n%[5]s\n", strings.Repeat("=", 80), m.Path, m.Version, name, strings.TrimSpace(m.Files[name]))
		}
	}
	return b.Bytes()
}

// spdx maps phrases to licences; the first match counts. Commas and line ends are ignored.
var spdx = []struct{ phrase, id string }{
	{"Apache License Version 2.0", "Apache-2.0"},
	{"Mozilla Public License Version 2.0", "MPL-2.0"},
	{"SIL OPEN FONT LICENSE Version 1.1", "OFL-1.1"},
	{"Creative Commons Attribution 4.0", "CC-BY-4.0"},
	{"Permission to use, copy, modify, and/or distribute this software", "ISC"},
	{"Permission is hereby granted, free of charge, to any person obtaining a copy", "MIT"},
	{"Neither the name of", "BSD-3-Clause"},
	{"Redistribution and use in source and binary forms", "BSD-2-Clause"},
}

// licenceIDs returns the identifiers of a module's own licences. An unknown text is named by its
// file; folders hold the licences of other software, or a choice.
func (m module) licenceIDs() (out []object) {
	var ids []string
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if strings.Contains(name, "/") {
			continue
		}
		text := strings.Join(strings.Fields(strings.ReplaceAll(m.Files[name], ",", " ")), " ")
		for _, s := range spdx {
			if strings.Contains(text, strings.ReplaceAll(s.phrase, ",", "")) {
				ids = append(ids, s.id)
				break
			}
		}
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		out = append(out, object{"license": object{"id": id}})
	}
	if len(out) == 0 {
		out = append(out, object{"license": object{"name": slices.Min(slices.Collect(maps.Keys(m.Files)))}})
	}
	return out
}

// purl returns a module's package URL.
func (m module) purl() string {
	return "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(cmp.Or(m.Version, "(devel)"), "+", "%2B")
}
