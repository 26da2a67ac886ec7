// The browser side of Interact: the script that builds the sliders, and its messages.

package nb

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/comms"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// The sliders talk to the cell through the kernel's comm channel. Their script
// opens its own socket to the notebook server: the kernel's script supports
// neither https nor a server below a path, and all notebooks of a page share it.

//go:embed sliders.js
var slidersScript string

// message is what the browser sends: the positions of the sliders, whether other cells wait
// for this one, and whether the reader pressed "done".
type message struct {
	Number    int   `json:"number"`
	Positions []int `json:"at"`
	Waiting   bool  `json:"waiting"`
	Done      bool  `json:"done"`
}

// html returns the element in which the script builds the sliders. Where scripts do not
// run, as in a notebook that is not trusted, it shows the values.
func (d *panel) html() string {
	type slider struct {
		Name     string   `json:"name"`
		Labels   []string `json:"labels"`
		Position int      `json:"at"`
	}
	config := struct {
		ID      string   `json:"id"`
		Status  string   `json:"status"`
		Kernel  string   `json:"kernel"`
		Address string   `json:"address"`
		Sliders []slider `json:"sliders"`
	}{ID: "lethe-sliders-" + d.id, Status: "lethe-status-" + d.id, Kernel: os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV), Address: d.address}
	for i, k := range d.sliders {
		s := slider{Name: k.name}
		for at, v := range d.positions[i] {
			s.Labels = append(s.Labels, formatValue(v))
			if v == k.initial {
				s.Position = at
			}
		}
		config.Sliders = append(config.Sliders, s)
	}
	configJSON, err := json.Marshal(config)
	if err != nil {
		return html.EscapeString(d.settingsText())
	}
	script := strings.Replace(slidersScript, "CONFIG", string(configJSON), 1)
	return fmt.Sprintf("<div id=%q>%s</div>\n<script>\n%s</script>", config.ID, html.EscapeString(d.settingsText()), script)
}

// connect subscribes to the messages of the sliders. The subscription ends with the
// program.
func (d *panel) connect() {
	handle := func(text string) {
		var m message
		if json.Unmarshal([]byte(text), &m) != nil {
			return
		}
		select {
		case d.messages <- m:
		default: // the queue is full; a later message follows
		}
	}
	if !d.listen(d.address, handle) {
		comms.Subscribe(d.address, func(_ string, text string) { handle(text) })
	}
}

// status returns the line below the sliders. It carries the number of the last message that
// the cell has handled, which the script reads.
func (d *panel) status(words string) output {
	return output{id: "status-" + d.id, data: bundle{
		"text/plain": words,
		"text/html":  fmt.Sprintf(`<span id="lethe-status-%s" data-heard="%d">%s</span>`, d.id, d.last.Number, html.EscapeString(words)),
	}}
}
