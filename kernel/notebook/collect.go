package notebook

import (
	"regexp"
	"strings"
)

// message is what the kernel publishes while a cell runs.
type message struct {
	Name      string    `json:"name"`
	Text      string    `json:"text"`
	Data      Object    `json:"data"`
	Metadata  Object    `json:"metadata"`
	Transient transient `json:"transient"`
	Count     int       `json:"execution_count"`
	Ename     string    `json:"ename"`
	Evalue    string    `json:"evalue"`
	Traceback []string  `json:"traceback"`
	Wait      bool      `json:"wait"`
}

type transient struct {
	DisplayID string `json:"display_id"`
}

// collector turns the messages of a notebook's cells into outputs as a reader
// of the notebook would see them: of a display that is updated only the last
// state, and consecutive texts on one stream as one output.
type collector struct {
	outputs  []*Output
	clear    bool                 // before the next output
	displays map[string][]*Output // by display id, in all cells
}

// begin starts another cell.
func (c *collector) begin() { c.outputs, c.clear = nil, false }

func (c *collector) add(kind string, m message) {
	switch kind {
	case StreamOutput:
		c.stream(m)
	case DisplayOutput, ResultOutput:
		c.display(kind, m)
	case "update_display_data":
		c.update(m)
	case ErrorOutput:
		c.append(&Output{Type: kind, Ename: m.Ename, Evalue: m.Evalue, Traceback: m.Traceback})
	case "clear_output":
		c.clear = true
		if !m.Wait {
			c.clearNow()
		}
	}
}

func (c *collector) append(o *Output) {
	c.clearNow()
	c.outputs = append(c.outputs, o)
}

func (c *collector) clearNow() {
	if c.clear {
		c.outputs, c.clear = nil, false
	}
}

func (c *collector) stream(m message) {
	c.clearNow()
	if n := len(c.outputs); n > 0 {
		if last := c.outputs[n-1]; last.Type == StreamOutput && last.Name == m.Name {
			last.Text = rewind(last.Text + m.Text)
			return
		}
	}
	c.append(&Output{Type: StreamOutput, Name: m.Name, Text: rewind(m.Text)})
}

// display shows data. Under an id that this cell has shown already it takes the
// place of the old.
func (c *collector) display(kind string, m message) {
	id := m.Transient.DisplayID
	c.clearNow()
	shown := id != "" && c.update(m)
	if shown {
		return
	}
	o := &Output{Type: kind, Data: texts(m.Data), Metadata: orEmpty(m.Metadata), Count: m.Count}
	c.append(o)
	if id != "" {
		if c.displays == nil {
			c.displays = map[string][]*Output{}
		}
		c.displays[id] = append(c.displays[id], o)
	}
}

// update changes all that is shown under an id, in this cell and in those
// before it, and reports whether this cell was among them.
func (c *collector) update(m message) (here bool) {
	for _, o := range c.displays[m.Transient.DisplayID] {
		o.Data, o.Metadata = texts(m.Data), orEmpty(m.Metadata)
		for _, own := range c.outputs {
			here = here || own == o
		}
	}
	return here
}

// texts drops what the format does not allow: values that are no texts under a
// media type that is not JSON.
func texts(data Object) Object {
	o := Object{}
	for media, v := range data {
		if _, ok := v.(string); ok || isJSON(media) {
			o[media] = v
		}
	}
	return o
}

var overwritten = regexp.MustCompile(`[^\n]*\r+([^\r\n])`)

// rewind leaves of a line that was overwritten from its start only what was
// written last. A carriage return at the end of the text may still be followed
// by something, and stays.
func rewind(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return overwritten.ReplaceAllString(s, "$1")
}
