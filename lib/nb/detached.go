// Sliders that go on when their cell is over, so that they answer while another cell computes.

package nb

import (
	"encoding/json"
	"time"

	"github.com/lethe-ml/lethe/lib/nb/detach"
)

// idleLimitDetached is how long sliders wait for a reader when no cell waits for them.
const idleLimitDetached = time.Hour

// kernelLink is how a panel goes on in the background. The zero value cannot.
type kernelLink struct {
	link     *detach.Link
	detached bool
}

// listen subscribes to the messages of the sliders over the link, if the program has one.
func (b *kernelLink) listen(address string, handle func(text string)) bool {
	b.link = detach.Open()
	if b.link == nil {
		return false
	}
	return b.link.Subscribe(address, func(value json.RawMessage) {
		var text string
		if json.Unmarshal(value, &text) == nil {
			handle(text)
		}
	}) == nil
}

// detachWhenQuiet ends the cell as soon as a browser has answered and nothing is being drawn.
// From then on outputs go over the link.
func (d *panel) detachWhenQuiet() {
	if d.link == nil || d.detached || !d.connected || d.statusText() == statusDrawing {
		return
	}
	d.detached = true
	if !d.s.detach(d.link) {
		d.link = nil // the cell runs on, as without a link
		d.detached = false
	}
}

// detach ends the cell and sends outputs over the link from now on.
func (s *outputTarget) detach(link *detach.Link) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drain()
	s.sync()
	if link.Detach() != nil {
		return false
	}
	s.send = func(o output) error {
		data := map[string]any{}
		for kind, content := range o.data {
			data[string(kind)] = content
		}
		return link.Display(data, o.meta, o.id)
	}
	s.drain, s.sync = func() {}, func() {}
	return true
}
