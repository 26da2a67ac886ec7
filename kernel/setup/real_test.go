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
