package main

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The kernel is a small program with modules of others in it: their licences are all
// there, and the bill of materials names them with their versions.
func TestLicencesAndBillAreThoseOfWhatIsLinked(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil || testing.Short() {
		t.Skip("builds a program, with the go tool")
	}
	dir := t.TempDir()
	binary, licences, bom := filepath.Join(dir, "kernel"), filepath.Join(dir, "licences"), filepath.Join(dir, "bom")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", binary, "github.com/lethe-ml/lethe/kernel/relay/lethe-kernel").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := write("v1.2.3", binary, licences, bom); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil || len(info.Deps) == 0 {
		t.Fatal(err, info)
	}
	// A binary of another version would fetch another library.
	if err := checkVersion(binary, info.Main.Version); err != nil {
		t.Error(err)
	}
	if err := checkVersion(binary, "v1.2.3"); err == nil || !strings.Contains(err.Error(), "check out the tag v1.2.3") {
		t.Errorf("a binary of no tag: %v", err)
	}
	text, err := os.ReadFile(licences)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(bom)
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		BOMFormat, SpecVersion, SerialNumber string
		Metadata                             struct {
			Component struct{ Purl, Version string }
		}
		Components []struct {
			Name, Version, Purl string
			Licenses            []struct{ License struct{ ID, Name string } }
		}
		Dependencies []struct{ DependsOn []string }
	}
	if err := json.Unmarshal(b, &bill); err != nil {
		t.Fatal(err)
	}
	if bill.BOMFormat != "CycloneDX" || bill.SpecVersion != "1.5" || bill.Metadata.Component.Purl != "pkg:golang/github.com/lethe-ml/lethe@v1.2.3" ||
		!regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(bill.SerialNumber) {
		t.Errorf("%.1000s", b)
	}
	want := []string{"std " + strings.TrimPrefix(info.GoVersion, "go")}
	for _, d := range info.Deps {
		want = append(want, d.Path+" "+d.Version)
	}
	var got []string
	for _, c := range bill.Components {
		got = append(got, c.Name+" "+c.Version)
		if len(c.Licenses) == 0 || c.Licenses[0].License.ID == "" {
			t.Errorf("%s: %+v", c.Name, c.Licenses)
		}
		if !slices.Contains(bill.Dependencies[0].DependsOn, c.Purl) {
			t.Errorf("%s is no dependency", c.Purl)
		}
		if !strings.Contains(string(text), "\n"+c.Name+" "+c.Version+": ") {
			t.Errorf("no licence of %s", c.Name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, linked are %q", got, want)
	}
	// A module of whose licence nothing is there is no release.
	if err := write("v1.2.3", "main.go", licences, bom); err == nil {
		t.Error("a text has a bill of materials")
	}
}

func TestLicencesAreFoundUpToTheModulesFolder(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE": "module", "NOTICE.txt": "notice", "license.go": "code", "a/LICENSE-MIT": "inner", "a/b/x.go": "", "c/COPYING": "of another package", "licensed/x": "", "licenses/ftl.txt": "ftl", "THIRD_PARTY_LICENSES/X/LICENSE": "x",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := licencesIn(root, map[string]bool{filepath.Join(root, "a", "b"): true, root: true})
	if err != nil || len(got) != 5 || got["licenses/ftl.txt"] != "ftl" || got["THIRD_PARTY_LICENSES/X/LICENSE"] != "x" || got["LICENSE"] != "module" || got["NOTICE.txt"] != "notice" || got["a/LICENSE-MIT"] != "inner" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestLicencesAreKnownByTheirTexts(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004": "Apache-2.0", "Mozilla Public License, version 2.0": "", "Mozilla Public License Version 2.0": "MPL-2.0",
		"Permission is hereby granted, free of charge, to any person\nobtaining a copy":     "MIT",
		"Redistribution and use in source and binary forms, with\n * Neither the name of X": "BSD-3-Clause",
		"Redistribution and use in source and binary forms":                                 "BSD-2-Clause", "Do what you like": "", "SIL OPEN FONT LICENSE Version 1.1\nPermission is hereby granted, free of charge, to any person obtaining a copy": "OFL-1.1",
	} {
		got := module{Files: map[string]string{"LICENSE": text}}.licenceIDs()[0]["license"].(object)
		if want == "" && got["name"] != "LICENSE" || want != "" && got["id"] != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if p := (module{Path: "a.org/b", Version: "v2.0.0+incompatible"}).purl(); p != "pkg:golang/a.org/b@v2.0.0%2Bincompatible" {
		t.Error(p)
	}
}
