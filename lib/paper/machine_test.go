package paper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/engine"
)

func TestTheLoadIsReadWhereTheSystemHasIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loadavg")
	for text, want := range map[string]float64{"8.87 8.07 7.31 3/400 1\n": 8.87, "": 0, "much": 0} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := load(path); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got := load(path + "missing"); got != 0 {
		t.Error(got)
	}
}

func TestAProcessorHasAName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpuinfo")
	if err := os.WriteFile(file, []byte("processor\t: 0\nmodel name\t: Abacus 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := processor(file); got != "Abacus 3" {
		t.Errorf("%q", got)
	}
	if got := processor(file + "?"); !strings.Contains(got, "/") {
		t.Errorf("%q", got)
	}
}

// Where and when stand beside a time: processor, cores, engine and date.
func TestAMachineIsNamed(t *testing.T) {
	m := Machine{Processor: "Abacus 3", Threads: 4, Cores: 4, Engine: "lethe, 3", Date: "2026-01-02"}
	if got := m.String(); got != "measured on Abacus 3 with 4 cores, engine lethe, 3, 2026-01-02" {
		t.Errorf("%q", got)
	}
	m.Threads, m.Load = 1, 2.25
	want := "Measured on Abacus 3 with 1 of 4 cores, engine lethe, 3, 2026-01-02; another machine gives other times. In the minute before, 2.2 processes wanted to run there."
	if got := m.Describe(); got != want {
		t.Errorf("%q", got)
	}
	m.Threads, m.Cores = 1, 1
	if got := m.String(); !strings.Contains(got, "with 1 core,") {
		t.Errorf("%q", got)
	}
	e, err := engine.Open("lethe")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before := time.Now().Format(time.DateOnly)
	here := ThisMachine(e)
	after := time.Now().Format(time.DateOnly)
	if here.Date != before && here.Date != after || here.Processor != Processor() || here.Threads != e.Cores() || here.Cores < 1 ||
		!strings.HasPrefix(here.Engine, "lethe, ") {
		t.Errorf("%+v", here)
	}
}
