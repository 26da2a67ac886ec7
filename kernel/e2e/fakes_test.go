//go:build unix

// Fake programs for the tests of this package.

package e2e

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// onlyPrograms makes a folder with these shell scripts, which is all of PATH
// but for the shell's own tools. It returns the folder.
func onlyPrograms(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range scripts {
		write(t, filepath.Join(dir, name), "#!/bin/sh\nPATH=/usr/bin:/bin\n"+body+"\n", 0o755)
	}
	t.Setenv("PATH", dir)
	t.Setenv(EnvChromium, "")
	return dir
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// debian is a machine that installs with apt-get.
func debian(root bool) host { return host{notes: io.Discard, system: "linux", root: root} }
