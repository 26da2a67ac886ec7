// lethe list: methods, attacks, metrics, lenses, data sets, models, losses, recipes.

package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/attack/population"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/audit/judge"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify"

	"github.com/spf13/cobra"
)

type inventory struct {
	kind, about string
	table       func() *report.Table
	values      func() any // for JSON
	earlier     string     // its former name, which still works and is the name in JSON; empty: kind
}

type listEntry struct {
	Name    string          `json:"name"`
	About   string          `json:"about,omitempty"`
	From    string          `json:"from,omitempty"` // the paper, and the variant
	Sees    []string        `json:"sees,omitempty"`
	Needs   string          `json:"needs,omitempty"`
	Setting json.RawMessage `json:"setting,omitempty"`
}

func inventories() []inventory {
	return []inventory{
		namedInventory("methods", "unlearning methods and controls", methodList, "from", "sees"),
		namedInventory("attacks", "membership attacks", attackList),
		namedInventory("metrics", "verification metrics", func() []listEntry {
			return newEntries(verify.All(), func(m verify.Metric) listEntry { return listEntry{Name: m.Name, About: m.About} })
		}),
		namedInventory("lenses", "lenses on a trained model", func() []listEntry {
			return newEntries(audit.AllLenses(), func(l audit.Lens) listEntry { return listEntry{Name: l.Name(), About: l.Info().Measures} })
		}),
		auditLenses(),
		{kind: "datasets", about: "data sets",
			table: func() *report.Table { return dataSetTable(DataSets()) }, values: func() any { return dataSetList(DataSets()) }},
		namedInventory("models", "network families", modelList),
		namedInventory("losses", "losses that networks are trained with", func() []listEntry {
			return describedEntries("", append(loss.All(), loss.Loss(diffusion.EDM{})))
		}),
		namedInventory("recipes", "tables and figures of papers", func() (out []listEntry) {
			for _, p := range Papers() {
				out = append(out, newEntries(p.Recipes, func(r paper.Recipe) listEntry { return listEntry{Name: r.ID, About: r.Title} })...)
			}
			return out
		}),
	}
}

// auditLenses is the inventory of the lenses on saved arrays. Scripts know it by its former name.
func auditLenses() inventory {
	inv := namedInventory("audit-lenses", "lenses of lethe audit, on saved arrays", func() []listEntry {
		return newEntries(audit.FolderLenses(), func(l audit.Lens) listEntry {
			return listEntry{Name: l.Name(), About: l.Info().Asks, From: l.Info().Source, Needs: judge.FilesFor(l.Info().Needs)}
		})
	}, "from", "needs")
	inv.earlier = "judgements"
	return inv
}

// namedInventory is an inventory of entries with a table of their names, descriptions, and
// further columns.
func namedInventory(kind, about string, entries func() []listEntry, more ...string) inventory {
	return inventory{kind: kind, about: about, table: func() *report.Table {
		t := textTable(strings.ToUpper(about[:1])+about[1:], append([]string{"name", "what it is"}, more...)...)
		for _, e := range entries() {
			columns := map[string]string{"from": e.From, "sees": strings.Join(e.Sees, ", "), "needs": e.Needs}
			cells := []string{e.Name, e.About}
			for _, m := range more {
				cells = append(cells, columns[m])
			}
			t.Rows = append(t.Rows, textRow(cells...))
		}
		return t
	}, values: func() any { return entries() }}
}

func newEntries[T any](all []T, entry func(T) listEntry) (out []listEntry) {
	for _, one := range all {
		out = append(out, entry(one))
	}
	return out
}

// describedEntries makes entries of things with a name and a description.
func describedEntries[T interface {
	Name() string
	About() string
}](what string, all []T) []listEntry {
	return newEntries(all, func(one T) listEntry { return listEntry{Name: one.Name(), About: what + one.About()} })
}

func newList() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "List methods, attacks, metrics, lenses, data sets, models, losses, recipes",
		Example: "  lethe list\n  lethe list methods\n  lethe list recipes --json",
	}
	for _, inv := range inventories() {
		c.AddCommand(listOf(inv, inv.kind))
		if inv.earlier != "" {
			earlier := listOf(inv, inv.earlier)
			earlier.Hidden = true
			c.AddCommand(earlier)
		}
	}
	printInventories(c, inventories()...)
	return cli.Group(c)
}

// listOf is the command that prints one inventory under a name.
func listOf(inv inventory, name string) *cobra.Command {
	c := &cobra.Command{
		Use:     name,
		Short:   "List " + inv.about,
		Example: "  lethe list " + inv.kind + "\n  lethe list " + inv.kind + " --json",
		Args:    cobra.NoArgs,
	}
	printInventories(c, inv)
	return c
}

// printInventories makes a command print inventories: in JSON an object with one list per
// kind.
func printInventories(c *cobra.Command, all ...inventory) {
	cli.AnswerWith(c, func(*cobra.Command, []string) (cli.Answer, error) {
		values := map[string]any{}
		for _, inv := range all {
			values[cmp.Or(inv.earlier, inv.kind)] = inv.values()
		}
		return cli.Answer{Value: values, Text: func(w io.Writer) error {
			for i, inv := range all {
				if i > 0 {
					fmt.Fprintln(w)
				}
				if err := inv.table().Text(w); err != nil {
					return err
				}
			}
			return nil
		}}, nil
	})
}

func methodList() []listEntry {
	var out []listEntry
	for _, m := range unlearn.AllKinds() {
		info := m.Info()
		sees := info.Sees
		e := listEntry{Name: info.Name, About: info.Does, From: info.From, Sees: []string{}}
		for _, part := range []struct {
			name string
			seen bool
		}{{"original", sees.Original}, {"forget set", sees.Forget}, {"retain set", sees.Retain},
			{"earlier weights", sees.Earlier}, {"held-out records", sees.HeldOut}, {"refusals", sees.Refusals}} {
			if part.seen {
				e.Sees = append(e.Sees, part.name)
			}
		}
		if len(e.Sees) == 0 {
			e.Sees = []string{"nothing"}
		}
		if setting, err := json.Marshal(m); err == nil {
			e.Setting = setting
		}
		out = append(out, e)
	}
	return out
}

func attackList() []listEntry {
	return slices.Concat(
		describedEntries("", attack.All()),
		describedEntries("threshold on the ", attack.Signals()),
		describedEntries("generative model: ", generative.All()),
		describedEntries("shadow models: ", shadow.All()),
		describedEntries("non-members alone: ", population.All()),
		describedEntries("trained: ", learned.Attackers()),
	)
}

func modelList() []listEntry {
	return slices.Concat(
		newEntries(tabular.All(), func(f tabular.Family) listEntry { return listEntry{Name: f.Name, About: f.About} }),
		newEntries(vision.All(), func(f vision.Family) listEntry { return listEntry{Name: f.Name, About: "images: " + f.About} }),
		newEntries(text.All(), func(f text.Family) listEntry { return listEntry{Name: f.Name, About: "texts: " + f.About} }),
		describedEntries("half of an information bottleneck: ", ib.All()),
		[]listEntry{
			{Name: diffusion.UNet{}.Name(), About: "images: a compact U-Net that removes noise, with EDM's preconditioning"},
			{Name: vae.Gaussian{}.Name(), About: "a variational autoencoder with one hidden layer on either side"},
			{Name: vae.Cells{}.Name(), About: "single cells: the variational autoencoder of Fishing for Privacy"},
		})
}
