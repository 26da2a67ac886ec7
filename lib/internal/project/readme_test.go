package project

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// The Go program in README builds and passes go vet.
func TestTheProgramInTheReadmeBuilds(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(b)
	if shown == nil {
		t.Fatal("README shows no program")
	}
	path := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(path, shown[1], 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "vet", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A link of a page to a file leads to one, and to a heading of it where it names one.
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	links := 0
	for _, page := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(withoutCode(read(t, page)), -1) {
			file, heading, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			links++
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
			} else if heading != "" && !headings(read(t, target))[heading] {
				t.Errorf("%s: %s has no heading %q", page, target, heading)
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links were looked at", links)
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^):]+)\)`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
	inline  = regexp.MustCompile("`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// pages returns the Markdown files at the top level and below docs.
func pages(t *testing.T) (out []string) {
	t.Helper()
	top, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(top, out...)
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func withoutCode(page string) string {
	return inline.ReplaceAllString(fenced.ReplaceAllString(page, ""), "")
}

// headings returns the addresses of a page's headings, as GitHub makes them.
func headings(page string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		out[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])] = true
	}
	return out
}

func TestHeadingsHaveTheAddressesOfGitHub(t *testing.T) {
	got := headings("# BlindU's methods\n\n```\n# no heading\n```\n## An attack, or a signal\n")
	if len(got) != 2 || !got["blindus-methods"] || !got["an-attack-or-a-signal"] {
		t.Errorf("%v", got)
	}
}
