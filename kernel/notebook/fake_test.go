// A fake Python for the tests of this package.

package notebook

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const envFake = "LETHE_TEST_FAKE_PYTHON"

// TestMain lets the test binary stand in for Python: it then speaks driver.py's
// lines, as the code that it gets tells it to.
func TestMain(m *testing.M) {
	if how := os.Getenv(envFake); how != "" {
		os.Exit(fakePython(how))
	}
	os.Exit(m.Run())
}

// fake is a Jupyter without Python. How it behaves is in how: "ok", or a way
// to fail.
func fake(how string) Jupyter {
	return Jupyter{Python: os.Args[0], Kernel: "fake", Env: append(os.Environ(), envFake+"="+how)}
}

type obj = map[string]any

func fakePython(how string) int {
	if len(os.Args) > 2 && os.Args[1] == "-m" {
		return fakeConvert()
	}
	commands := make(chan command)
	go func() {
		defer close(commands)
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			var c command
			if json.Unmarshal(in.Bytes(), &c) == nil {
				commands <- c
			}
		}
	}()
	start := <-commands
	switch {
	case how == "missing":
		fmt.Fprintln(os.Stderr, "ModuleNotFoundError: No module named 'nbclient'")
		return 1
	case how == "no kernel":
		fakeSay(obj{"event": "failed", "text": "NoSuchKernel: No such kernel named " + start.Kernel})
		return 1
	}
	nb, err := parse([]byte(start.Notebook))
	if err != nil {
		fakeSay(obj{"event": "failed", "text": err.Error()})
		return 1
	}
	for i := range nb.Cells {
		nb.Cells[i].Count, nb.Cells[i].Outputs = 0, nil
	}
	maps.Copy(nb.Metadata, start.Metadata)
	fakeSay(obj{"event": "started", "pid": 0})
	fakeSay(obj{"event": "ready", "notebook": fakeText(nb)})
	for c := range commands {
		if c.Do != "execute" {
			continue
		}
		cell := &nb.Cells[c.Cell]
		cell.Count = c.Count
		event, code := fakeCell(cell, commands)
		if code >= 0 {
			return code
		}
		text := fakeText(nb)
		for _, f := range start.Folders {
			text = strings.ReplaceAll(text, f[0]+"/", f[1]+"/")
		}
		event["seconds"], event["notebook"] = 0.25, text
		fakeSay(event)
	}
	return 0
}

func fakeSay(e obj) {
	b, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(b, '\n'))
}

func fakeText(nb *Notebook) string {
	b, err := json.MarshalIndent(obj{"cells": nb.Cells, "metadata": orEmpty(nb.Metadata), "nbformat": 4, "nbformat_minor": 5}, "", " ")
	if err != nil {
		panic(err)
	}
	return string(b)
}

func orEmpty(o Object) Object {
	if o == nil {
		return Object{}
	}
	return o
}

// fakeCell does what the cell's lines say and returns the event of its end, and
// an exit code, or -1 to go on.
func fakeCell(cell *Cell, commands chan command) (obj, int) {
	stream := func(name, text string) {
		cell.Outputs = append(cell.Outputs, &Output{Type: StreamOutput, Name: name, Text: text})
	}
	failed := func(value string, traceback ...string) (obj, int) {
		cell.Outputs = append(cell.Outputs, &Output{Type: ErrorOutput, Ename: "ERROR", Evalue: value, Traceback: traceback})
		return obj{"event": "done", "reply": reply{"error", "ERROR", value, nil}}, -1
	}
	for line := range strings.SplitSeq(cell.Source, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "print":
			stream("stdout", rest+"\n")
		case "warn":
			stream("stderr", rest+"\n")
		case "env":
			stream("stdout", rest+"="+os.Getenv(rest)+"\n")
		case "error":
			return failed(rest, "Cell[2]: Line 1", rest)
		case "meet":
			if !fakeMeet(rest) {
				return nil, 1
			}
		case "sleep":
			if c, ok := <-commands; ok && c.Do == "interrupt" {
				stream("stderr", "state saved\n")
				return failed("signal: interrupt")
			}
			return nil, 0
		case "deaf":
			time.Sleep(time.Hour)
		case "die":
			fmt.Fprintln(os.Stderr, "I0101 00:00:00 a log line")
			fmt.Fprintln(os.Stderr, "Segmentation fault")
			fmt.Fprintln(os.Stderr, "I0101 00:00:00 another")
			return nil, 139
		case "lose":
			return obj{"event": "died"}, -1
		case "noise":
			fmt.Println("this is no event")
		}
	}
	return obj{"event": "done", "reply": reply{Status: "ok"}}, -1
}

// fakeMeet waits in a folder until two have come.
func fakeMeet(dir string) bool {
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("met-%d", os.Getpid())), nil, 0o644); err != nil {
		return false
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if met, _ := filepath.Glob(filepath.Join(dir, "met-*")); len(met) >= 2 {
			return true
		}
	}
	return false
}

// fakeConvert is nbconvert: it prints the notebook that it is given.
func fakeConvert() int {
	b, err := os.ReadFile(os.Args[len(os.Args)-1])
	if err != nil || os.Args[2] != "nbconvert" {
		fmt.Fprintln(os.Stderr, "bad call", os.Args, err)
		return 1
	}
	fmt.Printf("<html>%s</html>", b)
	return 0
}
