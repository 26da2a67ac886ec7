package paper

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/report"
)

// two is a paper with recipes of both kinds and one that is neither in name.
func two() Paper {
	return Paper{Name: "two", Title: "TWO", Recipes: []Recipe{{ID: "two/table1"}, {ID: "two/claims"}, {ID: "two/figure1"}}}
}

func TestARecipeIsFoundByItsIDItsShortNameAndItsNumber(t *testing.T) {
	for _, c := range []struct{ kind, name, id string }{
		{Table, "1", "two/table1"}, {Figure, "1", "two/figure1"}, {Figure, "table1", "two/table1"},
		{Table, "two/figure1", "two/figure1"}, {Table, "claims", "two/claims"}, {Figure, "claims", "two/claims"},
	} {
		if r, err := two().Find(c.kind, c.name); err != nil || r.ID != c.id {
			t.Errorf("%s %s: %q, %v", c.kind, c.name, r.ID, err)
		}
	}
	_, err := two().Find(Table, "9")
	if err == nil || err.Error() != `no table "9" of TWO; there are table1, claims` {
		t.Error(err)
	}
	_, err = two().Find(Table, "clams")
	if err == nil || err.Error() != `no table "clams" of TWO; did you mean claims?` {
		t.Error(err)
	}
	_, err = two().Find(Figure, "9")
	if err == nil || err.Error() != `no figure "9" of TWO; there are figure1` {
		t.Error(err)
	}
}

func TestEveryRecipeIsListedUnderOneKind(t *testing.T) {
	p := two()
	var names []string
	for _, kind := range []string{Table, Figure} {
		for _, r := range p.RecipesOfKind(kind) {
			names = append(names, r.Kind()+" "+r.Name())
		}
	}
	if !slices.Equal(names, []string{"table 1", "table claims", "figure 1"}) {
		t.Errorf("%q", names)
	}
}

func TestACommandNamesKindPaperRecipeAndScale(t *testing.T) {
	for id, want := range map[string]string{
		"two/table1": "lethe table two 1 --scale quick", "two/claims": "lethe table two claims --scale quick", "two/figure1": "lethe figure two 1 --scale quick",
	} {
		if got := (&Env{Program: "lethe"}).Command(id, "quick"); got != want {
			t.Errorf("%s: %q", id, got)
		}
	}
}

func TestTheErrorOfARecipeBeginsWithItsID(t *testing.T) {
	lost := errors.New("lost")
	r := Recipe{ID: "two/table1", Make: func(_ context.Context, _ *Env, scale string) (*Output, error) {
		if scale != "quick" {
			return nil, lost
		}
		return &Output{Table: &report.Table{}}, nil
	}}
	if _, err := r.Run(t.Context(), &Env{}, "paper"); !errors.Is(err, lost) || !strings.HasPrefix(err.Error(), "two/table1: ") {
		t.Error(err)
	}
	if out, err := r.Run(t.Context(), &Env{}, "quick"); out == nil || err != nil {
		t.Errorf("%v, %v", out, err)
	}
}

// A recipe is code that comes from anywhere.
func TestARecipeThatPanicsOrMakesNothingIsNamed(t *testing.T) {
	broken := func(out *Output, panics bool) Recipe {
		return Recipe{ID: "two/table1", Make: func(context.Context, *Env, string) (*Output, error) {
			if panics {
				panic("gone")
			}
			return out, nil
		}}
	}
	lists := broken(&Output{Table: &report.Table{}}, false)
	lists.Jobs = func(context.Context, *Env, string) ([]lab.Job, error) { panic("gone") }
	_, listed := Jobs(t.Context(), &Env{}, "quick", lists)
	run := func(r Recipe) error {
		_, err := r.Run(t.Context(), &Env{}, "quick")
		return err
	}
	for words, err := range map[string]error{
		"two/table1: Make panicked at paper_test.go:": run(broken(nil, true)),
		"two/table1: Make returned no output":         run(broken(nil, false)),
		"without a table, a figure or runs":           run(broken(&Output{}, false)),
		"two/table1: Jobs panicked at paper_test.go:": listed,
	} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, expected %q", err, words)
		}
	}
}

func TestRecipesInOneEnvShareAndOthersDoNot(t *testing.T) {
	type room struct{ workers int }
	type other struct{ workers int }
	var mu sync.Mutex
	made := 0
	create := func(e *Env) *room {
		mu.Lock()
		defer mu.Unlock()
		made++
		return &room{e.Workers}
	}
	a, b := &Env{Workers: 1}, &Env{Workers: 2}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if Shared(a, create).workers != 1 {
				t.Error("made for another Env")
			}
		})
	}
	all.Wait()
	if made != 1 {
		t.Errorf("made %d times", made)
	}
	if Shared(b, create).workers != 2 || made != 2 {
		t.Error("another Env shares the same")
	}
	if Shared(a, func(*Env) *other { return &other{3} }).workers != 3 {
		t.Error("another type shares the same")
	}
}

func TestRunsAreCountedOnceInAnyOrder(t *testing.T) {
	n, hash := CountRuns([]string{"b", "a", "b"})
	// Python 3, hashlib: sha256(b"a\nb").hexdigest()
	if n != 2 || hash != "7e18f737311b2dc3b2f269dd78396b0351f14fb66efa879f768cb23181883c78" {
		t.Errorf("%d, %s", n, hash)
	}
}

func TestFilesOfTwoPapersInOneFolderHaveTwoNames(t *testing.T) {
	for id, want := range map[string]string{
		"ruler/table1": "table1", "blindu/figure5": "figure5", "agreement/figure": "agreement", "power/figure": "power", "lenses": "lenses", "fishing/within": "within",
	} {
		if got := (Recipe{ID: id}).File(); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

// A program names the command of a recipe; without one there is none to name.
func TestNoProgramNoCommand(t *testing.T) {
	if got := (&Env{}).Command("mine/table1", "quick"); got != "" {
		t.Error(got)
	}
	if got := (&Env{Program: "mylab"}).Provenance("mine/table1", "quick", 1, nil, nil, nil).Command; got != "mylab table mine 1 --scale quick" {
		t.Error(got)
	}
}

func TestPapersThatNoCommandLineCouldShowAreRefused(t *testing.T) {
	good := func() Paper {
		return Paper{Name: "mine", Title: "Mine", Scales: []Scale{{Name: "quick"}}, Recipes: []Recipe{
			{ID: "mine/table1", Make: func(context.Context, *Env, string) (*Output, error) { return nil, nil }}}}
	}
	if err := good().Check(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*Paper){
		"both are needed":                                func(p *Paper) { p.Title = "" },
		"one word without a slash":                       func(p *Paper) { p.Name = "my/lab" },
		"0 scales and 1 recipes":                         func(p *Paper) { p.Scales = nil },
		"1 scales and 0 recipes":                         func(p *Paper) { p.Recipes = nil },
		"a scale has no name, or that of another: quick": func(p *Paper) { p.Scales = append(p.Scales, p.Scales[0]) },
		`a scale has no name, or that of another: ""`:    func(p *Paper) { p.Scales[0].Name = "" },
		"two recipes have the ID mine/table1":            func(p *Paper) { p.Recipes = append(p.Recipes, p.Recipes[0]) },
		"mine/table1: the recipe has no Make":            func(p *Paper) { p.Recipes[0].Make = nil },
		`"other/table1" does not begin with the`:         func(p *Paper) { p.Recipes[0].ID = "other/table1" },
	} {
		p := good()
		spoil(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestTwoRecipesOfOneIDAreNotFound(t *testing.T) {
	p := Paper{Title: "Mine", Recipes: []Recipe{{ID: "mine/table1"}, {ID: "mine/table2"}, {ID: "mine/table1"}}}
	if _, err := p.Find(Table, "1"); err == nil || err.Error() != "two recipes of Mine have the ID mine/table1" {
		t.Error(err)
	}
	if r, err := p.Find(Table, "2"); err != nil || r.ID != "mine/table2" {
		t.Errorf("%v, %v", r, err)
	}
}
