package flower

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

// Version is the version of Flower that the app is written for and tested with.
const Version = "1.13.1"

// appFolder is the app's folder in that of the federation; Flower takes letters,
// digits and hyphens.
const appFolder = "lethe-flower"

var (
	//go:embed app/lethe_flower.py
	appSource string
	//go:embed app/pyproject.toml
	appProject string
)

// App writes the Flower app of a federation's folder into it, and returns the app's
// folder. Nothing is installed or started.
func App(folder string) (string, error) {
	s, err := ReadStudy(folder)
	if err != nil {
		return "", err
	}
	if s.Federation.Silent != 0 {
		return "", fmt.Errorf("%s: users fall silent with chance %v; over a network they do by themselves: leave it out",
			filepath.Join(folder, studyFile), s.Federation.Silent)
	}
	whole, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	app := filepath.Join(folder, appFolder)
	if err := os.MkdirAll(app, 0o755); err != nil {
		return "", err
	}
	project := strings.Replace(appProject, "FOLDER", tomlString(whole), 1)
	for name, text := range map[string]string{"lethe_flower.py": appSource, "pyproject.toml": project} {
		if err := files.Put(filepath.Join(app, name), []byte(text)); err != nil {
			return "", err
		}
	}
	return app, nil
}

// tomlString quotes a text as TOML does.
func tomlString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
