package notebook

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const envFake = "LETHE_TEST_FAKE_PYTHON"

// TestMain lets the test binary stand in for Python: it then speaks run.py's
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
	switch start := <-commands; {
	case how == "missing":
		fmt.Fprintln(os.Stderr, "ModuleNotFoundError: No module named 'jupyter_client'")
		return 1
	case how == "no kernel":
		fakeSay(obj{"event": "failed", "text": "NoSuchKernel: No such kernel named " + start.Kernel})
		return 1
	}
	fakeSay(obj{"event": "started", "pid": 0})
	fakeSay(obj{"event": "ready"})
	for c := range commands {
		if c.Do != "execute" {
			continue
		}
		if code := fakeCell(c.Code, commands); code >= 0 {
			return code
		}
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

func fakeMessage(kind string, content obj) {
	fakeSay(obj{"event": "message", "kind": kind, "content": content})
}

func fakeDone(content obj) {
	status := "ok"
	if content != nil {
		status = "error"
	}
	fakeSay(obj{"event": "done", "seconds": 0.25, "status": status, "content": content})
}

// fakeCell does what the cell's lines say and returns an exit code, or -1 to go
// on.
func fakeCell(code string, commands chan command) int {
	fakeMessage("execute_input", obj{"execution_count": 1, "code": code})
	for line := range strings.SplitSeq(code, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "print":
			fakeMessage("stream", obj{"name": "stdout", "text": rest + "\n"})
		case "warn", "!fail":
			fakeMessage("stream", obj{"name": "stderr", "text": rest + "\n"})
		case "env":
			fakeMessage("stream", obj{"name": "stdout", "text": rest + "=" + os.Getenv(rest) + "\n"})
		case "show":
			fakeMessage("display_data", obj{"data": obj{"text/html": rest}, "metadata": obj{}, "transient": obj{"display_id": "d"}})
		case "update":
			fakeMessage("update_display_data", obj{"data": obj{"text/html": rest}, "metadata": obj{}, "transient": obj{"display_id": "d"}})
		case "error":
			e := obj{"ename": "ERROR", "evalue": "# gonb_01234567\n./main.go:9:9: " + rest, "traceback": []string{"Cell[2]: Line 1", rest}}
			fakeMessage("error", e)
			fakeDone(e)
			return -1
		case "meet":
			if !fakeMeet(rest) {
				return 1
			}
		case "sleep":
			if c, ok := <-commands; ok && c.Do == "interrupt" {
				fakeMessage("stream", obj{"name": "stderr", "text": "state saved\n"})
				e := obj{"ename": "ERROR", "evalue": "signal: interrupt"}
				fakeMessage("error", e)
				fakeDone(e)
				return -1
			}
			return 0
		case "deaf":
			time.Sleep(time.Hour)
		case "die":
			fmt.Fprintln(os.Stderr, "I0101 00:00:00 a log line")
			fmt.Fprintln(os.Stderr, "Segmentation fault")
			fmt.Fprintln(os.Stderr, "I0101 00:00:00 another")
			return 139
		case "lose":
			fakeSay(obj{"event": "died", "seconds": 1})
		case "noise":
			fmt.Println("this is no event")
		}
	}
	fakeDone(nil)
	return -1
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
