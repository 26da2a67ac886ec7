// Command mutate plants faults in the library, one at a time, and checks that a test fails:
// exchanged roles, flipped signs, dropped terms and parts of keys, wrong null values, tails and
// divisors. It is run by hand,
//
//	go run ./lib/internal/mutate [-only WORDS] [-limit 5m] [-list] [-check]
//
// and reports for each fault whether it was killed or lived. The working tree is not changed: a
// fault is an overlay of one file. A fault whose text does not occur exactly once in its file is
// an error, so that the list stays valid.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Fault is a mistake that a programmer could make.
type Fault struct {
	File     string // from the root of the module
	Old, New string // Old occurs exactly once in the file
	Protects string // the property that the fault breaks
	Tests    string // packages whose tests must fail, "": the file's own
	Run      string // pattern of the tests to run, "": all
}

func main() {
	only := flag.String("only", "", "plant only faults whose file or purpose matches this regular expression")
	limit := flag.Duration("limit", 5*time.Minute, "time limit for the tests of one fault")
	list := flag.Bool("list", false, "list the faults and plant none")
	check := flag.Bool("check", false, "check that every fault fits its file and plant none")
	flag.Parse()
	if err := run(*only, *limit, *list, *check); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(only string, limit time.Duration, list, check bool) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	faults, err := readFaults()
	if err != nil {
		return err
	}
	var chosen []Fault
	for _, f := range faults {
		if wanted.MatchString(f.File) || wanted.MatchString(f.Protects) {
			chosen = append(chosen, f)
		}
	}
	if err := checkQuotes(root, chosen); err != nil || check {
		return err
	}
	if list {
		for _, f := range chosen {
			fmt.Printf("%s: %s\n", f.File, f.Protects)
		}
		return nil
	}
	return plantAll(root, chosen, limit)
}

func plantAll(root string, chosen []Fault, limit time.Duration) error {
	var lived []string
	var wrong []error
	for i, f := range chosen {
		began := time.Now()
		verdict, err := f.plant(root, limit)
		if err != nil {
			wrong, verdict = append(wrong, err), "ERROR"
		}
		fmt.Printf("%3d/%d %5.0f s  %s\n    %s: %s\n", i+1, len(chosen), time.Since(began).Seconds(), verdict, f.File, f.Protects)
		if verdict == survived {
			lived = append(lived, f.File+": "+f.Protects)
		}
	}
	fmt.Printf("\n%d faults, %d killed, %d lived\n", len(chosen), len(chosen)-len(lived)-len(wrong), len(lived))
	for _, l := range lived {
		fmt.Println("  lived:", l)
	}
	return errors.Join(wrong...)
}

// checkQuotes reports every fault whose text does not occur exactly once in its file.
func checkQuotes(root string, all []Fault) error {
	var wrong []error
	for _, f := range all {
		if _, err := f.mutant(root); err != nil {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

// mutant returns the file with the fault in it.
func (f Fault) mutant(root string) (string, error) {
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f.File)))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(b), f.Old); n != 1 || f.Old == f.New || f.Protects == "" {
		return "", fmt.Errorf("%s: %q occurs %d times in it, not once", f.File, f.Old, n)
	}
	return strings.Replace(string(b), f.Old, f.New, 1), nil
}

// packages returns the packages whose tests must fail.
func (f Fault) packages() []string {
	if f.Tests == "" {
		return []string{"./" + path.Dir(f.File)}
	}
	return strings.Fields(f.Tests)
}

const survived = "LIVED"

// plant runs the tests with the fault and returns their verdict.
func (f Fault) plant(root string, limit time.Duration) (verdict string, err error) {
	text, err := f.mutant(root)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "lethe-mutant-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	mutant, overlay := filepath.Join(dir, path.Base(f.File)), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, filepath.FromSlash(f.File)): mutant}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(mutant, []byte(text), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return "", err
	}
	args := append([]string{"test", "-overlay", overlay, "-failfast", "-timeout", limit.String(), "-run", f.Run}, f.packages()...)
	ctx, stop := context.WithTimeout(context.Background(), 2*limit) // includes compiling
	defer stop()
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = root
	out, err := c.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s (%s): go test took more than %v", f.File, f.Protects, 2*limit)
	case err == nil:
		return survived, nil
	case bytes.Contains(out, []byte("panic: test timed out")):
		return "", fmt.Errorf("%s (%s): the tests took more than %v", f.File, f.Protects, limit)
	case bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
		return "", fmt.Errorf("%s (%s): the mutant does not build:\n%s", f.File, f.Protects, out)
	}
	return "killed by " + killer(out), nil
}

var failure = regexp.MustCompile(`--- FAIL: (\S+)|(panic: [^\n]*)|(FAIL\s+\S+)`)

// killer returns the first test that failed.
func killer(out []byte) string {
	for _, m := range failure.FindAllSubmatch(out, -1) {
		for _, word := range m[1:] {
			if len(word) > 0 {
				return string(word)
			}
		}
	}
	return "an unknown test"
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
