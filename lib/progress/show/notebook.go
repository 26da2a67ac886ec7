// Progress in a notebook: a bar below the cell that leaves one line behind.

package show

import (
	"fmt"
	"html"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/lethe-ml/lethe/lib/progress"
)

// notebook shows progress below the running cell. A cell has one bar, however much work it
// does one after the other: a loop leaves one line, and so does a slider that was moved many
// times.
type notebook struct {
	id   string // of the output; "" before the first drawing
	last string // what it shows
	send func(id string, data map[protocol.MIMEType]any)
	sync func() // waits until what was sent has arrived
}

func newNotebook() *notebook { return &notebook{send: sendToKernel, sync: syncKernel} }

// Draw implements progress.Display.
func (n *notebook) Draw(s progress.State) {
	if n.id == "" {
		n.id = gonbui.UniqueId()
	}
	text := s.Name() + s.Text()
	if text == n.last {
		return // every drawing is a message to the browser
	}
	n.last = text
	value := ""
	if s.Known {
		value = fmt.Sprintf(` value="%.3f" max="1"`, s.Share)
	}
	n.send(n.id, map[protocol.MIMEType]any{
		"text/plain": text,
		"text/html":  fmt.Sprintf(`<progress%s></progress> <code>%s</code>`, value, html.EscapeString(text)),
	})
}

// Erase implements progress.Display. What a cell prints stands beside the bar, not in it.
func (n *notebook) Erase() {}

// End implements progress.Display.
func (n *notebook) End(s progress.State) {
	n.last = s.Final()
	n.send(n.id, map[protocol.MIMEType]any{"text/plain": n.last})
	n.sync()
}

func sendToKernel(id string, data map[protocol.MIMEType]any) {
	gonbui.SendData(&protocol.DisplayData{Data: data, DisplayID: id})
}

// kernelTimeout bounds the wait for the kernel.
const kernelTimeout = 10 * time.Second

// syncKernel returns when the kernel has passed on everything that was sent.
func syncKernel() {
	if gonbui.Error() != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		gonbui.Sync()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(kernelTimeout):
	}
}
