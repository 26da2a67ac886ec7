package rulerpaper

import (
	"strings"
	"testing"
)

func TestTheScaleComesFromTheEnvironment(t *testing.T) {
	t.Setenv("LETHE_STORE", t.TempDir())
	t.Setenv("LETHE_ENGINE", "go")
	for given, want := range map[string]string{"": "quick", "standard": "standard"} {
		t.Setenv(ScaleEnv, given)
		r, err := Open()
		if err != nil {
			t.Fatal(err)
		}
		r.Engine.Close()
		if r.Scale.Name != want {
			t.Errorf("%q gave scale %q", given, r.Scale.Name)
		}
	}
	t.Setenv(ScaleEnv, "vast")
	if _, err := Open(); err == nil || !strings.Contains(err.Error(), "vast") {
		t.Errorf("error %v", err)
	}
}
