// Tests of what a reader is told who comes from Python: past.go, show.go, stale.go, help.go.

package relay

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// runCell runs a cell that succeeds, as the cell of that identifier in a notebook.
func (s *script) runCell(id, code string) (*message, []step) {
	s.t.Helper()
	r := request("execute_request", string(encode(map[string]any{"code": code, "silent": false, "store_history": true})))
	r.metadata = encode(map[string]any{"cellId": id})
	out := s.m.fromJupyter(jupyterShell, r)
	out = append(out, s.gonb(gonbIOPub, r, "execute_input", map[string]any{"execution_count": s.n + 1, "code": code})...)
	return r, append(out, s.finish(r, "ok")...)
}

// undefined runs a cell in which the compiler misses names, and returns what is told.
func undefined(t *testing.T, s *script, code string, names ...string) string {
	t.Helper()
	var value, trace []string
	for i, name := range names {
		text := "undefined: " + name
		if strings.Contains(name, " ") {
			text = name
		}
		value = append(value, fmt.Sprintf("./main.go:%d:1: %s", 9+i, text))
		trace = append(trace, "Cell[9]: Line 2\n"+code+"\n^\n")
	}
	return strings.Join(failed(t, s, code, nil, strings.Join(value, "\n"), trace...).Trace, "\n")
}

func wantTold(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(got, part) {
			t.Errorf("told\n%s\nwithout %q", got, part)
		}
	}
}

func TestANameOfAnEarlierMainIsExplainedOnce(t *testing.T) {
	s := &script{t: t}
	s.runCell("a", "%%\nx, y := 1, 2\nfor i := range 3 {\n\tvar z int\n\t_ = z\n}")
	got := undefined(t, s, "%%\nfmt.Println(x, x)", "x", "x", "other")
	wantTold(t, got, "x is declared under %% in cell [1], and is gone when that cell ends; make it a function or a top-level var")
	if strings.Count(got, "make it a function") != 1 || strings.Contains(got, "other is") {
		t.Errorf("told\n%s", got)
	}
	wantTold(t, undefined(t, s, "%%\n_ = z", "z"), "z is declared under %% in cell [1]")
}

func TestWhatAFailedCellDeclaresIsNamed(t *testing.T) {
	s := &script{t: t}
	failed(t, s, "type T struct{}\n\nfunc (t *T) M() {}\n\nfunc f() int { return nope }", nil, "./main.go:3:3: undefined: nope", "Cell[1]: Line 5\nx\n^\n")
	wantTold(t, undefined(t, s, "%%\nvar t T\nf()", "T", "f"), "T is declared in cell [1], which failed; run it again", "f is declared in cell [1], which failed; run it again")
	wantTold(t, undefined(t, s, "%%\nt.M()", "t.M undefined (type *T has no field or method M)"), "T.M is declared in cell [1], which failed")
	// A program that ends with a panic was compiled: GoNB keeps what its cell declares.
	failed(t, s, "type U struct{}\n%%\npanic(1)", []string{"panic: 1\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/gonb_1/main.go:3\n"}, "exit status 2")
	if got := undefined(t, s, "%%\nvar u U", "U"); strings.Contains(got, "which failed") {
		t.Errorf("told\n%s", got)
	}
}

func TestAfterARestartOneSentenceSaysWhatToRun(t *testing.T) {
	here := "%%\nv := zeros(3)\nv.Rows = pairs(1)\narray.New(v, typo)"
	s := &script{t: t, m: machine{past: past{notebook: func() []string {
		return []string{"import \"github.com/lethe-ml/lethe/lib/array\"", "func zeros() {}\nfunc pairs() {}", "%%\nx := 1", here, "func later() {}"}
	}}}}
	code := here
	got := failed(t, s, code, nil,
		"./main.go:9:1: undefined: zeros\n./main.go:9:1: declared and not used: v\n./main.go:9:3: undefined: pairs\n./main.go:10:1: undefined: array\n./main.go:11:1: undefined: typo\ntoo many errors",
		"Cell[1]: Line 2\na\n^\n", "Cell[1]: Line 2\na\n^\n", "Cell[1]: Line 3\na\n^\n", "Cell[1]: Line 4\nb\n^\n", "Cell[1]: Line 4\nc\n^\n", "")
	wantLines(t, got, "run the cells above first: the notebook declares array in code cell 1 and zeros and pairs in code cell 2, and that has not run since the kernel started (and 1 more)",
		"run the cells above first: the notebook declares array in code cell 1 and zeros and pairs in code cell 2, and that has not run since the kernel started",
		"",
		"cell [1], line 4, column 1: undefined: typo",
		"    c",
		"    ^")
	wantTold(t, undefined(t, s, here, "later"), "run these cells first: the notebook declares later in code cell 5")
	// What has run is not asked for, though the notebook declares it.
	s.runCell("b", "func zeros() {}")
	if got := undefined(t, s, "%%\nnope()", "nope"); strings.Contains(got, "run the") {
		t.Errorf("told\n%s", got)
	}
}

func TestALostValueIsExplainedOnce(t *testing.T) {
	s := &script{t: t}
	_, out := s.runCell("a", "var other = 0\nvar m = map[string]int{}\nfunc add() { other++ }\n%%\nadd()\nm[\"a\"] = 1")
	expectNothingTold(t, out)
	_, out = s.runCell("c", "func counted() int { return len(m) }\n%%\nvar other = 1\nfmt.Println(other)")
	expectNothingTold(t, out)
	_, out = s.runCell("d", "%%\nfmt.Println(counted())")
	wantTold(t, summary(out), "m has the value of its declaration here, not the one that cell [1] gave it", "GoNB keeps declarations, not values")
	_, out = s.runCell("e", "%%\nfmt.Println(m, other)")
	expectNothingTold(t, out)

	again := &script{t: t}
	again.runCell("", "var other = 0\nfunc add() { other++ }\n%%\nadd()")
	_, out = again.runCell("", "var other = 5\n%%\nfmt.Println(other)")
	expectNothingTold(t, out)
	_, out = again.runCell("", "%%\nother++\nfmt.Println(other)")
	expectNothingTold(t, out) // cell [1] changed another variable of the name
	_, out = again.runCell("", "%%\nfmt.Println(other)")
	wantTold(t, summary(out), "other has the value of its declaration here, not the one that cell [3] gave it")
}

func expectNothingTold(t *testing.T, out []step) {
	t.Helper()
	for _, s := range out {
		if s.to == jupyterIOPub && (s.msg.head.Type == "stream" || s.msg.head.Type == "display_data") {
			t.Errorf("told %s", s.msg.content)
		}
	}
}

func TestCellsThatUseWhatChangedAreStale(t *testing.T) {
	s := &script{t: t}
	s.runCell("f", "type T struct{}\nfunc (t T) M() int { return base }\nconst base = 1")
	s.runCell("g", "func g(t T) int { return t.M() }")
	a, _ := s.runCell("a", "%%\nfmt.Println(g(T{}))")
	s.runCell("b", "%%\nfmt.Println(1)")
	_, out := s.runCell("f", "type T struct{}\nfunc (t T) M() int { return base }\nconst base = 1")
	expectNothingTold(t, out)
	f, out := s.runCell("f", "type T struct{}\nfunc (t T) M() int { return base + 1 }\nconst base = 1")
	marks := map[string]string{}
	for _, st := range out {
		if st.msg != nil && st.msg.head.Type == "display_data" {
			marks[st.msg.parent.ID] = fmt.Sprint(st.msg.fields()["data"].(map[string]any)["text/plain"])
		}
	}
	if len(marks) != 2 || marks[a.head.ID] != "stale: cell [6] has changed T.M since this cell ran" ||
		marks[f.head.ID] != "T.M changed: cell [3] ran with what was there before, run again to see the difference" {
		t.Errorf("marks %q", marks)
	}
	if got := summary(out); strings.LastIndex(got, "display_data") > strings.Index(got, "status idle") {
		t.Errorf("the cell was over before its last output: %s", got)
	}
	_, out = s.runCell("f", "type T struct{}\nfunc (t T) M() int { return base + 2 }\nconst base = 1")
	expectNothingTold(t, out) // it is marked already
	s.runCell("a", "%%\nfmt.Println(g(T{}))")
	_, out = s.runCell("f", "const base = 7")
	wantTold(t, fmt.Sprint(len(out)), "")
	if !strings.Contains(summary(out), "display_data") {
		t.Errorf("a constant changed: %s", summary(out))
	}
}

func TestTheLastLineIsShownWhereItHasAValue(t *testing.T) {
	var p past
	p.scope.learn("import \"fmt\"\nfunc f() int { return 1 }\nfunc v() {}\ntype T struct{}\nfunc e() error { return nil }\nfunc models() []lab.Model { return nil }\nfunc t() (*report.Table, map[string][]T) { return nil, nil }")
	for code, want := range map[string]string{
		"%%\nx := 1\nx + 1 // sum": "%%\nx := 1\nletheShow(x + 1) // sum",
		"%%\nf()":                  "%%\nletheShow(f())",
		"%%\ne()\n\n":              "%%\nletheShow(e())\n\n",
		"%%\nt()":                  "%%\nletheShow(t())",
		"%%\n  (f())":              "%%\n  letheShow((f()))",
		"%%\n[]int{\n\t1,\n}":      "%%\nletheShow([]int{\n\t1,\n})",
		"%%\nlen(\"a\")":           "%%\nletheShow(len(\"a\"))",
		"%%\nfloat64(3)":           "%%\nletheShow(float64(3))",
		"%%\nT{}":                  "%%\nletheShow(T{})",
		"func h() (a, b int) { return }\n%%\nh()": "func h() (a, b int) { return }\n%%\nletheShow(h())",
		"!ls\n%%\n\"ä\"":                          "!ls\n%%\nletheShow(\"ä\")",
		"%% -n=3\nx.y":                            "%% -n=3\nletheShow(x.y)",
	} {
		if got, file := p.withLastShown(code); got != want || file != showPlain {
			t.Errorf("%q became %q with %q", code, got, file)
		}
	}
	for _, code := range []string{
		"%%\nv()", "%%\nmodels()", "%%\nfmt.Println(1)", "%%\nx.Do()", "%%\n<-done", "%%\nf := v\nf()", "%%\npanic(1)", "%%\nx := 1", "%%\nfunc() {}()",
		"%%\nfor {\nx\n}", "%%\nx +", "x", "func g() { 1 }", "%%script bash\nls", "%%\n`a\n!ls\n`", "", "%%", "%test\n%%\nx",
	} {
		if got, file := p.withLastShown(code); got != code || file != "" {
			t.Errorf("%q became %q", code, got)
		}
	}
	p.scope.learn("import \"github.com/lethe-ml/lethe/lib/nb\"")
	if _, file := p.withLastShown("%%\nf()"); file != showRich {
		t.Errorf("a table would be printed by\n%s", file)
	}
}

func TestAnErrorShowsTheLineAsItWasWritten(t *testing.T) {
	s := &script{t: t, m: machine{adds: true}}
	code := "%%\nx + y"
	r, out := s.ask(code)
	expect(t, out, "FILES; gonb execute_request %%\nletheShow(x + y)")
	out = s.gonb(gonbIOPub, r, "execute_input", map[string]any{"execution_count": 1, "code": "%%\nletheShow(x + y)"})
	expect(t, out, "iopub execute_input "+code)
	var f failure
	s.fail(r, "./main.go:10:15: undefined: y", "Cell[1]: Line 2\n\tflag.Parse()\nletheShow(x + y)\n              ^\n\n")[0].msg.read(&f)
	wantLines(t, &f, "cell [1], line 2, column 5: undefined: y", "cell [1], line 2, column 5: undefined: y", "    x + y", "        ^")
	_, out = s.ask("%%\nv()")
	if len(out) != 2 || out[0].files[showFile] != "" {
		t.Errorf("the file stays: %v", out)
	}
}

func TestAValueElsewhereIsToldHowToShowIt(t *testing.T) {
	s := &script{t: t}
	got := failed(t, s, "%%\nx\ny()", nil, "./main.go:9:1: x (variable of type int) is not used", "Cell[1]: Line 2\nx\n^\n")
	wantTold(t, strings.Join(got.Trace, "\n"), "The value of the last line under %% is shown. On another line, show it with nb.Show or fmt.Println.")
}

func TestHelpKnowsLethe(t *testing.T) {
	s := &script{t: t}
	_, out := s.runCell("a", "%help")
	for _, word := range []string{"%%", "nb.Show", "sliders", "LETHE_SCALE", "lethe list", "GoNB's own page:"} {
		wantTold(t, summary(out), word)
	}
	_, out = s.runCell("b", "%%\nfmt.Println(`%help me`)")
	expectNothingTold(t, out)
}

func FuzzOutline(f *testing.F) {
	for _, code := range []string{"%%\nA(00", "%%\nx + 1", "func f() int {\n%%\n", "%%\n\"\x00\"", "type T struct{ a int }\n%main\nT{}", "%%\r\nx\r\n", "var a, b = 1\n%%\na[b]++"} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		var p past
		p.add(&cell{code: code, count: 1, request: &message{}})
		p.add(&cell{code: code, count: 2, request: &message{}})
		got, _ := p.withLastShown(code)
		if at := strings.Index(got, showFunction+"("); got != code && (at < 0 || !oneBracketMore(got[:at]+got[at+len(showFunction)+1:], code)) {
			t.Errorf("%q became %q", code, got)
		}
		p.lostValue(code)
		p.markStale([]string{"a"}, 2)
	})
}

// oneBracketMore reports whether a text is another with one ) more in it.
func oneBracketMore(longer, text string) bool {
	for i, r := range longer {
		if r == ')' && longer[:i]+longer[i+1:] == text {
			return true
		}
	}
	return false
}

// TestTheNotebooksOfTheRepositoryRunWithoutNotices runs every committed notebook from top to
// bottom through a machine: nothing is lost or stale in one that was written with care.
func TestTheNotebooksOfTheRepositoryRunWithoutNotices(t *testing.T) {
	files, err := filepath.Glob("../../notebooks/*/*.ipynb")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d notebooks, %v", len(files), err)
	}
	for _, file := range files {
		s := &script{t: t}
		for i, code := range notebookCode(file) {
			_, out := s.runCell(fmt.Sprint(i), code)
			for _, st := range out {
				if st.to == jupyterIOPub && (st.msg.head.Type == "stream" || st.msg.head.Type == "display_data") {
					t.Errorf("%s, code cell %d: %s", file, i+1, st.msg.content)
				}
			}
			if changed, _ := s.m.past.withLastShown(code); changed != code {
				t.Errorf("%s, code cell %d becomes\n%s", file, i+1, changed)
			}
		}
	}
}
