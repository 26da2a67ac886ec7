// A test with a real Jupyter.

package setup

import (
	"os"
	"strings"
	"testing"
)

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
	address, token, _ := strings.Cut(s.URL, "lab?token=")
	if token == "" || !serverAnswers(address, token) {
		t.Errorf("address %q", s.URL)
	}
	if serverAnswers(address, "another's") {
		t.Error("Jupyter answers to a token that is not its own")
	}
	s.Stop()
	if serverAnswers(address, token) {
		t.Error("Jupyter still answers")
	}
	if err := s.Wait(t.Context()); err != nil && !strings.Contains(err.Error(), "server ended") {
		t.Error(err)
	}
}
