package relay

import (
	"fmt"
	"strings"
	"testing"
)

// script drives a machine as Jupyter and gonb would.
type script struct {
	t *testing.T
	m machine
	n int
}

func (s *script) ask(code string, extra ...string) (*message, []step) {
	r := request("execute_request", string(encode(map[string]any{"code": code, "silent": false, "store_history": true})))
	for _, e := range extra {
		r.content = []byte(strings.Replace(string(r.content), "{", "{"+e+",", 1))
	}
	return r, s.m.fromJupyter(jupyterShell, r)
}

// gonb is a message of gonb's about a request.
func (s *script) gonb(from port, r *message, kind string, content any) []step {
	return s.m.fromGonb(from, withOrigin(originShell, r).newReply(kind, content))
}

// finish ends a cell as gonb does.
func (s *script) finish(r *message, status string) []step {
	s.n++
	out := s.gonb(gonbShell, r, "execute_reply", map[string]any{"status": status, "execution_count": s.n})
	return append(out, s.gonb(gonbIOPub, r, "status", map[string]any{"execution_state": "idle"})...)
}

func (s *script) fail(r *message, value string, trace ...string) []step {
	out := s.gonb(gonbIOPub, r, "error", failure{"ERROR", value, trace})
	return append(out, s.finish(r, "error")...)
}

func (s *script) stderr(r *message, text string) []step {
	return s.gonb(gonbIOPub, r, "stream", streamContent("stderr", text))
}

// summary writes steps down in short: where to, what, and what matters in it.
func summary(steps []step) string {
	names := map[port]string{jupyterShell: "shell", jupyterControl: "control", jupyterStdin: "stdin", jupyterIOPub: "iopub",
		gonbShell: "gonb", gonbControl: "gonb-control", gonbStdin: "gonb-stdin",
		doInterrupt: "INTERRUPT", doFinishCell: "SETTLE", doShutdown: "SHUTDOWN", doHelp: "HELP", doLearn: "LEARN", doAddFiles: "FILES"}
	var out []string
	for _, s := range steps {
		text := names[s.to]
		if s.msg != nil {
			text += " " + s.msg.head.Type
			f := s.msg.fields()
			for _, key := range []string{"status", "execution_state", "code", "text", "ename"} {
				if v, ok := f[key]; ok {
					text += fmt.Sprint(" ", v)
				}
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func expect(t *testing.T, got []step, want string) {
	t.Helper()
	if s := summary(got); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

func TestOnlyOneCellIsSentAtATime(t *testing.T) {
	s := script{t: t}
	a, out := s.ask("a")
	expect(t, out, "gonb execute_request a")
	b, out := s.ask("b")
	expect(t, out, "")
	out = s.gonb(gonbShell, a, "execute_reply", map[string]any{"status": "ok"})
	expect(t, out, "") // its last output has not come
	out = s.gonb(gonbIOPub, a, "status", map[string]any{"execution_state": "idle"})
	expect(t, out, "iopub status idle; SETTLE; shell execute_reply ok; LEARN execute_request a; gonb execute_request b")
	expect(t, s.finish(b, "ok"), "iopub status idle; SETTLE; shell execute_reply ok; LEARN execute_request b")
	_, out = s.ask("c")
	expect(t, out, "gonb execute_request c")
}

func TestWaitingCellsAreAbortedAfterAnError(t *testing.T) {
	s := script{t: t}
	a, _ := s.ask("a")
	b, _ := s.ask("b")
	s.ask("c")
	out := s.fail(a, "boom")
	expect(t, out, "iopub error cell failed; iopub status idle; SETTLE; shell execute_reply error cell failed; "+
		"iopub status busy; shell execute_reply aborted; iopub status idle; "+
		"iopub status busy; shell execute_reply aborted; iopub status idle")
	if reply := out[5].msg; reply.parent.ID != b.head.ID || string(reply.ids[0]) != "client-1" || string(reply.metadata) != `{"status":"aborted"}` {
		t.Errorf("the aborted reply answers %s to %s with metadata %s", reply.parent.ID, reply.ids, reply.metadata)
	}
	_, out = s.ask("later")
	expect(t, out, "gonb execute_request later")
}

func TestStopOnErrorFalseLetsTheOthersRun(t *testing.T) {
	s := script{t: t}
	a, _ := s.ask("a", `"stop_on_error":false`)
	s.ask("b")
	expect(t, s.fail(a, "boom"), "iopub error cell failed; iopub status idle; SETTLE; shell execute_reply error cell failed; gonb execute_request b")
}

func TestSilentRequestsAbortNothing(t *testing.T) {
	s := script{t: t}
	r := request("execute_request", `{"code":"a","silent":true,"store_history":false}`)
	s.m.fromJupyter(jupyterShell, r)
	s.ask("b")
	expect(t, s.fail(r, "boom"), "iopub error cell failed; iopub status idle; SETTLE; shell execute_reply error cell failed; gonb execute_request b")
}

func TestInterruptStopsTheCellAndDropsTheRest(t *testing.T) {
	s := script{t: t}
	a, _ := s.ask("a")
	s.ask("b")
	out := s.m.fromJupyter(jupyterControl, request("interrupt_request", `{}`))
	expect(t, out, "INTERRUPT; iopub status busy; shell execute_reply aborted; iopub status idle; control interrupt_reply ok")
	s.stderr(a, "^C\nsignal: interrupt\n")
	out = s.fail(a, "signal: interrupt")
	expect(t, out, "iopub error interrupted; iopub status idle; SETTLE; shell execute_reply error interrupted")
	if v := out[0].msg.fields()["evalue"]; v != "the cell's program was stopped (signal: interrupt)" {
		t.Errorf("the reader sees %q", v)
	}
}

func TestInterruptWhileIdleOnlyAnswers(t *testing.T) {
	s := script{t: t}
	expect(t, s.m.fromJupyter(jupyterControl, request("interrupt_request", `{}`)), "control interrupt_reply ok")
	expect(t, s.m.onInterrupt(), "")
}

func TestRequestsThatGonbIgnoresAreAnswered(t *testing.T) {
	s := script{t: t, m: machine{info: map[string]any{"status": "ok", "banner": "b"}}}
	for kind, want := range map[string]string{
		"comm_info_request":   "comm_info_reply ok",
		"history_request":     "history_reply ok",
		"is_complete_request": "is_complete_reply complete",
		"kernel_info_request": "kernel_info_reply ok",
	} {
		expect(t, s.m.fromJupyter(jupyterShell, request(kind, `{"code":"f()"}`)), "iopub status busy; shell "+want+"; iopub status idle")
	}
	s.ask("running")
	out := s.m.fromJupyter(jupyterControl, request("kernel_info_request", `{}`))
	expect(t, out, "iopub status busy; control kernel_info_reply ok; iopub status idle; iopub status busy")
}

func TestRepliesToControlGoBackToControl(t *testing.T) {
	s := script{t: t}
	r := request("debug_request", `{}`)
	out := s.m.fromJupyter(jupyterControl, r)
	expect(t, out, "gonb-control debug_request")
	// gonb answers everything on its shell socket, with the routing frames of the request.
	out = s.m.fromGonb(gonbShell, out[0].msg.newReply("debug_reply", map[string]any{}))
	expect(t, out, "control debug_reply")
	if ids := out[0].msg.ids; len(ids) != 1 || string(ids[0]) != "client-1" {
		t.Errorf("routed to %s", ids)
	}
}

func TestInputGoesBothWays(t *testing.T) {
	s := script{t: t}
	a, _ := s.ask("!read x")
	out := s.gonb(gonbStdin, a, "input_request", map[string]any{"prompt": "?"})
	expect(t, out, "stdin input_request")
	if ids := out[0].msg.ids; len(ids) != 1 || string(ids[0]) != "client-1" {
		t.Errorf("routed to %s", ids)
	}
	expect(t, s.m.fromJupyter(jupyterStdin, request("input_reply", `{"value":"3"}`)), "gonb-stdin input_reply")
}

func TestShutdownAnswersAfterTheEnd(t *testing.T) {
	s := script{t: t}
	out := s.m.fromJupyter(jupyterControl, request("shutdown_request", `{"restart":true}`))
	expect(t, out, "SHUTDOWN; control shutdown_reply ok; iopub shutdown_reply ok")
	if out[1].msg.fields()["restart"] != true {
		t.Error("restart is not said again")
	}
}

func TestDeathOfGonbIsTold(t *testing.T) {
	s := script{t: t}
	s.ask("a")
	s.ask("b")
	out := s.m.gonbDied("gonb: signal: killed")
	note := "The Go kernel behind this notebook has ended: gonb: signal: killed.\nIt starts anew; run the cells again from the top.\n"
	expect(t, out, "iopub stream "+note+"; iopub error kernel ended; SETTLE; shell execute_reply error kernel ended; iopub status idle; "+
		"iopub status busy; shell execute_reply aborted; iopub status idle")
	idle := machine{}
	expect(t, idle.gonbDied("x"), "iopub stream "+strings.Replace(note, "gonb: signal: killed", "x", 1))
}

func TestMissingFieldsAreFilledIn(t *testing.T) {
	s := script{t: t}
	out := s.m.fromJupyter(jupyterShell, request("execute_request", `{"code":7}`))
	if got, want := string(out[0].msg.content), `{"code":"","silent":false,"store_history":true}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	whole := request("input_reply", `{"status":"ok", "value":"1"}`)
	out = s.m.fromJupyter(jupyterStdin, whole)
	if got := string(out[0].msg.content); got != string(whole.content) {
		t.Errorf("a whole request changed to %s", got)
	}
}

func TestLineWithOnlyAMarkLosesItsBlanks(t *testing.T) {
	for code, want := range map[string]string{
		"! ": "!", "%\t": "%", "a\n!  \nb": "a\n!\nb", "! \\": "!", "!ls ": "!ls ", "%% ": "%% ", "x! ": "x! ",
	} {
		r := withRequiredFields(request("execute_request", string(encode(map[string]any{"code": code, "silent": false, "store_history": true}))))
		if got := r.fields()["code"]; got != want {
			t.Errorf("%q became %q, want %q", code, got, want)
		}
	}
}

func TestTheLanguageServerIsAskedWhileACellRuns(t *testing.T) {
	s := script{t: t}
	a, _ := s.ask("a")
	for _, kind := range []string{"complete_request", "inspect_request"} {
		r := request(kind, `{"code":"x","cursor_pos":1}`)
		expect(t, s.m.fromJupyter(jupyterShell, r), "HELP "+kind+" x")
		expect(t, s.m.onHelpReply(helpReply{r, "a_reply", map[string]any{"status": "ok"}}),
			"iopub status busy; shell a_reply ok; iopub status idle; iopub status busy")
	}
	expect(t, s.finish(a, "ok"), "iopub status idle; SETTLE; shell execute_reply ok; LEARN execute_request a")
}

func TestIsComplete(t *testing.T) {
	for code, want := range map[string]string{
		"fmt.Println(1)":       "complete",
		"":                     "complete",
		"func f() {":           "incomplete \t",
		"func f() {\n\tif x {": "incomplete \t\t",
		"x := `a":              "incomplete ",
		"/* comment":           "incomplete ",
		"f(a,":                 "incomplete \t",
		"\"a(\"":               "complete",
		"// {":                 "complete",
		"'a":                   "complete",
		"}":                    "unknown",
		"!echo (":              "complete",
		"%%\nf()":              "complete",
		"%%script bash\nif (":  "unknown",
	} {
		reply := isComplete(request("is_complete_request", string(encode(map[string]any{"code": code}))))
		got := reply["status"].(string)
		if indent, ok := reply["indent"]; ok {
			got += " " + indent.(string)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", code, got, want)
		}
	}
}

func TestKernelInfoNamesTheHighlighter(t *testing.T) {
	gonbs := map[string]any{"banner": "Go kernel", "language_info": map[string]any{"name": "go", "version": "go1.26", "codemirror_mode": ""}}
	info := kernelInfo(gonbs, "v0.11.5")
	language := info["language_info"].(map[string]any)
	if language["pygments_lexer"] != "go" || language["version"] != "go1.26" || language["mimetype"] != "text/x-go" {
		t.Errorf("language %v", language)
	}
	if _, ok := language["codemirror_mode"]; ok {
		t.Error("an empty field is passed on")
	}
	if b := info["banner"].(string); !strings.Contains(b, "Lethe") || !strings.Contains(b, "v0.11.5") {
		t.Errorf("banner %q", b)
	}
	if gonbs["banner"] != "Go kernel" {
		t.Error("the argument was changed")
	}
}
