package command

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/attack/strangers"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/audit/judge"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/model/tabular"
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
}

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
		byName("methods", "unlearning methods and controls", methodList, "from", "sees"),
		byName("attacks", "membership attacks", attackList),
		byName("metrics", "verification metrics", func() []named {
			return entriesOf(verify.All(), func(m verify.Metric) named { return named{Name: m.Name, About: m.About} })
		}),
		byName("lenses", "lenses on one model", func() []named { return described("", audit.Every()) }),
		byName("judgements", "judgements of lethe audit on anybody's arrays", func() []named {
			return entriesOf(judge.All(), func(j judge.Judgement) named {
				return named{Name: j.Name(), About: j.About().Asks, From: j.About().From, Needs: j.Needs().String()}
			})
		}, "from", "needs"),
		{"datasets", "data sets", dataSetTable, func() any { return dataSetList() }},
		byName("models", "network families", modelList),
		byName("losses", "what networks are trained for", func() []named {
			return described("", append(loss.All(), loss.Loss(diffusion.EDM{})))
		}),
		byName("recipes", "tables and figures of papers", func() (out []named) {
			for _, p := range Papers() {
				out = append(out, entriesOf(p.Recipes, func(r paper.Recipe) named { return named{Name: r.ID, About: r.Title} })...)
			}
			return out
		}),
	}
}

// byName is an inventory of entries. Its table has their names, what they are, and
// what else is asked for.
func byName(kind, about string, entries func() []named, more ...string) inventory {
	return inventory{kind, about, func() *report.Table {
		t := words(strings.ToUpper(about[:1])+about[1:], append([]string{"name", "what it is"}, more...)...)
		for _, e := range entries() {
			columns := map[string]string{"from": e.From, "sees": strings.Join(e.Sees, ", "), "needs": e.Needs}
			cells := []string{e.Name, e.About}
			for _, m := range more {
				cells = append(cells, columns[m])
			}
			t.Rows = append(t.Rows, row(cells...))
		}
		return t
	}, func() any { return entries() }}
}

func entriesOf[T any](all []T, entry func(T) named) (out []named) {
	for _, one := range all {
		out = append(out, entry(one))
	}
	return out
}

// described are entries for what knows its name and what it is.
func described[T interface {
	Name() string
	About() string
}](what string, all []T) []named {
	return entriesOf(all, func(one T) named { return named{Name: one.Name(), About: what + one.About()} })
}

func newList() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "List methods, attacks, metrics, lenses, judgements, data sets, models, losses, recipes",
		Example: "  lethe list\n  lethe list methods\n  lethe list recipes --json",
	}
	for _, inv := range inventories() {
		sub := &cobra.Command{
			Use:     inv.kind,
			Short:   "List " + inv.about,
			Example: "  lethe list " + inv.kind + "\n  lethe list " + inv.kind + " --json",
			Args:    cobra.NoArgs,
		}
		shown(sub, inv)
		c.AddCommand(sub)
	}
	shown(c, inventories()...)
	return cli.Group(c)
}

// shown lets a command print inventories: in JSON an object with one list per kind.
func shown(c *cobra.Command, all ...inventory) {
	cli.Answers(c, func(*cobra.Command, []string) (cli.Answer, error) {
		values := map[string]any{}
		for _, inv := range all {
			values[inv.kind] = inv.values()
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
	return slices.Concat(
		described("", attack.All()),
		described("threshold on the ", attack.Signals()),
		described("generative model: ", generative.All()),
		described("shadow models: ", shadow.All()),
		described("non-members alone: ", strangers.All()),
		described("trained: ", learned.Attackers()),
	)
}

func modelList() []named {
	return slices.Concat(
		entriesOf(tabular.All(), func(f tabular.Family) named { return named{Name: f.Name, About: f.About} }),
		entriesOf(vision.All(), func(f vision.Family) named { return named{Name: f.Name, About: "images: " + f.About} }),
		described("half of an information bottleneck: ", ib.All()),
		[]named{
			{Name: diffusion.UNet{}.Name(), About: "images: a compact U-Net that takes noise away, with EDM's preconditioning"},
			{Name: vae.Gaussian{}.Name(), About: "a variational autoencoder with one hidden layer on either side"},
			{Name: vae.Cells{}.Name(), About: "single cells: the variational autoencoder of Fishing for Privacy"},
		})
}
