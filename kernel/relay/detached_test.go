// Tests of detached.go, programs.go and subshells.go.

package relay

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
	"github.com/lethe-ml/lethe/lib/nb/detach"
)

func TestSubshellsAreNamesThatClientsMayUse(t *testing.T) {
	info := kernelInfo(map[string]any{}, "v1")
	if got := fmt.Sprint(info["supported_features"]); got != "[kernel subshells]" {
		t.Errorf("features %s", got)
	}
	s := script{t: t}
	ask := func(kind, content string) map[string]any {
		t.Helper()
		out := s.m.fromJupyter(jupyterControl, request(kind+"_request", content))
		if len(out) != 3 || out[1].to != jupyterControl || out[1].msg.head.Type != kind+"_reply" {
			t.Fatalf("%s: %s", kind, summary(out))
		}
		return out[1].msg.fields()
	}
	id := ask("create_subshell", `{}`)["subshell_id"].(string)
	other := ask("create_subshell", `{}`)["subshell_id"].(string)
	if got := fmt.Sprint(ask("list_subshell", `{}`)["subshell_id"]); got != "["+id+" "+other+"]" || id == other {
		t.Errorf("listed %s", got)
	}
	if got := ask("delete_subshell", `{"subshell_id":"`+id+`"}`); got["status"] != "ok" {
		t.Errorf("deleted: %v", got)
	}
	if got := ask("delete_subshell", `{"subshell_id":"`+id+`"}`); got["status"] != "error" || !strings.Contains(got["evalue"].(string), id) {
		t.Errorf("deleted twice: %v", got)
	}
	if got := ask("list_subshell", `{}`)["subshell_id"].([]any); !slices.Equal(got, []any{other}) {
		t.Errorf("left %v", got)
	}
	for range maxSubshells - 1 {
		ask("create_subshell", `{}`)
	}
	if got := ask("create_subshell", `{}`); got["status"] != "error" {
		t.Errorf("one too many: %v", got)
	}
	// A cell of a subshell waits for its turn, a comm message does not.
	s.ask("a")
	cell, moved := request("execute_request", `{"code":"b"}`), request("comm_msg", `{"comm_id":"c","data":{}}`)
	for _, m := range []*message{cell, moved} {
		m.rawHead = []byte(strings.Replace(string(m.rawHead), "{", `{"subshell_id":"`+other+`",`, 1))
	}
	expect(t, s.m.fromJupyter(jupyterShell, cell), "")
	out := s.m.fromJupyter(jupyterShell, moved)
	expect(t, out, "gonb comm_msg")
	reply := cell.newReply("execute_reply", nil)
	if !strings.Contains(string(reply.rawParent), other) {
		t.Errorf("the subshell is lost from %s", reply.rawParent)
	}
}

func TestACellThatEndsWithSlidersIsSplit(t *testing.T) {
	for code, want := range map[string]string{
		"%%\nx := 1\nnb.Interact(draw, s)": detachCode, "%%\nnb.Interact(draw, s)\nfmt.Println()": "", "%%\nnb.Table(t)": "",
		"func f() { nb.Interact(draw) }": "", "%%script bash\nnb.Interact()": "", "": "", "%%\nInteract()": "",
	} {
		s := script{t: t, m: machine{adds: true, browser: true}}
		_, out := s.ask(code)
		if got := out[0].files[detachFile]; got != want {
			t.Errorf("%q gets %q", code, got)
		}
		s = script{t: t, m: machine{adds: true}}
		if _, out := s.ask(code); out[0].files[detachFile] != "" {
			t.Errorf("%q is split where no browser is", code)
		}
	}
}

// program sends what the program of a connection says.
func (s *script) program(connection int, m detach.Message) []step {
	return s.m.fromProgram(programEvent{connection: connection, message: m})
}

// move is a message of a page to an address.
func move(address, value string) *message {
	return request("comm_msg", `{"comm_id":"c","data":{"address":"`+address+`","value":`+value+`}}`)
}

func TestAProgramGoesOnWhenItsCellIsOver(t *testing.T) {
	s := script{t: t}
	a, _ := s.ask("a")
	expect(t, s.program(1, detach.Message{Kind: detach.Hello, PID: 70}), "")
	s.program(1, detach.Message{Kind: detach.Subscribe, Address: "/lethe/sliders/ab"})
	s.gonb(gonbIOPub, a, "display_data", map[string]any{"data": map[string]any{}, "transient": map[string]any{"display_id": "figure"}})
	if s.m.detachedPIDs() != nil {
		t.Error("an interrupt would not reach the program of the running cell")
	}
	out := s.program(1, detach.Message{Kind: detach.Detach})
	if len(out) != 1 || out[0].to != doTell || out[0].tell.Kind != detach.Detached {
		t.Fatalf("the program is told %s", summary(out))
	}
	s.finish(a, "ok")
	b, _ := s.ask("b")

	out = s.m.fromJupyter(jupyterShell, move("/lethe/sliders/ab", `"{\"number\":1}"`))
	if len(out) != 1 || out[0].program.connection != 1 || string(out[0].tell.Value) != `"{\"number\":1}"` || out[0].tell.Address != "/lethe/sliders/ab" {
		t.Errorf("the message came as %+v", out)
	}
	expect(t, s.m.fromJupyter(jupyterShell, move("/other", `1`)), "gonb comm_msg")
	open := request("comm_open", `{"comm_id":"c","target_name":"gonb_comm"}`)
	expect(t, s.m.fromJupyter(jupyterShell, open), "gonb comm_open")
	open.head.Session = "lethe-sliders-ab"
	expect(t, s.m.fromJupyter(jupyterShell, open), "")

	for id, kind := range map[string]string{"figure": "update_display_data", "new": "display_data", "": "display_data"} {
		out = s.program(1, detach.Message{Kind: detach.Display, ID: id, Data: map[string]any{"text/plain": "x"}})
		if len(out) != 1 || out[0].msg.head.Type != kind || out[0].msg.parent.ID != a.head.ID {
			t.Errorf("output %q: %s", id, summary(out))
		}
	}
	if got := s.m.detachedPIDs(); !slices.Equal(got, []int{70}) {
		t.Errorf("processes %v go on", got)
	}
	s.program(2, detach.Message{Kind: detach.Printed, PID: 70})
	out = s.m.fromProgram(programEvent{connection: 2, message: detach.Message{Kind: detach.Printed, PID: 70}, text: "hello\npanic: "})
	expect(t, out, "iopub stream hello\n")
	s.m.fromProgram(programEvent{connection: 2, message: detach.Message{Kind: detach.Printed, PID: 70}, text: "boom\n\ngoroutine 1 [running]:\nmain.main()\n"})
	s.m.fromProgram(programEvent{connection: 1, closed: true})
	expect(t, s.m.fromJupyter(jupyterShell, move("/lethe/sliders/ab", `1`)), "gonb comm_msg") // nobody listens
	out = s.m.fromProgram(programEvent{connection: 2, message: detach.Message{Kind: detach.Printed, PID: 70}, closed: true})
	if got := summary(out); !strings.HasPrefix(got, "iopub stream panic: boom\n\n") || out[0].msg.parent.ID != a.head.ID {
		t.Errorf("the crash is told as %s", got)
	}
	if len(s.m.programs) != 0 {
		t.Errorf("programs %+v are left", s.m.programs)
	}
	s.finish(b, "ok")
	expect(t, s.program(3, detach.Message{Kind: detach.Hello, PID: 71}), "")
	if len(s.m.programs) != 0 {
		t.Error("a program without a cell was let in")
	}
}

func TestACellThatRunsAgainEndsItsProgram(t *testing.T) {
	s := script{t: t}
	goOn := func(connection int, id string) (ended []int) {
		r := request("execute_request", `{"code":"x"}`)
		r.metadata = encode(map[string]any{"cellId": id})
		out := s.m.fromJupyter(jupyterShell, r)
		s.program(connection, detach.Message{Kind: detach.Hello, PID: connection})
		out = append(out, s.program(connection, detach.Message{Kind: detach.Detach})...)
		s.finish(r, "ok")
		for _, st := range out {
			if st.to == doEndProgram {
				ended = append(ended, st.program.connection)
			}
		}
		return ended
	}
	if got := slices.Concat(goOn(1, "a"), goOn(2, "b"), goOn(3, ""), goOn(4, "")); got != nil {
		t.Errorf("%v ended", got)
	}
	if got := goOn(5, "a"); !slices.Equal(got, []int{1}) {
		t.Errorf("%v ended, want the first", got)
	}
	s.m.fromProgram(programEvent{connection: 1, closed: true})
	for i := 6; i <= 10; i++ {
		if got := goOn(i, ""); i == 10 && !slices.Equal(got, []int{2}) || i < 10 && got != nil {
			t.Errorf("program %d: %v ended", i, got)
		}
	}
}

func TestAnInterruptSparesWhatGoesOn(t *testing.T) {
	all := []proc.Process{{PID: 1, Parent: 0}, {PID: 2, Parent: 1}, {PID: 3, Parent: 2}, {PID: 4, Parent: 1}, {PID: 5, Parent: 3}}
	var left []int
	for _, p := range without(all, []int{2}) {
		left = append(left, p.PID)
	}
	if !slices.Equal(left, []int{1, 4}) {
		t.Errorf("left %v", left)
	}
}

func TestTheSocketOfPrograms(t *testing.T) {
	path := filepath.Join(prepareClient(t).conn.IP + "p")
	var notes strings.Builder
	s, err := listenForPrograms(path, &notes)
	if err != nil {
		t.Fatal(err)
	}
	dial := func() net.Conn {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	next := func() programEvent {
		select {
		case e := <-s.events:
			return e
		case <-time.After(10 * time.Second):
			t.Fatal("nothing comes")
			return programEvent{}
		}
	}
	c := dial()
	_ = detach.Write(c, detach.Message{Kind: detach.Hello, PID: 7})
	hello := next()
	s.tell(hello.connection, detach.Message{Kind: detach.Value, Value: json.RawMessage(`1`)})
	if m, err := detach.Read(bufio.NewReader(c)); hello.message.PID != 7 || err != nil || string(m.Value) != "1" {
		t.Errorf("%+v, %+v, %v", hello, m, err)
	}
	p := dial()
	_ = detach.Write(p, detach.Message{Kind: detach.Printed, PID: 7})
	_, _ = io.WriteString(p, "hello")
	first, text := next(), next()
	for len(text.text) < 5 {
		text.text += next().text
	}
	_ = p.Close()
	last := next()
	if first.text != "" || text.text != "hello" || text.message.PID != 7 || !last.closed || last.message.PID != 7 {
		t.Errorf("%+v, %+v, %+v", first, text, last)
	}
	_, _ = io.WriteString(c, "no JSON\n")
	if e := next(); !e.closed || e.connection != hello.connection || !strings.Contains(notes.String(), "no JSON object") {
		t.Errorf("a broken message: %+v, %s", e, notes.String())
	}
	s.tell(99, detach.Message{})
	open := dial()
	_ = detach.Write(open, detach.Message{Kind: detach.Hello})
	next()
	s.stop()
	s.stop()
	_ = open.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := open.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("after the end a program reads %v", err)
	}
}
