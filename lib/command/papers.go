// lethe table and lethe figure: one sub-command per paper.

package command

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/paper/alarms"
	"github.com/lethe-ml/lethe/lib/paper/attacks"
	"github.com/lethe-ml/lethe/lib/paper/blindu"
	"github.com/lethe-ml/lethe/lib/paper/fishing"
	"github.com/lethe-ml/lethe/lib/paper/language"
	"github.com/lethe-ml/lethe/lib/paper/lenses"
	"github.com/lethe-ml/lethe/lib/paper/power"
	"github.com/lethe-ml/lethe/lib/paper/rulerpaper"
	"github.com/lethe-ml/lethe/lib/paper/sdepaper"
	"github.com/lethe-ml/lethe/lib/paper/tofu"

	"github.com/spf13/cobra"
)

// added are the papers of other modules.
var added []paper.Paper

// AddPapers adds papers of other modules to those that the commands know: table, figure, list, sweep and run. It is called
// before Root. A paper that has the name of another, or that paper.Paper.Check refuses, is an error.
func AddPapers(papers ...paper.Paper) error {
	for _, p := range papers {
		if err := p.Check(); err != nil {
			return err
		}
		if slices.ContainsFunc(Papers(), func(known paper.Paper) bool { return known.Name == p.Name }) {
			return fmt.Errorf("there are two papers called %q", p.Name)
		}
		added = append(added, p)
	}
	return nil
}

// Papers lists the papers whose tables and figures can be reproduced. A new paper adds its
// line.
func Papers() []paper.Paper {
	return append([]paper.Paper{
		rulerpaper.Paper(),
		sdepaper.Paper(),
		fishing.Paper(),
		blindu.Paper(),
		lenses.Paper(),
		lenses.Agreement(),
		alarms.Paper(),
		attacks.Paper(),
		power.Paper(),
		language.Paper(),
		tofu.Paper(),
	}, added...)
}

// recipeKind holds the differences between "lethe table" and "lethe figure".
type recipeKind struct {
	kind, short string
	formats     []string // for one file or the terminal, the default first
	folder      []string // written where --out is a folder
}

func newTable() *cobra.Command {
	return newKind(recipeKind{
		kind: paper.Table, short: "Reproduce a table of a paper, with the controls it lacks",
		formats: []string{"text", "md", "json"}, folder: []string{"md", "json", "png"},
	})
}

func newFigure() *cobra.Command {
	return newKind(recipeKind{
		kind: paper.Figure, short: "Reproduce a figure of a paper",
		formats: []string{"text", "png", "svg"}, folder: []string{"png", "txt"},
	})
}

// newKind makes "table" or "figure", with a sub-command per paper that has one.
func newKind(k recipeKind) *cobra.Command {
	c := cli.Group(&cobra.Command{Use: k.kind, Short: k.short})
	for _, p := range Papers() {
		if len(p.RecipesOfKind(k.kind)) > 0 {
			c.AddCommand(newPaper(k, p))
			c.Example = cmp.Or(c.Example, k.examples(p)) // of one paper: those of the others are alike
		}
	}
	return c
}

// newPaper makes "table ruler".
func newPaper(k recipeKind, p paper.Paper) *cobra.Command {
	run := recipeRun{kind: k.kind, folder: k.folder}
	c := &cobra.Command{
		Use:     p.Name + " [NAME...]",
		Short:   fmt.Sprintf("A %s of %s", k.kind, p.Cite()),
		Long:    k.longHelp(p),
		Example: k.examples(p),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(namesOf(p.RecipesOfKind(k.kind), paper.Recipe.Name), "all"), cobra.ShellCompDirectiveNoFileComp
		},
	}
	run.flags(c, "how much of the paper's grid", p.ScaleNames(), k.formats)
	side := fmt.Sprintf("cells computed in parallel (default: one per core, %d here; two for SDE)", runtime.GOMAXPROCS(0))
	workers := c.Flags().Int("workers", 0, side)
	c.Args = func(_ *cobra.Command, names []string) error {
		names = requestedNames(p, k.kind, names)
		if err := run.check(p.ScaleNames(), k.formats); err != nil {
			return err
		}
		if *workers < 0 {
			return cli.Usagef("--workers %d: expected a number of cells, or 0 for one per core", *workers)
		}
		recipes, err := selectRecipes(p, k.kind, names)
		if err == nil && len(recipes) > 1 && !run.outIsFolder() {
			err = cli.Usagef("--out: %d %ss need a folder", len(recipes), k.kind)
		}
		if len(names) == 0 {
			c.Annotations = nil // the list needs no engine
		}
		return err
	}
	c.RunE = func(cmd *cobra.Command, names []string) error {
		names = requestedNames(p, k.kind, names)
		if len(names) == 0 {
			return listRecipes(cmd, p, k.kind)
		}
		recipes, err := selectRecipes(p, k.kind, names)
		if err != nil {
			return err
		}
		if note := leftOutNote(p, k.kind, names); note != "" {
			fmt.Fprintln(cmd.ErrOrStderr(), "lethe: "+note)
		}
		return run.compute(cmd, recipes, *workers)
	}
	return c
}

// requestedNames returns the names of the recipes to make. For a recipe with the paper's
// name no name is needed.
func requestedNames(p paper.Paper, kind string, names []string) []string {
	if own, ok := p.OnlyRecipe(kind); ok && len(names) == 0 {
		return []string{own.ID}
	}
	return names
}

// longHelp returns the long text of a paper's command.
func (k recipeKind) longHelp(p paper.Paper) string {
	var scales []string
	for _, s := range p.Scales {
		scales = append(scales, s.Name+" "+s.About)
	}
	first := fmt.Sprintf(`Reproduce a %s of %s, or "all". Without a name, list them.`, k.kind, p.Cite())
	if own, ok := p.OnlyRecipe(k.kind); ok {
		first = fmt.Sprintf("Make the %s %q %s", k.kind, p.Title, own.Doc)
	}
	if slices.ContainsFunc(p.RecipesOfKind(k.kind), isClocked) {
		first += ` "all" leaves out recipes that measure times.`
	}
	return wrap(first) + "\n\n" +
		wrap(fmt.Sprintf("Scale %s. Results are kept in the store: the second time they are there at once, and an interrupted "+
			"command resumes where it stopped.", cli.List(scales)))
}

func (k recipeKind) examples(p paper.Paper) string {
	first, largest := p.RecipesOfKind(k.kind)[0], p.Scales[len(p.Scales)-1].Name
	command := "  " + programName() + " " + k.kind + " " + p.Name
	file := fmt.Sprintf(" --scale %s --out %s.%s", largest, first.File(), k.formats[1])
	if _, own := p.OnlyRecipe(k.kind); own { // there is neither a list nor more than one
		return command + "\n" + command + file
	}
	name := command + " " + first.Name()
	return fmt.Sprintf("%-37s  list them\n%-37s  small scale, on the terminal\n%s\n%s all --out figures/%s",
		command, name, name+file, command, p.Name)
}

func selectRecipes(p paper.Paper, kind string, names []string) ([]paper.Recipe, error) {
	var out []paper.Recipe
	for _, name := range names {
		if name == "all" {
			out = append(out, slices.DeleteFunc(p.RecipesOfKind(kind), isClocked)...)
			continue
		}
		r, err := p.Find(kind, name)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// isClocked reports whether a recipe measures times whenever it is made. "all" leaves such
// recipes out.
func isClocked(r paper.Recipe) bool { return r.Timed }

// leftOutNote says which recipes "all" leaves out.
func leftOutNote(p paper.Paper, kind string, names []string) string {
	var out []string
	for _, r := range p.RecipesOfKind(kind) {
		named := slices.ContainsFunc(names, func(name string) bool { found, err := p.Find(kind, name); return err == nil && found.ID == r.ID })
		if r.Timed && !named {
			out = append(out, r.Name())
		}
	}
	if len(out) == 0 || !slices.Contains(names, "all") {
		return ""
	}
	return fmt.Sprintf("left out, because they measure times: %s %s %s %s", programName(), kind, p.Name, strings.Join(out, " "))
}

// recipesNamed finds the tables, or else the figures, of a paper by their names.
func recipesNamed(name string, names []string, scale string) ([]paper.Recipe, error) {
	found, err := selectByName("paper", Papers(), func(p paper.Paper) string { return p.Name }, []string{name})
	if err != nil {
		return nil, err
	}
	if err := cli.OneOf("scale", scale, found[0].ScaleNames()...); err != nil {
		return nil, err
	}
	tables, err := selectRecipes(found[0], paper.Table, names)
	if err == nil {
		return tables, nil
	}
	if figures, other := selectRecipes(found[0], paper.Figure, names); other == nil {
		return figures, nil
	}
	return nil, err
}

// recipeIDs are the IDs of all papers' recipes.
func recipeIDs() (ids []string) {
	for _, p := range Papers() {
		ids = append(ids, namesOf(p.Recipes, recipeID)...)
	}
	return ids
}

func recipeID(r paper.Recipe) string { return r.ID }

// recipesByID finds recipes by their IDs; all must know the scale.
func recipesByID(ids []string, scale string) (out []paper.Recipe, err error) {
	if len(ids) == 0 {
		return nil, cli.Usagef("no recipe is named; lethe list recipes shows them")
	}
	if _, err := selectByName("recipe", recipeIDs(), strings.Clone, ids); err != nil {
		return nil, err
	}
	for _, p := range Papers() {
		for _, r := range p.Recipes {
			if !slices.Contains(ids, r.ID) {
				continue
			}
			if err := cli.OneOf("scale", scale, p.ScaleNames()...); err != nil {
				return nil, err
			}
			out = append(out, r)
		}
	}
	return out, nil
}

func listRecipes(cmd *cobra.Command, p paper.Paper, kind string) error {
	t := textTable("", "command", "what it is")
	for _, r := range p.RecipesOfKind(kind) {
		t.Rows = append(t.Rows, textRow(fmt.Sprintf("%s %s %s %s", programName(), kind, p.Name, r.Name()), r.Title))
	}
	return t.Text(cmd.OutOrStdout())
}
