package relay

import (
	"fmt"
	"strings"
	"testing"
)

// failed runs one cell whose error gonb tells with a value and a traceback, and
// returns what the reader sees.
func failed(t *testing.T, s *script, code string, stderr []string, value string, trace ...string) *failure {
	t.Helper()
	r, _ := s.ask(code)
	s.gonb(gonbIOPub, r, "execute_input", map[string]any{"execution_count": s.n + 1, "code": code})
	var seen strings.Builder
	for _, text := range stderr {
		for _, st := range s.stderr(r, text) {
			seen.WriteString(st.msg.fields()["text"].(string))
		}
	}
	out := s.fail(r, value, trace...)
	var shown, replied failure
	out[0].msg.read(&shown)
	out[len(out)-1].msg.read(&replied)
	if shown.Name != replied.Name || shown.Value != replied.Value || strings.Join(shown.Trace, "\n") != strings.Join(replied.Trace, "\n") {
		t.Errorf("published %+v, replied %+v", shown, replied)
	}
	for _, secret := range []string{"/tmp", "gonb_", "\x1b", "<div"} {
		if text := shown.Value + strings.Join(shown.Trace, "\n") + seen.String(); strings.Contains(text, secret) {
			t.Errorf("%q is shown in %s", secret, text)
		}
	}
	return &shown
}

func wantLines(t *testing.T, got *failure, value string, lines ...string) {
	t.Helper()
	if got.Value != value {
		t.Errorf("value %q, want %q", got.Value, value)
	}
	if a, b := strings.Join(got.Trace, "\n"), strings.Join(lines, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
}

// The errors in this file are what GoNB v0.11.5 with -raw_error sent.

func TestCompileErrorHasCellLineAndCaret(t *testing.T) {
	s := &script{t: t}
	got := failed(t, s, "%%\nx := 3\n\tfoo(\"ä\", bar)\n", nil,
		"# gonb_586fdd67\n./main.go:10:1: declared and not used: x\n./main.go:11:12: undefined: bar\n",
		"# gonb_586fdd67",
		"Cell[2]: Line 2\n\nfunc main() {\n\tflag.Parse()\nx := 3\n^\n\tfoo(\"ä\", bar)\n\n\ndeclared and not used: x",
		"Cell[2]: Line 3\nfunc main() {\n\tflag.Parse()\nx := 3\n\tfoo(\"ä\", bar)\n           ^\n\n\n\nundefined: bar", "")
	wantLines(t, got, "cell [2], line 2, column 1: declared and not used: x (and 1 more)",
		"cell [2], line 2, column 1: declared and not used: x",
		"    x := 3",
		"    ^",
		"",
		"cell [2], line 3, column 12: undefined: bar",
		"    foo(\"ä\", bar)",
		"             ^")
}

func TestAStatementThatStandsAloneIsToldWhatItNeeds(t *testing.T) {
	for code, c := range map[string]struct {
		message string
		hint    bool
	}{
		"c := 1":                {"expected declaration, found c", true},
		"import \"os\"\n\nf(1)": {"expected declaration, found f", true},
		"for {\n}":              {"expected declaration, found 'for'", true},
		"f(1)":                  {"syntax error: non-declaration statement outside function body", true},
		"func f() {\n}\n}":      {"expected declaration, found '}'", false},
		"%%\nf()\n}\nx := 1":    {"expected declaration, found x", false},
		"func f() { g() }":      {"undefined: g", false},
	} {
		s := &script{t: t}
		got := failed(t, s, code, nil, "./main.go:3:1: "+c.message, "Cell[1]: Line 1\n"+code+"\n^\n")
		if has := strings.Contains(strings.Join(got.Trace, "\n"), "Put %% on a line above"); has != c.hint {
			t.Errorf("%q: the hint is there: %v\n%s", code, has, strings.Join(got.Trace, "\n"))
		}
	}
}

func TestCompileErrorMayGoOnOverSeveralLines(t *testing.T) {
	s := &script{t: t, m: machine{sources: sources{root: "/home/reader/lethe"}}}
	got := failed(t, s, "%%\nf(1)", nil,
		"# gonb_1\n./main.go:9:3: not enough arguments in call to f\n\thave (number)\n\twant (int, int)\n../../home/reader/lethe/lib/a.go:3:4: undefined: y\ntoo many errors\n",
		"", "Cell Line 2\n%%\nf(1)\n  ^\n\nnot enough", "\thave", "\twant", "", "", "")
	wantLines(t, got, "line 2, column 3: not enough arguments in call to f\n\thave (number)\n\twant (int, int) (and 2 more)",
		"line 2, column 3: not enough arguments in call to f",
		"\thave (number)",
		"\twant (int, int)",
		"    f(1)",
		"      ^",
		"",
		"lib/a.go:3:4: undefined: y",
		"",
		"too many errors")
}

func TestParseErrorShowsNoTemporaryPath(t *testing.T) {
	s := &script{t: t}
	got := failed(t, s, "%%\nif {\n", nil,
		"/tmp/gonb_586fdd67/main.go:5:4: missing condition in if statement (and 1 more errors)",
		"Cell[4]: Line 2\n\nfunc main() {\n\tflag.Parse()\nif {\n   ^\n\n\n\nmissing condition in if statement (and 1 more errors)")
	wantLines(t, got, "cell [4], line 2, column 4: missing condition in if statement (and 1 more errors)",
		"cell [4], line 2, column 4: missing condition in if statement (and 1 more errors)",
		"    if {",
		"       ^")
}

func TestMissingPackageIsNamedWithoutAdvice(t *testing.T) {
	s := &script{t: t}
	got := failed(t, s, "import \"example.org/nosuch\"", nil,
		"failed to run \"/usr/local/go/bin/go get\": exit status 1\n\ngo: gonb_586fdd67 imports\n\texample.org/nosuch: cannot find module providing package example.org/nosuch\n\n---------------\nNote: 'go get' doesn't know how to process go.work files. \nConsider adding the paths\n")
	wantLines(t, got, "cannot find module providing package example.org/nosuch",
		"go: the cell imports",
		"\texample.org/nosuch: cannot find module providing package example.org/nosuch",
		"",
		"A cell sees the packages of this project and of the modules in its go.mod; nothing is fetched from the network.")
}

func TestExitStatusIsSaidOnce(t *testing.T) {
	s := &script{t: t}
	r, _ := s.ask("%%\nos.Exit(3)")
	expect(t, s.stderr(r, "bye\n"), "iopub stream bye\n")
	expect(t, s.stderr(r, "exit status 3\n"), "")
	expect(t, s.fail(r, "exit status 3", "exit status 3"), "iopub error program failed; iopub status idle; SETTLE; shell execute_reply error program failed")
}

func TestFailingShellLineIsAnError(t *testing.T) {
	s := &script{t: t}
	r, _ := s.ask("!false\nfmt.Println(1)")
	s.ask("next")
	expect(t, s.stderr(r, "exit status 1\n"), "")
	out := s.finish(r, "ok")
	expect(t, out, "iopub error shell command failed; iopub status idle; SETTLE; shell execute_reply error shell command failed; "+
		"iopub status busy; shell execute_reply aborted; iopub status idle")
	if v := out[0].msg.fields()["evalue"]; v != "!false (exit status 1)" {
		t.Errorf("the reader sees %q", v)
	}
}

func TestTextThatOnlyLooksLikeAnExitIsPassedOn(t *testing.T) {
	s := &script{t: t}
	r, _ := s.ask("%%\nlog()")
	s.stderr(r, "exit status 1\n")
	expect(t, s.finish(r, "ok"), "iopub stream exit status 1\n; iopub status idle; SETTLE; shell execute_reply ok; LEARN execute_request %%\nlog()")
	r, _ = s.ask("!echo 1")
	expect(t, s.stderr(r, "exit status 1 and more\n"), "iopub stream exit status 1 and more\n")
	expect(t, s.stderr(r, "exit status 0\n"), "iopub stream exit status 0\n")
	expect(t, s.finish(r, "ok"), "iopub status idle; SETTLE; shell execute_reply ok; LEARN execute_request !echo 1")
}

func TestPanicShowsTheReadersFramesFirst(t *testing.T) {
	s := &script{t: t}
	s.m.sources.remember(5, "func g(m map[string]int) {\n\tm[\"a\"] = 1\n}")
	s.n = 5
	got := failed(t, s, "%%\nvar m map[string]int\ng(m)", []string{
		"working\npanic: ", "assignment to entry in nil map", "\n", "\n", "goroutine ",
		"1 [running]:\nslices.SortFunc(...)\n\t/usr/local/go/src/slices/sort.go:28 +0x1\n" +
			"github.com/lethe-ml/lethe/lib/stats.Mean({0x1, 0x2})\n\t/home/reader/lethe/lib/stats/estimate.go:33 +0x1d\n" +
			"main.g(...)\n\t \x1b[7m[[ Cell [5] Line 2 ]]\x1b[0m /tmp/gonb_586fdd67/main.go:7\n" +
			"main.main()\n\t \x1b[7m[[ Cell [6] Line 3 ]]\x1b[0m /tmp/gonb_586fdd67/main.go:13 +0x68\n" +
			"\ngoroutine 7 [chan receive]:\nmain.f()\n\t/tmp/gonb_586fdd67/main.go:3\n\ngoroutine 8 [select]:\nmain.f()\n",
		"exit status 2\n",
	}, "exit status 2", "exit status 2")
	if got.Name != "panic" {
		t.Errorf("name %q", got.Name)
	}
	wantLines(t, got, "assignment to entry in nil map",
		"panic: assignment to entry in nil map",
		"",
		"github.com/lethe-ml/lethe/lib/stats.Mean (estimate.go:33)",
		"cell [5], line 2, in g",
		"    m[\"a\"] = 1",
		"cell [6], line 3, in main",
		"    g(m)",
		"",
		"the rest of the stack:",
		"    slices.SortFunc (sort.go:28)",
		"(other goroutines: 2, not shown)")
}

func TestPanicInPiecesIsPlacedByItsCode(t *testing.T) {
	// GoNB misses the place of a goroutine's frame, because the runtime writes
	// the path in pieces; the line of its program is found in the cells.
	s := &script{t: t}
	s.m.sources.main = func() string {
		return "package main\n\nfunc main() {\n\tgo func() { panic(1) }()\n\tgenerated()\n}"
	}
	got := failed(t, s, "%%\ngo func() { panic(1) }()", []string{
		"panic: ", "1", "\n[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4b8e2a]\n\ngoroutine ", "19", " [", "running", "]:\n", "main.main.func1", "(", ")\n", "\t", "/tmp/gonb_5/main.go", ":", "4",
		" +0x39\nmain.x(...)\n\t/tmp/gonb_5/main.go:5\ncreated by main.main in goroutine 1\n\t \x1b[7m[[ Cell [1] Line 2 ]]\x1b[0m /tmp/gonb_5/main.go:4 +0x59\n",
	}, "exit status 2", "exit status 2")
	wantLines(t, got, "1", "panic: 1", "",
		"cell [1], line 2, in main.func1", "    go func() { panic(1) }()",
		"x, in code that GoNB adds to the cell",
		"cell [1], line 2, in the go statement of main", "    go func() { panic(1) }()")
}

func TestEndlessRecursionIsShort(t *testing.T) {
	s := &script{t: t}
	frame := "main.rec(0x1)\n\t [[ Cell [1] Line 1 ]] /tmp/gonb_5/main.go:8 +0x2b fp=0x38 sp=0x39 pc=0x4a\n"
	text := "fatal error: stack overflow\n\nruntime stack:\nruntime.throw({0x1, 0x2})\n\t/usr/local/go/src/runtime/panic.go:1229 +0x48 fp=0x3\n\n" +
		"goroutine 1 gp=0x38 m=0 mp=0x4 [running]:\n" + strings.Repeat(frame, 50) + "...44739049 frames elided...\n"
	for i := range maxFrames + 5 {
		text += fmt.Sprintf("lib.f%d()\n\t/a/b.go:%d\n", i, i)
	}
	got := failed(t, s, "func rec(n int) int { return rec(n+1) + 1 }", []string{text}, "exit status 2")
	if got.Name != "fatal error" || got.Value != "stack overflow" {
		t.Errorf("%s: %s", got.Name, got.Value)
	}
	if len(got.Trace) != 8+maxFrames || got.Trace[4] != "    (and 49 times more)" ||
		got.Trace[7] != "    ...44739049 frames elided..." || got.Trace[len(got.Trace)-1] != "    (6 more frames)" {
		t.Errorf("%d lines:\n%s", len(got.Trace), strings.Join(got.Trace, "\n"))
	}
}

func TestTextThatOnlyLooksLikeAPanicIsPassedOn(t *testing.T) {
	s := &script{t: t}
	r, _ := s.ask("%%\nlog()")
	expect(t, s.stderr(r, "no panic: here\n"), "iopub stream no panic: here\n")
	expect(t, s.stderr(r, "half "), "iopub stream half ")
	expect(t, s.stderr(r, "panic: in mid-line\n"), "iopub stream panic: in mid-line\n")
	expect(t, s.stderr(r, "panic: I said\n"), "")
	expect(t, s.stderr(r, "and more\n"), "")
	expect(t, s.finish(r, "ok"), "iopub stream panic: I said\nand more\n; iopub status idle; SETTLE; shell execute_reply ok; LEARN execute_request %%\nlog()")

	r, _ = s.ask("%%\nlog(); os.Exit(1)")
	s.stderr(r, "panic: I said\n")
	out := s.fail(r, "exit status 1")
	var f failure
	out[0].msg.read(&f)
	wantLines(t, &f, "exit status 1", "program failed: exit status 1", "", "panic: I said")
}

func TestOutputOfOthersPassesUntouched(t *testing.T) {
	s := &script{t: t}
	s.ask("a")
	other := request("execute_request", `{}`)
	expect(t, s.stderr(other, "panic: x\n"), "iopub stream panic: x\n")
	expect(t, s.gonb(gonbIOPub, other, "comm_open", map[string]any{}), "iopub comm_open")
}

func TestCaretStandsUnderTheByte(t *testing.T) {
	for _, c := range []struct {
		source string
		column int
		caret  string
	}{
		{"abc", 1, "^"}, {"abc", 3, "  ^"}, {"abc", 99, "   ^"}, {"abc", -5, "^"},
		{"\t\tabc", 3, "^"}, {"\tabc", 1, "^"}, {"é=x", 4, "  ^"}, {"a\tb", 3, " \t^"}, {"", 1, "^"},
	} {
		if got := underlined(c.source, c.column)[1]; got != "    "+c.caret {
			t.Errorf("%q, column %d: %q, want %q", c.source, c.column, got, c.caret)
		}
	}
}

func FuzzExplain(f *testing.F) {
	f.Add("./main.go:1:2: x", "Cell[1]: Line 2\na\n ^", "panic: x\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/gonb_1/main.go:3 +0x1\n")
	f.Add("exit status 2", "", "fatal error: x")
	f.Add("main.go:99999999999999999999:-1: y", "", "goroutine 1 [running]:\n")
	f.Fuzz(func(t *testing.T, value, trace, stderr string) {
		known := &sources{root: "/r", main: func() string { return stderr }}
		known.remember(1, trace)
		c := &cell{code: trace, count: 1, crashed: true}
		c.stderr.WriteString(stderr)
		got := c.explain(&failure{Value: value, Trace: strings.Split(trace, "\n")}, known, &past{})
		if got.Name == "" || len(got.Trace) == 0 {
			t.Fatalf("nothing is said: %+v", got)
		}
	})
}
