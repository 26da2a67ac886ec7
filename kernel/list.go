package kernel

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/kernel/cli"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/attack/strangers"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify"

	"github.com/spf13/cobra"
)

// inventory is one kind of things that lethe list shows.
type inventory struct {
	kind, about string
	table       func() *report.Table
	values      func() any // for JSON
}

// named is an entry of an inventory in JSON.
type named struct {
	Name    string          `json:"name"`
	About   string          `json:"about,omitempty"`
	From    string          `json:"from,omitempty"` // the paper, and whose form of it this is
	Sees    []string        `json:"sees,omitempty"`
	Needs   string          `json:"needs,omitempty"`
	Setting json.RawMessage `json:"setting,omitempty"`
}

func inventories() []inventory {
	return []inventory{
		{"methods", "unlearning methods and controls", methodTable, func() any { return methodList() }},
		byName("attacks", "membership attacks", attackList),
		byName("metrics", "verification metrics", metricList),
		byName("lenses", "lenses on one model", lensList),
		{"judgements", "judgements of lethe audit on anybody's arrays", judgementTable, func() any { return judgementList() }},
		{"datasets", "data sets", dataSetTable, func() any { return dataSetList() }},
		byName("models", "network families", modelList),
		byName("losses", "what networks are trained for", lossList),
		byName("recipes", "tables and figures of papers", recipeList),
	}
}

func byName(kind, about string, entries func() []named) inventory {
	return inventory{kind, about, func() *report.Table { return namedTable(about, entries()) }, func() any { return entries() }}
}

func namedTable(title string, entries []named) *report.Table {
	t := words(strings.ToUpper(title[:1])+title[1:], "name", "what it is")
	for _, e := range entries {
		t.Rows = append(t.Rows, row(e.Name, e.About))
	}
	return t
}

// methodTable also says whose a method is and what it is shown.
func methodTable() *report.Table {
	t := words("Unlearning methods and controls", "name", "what it does", "from", "sees")
	for _, e := range methodList() {
		t.Rows = append(t.Rows, row(e.Name, e.About, e.From, strings.Join(e.Sees, ", ")))
	}
	return t
}

func newList() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "List methods, attacks, metrics, lenses, judgements, data sets, models, losses, recipes",
		Example: "  lethe list\n  lethe list methods\n  lethe list recipes --json",
	}
	var all []inventory
	for _, inv := range inventories() {
		all = append(all, inv)
		sub := &cobra.Command{
			Use:     inv.kind,
			Short:   "List " + inv.about,
			Example: "  lethe list " + inv.kind + "\n  lethe list " + inv.kind + " --json",
			Args:    cobra.NoArgs,
		}
		asJSON := cli.JSONFlag(sub)
		sub.RunE = func(cmd *cobra.Command, _ []string) error { return show(cmd, *asJSON, inv) }
		c.AddCommand(sub)
	}
	asGroup(c)
	asJSON := cli.JSONFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return cli.UnknownCommand(cmd, args[0])
		}
		return show(cmd, *asJSON, all...)
	}
	return c
}

// show prints inventories: in JSON an object with one list per kind.
func show(cmd *cobra.Command, asJSON bool, all ...inventory) error {
	w := cmd.OutOrStdout()
	if asJSON {
		out := map[string]any{}
		for _, inv := range all {
			out[inv.kind] = inv.values()
		}
		return cli.WriteJSON(w, out)
	}
	for i, inv := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := inv.table().Text(w); err != nil {
			return err
		}
	}
	return nil
}

func methodList() []named {
	var out []named
	for _, m := range unlearn.Every() {
		sees := m.Sees()
		e := named{Name: m.Name(), Sees: []string{}}
		for _, part := range []struct {
			name string
			seen bool
		}{{"original", sees.Original}, {"forget set", sees.Forget}, {"retain set", sees.Retain},
			{"earlier weights", sees.Earlier}, {"held-out records", sees.HeldOut}} {
			if part.seen {
				e.Sees = append(e.Sees, part.name)
			}
		}
		if len(e.Sees) == 0 {
			e.Sees = []string{"nothing"}
		}
		if d, ok := m.(unlearn.Described); ok {
			about := d.About()
			e.About, e.From = about.Does, about.From
		}
		if setting, err := json.Marshal(m); err == nil {
			e.Setting = setting
		}
		out = append(out, e)
	}
	return out
}

func attackList() []named {
	var out []named
	for _, a := range attack.All() {
		out = append(out, named{Name: a.Name(), About: a.About()})
	}
	for _, s := range attack.Signals() {
		out = append(out, named{Name: s.Name(), About: "threshold on the " + s.About()})
	}
	for _, a := range generative.All() {
		out = append(out, named{Name: a.Name(), About: "generative model: " + a.About()})
	}
	for _, a := range shadow.All() {
		out = append(out, named{Name: a.Name(), About: "shadow models: " + a.About()})
	}
	for _, a := range strangers.All() {
		out = append(out, named{Name: a.Name(), About: "non-members alone: " + a.About()})
	}
	for _, a := range learned.Attackers() {
		out = append(out, named{Name: a.Name(), About: "trained: " + a.About()})
	}
	return out
}

func lensList() []named {
	var out []named
	for _, l := range audit.Every() {
		out = append(out, named{Name: l.Name(), About: l.About()})
	}
	return out
}

func metricList() []named {
	var out []named
	for _, m := range verify.All() {
		out = append(out, named{Name: m.Name, About: m.About})
	}
	return out
}

func modelList() []named {
	var out []named
	for _, f := range tabular.All() {
		out = append(out, named{Name: f.Name, About: f.About})
	}
	for _, f := range vision.All() {
		out = append(out, named{Name: f.Name, About: "images: " + f.About})
	}
	for _, h := range ib.All() {
		out = append(out, named{Name: h.Name(), About: "half of an information bottleneck: " + h.About()})
	}
	return append(out,
		named{Name: diffusion.UNet{}.Name(), About: "images: a compact U-Net that takes noise away, with EDM's preconditioning"},
		named{Name: vae.Gaussian{}.Name(), About: "a variational autoencoder with one hidden layer on either side"},
		named{Name: vae.Cells{}.Name(), About: "single cells: the variational autoencoder of Fishing for Privacy"})
}

func lossList() []named {
	var out []named
	for _, l := range append(loss.All(), loss.Loss(diffusion.EDM{})) {
		out = append(out, named{Name: l.Name(), About: l.About()})
	}
	return out
}

func recipeList() []named {
	var out []named
	for _, p := range papers() {
		for _, r := range p.Recipes {
			out = append(out, named{Name: r.ID, About: r.Title})
		}
	}
	return out
}
