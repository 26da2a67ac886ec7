//go:build cgo && !noxla && (xla || (linux && (amd64 || arm64)))

// Tests of programs.go and table.go. Those with a real plugin are in package engine.

package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAProgramComesBackAsItWas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "a"+ending)
	want := bytes.Repeat([]byte("program"), 1000)
	writeProgram(file, want)
	if got := readProgram(file); !bytes.Equal(got, want) {
		t.Errorf("%d bytes came back, want %d", len(got), len(want))
	}
	writeProgram(filepath.Join(t.TempDir(), "none"), nil) // a plugin that cannot serialise
	for _, name := range []string{"", filepath.Join(t.TempDir(), "missing"), t.TempDir()} {
		if got := readProgram(name); got != nil {
			t.Errorf("%q: %d bytes", name, len(got))
		}
	}
}

// A plugin would trust the bytes.
func TestADamagedProgramIsNotLoaded(t *testing.T) {
	whole := pack([]byte("a program of a plugin"))
	for i := range whole {
		damaged := slices.Clone(whole)
		damaged[i] ^= 1
		if unpack(damaged) != nil {
			t.Errorf("with byte %d changed it was taken", i)
		}
		if unpack(whole[:i]) != nil {
			t.Errorf("cut after %d bytes it was taken", i)
		}
	}
	if unpack(append(slices.Clone(whole), 0)) != nil {
		t.Error("with a byte more it was taken")
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(pack([]byte("program")))
	f.Add([]byte(magic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if program := unpack(b); program != nil && !bytes.Equal(pack(program), b) {
			t.Errorf("%q was taken for a program", b)
		}
	})
}

func TestTheOldestProgramsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		name := filepath.Join(dir, fmt.Sprint(i)+ending)
		if err := os.WriteFile(name, make([]byte, 100), 0o644); err != nil {
			t.Fatal(err)
		}
		when := time.Unix(1_700_000_000+int64(i), 0)
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(other, make([]byte, 1000), 0o644); err != nil {
		t.Fatal(err)
	}
	removeOldest(dir, 250)
	var left []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"2.xla", "3.xla", "notes.txt"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
	removeOldest(filepath.Join(dir, "missing"), 0)
}

func TestAFileThatIsNoPluginIsNamed(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.so")
	if err := os.WriteFile(text, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Load(text, "", "")
	if err == nil || !strings.Contains(err.Error(), "cannot be loaded") {
		t.Errorf("%v", err)
	}
	if n := Preload([]string{text, filepath.Join(t.TempDir(), "missing.so")}); n != 0 {
		t.Errorf("%d libraries of none were loaded", n)
	}
}

// Plugins that are compiled here: one of another major version, whose functions must not be
// called, and a library that is no plugin.
func TestAPluginOfAnotherVersionIsRefusedBeforeItRuns(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no gcc")
	}
	for source, want := range map[string]string{
		"#include <stddef.h>\nstatic struct { size_t size; void* e; size_t vs; void* ve; int major, minor; void* f[135]; } t = {0, 0, 24, 0, 1, 7};\n" +
			"void* GetPjrtApi(void) { t.size = sizeof t; return &t; }\n": "it speaks 1.7",
		"void* GetPjrtApi(void) { return 0; }\n": "returns nothing",
		"int x;\n":                               "no function GetPjrtApi",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "p.c"), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		library := filepath.Join(dir, "p.so")
		if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", library, filepath.Join(dir, "p.c")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		_, err := Load(library, "", "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
		if errors.Is(err, ErrVersion) != strings.Contains(want, "speaks") {
			t.Errorf("%v: the reason is wrong", err)
		}
	}
}
