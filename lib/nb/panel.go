// The browser side of Interact: the scripts that build the controls, and their messages.

package nb

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"os"

	"github.com/janpfeifer/gonb/gonbui/comms"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// The controls talk to the cell through the kernel's comm channel. Their script
// opens its own socket to the notebook server: the kernel's script supports
// neither https nor a server below a path, and all notebooks of a page share it.

//go:embed controls.js
var controlsScript string

//go:embed sliders.js
var slidersScript string

// message is what the browser sends: the values of the controls, whether other cells wait for
// this one, and whether the reader pressed "done".
type message struct {
	Number  int   `json:"number"`
	Values  []any `json:"values"`
	Waiting bool  `json:"waiting"`
	Done    bool  `json:"done"`
}

// scriptHTML returns an element in which a script builds controls, with the script and its
// configuration. Where scripts do not run, as in a notebook that is not trusted, the element
// shows text.
func scriptHTML(id, text, script string, config any) string {
	configJSON, err := json.Marshal(config) // escapes < and >, so that it cannot end the script
	if err != nil {
		return html.EscapeString(text)
	}
	return fmt.Sprintf("<div id=%q>%s</div>\n<script>\n((config) => {\n\"use strict\";\n%s%s})(%s);\n</script>",
		id, html.EscapeString(text), controlsScript, script, configJSON)
}

// html returns the controls as they are while the cell runs.
func (d *panel) html() string {
	config := struct {
		ID       string `json:"id"`
		Status   string `json:"status"`
		Kernel   string `json:"kernel"`
		Address  string `json:"address"`
		Controls []form `json:"controls"`
	}{
		ID: d.elementID(), Status: "lethe-status-" + d.id, Kernel: os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV), Address: d.address,
		Controls: d.controls.forms(),
	}
	return scriptHTML(config.ID, d.settingsText(), slidersScript, config)
}

// elementID returns the id of the element in which the script builds the controls.
func (d *panel) elementID() string { return "lethe-sliders-" + d.id }

// connect subscribes to the messages of the controls. The subscription ends with the
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

// status returns the line below the controls. The script reads from it the number of the last
// message that the cell has handled, and the values that the controls have now: with them a
// notebook that was saved while the cell ran opens as it was left. Controls that follow others
// come with their new choices.
func (d *panel) status(words string) output {
	read := struct {
		Heard    int    `json:"heard"`
		Values   []any  `json:"values"`
		Controls []form `json:"controls,omitempty"`
	}{Heard: d.last.Number, Values: d.values}
	if d.controls.follow() {
		read.Controls = d.known
	}
	text, err := json.Marshal(read)
	if err != nil {
		text = nil // the script waits; values from the page are checked, so this cannot be
	}
	return output{id: "status-" + d.id, data: bundle{
		"text/plain": words,
		"text/html":  fmt.Sprintf(`<span id="lethe-status-%s" data-cell="%s">%s</span>`, d.id, html.EscapeString(string(text)), html.EscapeString(words)),
	}}
}
