package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// What builds the documentation is installed by hash, every package of it.
func TestTheDocumentationsPackagesHaveHashes(t *testing.T) {
	const folder = "../../../.ci/docs/"
	b, err := os.ReadFile(folder + "requirements.txt")
	if err != nil {
		t.Fatal(err)
	}
	pin := regexp.MustCompile(`^([A-Za-z0-9_.-]+)==[^ ]+( ;.*)? \\\n((    --hash=sha256:[0-9a-f]{64}( \\)?\n)+)`)
	names, rest := map[string]bool{}, regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(b), "")
	for rest != "" {
		m := pin.FindStringSubmatch(rest)
		if m == nil {
			line, _, _ := strings.Cut(rest, "\n")
			t.Fatalf("no pin with hashes: %s", line)
		}
		names[m[1]], rest = true, rest[len(m[0]):]
	}
	asked, err := os.ReadFile(folder + "requirements.in")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(asked)) {
		if name, _, is := strings.Cut(line, "=="); is && !names[name] {
			t.Errorf("%s is asked for and not pinned", name)
		}
	}
	if build, err := os.ReadFile(folder + "build"); err != nil || !strings.Contains(string(build), "--require-hashes") {
		t.Errorf("the build installs without hashes (%v)", err)
	}
}
