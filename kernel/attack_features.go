package kernel

import (
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/kernel/cli"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/engine"

	"github.com/spf13/cobra"
)

// featureFiles are the paths given to attack features.
type featureFiles struct{ members, nonmembers, originalMembers, originalNonmembers string }

func newAttackFeatures() *cobra.Command {
	c := &cobra.Command{
		Use:   "features --members M.npy --nonmembers N.npy [--protocol NAMES]",
		Short: "Train an attacker on features of records, by a protocol",
		Long: `Train an attacker to tell members from non-members by features that a model has
of them: losses, outputs, latent codes.

M and N are matrices (n, d), a row per record, saved with numpy.save. The protocol
says on which records attackers are trained and which they score. Ours,
cross-fitted-logistic and cross-fitted-mlp, standardise the features and score each
record by an attacker that has not seen it. P-A to P-F are the six of "Fishing for
Privacy", of which all but P-D score records that the attacker was trained on;
below them stands what is left when those are not counted. P-A and P-B want the
features of the same records in the original model too.

Memory: about five times the files.`,
		Example: `  lethe attack features --members M.npy --nonmembers N.npy
  lethe attack features --members M.npy --nonmembers N.npy --protocol P-C,P-D,cross-fitted-mlp --seed 2
  lethe attack features --members M.npy --nonmembers N.npy --original-members OM.npy --original-nonmembers ON.npy --protocol P-A --json`,
		Args: cobra.NoArgs,
	}
	var in featureFiles
	var names []string
	var seed uint64
	c.Flags().StringVar(&in.members, "members", "", "npy file: features of members")
	c.Flags().StringVar(&in.nonmembers, "nonmembers", "", "npy file: features of non-members")
	c.Flags().StringVar(&in.originalMembers, "original-members", "", "npy file: features of the members in the original model")
	c.Flags().StringVar(&in.originalNonmembers, "original-nonmembers", "", "npy file: features of the non-members in the original model")
	c.Flags().StringSliceVar(&names, "protocol", []string{learned.CrossFitted(nil).Name}, "protocols, with commas between: "+cli.List(protocolNames()))
	c.Flags().Uint64Var(&seed, "seed", 0, "of deals and attackers")
	required(c, "members", "nonmembers")
	c.MarkFlagsRequiredTogether("original-members", "original-nonmembers")
	asJSON := cli.JSONFlag(c)
	c.PreRunE = func(*cobra.Command, []string) error {
		for _, name := range names {
			if err := cli.OneOf("protocol", name, protocolNames()...); err != nil {
				return err
			}
		}
		return nil
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		defer frugal()()
		reports, err := in.attack(cmd, chosen(names), engine.Root(seed))
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.WriteJSON(cmd.OutOrStdout(), reports)
		}
		return attackTable("Attackers trained on features", featureRows(reports)).Text(cmd.OutOrStdout())
	}
	return c
}

func protocolNames() []string {
	var out []string
	for _, p := range learned.Protocols() {
		out = append(out, p.Name)
	}
	return out
}

func chosen(names []string) []learned.Protocol {
	var out []learned.Protocol
	for _, name := range names {
		for _, p := range learned.Protocols() {
			if p.Name == name {
				out = append(out, p)
			}
		}
	}
	return out
}

func (in featureFiles) read() (learned.Question, error) {
	var q learned.Question
	var original learned.Records
	for _, f := range []struct {
		flag, path string
		to         *array.Matrix[float64]
	}{
		{"members", in.members, &q.Model.Members}, {"nonmembers", in.nonmembers, &q.Model.Nonmembers},
		{"original-members", in.originalMembers, &original.Members}, {"original-nonmembers", in.originalNonmembers, &original.Nonmembers},
	} {
		if f.path == "" {
			continue
		}
		var err error
		if *f.to, err = readFlag(f.flag, f.path, finite(npy.ReadMatrix)); err != nil {
			return q, err
		}
	}
	if in.originalMembers != "" {
		q.Original = &original
	}
	return q, nil
}

func (in featureFiles) attack(cmd *cobra.Command, protocols []learned.Protocol, seed engine.Root) ([]*learned.Report, error) {
	q, err := in.read()
	if err != nil {
		return nil, err
	}
	var e *engine.Engine
	for _, p := range protocols {
		if _, alone := p.Attacker.(learned.Logistic); alone || e != nil {
			continue
		}
		if e, err = engine.Open(""); err != nil {
			return nil, err
		}
		defer e.Close()
	}
	var out []*learned.Report
	for _, p := range protocols {
		r, err := p.Run(cmd.Context(), e, q, seed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", given("members", in.members, "nonmembers", in.nonmembers,
				"original-members", in.originalMembers, "original-nonmembers", in.originalNonmembers), err)
		}
		out = append(out, r)
	}
	return out, nil
}

// featureRows has a second row for protocols that score what they were trained on.
func featureRows(reports []*learned.Report) []attacked {
	var out []attacked
	for _, r := range reports {
		trained := 0
		for _, c := range r.Cells {
			if c.Trained {
				trained++
			}
		}
		row := attacked{Attack: r.Protocol, ScoreReport: &r.ScoreReport}
		if trained > 0 {
			row.note = fmt.Sprintf("the attacker was trained on %d of the %d records that it scores", trained, len(r.Cells))
		}
		if strings.HasPrefix(r.Protocol, "cross-fitted") {
			row.note = "interval and chance are wider by sqrt 2, because folds teach each other"
		}
		out = append(out, row)
		if trained > 0 && r.HeldOut != nil {
			out = append(out, attacked{Attack: r.Protocol + ", held out", ScoreReport: r.HeldOut})
		}
	}
	return out
}
