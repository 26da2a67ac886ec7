// Cells that are over while their programs go on: sliders answer while another cell computes.
//
// GoNB runs one cell at a time and ends each with its program. A cell whose last statement is
// nb.Interact gets a file beside its program that splits it in two (package detach). GoNB
// waits for the first process, which ends when the sliders are ready; the second draws, and
// talks to the relay. What it can do: draw with the declarations and values that its cell had.
// What it cannot: see what later cells declare; outlive the kernel; print into a page that was
// opened after the cell ended, because JupyterLab has forgotten where its outputs stood.

package relay

import (
	"encoding/json"
	"go/ast"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/nb/detach"
)

// detachFile is the name of the file beside a cell's program that splits it. It sorts before
// the others, so that its variable is initialised first.
const detachFile = "a_detach.go"

const detachCode = `package main

import letheDetach "github.com/lethe-ml/lethe/lib/nb/detach"

var _ = func() bool { letheDetach.Begin(); return true }()
`

// fileToDetach returns the content of detachFile for a cell; "" if its program ends with it.
func fileToDetach(code string) string {
	call, ok := newOutline(code).last.node.(*ast.CallExpr)
	if !ok {
		return ""
	}
	if function, ok := call.Fun.(*ast.SelectorExpr); !ok || function.Sel.Name != "Interact" {
		return ""
	}
	return detachCode
}

// maxPrograms is how many programs may go on at once; each may hold a data set.
const maxPrograms = 8

// linkedProgram is a program that has connected to the relay.
type linkedProgram struct {
	connection int
	pid        int
	request    *message // of its cell
	cellID     string
	addresses  []string
	displayed  map[string]bool // outputs with an id
	detached   bool
	linked     bool            // its first connection is open
	printing   bool            // its connection for printed text is open
	crash      strings.Builder // what it has printed from the first line of a crash on
}

// fromProgram handles what a program sends. It has two connections: one for messages, and,
// when it goes on, one for what it prints.
func (m *machine) fromProgram(e programEvent) []step {
	if e.message.Kind == detach.Hello {
		m.welcome(e)
		return m.takeSteps()
	}
	printed := e.message.Kind == detach.Printed
	at := slices.IndexFunc(m.programs, func(p *linkedProgram) bool {
		return printed && p.pid == e.message.PID || !printed && p.connection == e.connection
	})
	if at < 0 {
		return nil
	}
	p := m.programs[at]
	switch {
	case printed && e.closed:
		p.printing = false
		m.tellCrash(p)
	case printed:
		p.printing = true
		m.printed(p, e.text)
	case e.closed:
		p.linked, p.addresses = false, nil
	case e.message.Kind == detach.Subscribe:
		p.addresses = append(p.addresses, e.message.Address)
	case e.message.Kind == detach.Display:
		m.display(p, e.message)
	case e.message.Kind == detach.Detach:
		m.detach(p)
	}
	if !p.linked && !p.printing {
		m.programs = slices.Delete(m.programs, at, at+1)
	}
	return m.takeSteps()
}

// printed publishes what a program prints, up to a crash report, which comes in pieces.
func (m *machine) printed(p *linkedProgram, text string) {
	if p.crash.Len() == 0 {
		at := crashAt(text, false)
		if at < 0 {
			at = len(text)
		}
		if at > 0 {
			m.publish(p.request, "stream", streamContent("stdout", text[:at]))
		}
		text = text[at:]
	}
	p.crash.WriteString(text)
}

// tellCrash publishes why a program has ended that crashed.
func (m *machine) tellCrash(p *linkedProgram) {
	if p.crash.Len() == 0 {
		return
	}
	text := p.crash.String()
	if report, ok := parseCrash(text); ok {
		text = strings.Join(report.failure(0, &m.sources).Trace, "\n") + "\n"
	}
	m.publish(p.request, "stream", streamContent("stderr", text))
}

// welcome adds the program of the running cell.
func (m *machine) welcome(e programEvent) {
	if m.running == nil {
		return
	}
	m.programs = append(m.programs, &linkedProgram{
		connection: e.connection, pid: e.message.PID, request: m.running.request, cellID: m.running.cellID(), displayed: map[string]bool{}, linked: true,
	})
}

// detach lets a program go on. If there are too many, the oldest ends.
func (m *machine) detach(p *linkedProgram) {
	p.detached = true
	m.out = append(m.out, step{to: doTell, program: p, tell: detach.Message{Kind: detach.Detached}})
	var all []*linkedProgram
	for _, other := range m.programs {
		if other.detached {
			all = append(all, other)
		}
	}
	if len(all) > maxPrograms {
		m.out = append(m.out, step{to: doEndProgram, program: all[0]})
	}
}

// display publishes an output of a program for its cell.
func (m *machine) display(p *linkedProgram, d detach.Message) {
	kind, transient := "display_data", map[string]any{}
	if d.ID != "" {
		transient["display_id"] = d.ID
		if p.displayed[d.ID] {
			kind = "update_display_data"
		}
		p.displayed[d.ID] = true
	}
	if d.Metadata == nil {
		d.Metadata = map[string]any{}
	}
	m.publish(p.request, kind, map[string]any{"data": d.Data, "metadata": d.Metadata, "transient": transient})
}

// noteDisplayed notes the id of an output that a program has shown through GoNB.
func (m *machine) noteDisplayed(msg *message) {
	for _, p := range m.programs {
		if p.request.head.ID != msg.parent.ID {
			continue
		}
		var content struct {
			Transient struct {
				ID string `json:"display_id"`
			} `json:"transient"`
		}
		msg.read(&content)
		p.displayed[content.Transient.ID] = true
	}
}

// detachedPIDs returns the processes that an interrupt must not reach: they are of cells that
// are over.
func (m *machine) detachedPIDs() []int {
	var out []int
	for _, p := range m.programs {
		if p.detached {
			out = append(out, p.pid)
		}
	}
	return out
}

// endProgramsOf ends the programs that go on of a cell that runs again.
func (m *machine) endProgramsOf(cellID string) {
	for _, p := range m.programs {
		if p.detached && cellID != "" && p.cellID == cellID {
			m.out = append(m.out, step{to: doEndProgram, program: p})
		}
	}
}

// toProgram passes a page's message on to a connected program. It reports whether there is
// one; otherwise the message is GoNB's.
func (m *machine) toProgram(msg *message) bool {
	var content struct {
		Data struct {
			Address string          `json:"address"`
			Value   json.RawMessage `json:"value"`
		} `json:"data"`
	}
	msg.read(&content)
	for _, p := range m.programs {
		if msg.head.Type == "comm_msg" && slices.Contains(p.addresses, content.Data.Address) {
			m.out = append(m.out, step{to: doTell, program: p,
				tell: detach.Message{Kind: detach.Value, Address: content.Data.Address, Value: content.Data.Value}})
			return true
		}
		// GoNB has one channel for all pages. The sliders of a program need none: leave it
		// to the others.
		if msg.head.Type == "comm_open" && slices.ContainsFunc(p.addresses, func(a string) bool { return isSlidersSession(msg.head.Session, a) }) {
			return true
		}
	}
	return false
}

// isSlidersSession reports whether a session is that of the sliders at an address: they end
// with the same identifier.
func isSlidersSession(session, address string) bool {
	id := address[strings.LastIndex(address, "/")+1:]
	return id != "" && strings.HasSuffix(session, "-"+id)
}
