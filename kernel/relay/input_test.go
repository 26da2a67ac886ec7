// Tests of input.go.

package relay

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/nb"
)

func TestTheVariableIsThatOfTheNotebooks(t *testing.T) {
	if headlessEnv != nb.HeadlessEnv {
		t.Errorf("%s, notebooks ask %s", headlessEnv, nb.HeadlessEnv)
	}
}

// held runs a program as gonb does, with a pipe for its input that nobody closes.
func held(t *testing.T, c *exec.Cmd) string {
	t.Helper()
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	return ctx
}

// A cell's program finds the end of its input, also what it reads before main, and hands
// it on; whatever names the cell declares.
func TestACellsProgramFindsTheEndOfItsInput(t *testing.T) {
	dir := t.TempDir()
	if err := programsWithoutInput(dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module gonb_0123abcd\n\ngo 1.26\n",
		"main.go": `package main

import (
	"fmt"
	"io"
	system "os"
	"os/exec"
)

type os struct{ noInput, letheFile int }

var early, _ = io.ReadAll(system.Stdin)

func main() {
	var x int
	n, err := fmt.Scan(&x)
	fmt.Println(len(early), n, err, system.Stdin.Fd(), system.Getenv("BASH_ENV"))
	c := exec.Command("cat")
	c.Stdin = system.Stdin
	out, err := c.CombinedOutput()
	fmt.Println(len(out), err)
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "program")
	build := exec.Command("go", "build", "-o", program)
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if runtime.GOOS == "windows" {
		t.Skip("no cat")
	}
	c := exec.CommandContext(limited(t), program)
	c.Env = append(os.Environ(), "BASH_ENV=/x")
	if got := held(t, c); got != "0 0 EOF 0 \n0 <nil>\n" {
		t.Errorf("%q", got)
	}
	if err := programsWithoutInput(""); err == nil {
		t.Error("no folder")
	}
}

// A shell line finds the end of its input; its own pipes, a script that comes by
// standard input and somebody's own BASH_ENV are as ever.
func TestAShellLineFindsTheEndOfItsInput(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	theirs := filepath.Join(t.TempDir(), "it's theirs")
	if err := os.WriteFile(theirs, []byte("export THEIRS=yes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "BASH_ENV=") })
	for before, want := range map[string]string{"": "got: none unset\npiped\n", theirs: "got: yes " + theirs + "\npiped\n"} {
		env := slices.Clone(plain)
		if before != "" {
			env = append(env, "BASH_ENV="+before)
		}
		if env, err = withoutInput(env, t.TempDir()); err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(limited(t), bash, "-c", `read x; echo "got:$x ${THEIRS:-none} ${BASH_ENV:-unset}"; echo piped | bash -c cat`)
		c.Env = env
		if got := held(t, c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		c = exec.CommandContext(limited(t), bash)
		c.Env, c.Stdin = env, bytes.NewReader([]byte("echo script; echo two | cat\n"))
		if out, err := c.CombinedOutput(); err != nil || string(out) != "script\ntwo\n" {
			t.Errorf("%q, %v", out, err)
		}
	}
}
