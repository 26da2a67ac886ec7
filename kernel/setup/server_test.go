// Tests of server.go.

package setup

import (
	"bytes"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/progress/progresstest"
)

func TestAJupyterThatEndsAtOnceSaysWhy(t *testing.T) {
	w := newTestMachine(t)
	r := w.ready()
	runWithin(t, 20*time.Second, func() {
		_, err := r.Serve(t.Context(), ServerOptions{})
		if err == nil || !strings.Contains(err.Error(), "ended at once") || !strings.Contains(err.Error(), "no such extension") {
			t.Error(err)
		}
	})
}

func TestAPortThatIsTakenIsNamedOrAvoided(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	if _, err := freePort(localhost, port); err == nil || !strings.Contains(err.Error(), "without --port") {
		t.Error(err)
	}
	if got, err := freePort(localhost, 0); err != nil || got == port {
		t.Error(got, err)
	}
}

// Two servers may find the same port free. Only a port that was asked for is kept to.
func TestJupyterMayTakeAnotherPortUnlessOneWasAskedFor(t *testing.T) {
	r := newTestMachine(t).ready()
	for asked, want := range map[int]string{0: "--port-retries=50", 8899: "--port-retries=0"} {
		if got := r.serverArgs(ServerOptions{IP: localhost, Port: asked}, 8899); !slices.Contains(got, want) || !slices.Contains(got, "--port=8899") {
			t.Errorf("asked for %d: %q", asked, got)
		}
	}
}

func TestTheServerLogIsForTheUserOnly(t *testing.T) {
	w := newTestMachine(t)
	r := w.ready()
	_, _ = r.Serve(t.Context(), ServerOptions{}) // fails, with a log
	logs, err := os.ReadDir(w.home + "/kernel/jupyter")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range logs {
		if !strings.HasSuffix(f.Name(), ".log") {
			continue
		}
		seen++
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
	if seen != 1 {
		t.Errorf("%d logs", seen)
	}
}

func TestTheSetUpShowsHowFarItIs(t *testing.T) {
	shown := progresstest.Record(t)
	var out bytes.Buffer
	s := newReporter(&out)
	s.begin("building gonb", "about 10 seconds")
	s.progress("%s", formatCount(1, "package", "compiled"))
	s.end()
	s.progress("late")
	states := shown.States()
	if last := states[len(states)-1]; last.Name() != "building gonb, 1 package compiled" || !last.Ended {
		t.Errorf("shown: %+v", states)
	}
	if out.String() != "lethe: building gonb, about 10 seconds\n" {
		t.Errorf("said %q", out.String())
	}
}
