// The Flower app that Flower's server and clients run.

package flower

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/lib/files"
)

// Version is the version of Flower that the app is written for and tested with.
const Version = "1.13.1"

// appFolder is the app's folder inside the federation's folder; Flower allows letters,
// digits and hyphens.
const appFolder = "lethe-flower"

var (
	//go:embed app/lethe_flower.py
	appSource string
	//go:embed app/pyproject.toml
	appProject string
)

// App writes the Flower app of a federation into the federation's folder and returns the
// app's folder. It installs and starts nothing.
func App(folder string) (string, error) {
	s, err := ReadStudy(folder)
	if err != nil {
		return "", err
	}
	if s.Federation.Silent != 0 {
		return "", fmt.Errorf("%s: users do not answer with probability %v; over a network this cannot be set: leave it out",
			filepath.Join(folder, studyFile), s.Federation.Silent)
	}
	if err := s.checkInitial(folder); err != nil {
		return "", err
	}
	whole, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	if !utf8.ValidString(whole) {
		return "", fmt.Errorf("the folder %q is not valid UTF-8: pyproject.toml cannot hold it", whole)
	}
	app := filepath.Join(folder, appFolder)
	if err := os.MkdirAll(app, 0o755); err != nil {
		return "", err
	}
	project := strings.Replace(appProject, "FOLDER", tomlString(whole), 1)
	for name, text := range map[string]string{"lethe_flower.py": appSource, "pyproject.toml": project} {
		if err := files.WriteFile(filepath.Join(app, name), []byte(text)); err != nil {
			return "", err
		}
	}
	return app, nil
}

// tomlString quotes a text as TOML does, including control characters such as newlines,
// which a folder's name may have.
func tomlString(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case unicode.IsControl(r):
			fmt.Fprintf(&out, `\u%04X`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}
