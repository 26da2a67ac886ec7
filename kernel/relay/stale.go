// Stale cells: what they show was computed with declarations that have changed since.

package relay

import (
	"fmt"
	"slices"
)

// tellStale marks the cells that use changed names: one line in the output of each, and one
// beneath the running cell that lists them. A page that was opened later cannot show the
// first, because JupyterLab has forgotten by then where the output stood; the second is
// always seen.
func (m *machine) tellStale(changed []string) {
	c := m.running
	stale := m.past.markStale(changed, c.count)
	if len(stale) == 0 {
		return
	}
	slices.Sort(changed)
	var cells []string
	for _, r := range stale {
		cells = append(cells, fmt.Sprintf("[%d]", r.count))
		text := fmt.Sprintf("stale: cell [%d] has changed %s since this cell ran", c.count, andList(changed))
		m.publish(r.request, "display_data", markContent(text))
	}
	word := "cell"
	if len(cells) > 1 {
		word = "cells"
	}
	text := fmt.Sprintf("%s changed: %s %s ran with what was there before, run again to see the difference", andList(changed), word, andList(cells))
	m.publish(c.request, "display_data", markContent(text))
}

// markContent is one short line of text.
func markContent(text string) map[string]any {
	return map[string]any{
		"data":      map[string]any{"text/plain": text, "text/markdown": "*" + text + "*"},
		"metadata":  map[string]any{},
		"transient": map[string]any{},
	}
}
