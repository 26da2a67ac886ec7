// Tests of papers.go.

package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"

	"github.com/spf13/cobra"
)

func TestEveryPaperIsComplete(t *testing.T) {
	names := map[string]bool{}
	for _, p := range Papers() {
		if p.Name == "" || p.Title == "" || names[p.Name] {
			t.Errorf("paper %q (%s)", p.Name, p.Title)
		}
		names[p.Name] = true
		between := []string{"hour", "large", "atlas", "photographs", "copies", "lossy", "collections"} // where a paper needs them
		own := slices.DeleteFunc(p.ScaleNames(), func(s string) bool { return slices.Contains(between, s) })
		if !slices.Equal(own, []string{"quick", "standard", "paper"}) {
			t.Errorf("%s: scales %v", p.Name, p.ScaleNames())
		}
		for _, s := range p.Scales {
			if s.About == "" {
				t.Errorf("%s: scale %s says nothing about itself", p.Name, s.Name)
			}
		}
		for _, r := range p.Recipes {
			found, err := p.Find(r.Kind(), r.Name())
			if err != nil || found.ID != r.ID || r.ID != p.Name && !strings.HasPrefix(r.ID, p.Name+"/") || r.Title == "" || r.Doc == "" || r.Make == nil {
				t.Errorf("%s: recipe %q finds %q, %v", p.Name, r.ID, found.ID, err)
			}
			if _, err := r.Run(context.Background(), &paper.Env{}, "vast"); err == nil || !strings.Contains(err.Error(), `"vast"`) {
				t.Errorf("%s at a scale that is not there: %v", r.ID, err)
			}
		}
	}
}

func TestAPaperHasACommandForEachKindOfRecipe(t *testing.T) {
	for _, p := range Papers() {
		for _, kind := range []string{paper.Table, paper.Figure} {
			if _, own := p.OnlyRecipe(kind); own {
				continue // the name alone makes it
			}
			r := lethe(t, kind, p.Name)
			recipes := p.RecipesOfKind(kind)
			if got := strings.Count(r.Out, "lethe "+kind+" "+p.Name+" "); got != len(recipes) && len(recipes) > 0 {
				t.Errorf("lethe %s %s lists %d of %d: %+v", kind, p.Name, got, len(recipes), r)
			}
		}
	}
}

// figurePaper is a paper of figures alone.
func figurePaper() paper.Paper {
	return paper.Paper{
		Name: "drawn", Title: "DRAWN", ArXiv: "1234.56789",
		Scales:  []paper.Scale{{Name: "small", About: "takes a minute"}, {Name: "large", About: "takes a day"}},
		Recipes: []paper.Recipe{{ID: "drawn/figure2", Title: "Two"}},
	}
}

func TestTheTextsOfACommandComeFromThePaper(t *testing.T) {
	c := newPaper(recipeKind{kind: paper.Figure, formats: []string{"text", "png"}}, figurePaper())
	if want := "\n  lethe figure drawn 2 --scale large --out figure2.png\n  lethe figure drawn all --out figures/drawn"; !strings.HasSuffix(c.Example, want) {
		t.Errorf("examples %q", c.Example)
	}
	for _, part := range []string{"Reproduce a figure of DRAWN (arXiv 1234.56789)", "Scale small takes a minute, large takes a day."} {
		if !strings.Contains(strings.ReplaceAll(c.Long, "\n", " "), part) {
			t.Errorf("%q is not in %q", part, c.Long)
		}
	}
}

func TestALongTextIsBrokenBetweenWords(t *testing.T) {
	full := strings.Repeat("äöü ", helpWidth/4-1) + "äöüß"
	long := strings.Repeat("x", helpWidth+1)
	for text, want := range map[string]string{
		"":                      "",
		"two  words\nhere":      "two words here",
		full + " more":          full + "\nmore",
		"a " + long + " b":      "a\n" + long + "\nb",
		full[:len(full)-2]:      full[:len(full)-2],
		full + "s one too many": strings.Repeat("äöü ", helpWidth/4-2) + "äöü\näöüßs one too many",
	} {
		if got := wrap(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// waitMessage computes one run in two places at the same time, and returns what the
// second says. With apart it uses the folder through a store of its own, as
// another process would.
func waitMessage(t *testing.T, apart bool) string {
	t.Helper()
	var said bytes.Buffer
	cmd := &cobra.Command{}
	cmd.SetErr(&said)
	first, err := openStore(cmd, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	second := first
	if apart {
		if second, err = openStore(cmd, first.Dir()); err != nil {
			t.Fatal(err)
		}
	}
	waits, note := make(chan bool), second.OnWait
	second.OnWait = func(k store.Key, otherStore bool) {
		note(k, otherStore)
		close(waits)
	}
	done := make(chan error)
	key := store.Key{Recipe: "x"}
	_, err = first.Do(t.Context(), key, func(_ context.Context, w *store.Work) error {
		go func() {
			_, err := second.Do(t.Context(), key, nil)
			done <- err
		}()
		<-waits
		return w.WriteFile("x", []byte("x"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return said.String()
}

func TestOnlyAnotherProcessIsSaidToBeWaitedFor(t *testing.T) {
	if said := waitMessage(t, true); !strings.Contains(said, "waiting for a run") {
		t.Errorf("another process: %q", said)
	}
	if said := waitMessage(t, false); said != "" {
		t.Errorf("the same process: %q", said)
	}
}

func TestMethodsThatNeedWeightsFromTheTrainingSaySo(t *testing.T) {
	for _, m := range methodList() {
		if sees := slices.Contains(m.Sees, "earlier weights"); sees != strings.HasPrefix(m.Name, "unroll") {
			t.Errorf("%s: sees %v", m.Name, m.Sees)
		}
	}
}

// A table asked for as a picture, or a figure as a table, is no text in a file that says
// otherwise.
func TestAnOutputIsNotWrittenUnderAnotherOnesEnding(t *testing.T) {
	for ending, args := range map[string][]string{".png": {"table", "ruler", "1"}, ".md": {"figure", "ruler", "5"}} {
		out := filepath.Join(t.TempDir(), "out"+ending)
		fails(t, lethe(t, append(args, "--out", out)...), cli.ExitUsage, out, "not as "+ending[1:])
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s was written", out)
		}
	}
}

// "all" leaves out what is measured by the clock, says so, and hands it out by name.
func TestAllLeavesOutRecipesThatMeasureTimes(t *testing.T) {
	p := figurePaper()
	p.Recipes = append(p.Recipes, paper.Recipe{ID: "drawn/figure3", Timed: true}, paper.Recipe{ID: "drawn/figure5", Timed: true})
	for names, want := range map[string]string{"all": "2", "3": "3", "all 3": "2 3", "5 all": "5 2", "all figure3 drawn/figure5": "2 3 5"} {
		got, err := selectRecipes(p, paper.Figure, strings.Fields(names))
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(namesOf(got, paper.Recipe.Name), " "); said != want {
			t.Errorf("%s: %s, want %s", names, said, want)
		}
	}
	for names, want := range map[string]string{"all": "lethe figure drawn 3 5", "all 3": "lethe figure drawn 5", "3": "", "all figure3 5": "", "": ""} {
		if got := leftOutNote(p, paper.Figure, strings.Fields(names)); !strings.HasSuffix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", names, got, want)
		}
	}
	if got := leftOutNote(figurePaper(), paper.Figure, []string{"all"}); got != "" {
		t.Errorf("nothing is left out, and it says %q", got)
	}
	if about := (recipeKind{kind: paper.Figure}).longHelp(p); !strings.Contains(about, "recipes that measure times") {
		t.Errorf("the help: %s", about)
	}
	r := lethe(t, "figure", "blindu", "all", "--list-jobs", "--store", t.TempDir(), "--out", t.TempDir())
	if r.Code != 0 || !strings.Contains(r.Stderr, "lethe figure blindu 7 14") {
		t.Errorf("%d: %s", r.Code, r.Stderr)
	}
}
