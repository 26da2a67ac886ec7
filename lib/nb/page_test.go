//go:build unix

// A test of the controls of a saved page, in a real browser.

package nb

import (
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// findChromium finds a browser to test with: LETHE_CHROMIUM, or one on PATH.
func findChromium(t *testing.T) string {
	t.Helper()
	if file := os.Getenv("LETHE_CHROMIUM"); file != "" {
		return file
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if file, err := exec.LookPath(name); err == nil {
			return file
		}
	}
	t.Skip("no Chromium to test with (set LETHE_CHROMIUM)")
	return ""
}

// cellPage is a page with the outputs of a cell as nbconvert writes them, under the rules of
// Lethe's template: no server, nothing from elsewhere. Its script moves the controls and notes
// what the page shows.
const cellPage = `<!DOCTYPE html><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data: file:">
<div class="jp-OutputArea">
<div class="jp-OutputArea-child"><div class="jp-OutputArea-output" data-mime-type="text/html">%s</div></div>
<div class="jp-OutputArea-child"><div class="jp-OutputArea-output" data-mime-type="application/vnd.jupyter.stdout"><pre>printed</pre></div></div>
<div class="jp-OutputArea-child"><div class="jp-OutputArea-output" data-mime-type="text/html"><script>"gonb's own"</script></div></div>
<div class="jp-OutputArea-child"><div class="jp-OutputArea-output" data-mime-type="text/html"><span>a bar of progress, done</span></div></div>
<div class="jp-OutputArea-child"><div class="jp-OutputArea-output" data-mime-type="image/png"><img id="first" alt="first figure"></div></div>
<div class="jp-OutputArea-child"><div class="jp-OutputArea-output" data-mime-type="text/markdown" id="words"><p>first words</p></div></div>
</div>
<script>
const notes = [];
const note = (what) => notes.push(what + ": " + document.querySelector("img").alt + " | " + document.getElementById("words").textContent.trim() + " | " +
  Array.from(document.querySelectorAll("label")).map((l) => (l.querySelector("output").textContent || l.querySelector("select").value + " of " + l.querySelector("select").options.length)).join(", ") + " | " + document.querySelector("[aria-live]").textContent);
const move = (name, change, event) => {
  const input = document.querySelector('[aria-label="' + name + '"]');
  change(input);
  input.dispatchEvent(new Event("input"));
  if (event) { input.dispatchEvent(new Event(event)); }
};
const go = () => {
  if (!document.querySelector("[aria-live]")) { return setTimeout(go, 20); }
  note("start");
  move("data set", (i) => { i.value = "bank"; }, "change");
  note("bank");
  move("level", (i) => { i.value = 1; });
  note("level");
  move("column", (i) => { i.selectedIndex = 0; }, "change");
  note("column");
  move("data set", (i) => { i.value = "adult"; }, "change");
  move("level", (i) => { i.value = 0; });
  move("column", (i) => { i.value = "age"; }, "change");
  note("back");
  notes.push("the first picture is there: " + !!document.getElementById("first"));
  document.body.append(Object.assign(document.createElement("pre"), { id: "notes", textContent: notes.join("\n") }));
};
window.addEventListener("error", (e) => notes.push("ERROR " + e.message));
go();
</script>
`

func TestASavedPageMovesAmongItsStatesWithoutAServer(t *testing.T) {
	chromium := findChromium(t)
	set, column, level := "adult", "age", 1
	all, err := newControls([]Control{NewDropdown("data set", &set, "adult", "bank"),
		NewDropdown("column", &column).OptionsFrom(func() []string { return testColumns[set] }), NewSlider("level", &level, 1, 3)})
	if err != nil {
		t.Fatal(err)
	}
	states := []state{{Values: all.values()}}
	for _, v := range [][]any{{"bank", "job", 1.0}, {"bank", "balance", 3.0}, {"adult", "hours", 3.0}} {
		states = append(states, newState(v, []any{testFigure(v[2].(float64)), fmt.Sprintf("words of %v", v[1])}))
	}
	page, _ := all.storedPage(states, []outputPlace{{1, "image/png"}, {2, "text/markdown"}}, "without scripts", "")
	file := filepath.Join(t.TempDir(), "page.html")
	must(t, os.WriteFile(file, fmt.Appendf(nil, cellPage, page), 0o600))
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--user-data-dir="+t.TempDir(), "--virtual-time-budget=10000", "--dump-dom", "file://"+file)
	out, err := cmd.Output()
	if err != nil {
		t.Skip("Chromium does not run here:", err)
	}
	found := regexp.MustCompile(`(?s)<pre id="notes">(.*?)</pre>`).FindSubmatch(out)
	if found == nil {
		t.Fatalf("the page has no notes:\n%s", out)
	}
	want := []string{
		"start: first figure | first words | adult of 2, age of 2, 1 | 4 states are stored with this page. Run the cell for all others.",
		"bank: Loss | words of job | bank of 2, job of 2, 1 | The nearest of 4 stored states: data set = bank, column = job, level = 1.",
		"level: Loss | words of balance | bank of 2, balance of 2, 3 | The nearest of 4 stored states: data set = bank, column = balance, level = 3.",
		"column: Loss | words of job | bank of 2, job of 2, 1 | The nearest of 4 stored states: data set = bank, column = job, level = 1.",
		"back: first figure | first words | adult of 2, age of 2, 1 | Stored state 1 of 4: data set = adult, column = age, level = 1.",
		"the first picture is there: true",
	}
	if got := html.UnescapeString(string(found[1])); got != strings.Join(want, "\n") {
		t.Errorf("the page notes\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
