package setup

import (
	"strings"
	"testing"
)

// inspect returns the findings by their thing.
func (w *testMachine) inspect() (map[string]Finding, *Ready) {
	w.t.Helper()
	all, ready, err := Inspect(w.t.Context(), Options{Home: w.home, Folder: w.root})
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]Finding{}
	for _, f := range all {
		out[f.Thing] = f
	}
	return out, ready
}

func TestInspectBeforeSetupChangesNothing(t *testing.T) {
	w := newTestMachine(t)
	before := listFiles(t, w.root)
	found, ready := w.inspect()
	if f := found["kernel tools"]; ready != nil || f.State != StateBroken || !strings.Contains(f.Detail, "lethe lab") {
		t.Errorf("%+v, %v", found, ready)
	}
	if found["Go"].State != StateOK || !strings.Contains(found["Go"].Detail, "needs 1.26.5") {
		t.Errorf("%+v", found["Go"])
	}
	if calls := w.calls(); len(calls) != 0 || listFiles(t, w.root) != before || nearestExisting(w.home) == w.home {
		t.Errorf("calls %q", calls)
	}
}

func TestInspectTellsReadyFromOldFromBroken(t *testing.T) {
	w := newTestMachine(t)
	w.ready()
	found, ready := w.inspect()
	for _, thing := range []string{"library", "Go", "Python", "kernel program", "build cache", "kernelspecs", "Jupyter settings"} {
		if found[thing].State != StateOK {
			t.Errorf("%s: %+v", thing, found[thing])
		}
	}
	if ready == nil || !strings.Contains(found["pinned versions"].Detail, "gonb is of unknown version") {
		t.Errorf("programs that are no programs: %+v", found["pinned versions"])
	}
	w.calls()
	w.writeFile("clone/lib/a.go", "package lib // changed\n")
	found, ready = w.inspect()
	if ready == nil || found["kernel program"].State != StateNote || found["build cache"].State != StateNote || found["kernelspecs"].State != StateOK {
		t.Errorf("%+v", found)
	}
	w.remove("cache")
	if found, ready = w.inspect(); ready != nil || found["build cache"].State != StateBroken {
		t.Errorf("%+v", found)
	}
	if calls := w.calls(); len(calls) != 0 {
		t.Errorf("calls %q", calls)
	}
}

func TestRoomIsMeasured(t *testing.T) {
	found := FreeSpace(t.TempDir() + "/not/there/yet")
	if len(found) < 2 {
		t.Fatalf("%+v", found)
	}
	for _, f := range found {
		if f.State == StateBroken || !strings.Contains(f.Detail, "GB free") {
			t.Errorf("%+v", f)
		}
	}
}
