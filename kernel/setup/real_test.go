package setup

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestACellRunsOnThisMachine sets this very machine up, in the user's own
// folder, and runs cells through Jupyter's protocol.
func TestACellRunsOnThisMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("may set this machine up")
	}
	began := time.Now()
	r, err := Prepare(t.Context(), Options{Out: os.Stderr, NoCompletion: true})
	if err != nil {
		t.Skip("this machine cannot be set up: ", err)
	}
	t.Logf("ready in %.1f s", time.Since(began).Seconds())
	for _, cell := range []struct{ code, want string }{
		{"import \"fmt\"\n%%\nfmt.Println(\"hello\")", "hello\n"},
		{"import \"fmt\"\nimport \"" + Module + "/lib/engine\"\n%%\ne, err := engine.Open(\"go\")\nfmt.Println(e.Info().Kind, err)", "go <nil>\n"},
		{"import \"fmt\"\nimport \"os\"\n%%\nfmt.Println(os.Getenv(\"GOPROXY\"))", "off\n"},
	} {
		c, err := r.RunCell(t.Context(), r.Kernel, cell.code)
		if err != nil || c.Text != cell.want+cell.want {
			t.Errorf("%q: %+v, %v", cell.code, c, err)
		}
		t.Logf("kernel %.2f s, first cell %.2f s, again %.2f s", c.Start, c.First, c.Later)
	}
	if _, err := r.RunCell(t.Context(), r.Kernel, "%%\nx := 1"); err == nil || !strings.Contains(err.Error(), "declared and not used") {
		t.Errorf("a cell that does not compile: %v", err)
	}
}

func TestJupyterAnswersAndEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("may set this machine up")
	}
	r, err := Prepare(t.Context(), Options{Out: os.Stderr, NoCompletion: true})
	if err != nil {
		t.Skip("this machine cannot be set up: ", err)
	}
	s, err := r.Serve(t.Context(), ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.URL, "token=") || !answers(strings.Split(s.URL, "lab?")[0]) {
		t.Errorf("address %q", s.URL)
	}
	s.Stop()
	if answers(strings.Split(s.URL, "lab?")[0]) {
		t.Error("Jupyter still answers")
	}
	if err := s.Wait(t.Context()); err != nil && !strings.Contains(err.Error(), "server ended") {
		t.Error(err)
	}
}
