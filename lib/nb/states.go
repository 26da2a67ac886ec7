// The states that a saved notebook keeps: what Interact drew for some values of its controls,
// so that a page without a server can move among them.

package nb

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// StatesEnv is the environment variable that says how long Interact may take, in a notebook
// that no browser shows, to draw states for readers of the saved notebook: a duration such as
// "20s". Where it is not set, Interact draws once.
const StatesEnv = "LETHE_STATES"

// The limits of what one Interact stores.
const (
	maxStates     = 49        // two controls of 7 positions
	maxPoints     = 25        // positions of one control
	maxStateBytes = 384 << 10 // compressed; half a megabyte as text
)

// state is what was drawn for some values of the controls.
type state struct {
	Values []any       `json:"at"`
	Parts  []statePart `json:"parts"` // none: the outputs that the notebook shows
}

// statePart is a part of a state: a picture with its alternative text, or HTML.
type statePart struct {
	SVG   string `json:"svg,omitempty"`
	PNG   string `json:"png,omitempty"` // in base64, where it is smaller than the SVG
	Width int    `json:"width,omitempty"`
	Alt   string `json:"alt,omitempty"`
	HTML  string `json:"html,omitempty"`
}

// timeForStates returns the time that StatesEnv gives to a cell.
func timeForStates() (time.Duration, error) {
	text := os.Getenv(StatesEnv)
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%s=%q: expected a duration such as 20s", StatesEnv, text)
	}
	return d, nil
}

// newState returns a state of the parts that a drawing showed.
func newState(values []any, parts []any) state {
	st := state{Values: values, Parts: []statePart{}}
	for k, p := range parts {
		st.Parts = append(st.Parts, newStatePart(k, p))
	}
	return st
}

func newStatePart(k int, part any) statePart {
	var err error
	switch p := part.(type) {
	case string:
		return statePart{HTML: markdownHTML(p)}
	case *report.Table:
		var b strings.Builder
		if _, _, err = tableOutput(p); err == nil {
			err = p.HTML(&b)
		}
		if err == nil {
			return statePart{HTML: b.String()}
		}
	case plot.Figure:
		var stored statePart
		if stored, err = storedFigure(p); err == nil {
			return stored
		}
	default:
		err = unknownPart(k, part)
	}
	return statePart{HTML: "<p>" + html.EscapeString("cannot be drawn: "+err.Error()) + "</p>"}
}

// storedFigure returns a figure as SVG, or as PNG where that is smaller.
func storedFigure(f plot.Figure) (statePart, error) {
	alt, _, _ := strings.Cut(strings.TrimSpace(f.Text()), "\n")
	svg, err := plot.Inline(f, plot.NotebookWidth)
	if err != nil {
		return statePart{}, err
	}
	size := len(compressed([]byte(svg)))
	if size > smallPicture {
		picture, err := plot.WithWidth(f, plot.NotebookWidth).PNG()
		if err == nil && len(picture) < size {
			return storedPNG(picture, alt, density(f))
		}
	}
	// The page's own font may stand in for the one that the figure was laid out in.
	svg = strings.ReplaceAll(svg, "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	return statePart{SVG: svg, Alt: alt}, nil
}

// smallPicture is the size of an SVG, compressed, below which no PNG is smaller.
const smallPicture = 8 << 10

func storedPNG(picture []byte, alt string, density float64) (statePart, error) {
	o, err := pictureOutput(picture, alt, density)
	if err != nil {
		return statePart{}, err
	}
	width, _ := o.meta["image/png"].(map[string]any)["width"].(int)
	return statePart{PNG: base64.StdEncoding.EncodeToString(picture), Width: width, Alt: alt}, nil
}

// compressed returns data in gzip's format, the same bytes every time.
func compressed(data []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level exists
	_, _ = z.Write(data)                                  // a buffer takes all
	_ = z.Close()
	return b.Bytes()
}

// grid returns the values to draw states for, the present values first: few positions of each
// control, with both ends, in all combinations. Those that differ from the present values in
// fewer controls come first. It leaves the variables at the present values.
func (all controls) grid() [][]any {
	now := all.values()
	defer func() { _ = all.setTo(now) }()
	counts := all.gridCounts()
	settings := [][]any{now}
	var visit func(i int)
	visit = func(i int) {
		if i == len(all) {
			settings = append(settings, all.values())
			return
		}
		k := all[i]
		for _, v := range k.gridPoints(now[i], counts[i]) {
			k.set(v)
			visit(i + 1)
		}
	}
	visit(0)
	distance := func(values []any) (n int) {
		for i, v := range values {
			if v != now[i] {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(settings, func(a, b []any) int { return cmp.Compare(distance(a), distance(b)) })
	return withoutTwins(settings)
}

// withoutTwins drops settings that were in the list before.
func withoutTwins(settings [][]any) [][]any {
	var out [][]any
	for _, v := range settings {
		if !slices.ContainsFunc(out, func(o []any) bool { return slices.Equal(o, v) }) {
			out = append(out, v)
		}
	}
	return out
}

// gridCounts returns the number of positions of each control on the grid: as equal as the
// controls allow, and not more than maxStates in all.
func (all controls) gridCounts() []int {
	counts := make([]int, len(all))
	product := 1
	for i := range counts {
		counts[i] = 1
	}
	grows := func(i int) bool {
		return counts[i] < all[i].size() && product/counts[i]*(counts[i]+1) <= maxStates
	}
	for {
		best := -1
		for i, k := range all {
			// Of two equal ones that whose number of choices is certain comes first.
			first := best < 0 || counts[i] < counts[best] || counts[i] == counts[best] && all[best].follows && !k.follows
			if first && grows(i) {
				best = i
			}
		}
		if best < 0 {
			return counts
		}
		product = product / counts[best] * (counts[best] + 1)
		counts[best]++
	}
}

// size returns the number of values that the control can take, at most maxPoints.
func (k *control) size() int {
	switch {
	case k.choices == nil:
		return 1 // a text: what a reader would write is not known
	case k.follows:
		return maxPoints // it may have more choices elsewhere than now
	}
	choices, _ := k.choices()
	return min(maxPoints, len(choices))
}

// gridPoints returns at most n of the values that the control can take now, with both ends if n
// allows, and with the value that it has at first or the nearest to it.
func (k *control) gridPoints(first any, n int) []any {
	if k.choices == nil {
		return []any{first}
	}
	choices, err := k.choices()
	if err != nil {
		return nil
	}
	n = min(n, len(choices))
	at := nearest(choices, first)
	if n == 1 {
		return []any{choices[at]}
	}
	var indices []int
	for i := range n {
		indices = append(indices, (i*(len(choices)-1)+(n-1)/2)/(n-1))
	}
	closest := min(1, n-2) // an inner one, so that both ends stay
	for i, index := range indices {
		inner := i > 0 && i < n-1
		if index == at || inner && indices[closest] != at && abs(index-at) < abs(indices[closest]-at) {
			closest = i
		}
	}
	indices[closest] = at
	out := make([]any, n)
	for i, index := range indices {
		out[i] = choices[index]
	}
	return out
}

func abs(n int) int { return max(n, -n) }

// drawStates draws the states of the grid after the first, which took the time first, as long
// as the next is likely to end within the limit. Nothing is shown meanwhile, and the variables
// keep their values. What does not work for some values is a state that says so.
func (s *outputTarget) drawStates(ctx context.Context, draw drawFunc, all controls, first, limit time.Duration) []state {
	now := all.values()
	defer func() { _ = all.setTo(now) }()
	defer s.silence()()
	states := []state{{Values: now}}
	began, longest := s.now(), first
	for _, values := range all.grid()[1:] {
		if spent := s.now().Sub(began); ctx.Err() != nil || spent+longest > limit {
			break
		}
		start := s.now()
		if err := all.setTo(values); err != nil {
			continue
		}
		live := &Live{s: s, hidden: true}
		err := <-s.startDrawing(ctx, recovered(draw), live).finished
		if errors.Is(err, context.Canceled) {
			break
		}
		parts, _ := live.lastState()
		if err != nil {
			parts = []any{failureText(err)}
		}
		states = append(states, newState(values, parts))
		longest = max(longest, s.now().Sub(start))
	}
	return states
}

// recovered returns draw with its panics as errors: one in a state that nobody asked for must
// not end the cell.
func recovered(draw drawFunc) drawFunc {
	return func(ctx context.Context, live *Live) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("%v", r)
			}
		}()
		return draw(ctx, live)
	}
}

// failureText returns the Markdown that stands in the place of a drawing that failed.
func failureText(err error) string { return "This did not work: " + markdownText(err.Error()) }

// silence drops everything that the cell shows and prints until the function that it returns
// is called.
func (s *outputTarget) silence() (end func()) {
	s.setQuiet(true)
	out, errs := os.Stdout, os.Stderr
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err == nil {
		os.Stdout, os.Stderr = null, null
	}
	return func() {
		os.Stdout, os.Stderr = out, errs
		if err == nil {
			null.Close()
		}
		s.setQuiet(false)
	}
}

//go:embed states.js
var statesScript string

// outputPlace says where a part stands: its number among the outputs after the controls, and
// its media type, by which the script recognises it.
type outputPlace struct {
	Number int    `json:"number"`
	Kind   string `json:"kind"`
}

// placesAfter returns where the parts that live shows stand, seen from the output with the
// controls.
func placesAfter(controls int, live *Live) []outputPlace {
	parts, numbers := live.lastState()
	out := make([]outputPlace, min(len(parts), len(numbers)))
	for k := range out {
		out[k] = outputPlace{numbers[k] - controls, mediaType(parts[k])}
	}
	return out
}

// mediaType returns the form of a part that a page shows.
func mediaType(part any) string {
	switch part.(type) {
	case string:
		return "text/markdown"
	case *report.Table:
		return "text/html"
	case plot.Figure:
		return "image/png"
	}
	return "text/plain"
}

// storedPage returns the HTML of controls that move among states, of which the first is what
// the notebook shows, and how many states it holds. Without scripts the page shows text. live is
// the element of controls that talk to the cell, or "": while they do, the others wait.
func (all controls) storedPage(states []state, places []outputPlace, text, live string) (page string, kept int) {
	packed, kept := packStates(states)
	if kept < 2 {
		return "", kept
	}
	states = states[:kept]
	type storedForm struct {
		form
		Follows bool `json:"follows"`
	}
	config := struct {
		ID       string        `json:"id"`
		Controls []storedForm  `json:"controls"`
		Places   []outputPlace `json:"places"`
		States   string        `json:"states"`
		Live     string        `json:"live,omitempty"`
	}{Places: places, Live: live, States: base64.RawURLEncoding.EncodeToString(packed)}
	for i, k := range all {
		config.Controls = append(config.Controls, storedForm{k.storedForm(states, i), k.follows})
	}
	sum := sha256.Sum256(packed)
	config.ID = "lethe-states-" + hex.EncodeToString(sum[:8])
	return scriptHTML(config.ID, text, statesScript, config), kept
}

// storedForm returns control i with the values that it has in the states.
func (k *control) storedForm(states []state, i int) form {
	var values []any
	for _, st := range states {
		if !slices.Contains(values, st.Values[i]) {
			values = append(values, st.Values[i])
		}
	}
	k.sort(values)
	f := form{Name: k.name, Kind: k.kind, Values: values, Value: states[0].Values[i]}
	for _, v := range values {
		f.Labels = append(f.Labels, k.print(v))
	}
	return f
}

// sort puts values into the order in which the control offers them.
func (k *control) sort(values []any) {
	if k.choices == nil {
		return
	}
	choices, _ := k.choices()
	slices.SortStableFunc(values, func(a, b any) int {
		x, isNumber := a.(float64)
		if y, ok := b.(float64); ok && isNumber {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(order(choices, a), order(choices, b))
	})
}

// order returns the index of a value, and for one that is missing the number of choices.
func order(choices []any, value any) int {
	if i := slices.Index(choices, value); i >= 0 {
		return i
	}
	return len(choices)
}

// packStates returns as many of the states as the limits allow, compressed, and their number.
func packStates(states []state) (packed []byte, kept int) {
	states = states[:min(len(states), maxStates)]
	for len(states) > 1 {
		text, err := json.Marshal(states)
		if err != nil {
			return nil, 0
		}
		if packed = compressed(text); len(packed) <= maxStateBytes {
			return packed, len(states)
		}
		states = states[:min(len(states)-1, len(states)*maxStateBytes/len(packed)+1)]
	}
	return nil, len(states)
}
