//go:build unix

// Outputs of cells in a notebook.

package nb

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/progress/show"
	"github.com/lethe-ml/lethe/lib/report"
)

func TestPrintedAndShownKeepTheirOrder(t *testing.T) {
	t.Parallel()
	events, code := runCell(t, "alternate")
	if code != 0 {
		t.Fatalf("exit code %d, stderr %q", code, printed(events, "stderr"))
	}
	var got strings.Builder
	for _, e := range events {
		got.WriteString(e.text)
		if e.source == "show" {
			fmt.Fprintln(&got, e.data["text/plain"])
		}
	}
	var want strings.Builder
	for i := range alternations {
		fmt.Fprintf(&want, "line %d\nshown %d\n", i, i)
	}
	if got.String() != want.String() {
		t.Errorf("order is not kept:\n%s", got.String())
	}
}

func TestEveryOutputHasAPlainForm(t *testing.T) {
	t.Parallel()
	events, _ := runCell(t, "all")
	outs := shownEvents(events)
	if len(outs) != 3 {
		t.Fatalf("%d outputs, want 3; stderr %q", len(outs), printed(events, "stderr"))
	}
	for i, o := range outs {
		if s, _ := o.data["text/plain"].(string); strings.TrimSpace(s) == "" {
			t.Errorf("output %d has no text", i)
		}
	}
	table, script, _ := strings.Cut(fmt.Sprint(outs[0].data["text/html"]), "<script>\n")
	if table != goldenHTML {
		t.Errorf("table is\n%s\nwant\n%s", table, goldenHTML)
	}
	if script != report.TableScript()+"</script>\n" || len(script) > 4000 {
		t.Errorf("the table's script is %d characters: %s", len(script), script)
	}
	if s := fmt.Sprint(outs[0].data["text/markdown"]); !strings.Contains(s, "| forget &amp; go | 0.25 |") {
		t.Errorf("no Markdown table in %q", s)
	}
	picture, _ := outs[1].data["image/png"].([]byte)
	head, err := png.DecodeConfig(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	if head.Width != plot.NotebookWidth*3/2 || len(picture) > 30_000 {
		t.Errorf("the figure is %d pixels wide and %d bytes large", head.Width, len(picture))
	}
	if got := fmt.Sprint(outs[1].meta); got != "map[image/png:map[alt:Loss width:672]]" {
		t.Errorf("the figure's metadata are %s", got)
	}
}

func TestAFigureOfAnySharpnessStandsAtItsWidth(t *testing.T) {
	t.Parallel()
	for scale, want := range map[int]string{0: "672", 1: "600", 2: "600", 4: "600"} {
		f := testFigure(1).(plot.Curves)
		f.Scale = scale
		if scale > 0 {
			f.Width = 600
		}
		o, err := figureOutput(&f)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(o.meta["image/png"].(map[string]any)["width"]); got != want {
			t.Errorf("at scale %d the figure stands at %s pixels, want %s", scale, got, want)
		}
	}
}

// The escapes, the sides and the labels were checked by hand.
const goldenHTML = `<p><strong>Scores &lt;of&gt; methods</strong></p>
<p>Higher is better.</p>
<div style="overflow-x: auto">
<table class="lethe-table">
<thead>
<tr><th scope="col" align="left" style="text-align: left; vertical-align: bottom; position: sticky; left: 0; background: var(--jp-layout-color0, var(--vscode-editor-background, Canvas)); max-width: 34vw; overflow: hidden; text-overflow: ellipsis">method</th><th scope="col" align="right" style="text-align: right; vertical-align: bottom">paper: accuracy (%)</th></tr>
</thead>
<tbody>
<tr style="background: transparent"><td align="left" style="text-align: left; white-space: nowrap; position: sticky; left: 0; background: var(--jp-layout-color0, var(--vscode-editor-background, Canvas)); max-width: 34vw; overflow: hidden; text-overflow: ellipsis">forget &amp; go</td><td align="right" style="text-align: right; white-space: nowrap">0.25</td></tr>
<tr class="control" style="background: rgba(128, 128, 128, 0.2)"><td colspan="2" align="left" style="text-align: left"><em style="display: inline-block; position: sticky; left: 0.5em">controls</em></td></tr>
<tr class="control" style="background: rgba(128, 128, 128, 0.2)"><td align="left" style="text-align: left; white-space: nowrap; position: sticky; left: 0; background: linear-gradient(rgba(128, 128, 128, 0.2), rgba(128, 128, 128, 0.2)), var(--jp-layout-color0, var(--vscode-editor-background, Canvas)); max-width: 34vw; overflow: hidden; text-overflow: ellipsis"><em>do nothing</em></td><td align="right" style="text-align: right; white-space: nowrap">0.50</td></tr>
<tr style="background: transparent"><td colspan="2" align="left" style="text-align: left"><strong style="display: inline-block; position: sticky; left: 0.5em">others</strong></td></tr>
<tr style="background: transparent"><td colspan="2" align="left" style="text-align: left"><em style="display: inline-block; position: sticky; left: 0.5em">printed in the paper</em></td></tr>
<tr style="background: transparent"><td align="left" style="text-align: left; white-space: nowrap; position: sticky; left: 0; background: var(--jp-layout-color0, var(--vscode-editor-background, Canvas)); max-width: 34vw; overflow: hidden; text-overflow: ellipsis"><em>paper: SCRUB</em></td><td align="right" style="text-align: right; white-space: nowrap">(not printed)</td></tr>
</tbody>
</table>
</div>
<p><em>accuracy</em>: balanced</p>
<ol>
<li>Only a test.</li>
</ol>
<p><sub>scale quick · seeds 0-2</sub></p>
`

func TestAPictureStandsUnderItsLabel(t *testing.T) {
	t.Parallel()
	events, code := runCell(t, "picture")
	outs := shownEvents(events)
	if len(outs) != 2 || code != 0 {
		t.Fatalf("exit code %d, %d outputs, said %q", code, len(outs), printed(events, "stderr"))
	}
	if got := outs[0].data["text/markdown"]; got != `*Loss, paper \*scale\**` {
		t.Errorf("the label is %q", got)
	}
	if got := fmt.Sprint(outs[1].meta); got != "map[image/png:map[alt:Loss, paper *scale* width:900]]" {
		t.Errorf("the picture's metadata are %s", got)
	}
}

func TestABarAppearsAfterTwoSecondsAndLeavesOneLine(t *testing.T) {
	t.Parallel()
	events, code := runCell(t, "bar")
	outs := shownEvents(events)
	// Drawn at every step it would have hundreds of outputs; a slow machine takes twice the time.
	if len(outs) < 2 || len(outs) > 50 || code != 0 {
		t.Fatalf("%d outputs of a bar, exit code %d", len(outs), code)
	}
	first := fmt.Sprint(outs[0].data["text/html"])
	if !strings.HasPrefix(first, `<progress value="0.`) || !strings.Contains(first, "<code>training: ") || !strings.Contains(first, " left</code>") {
		t.Errorf("the bar is %s", first)
	}
	for _, o := range outs {
		if o.id == "" || o.id != outs[0].id {
			t.Fatalf("outputs have the ids %q and %q", outs[0].id, o.id)
		}
	}
	last := outs[len(outs)-1].data
	if s := fmt.Sprint(last["text/plain"]); len(last) != 1 || !strings.HasPrefix(s, "training: done in ") {
		t.Errorf("the bar leaves %v", last)
	}
	if got := printed(events, "stdout") + printed(events, "stderr"); got != "before\nafter\n" {
		t.Errorf("printed %q", got)
	}
}

func TestNobodyIsShownABarInAHeadlessRun(t *testing.T) {
	t.Parallel()
	if show.HeadlessEnv != HeadlessEnv {
		t.Errorf("progress asks for %s", show.HeadlessEnv)
	}
	k := &fakeKernel{t: t}
	k.start("bar", HeadlessEnv+"=1")
	events, code := k.wait()
	if len(shownEvents(events)) > 0 || code != 0 || printed(events, "stderr") != "" {
		t.Errorf("exit code %d, shown %v, said %q", code, shownEvents(events), printed(events, "stderr"))
	}
}

func TestShortWorkHasNoBar(t *testing.T) {
	t.Parallel()
	if events, code := runCell(t, "short bar"); len(shownEvents(events)) > 0 || code != 0 {
		t.Errorf("exit code %d, shown %v", code, shownEvents(events))
	}
}

func TestAnInterruptLeavesNoBarBehind(t *testing.T) {
	t.Parallel()
	k := &fakeKernel{t: t}
	k.start("stopped bar")
	k.until("ready")
	if err := k.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	events, code := k.wait()
	outs := shownEvents(events)
	if code != 1 || len(outs) == 0 {
		t.Fatalf("exit code %d, %d outputs", code, len(outs))
	}
	last := outs[len(outs)-1].data
	if s := fmt.Sprint(last["text/plain"]); len(last) != 1 || !strings.HasPrefix(s, "training: stopped at 25 % after ") {
		t.Errorf("the bar leaves %v", last)
	}
}

func TestALiveOutputDrawsRarelyButAlwaysItsLastState(t *testing.T) {
	t.Parallel()
	events, _ := runCell(t, "live")
	outs := shownEvents(events)
	if len(outs) < 2 || len(outs) > 13 {
		t.Errorf("%d drawings in a second", len(outs))
	}
	last := outs[len(outs)-1]
	if s := fmt.Sprint(last.data["text/plain"]); !strings.Contains(s, "4242") {
		t.Errorf("the last state is not shown but\n%s", s)
	}
	if last.id == "" || last.id != outs[0].id {
		t.Errorf("the first and the last output have the ids %q and %q", outs[0].id, last.id)
	}
}

func TestAFailedCellLosesNothingAndSaysWhy(t *testing.T) {
	t.Parallel()
	events, code := runCell(t, "fail")
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if got := printed(events, "stdout"); got != "before\n" {
		t.Errorf("printed %q", got)
	}
	if got := printed(events, "stderr"); got != "This did not work: the file is gone\n" {
		t.Errorf("said %q", got)
	}
	outs := shownEvents(events)
	if len(outs) == 0 || outs[len(outs)-1].data["text/plain"] != "state two" {
		t.Errorf("the last state of the live output is lost: %v", outs)
	}
}

func TestAnInterruptedCellSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	k := &fakeKernel{t: t}
	k.start("interrupted")
	k.until("ready")
	if err := k.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	events, code := k.wait()
	want := "Interrupted: epoch 3 is saved.\nRun this cell again to go on; what was saved is not computed twice.\n"
	if got := printed(events, "stderr"); got != want || code != 1 {
		t.Errorf("exit code %d, said %q", code, got)
	}
}

func TestAFigureThatCannotBeDrawnEndsTheCell(t *testing.T) {
	t.Parallel()
	events, code := runCell(t, "undrawable")
	if got := printed(events, "stderr"); code != 1 || !strings.Contains(got, `figure "Loss": curve "model"`) {
		t.Errorf("exit code %d, said %q", code, got)
	}
}
