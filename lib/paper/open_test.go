package paper

import "testing"

func TestTheScaleIsTheOneThatTheEnvironmentNames(t *testing.T) {
	for given, want := range map[string]string{"": "quick", "standard": "standard"} {
		t.Setenv(ScaleEnv, given)
		if got := ScaleName(); got != want {
			t.Errorf("%q gave %q", given, got)
		}
	}
}

func TestRecipesRunInTheStoreThatTheEnvironmentNames(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LETHE_STORE", dir)
	t.Setenv("LETHE_ENGINE", "go")
	e, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Engine.Close()
	if e.Store.Dir() != dir || e.Engine.Info().Kind != "go" {
		t.Errorf("store %s, engine %s", e.Store.Dir(), e.Engine)
	}
	t.Setenv("LETHE_ENGINE", "abacus")
	if _, err := Open(); err == nil {
		t.Error("an engine that is not there was opened")
	}
}
