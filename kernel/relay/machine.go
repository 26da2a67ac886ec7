// The state machine of the relay: what happens with each message.

package relay

import (
	"encoding/json"

	"github.com/lethe-ml/lethe/lib/nb/detach"
)

// port is the source or the destination of a message, or another action.
type port int

const (
	jupyterShell port = iota
	jupyterControl
	jupyterStdin
	jupyterIOPub
	gonbShell
	gonbControl
	gonbStdin
	gonbIOPub
	doInterrupt  // stop what the running cell is doing
	doFinishCell // the running cell is over
	doShutdown   // end gonb; the steps after it send the replies
	doHelp       // answer a completion or inspection request
	doLearn      // add the declarations of the cell
	doAddFiles   // write files beside the programs of the next cell, or remove them
	doTell       // send a message to a program that is connected
	doEndProgram // end a program that goes on
)

// step is one thing to do: send a message to a port, or act.
type step struct {
	to    port
	msg   *message
	files map[string]string // for doAddFiles: contents by name, "" for a file that has to go

	program *linkedProgram // for doTell and doEndProgram
	tell    detach.Message
}

// machine decides what happens with each message. It has no socket, no clock and no
// process, so that every rule can be tested alone.
type machine struct {
	info    map[string]any // content of kernel_info_reply
	sources sources
	past    past
	adds    bool // files can be added to the cells' programs
	browser bool // a browser may show the cells
	running *cell
	waiting []*message // execute requests, in order
	out     []step

	programs  []*linkedProgram
	subshells []string
}

func (m *machine) send(to port, msg *message) { m.out = append(m.out, step{to: to, msg: msg}) }

// takeSteps returns the collected steps.
func (m *machine) takeSteps() []step {
	out := m.out
	m.out = nil
	return out
}

// Origins distinguish gonb's replies: gonb answers control requests on the shell socket,
// but keeps the routing frames of the request.
var (
	originShell   = []byte("shell")
	originControl = []byte("control")
	originStdin   = []byte("stdin")
)

func withOrigin(origin []byte, msg *message) *message {
	return msg.withIDs(append([][]byte{origin}, msg.ids...)...)
}

// fromJupyter handles a message of a client.
func (m *machine) fromJupyter(from port, msg *message) []step {
	if from == jupyterStdin {
		m.send(gonbStdin, withOrigin(originStdin, withRequiredFields(msg)))
		return m.takeSteps()
	}
	switch msg.head.Type {
	case "execute_request":
		m.waiting = append(m.waiting, msg)
		m.next()
	case "interrupt_request":
		m.interrupt()
		m.send(from, msg.newReply("interrupt_reply", map[string]any{"status": "ok"}))
	case "shutdown_request":
		m.shutdown(from, msg)
	case "kernel_info_request":
		m.reply(from, msg, "kernel_info_reply", m.info)
	case "comm_info_request":
		m.reply(from, msg, "comm_info_reply", map[string]any{"status": "ok", "comms": map[string]any{}})
	case "history_request":
		m.reply(from, msg, "history_reply", map[string]any{"status": "ok", "history": []any{}})
	case "is_complete_request":
		m.reply(from, msg, "is_complete_reply", isComplete(msg))
	case "complete_request", "inspect_request":
		m.send(doHelp, msg)
	case "create_subshell_request", "delete_subshell_request", "list_subshell_request":
		m.onSubshell(from, msg)
	case "comm_open", "comm_msg":
		if !m.toProgram(msg) {
			m.forward(from, msg)
		}
	default:
		m.forward(from, msg)
	}
	return m.takeSteps()
}

func (m *machine) forward(from port, msg *message) {
	if from == jupyterControl {
		m.send(gonbControl, withOrigin(originControl, withRequiredFields(msg)))
		return
	}
	m.send(gonbShell, withOrigin(originShell, withRequiredFields(msg)))
}

// reply answers a request instead of gonb, between the states busy and idle. While a cell
// runs, its busy is repeated, because clients show the last state.
func (m *machine) reply(to port, msg *message, kind string, content any) {
	m.status(msg, "busy")
	m.send(to, msg.newReply(kind, content))
	m.status(msg, "idle")
	if m.running != nil {
		m.status(m.running.request, "busy")
	}
}

func (m *machine) status(msg *message, state string) {
	m.publish(msg, "status", map[string]any{"execution_state": state})
}

func (m *machine) publish(parent *message, kind string, content any) {
	m.send(jupyterIOPub, parent.newReply(kind, content))
}

// next starts the cell that has waited longest, unless one is running.
func (m *machine) next() {
	if m.running != nil || len(m.waiting) == 0 {
		return
	}
	msg := m.waiting[0]
	m.waiting = m.waiting[1:]
	m.running = newCell(withRequiredFields(msg))
	code, files := m.running.code, map[string]string{}
	if m.adds {
		code, files[showFile] = m.past.withLastShown(code)
		files[detachFile] = ""
		if m.browser {
			files[detachFile] = fileToDetach(code)
		}
		m.out = append(m.out, step{to: doAddFiles, files: files})
	}
	m.endProgramsOf(m.running.cellID())
	m.send(gonbShell, withOrigin(originShell, m.running.request.withCode(code)))
}

// interrupt stops the running cell and drops those that wait. Without a running cell it
// does nothing.
func (m *machine) interrupt() {
	if m.running == nil {
		return
	}
	m.running.interrupted = true
	m.send(doInterrupt, nil)
	m.abort()
}

// shutdown ends gonb before it answers, so that a client can rely on it.
func (m *machine) shutdown(from port, msg *message) {
	var content struct {
		Restart bool `json:"restart"`
	}
	msg.read(&content)
	reply := msg.newReply("shutdown_reply", map[string]any{"status": "ok", "restart": content.Restart})
	m.send(doShutdown, nil)
	m.send(from, reply)
	m.send(jupyterIOPub, reply)
}

// onHelpReply passes an answer of gopls on.
func (m *machine) onHelpReply(h helpReply) []step {
	m.reply(jupyterShell, h.request, h.kind, h.content)
	return m.takeSteps()
}

// onInterrupt handles an interrupt that came as a signal.
func (m *machine) onInterrupt() []step {
	m.interrupt()
	return m.takeSteps()
}

// abort answers all waiting requests with "aborted", so that Run All stops.
func (m *machine) abort() {
	for _, msg := range m.waiting {
		m.status(msg, "busy")
		reply := msg.newReply("execute_reply", map[string]any{"status": "aborted"})
		reply.metadata = json.RawMessage(`{"status":"aborted"}`)
		m.send(jupyterShell, reply)
		m.status(msg, "idle")
	}
	m.waiting = nil
}

// fromGonb handles a message of gonb.
func (m *machine) fromGonb(from port, msg *message) []step {
	switch from {
	case gonbIOPub:
		m.onIOPub(msg)
	case gonbStdin:
		m.send(jupyterStdin, withoutOrigin(msg))
	default:
		m.onReply(msg)
	}
	return m.takeSteps()
}

func (m *machine) onReply(msg *message) {
	if c := m.running; c != nil && msg.head.Type == "execute_reply" && msg.parent.ID == c.request.head.ID {
		c.reply = msg
		m.finishCell()
		return
	}
	to := jupyterShell
	if len(msg.ids) > 0 && string(msg.ids[0]) == string(originControl) {
		to = jupyterControl
	}
	m.send(to, withoutOrigin(msg))
}

// withoutOrigin removes the origin.
func withoutOrigin(msg *message) *message {
	if len(msg.ids) == 0 {
		return msg
	}
	return msg.withIDs(msg.ids[1:]...)
}

// finishCell ends the running cell when both its reply and its last output have come; they
// come over two sockets, in any order.
func (m *machine) finishCell() {
	c := m.running
	if c.reply == nil || !c.idle {
		return
	}
	m.running = nil
	m.send(doFinishCell, nil)
	m.send(jupyterShell, withoutOrigin(c.finalReply()))
	if c.failure == nil {
		m.send(doLearn, c.request)
	} else if c.stopOnError {
		m.abort()
	}
	m.next()
}

// gonbDied tells the clients that gonb has ended by itself, and why.
func (m *machine) gonbDied(reason string) []step {
	note := "The Go kernel behind this notebook has ended: " + reason + ".\nIt starts anew; run the cells again from the top.\n"
	if c := m.running; c != nil {
		m.running = nil
		c.failure = plainFailure("kernel ended", reason)
		m.publish(c.request, "stream", streamContent("stderr", note))
		m.publish(c.request, "error", c.failure)
		m.send(doFinishCell, nil)
		m.send(jupyterShell, c.request.newReply("execute_reply", c.failure.reply(c.count)))
		m.status(c.request, "idle")
	} else {
		m.publish(&message{rawHead: json.RawMessage("{}")}, "stream", streamContent("stderr", note))
	}
	m.abort()
	return m.takeSteps()
}

func streamContent(name, text string) map[string]any {
	return map[string]any{"name": name, "text": text}
}
