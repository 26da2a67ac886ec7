// The running cell: its outputs, its crash, its reply.

package relay

import (
	"encoding/json"
	"regexp"
	"strings"
)

// cell is an execute request that gonb is working on.
type cell struct {
	request     *message
	code        string
	count       int // gonb's number of the cell, 0 until it is known
	stopOnError bool
	interrupted bool
	failure     *failure
	notBuilt    bool // GoNB has not got as far as its program, and forgets its declarations

	reply *message // from gonb, held until the last output has come
	idle  bool

	stderr  strings.Builder // from the first line of a crash on
	crashed bool
	midLine bool       // the stderr so far does not end with a line's end
	exits   []*message // gonb's own notes that a program failed
}

func newCell(msg *message) *cell {
	var content struct {
		Code   string `json:"code"`
		Silent bool   `json:"silent"`
		Stop   *bool  `json:"stop_on_error"`
	}
	msg.read(&content)
	return &cell{
		request: msg, code: content.Code,
		stopOnError: !content.Silent && (content.Stop == nil || *content.Stop),
	}
}

// compiled reports whether GoNB has compiled the cell and keeps its declarations.
func (c *cell) compiled() bool { return !c.notBuilt }

// cellID returns the identifier that JupyterLab gives to the cell; "" where there is none.
func (c *cell) cellID() string {
	var metadata struct {
		CellID string `json:"cellId"`
	}
	_ = json.Unmarshal(c.request.metadata, &metadata)
	return metadata.CellID
}

// finalReply returns gonb's reply, as an error if the cell failed.
func (c *cell) finalReply() *message {
	if c.failure == nil {
		return c.reply
	}
	return c.reply.withContent(c.failure.reply(c.count))
}

// onIOPub handles what gonb publishes. Output of the running cell may be held back or
// rewritten; everything else passes.
func (m *machine) onIOPub(msg *message) {
	msg = msg.withIDs()
	c := m.running
	if c == nil || msg.parent.ID != c.request.head.ID {
		m.send(jupyterIOPub, msg)
		return
	}
	switch msg.head.Type {
	case "execute_input":
		m.onInput(msg)
	case "stream":
		m.onStream(msg)
	case "error":
		var raw failure
		msg.read(&raw)
		c.failure = c.explain(&raw, &m.sources, &m.past)
		m.send(jupyterIOPub, msg.withContent(c.failure))
	case "status":
		m.onStatus(msg)
	case "display_data":
		m.noteDisplayed(msg)
		m.send(jupyterIOPub, msg)
	default:
		m.send(jupyterIOPub, msg)
	}
}

func (m *machine) onInput(msg *message) {
	var content struct {
		Count int `json:"execution_count"`
	}
	msg.read(&content)
	c := m.running
	c.count = content.Count
	m.sources.remember(content.Count, c.code)
	m.send(jupyterIOPub, msg.withContent(map[string]any{"code": c.code, "execution_count": content.Count}))
	if asksForHelp(c.code) {
		m.publish(c.request, "stream", streamContent("stdout", letheHelp))
	}
}

func (m *machine) onStatus(msg *message) {
	var content struct {
		State string `json:"execution_state"`
	}
	msg.read(&content)
	if content.State != "idle" {
		m.send(jupyterIOPub, msg)
		return
	}
	m.flush()
	m.remember()
	m.running.idle = true
	m.send(jupyterIOPub, msg)
	m.finishCell()
}

// remember notes what the cell has declared and done, and tells the reader what follows.
func (m *machine) remember() {
	c := m.running
	if c.count == 0 {
		return // a silent request
	}
	if text := m.past.lostValue(c.code); text != "" {
		m.publish(c.request, "stream", streamContent("stderr", text))
	}
	m.tellStale(m.past.add(c))
}

// exitNote matches the message that gonb adds after a program that failed.
var exitNote = regexp.MustCompile(`^(?:\^C\n)?((?:exit status [1-9]\d*|signal: [a-z0-9 /]+)(?: \(core dumped\))?)\n$`)

// crashStart matches the first line of a crash report of the Go runtime.
var crashStart = regexp.MustCompile(`(?m)^(?:panic: |fatal error: )`)

func (m *machine) onStream(msg *message) {
	c := m.running
	var content struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	msg.read(&content)
	switch {
	case content.Name != "stderr":
		m.send(jupyterIOPub, msg)
	case exitNote.MatchString(content.Text):
		c.exits = append(c.exits, msg)
	case c.crashed:
		c.stderr.WriteString(content.Text)
	default:
		m.passStderr(msg, content.Text)
	}
}

// passStderr passes standard error on, up to the line that begins a crash.
func (m *machine) passStderr(msg *message, text string) {
	c := m.running
	at := crashAt(text, c.midLine)
	if at < 0 {
		c.midLine = !strings.HasSuffix(text, "\n")
		m.send(jupyterIOPub, msg)
		return
	}
	if at > 0 {
		m.send(jupyterIOPub, msg.withContent(streamContent("stderr", text[:at])))
	}
	c.crashed = true
	c.stderr.WriteString(text[at:])
}

// crashAt returns where a crash begins in a text, or -1. A match at the start counts only
// at the start of a line.
func crashAt(text string, midLine bool) int {
	for _, at := range crashStart.FindAllStringIndex(text, -1) {
		if at[0] > 0 || !midLine {
			return at[0]
		}
	}
	return -1
}

// flush decides about held-back output when the cell's output is complete.
func (m *machine) flush() {
	c := m.running
	if c.failure != nil {
		return // the error covers it
	}
	if c.stderr.Len() > 0 {
		m.publish(c.request, "stream", streamContent("stderr", c.stderr.String()))
	}
	if len(c.exits) > 0 && shellLine.MatchString(c.code) {
		c.failure = c.shellFailure()
		m.publish(c.request, "error", c.failure)
		return
	}
	for _, note := range c.exits {
		m.send(jupyterIOPub, note)
	}
}

// shellLine matches a line that GoNB passes to the shell.
var shellLine = regexp.MustCompile(`(?m)^(?://gonb:)?(?:![^\n]+|%%(?:script|bash|sh)\b[^\n]*)`)
