package command

import (
	"context"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

// minePaper is a paper of another module.
func minePaper() paper.Paper {
	make := func(_ context.Context, e *paper.Env, scale string) (*paper.Output, error) {
		t := &report.Table{Title: "Mine", Columns: report.Columns("what", "value"), Provenance: e.Provenance("mine/table1", scale, 1, nil, nil, nil)}
		t.Add(report.Str("luck"), report.Num(0.5, 1))
		return &paper.Output{Table: t}, nil
	}
	return paper.Paper{Name: "mine", Title: "Mine", Scales: []paper.Scale{{Name: "quick", About: "takes no time"}},
		Recipes: []paper.Recipe{{ID: "mine/table1", Title: "A table of mine", Make: make}}}
}

// A paper of another module stands beside Lethe's in the commands of a program of its own, and its provenance names that
// program.
func TestAPaperOfAnotherModuleHasTheCommands(t *testing.T) {
	t.Cleanup(func() { added = nil })
	t.Setenv("LETHE_STORE", t.TempDir())
	if err := AddPapers(minePaper()); err != nil {
		t.Fatal(err)
	}
	program := programName()
	if program == "lethe" || Root().Name() != program {
		t.Errorf("the program is called %q and %q", program, Root().Name())
	}
	for want, args := range map[string][]string{
		"again: " + program + " table mine 1 --scale quick": {"table", "mine", "1"},
		program + " table mine 1  A table of mine":          {"table", "mine"},
		"mine/table1":            {"list", "recipes"},
		program + " table ruler": {"table", "ruler", "--help"},
	} {
		if r := lethe(t, args...); r.Code != 0 || !strings.Contains(r.Out, want) {
			t.Errorf("%v: %d, %s%s, want %q", args, r.Code, r.Out, r.Stderr, want)
		}
	}
	spoiled := minePaper()
	spoiled.Recipes[0].Make = nil
	for want, p := range map[string]paper.Paper{`two papers called "mine"`: minePaper(), "the recipe has no Make": spoiled} {
		if err := AddPapers(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if len(added) != 1 {
		t.Errorf("%d papers were added", len(added))
	}
}
