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
// opens a socket of its own to the notebook server: the kernel's script knows
// neither a server under https nor one below a path, and there is one of it for
// all the notebooks of a page.

//go:embed knobs.js
var slidersScript string

// message is what the browser says: where the sliders stand, whether other
// cells wait for this one, whether the reader is done.
type message struct {
	Number    int   `json:"number"`
	Positions []int `json:"at"`
	Waiting   bool  `json:"waiting"`
	Done      bool  `json:"done"`
}

// html is the place where the script builds the sliders. Without the script, as
// in a notebook that is not trusted, it shows the values.
func (d *panel) html() string {
	type slider struct {
		Name   string   `json:"name"`
		Labels []string `json:"labels"`
		At     int      `json:"at"`
	}
	config := struct {
		ID      string   `json:"id"`
		News    string   `json:"news"`
		Kernel  string   `json:"kernel"`
		Address string   `json:"address"`
		Sliders []slider `json:"sliders"`
	}{ID: "lethe-knobs-" + d.id, News: "lethe-news-" + d.id, Kernel: os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV), Address: d.address}
	for i, k := range d.sliders {
		s := slider{Name: k.name}
		for at, v := range d.positions[i] {
			s.Labels = append(s.Labels, formatValue(v))
			if v == k.initial {
				s.At = at
			}
		}
		config.Sliders = append(config.Sliders, s)
	}
	given, err := json.Marshal(config)
	if err != nil {
		return html.EscapeString(d.settingsText())
	}
	script := strings.Replace(slidersScript, "CONFIG", string(given), 1)
	return fmt.Sprintf("<div id=%q>%s</div>\n<script>\n%s</script>", config.ID, html.EscapeString(d.settingsText()), script)
}

// connect asks the kernel for the messages of the sliders. The subscription
// ends with the program.
func (d *panel) connect() {
	comms.Subscribe(d.address, func(_ string, text string) {
		var m message
		if json.Unmarshal([]byte(text), &m) != nil {
			return
		}
		select {
		case d.messages <- m:
		default: // the reader moves faster than the cell reads; a later one follows
		}
	})
}

// status is the line below the sliders. Its number tells the script which of its
// messages the cell has heard; the kernel's own way back to a script would
// start another script each time.
func (d *panel) status(words string) output {
	return output{id: "news-" + d.id, data: bundle{
		"text/plain": words,
		"text/html":  fmt.Sprintf(`<span id="lethe-news-%s" data-heard="%d">%s</span>`, d.id, d.last.Number, html.EscapeString(words)),
	}}
}
