// lethe audit --only losses: thresholds on losses, and likelihood ratios.

package command

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/cli"

	"github.com/spf13/cobra"
)

func newAttackLosses() *cobra.Command {
	c := &cobra.Command{
		Use:   "losses --members m.npy --nonmembers n.npy [--reference-members rm.npy --reference-nonmembers rn.npy]",
		Short: "Thresholds on losses, and the likelihood ratio against another model",
		Long: `Attack a model by its losses: cross-entropy, reconstruction loss, divergence, negative
ELBO, or any other score that is lower for a record that the model fits better.

The files hold one loss per record (float or integer, shape (n,) or (n, 1)). With the
losses of a reference model on the same records in the same order, the likelihood
ratio is reported too: the reference's loss minus the model's. The reference should
be trained in the same way, on neither members nor non-members. If you exchange model
and reference, every score changes its sign, so both have the same advantage.

Memory: about 100 bytes per loss.`,
		Example: `  lethe audit --only losses --members forget.npy --nonmembers test.npy
  lethe audit --only losses --members f.npy --nonmembers t.npy --reference-members rf.npy --reference-nonmembers rt.npy --json`,
		Args: cobra.NoArgs,
	}
	var model attack.Samples
	reference := &attack.Samples{}
	in := inputs{c: c, distinct: memberFlags}
	addFile(&in, &model.Members, "members", "npy file: losses of members", finiteVector)
	addFile(&in, &model.Nonmembers, "nonmembers", "npy file: losses of non-members", finiteVector)
	addFile(&in, &reference.Members, "reference-members", "npy file: losses of the members by a reference model", finiteVector)
	addFile(&in, &reference.Nonmembers, "reference-nonmembers", "npy file: losses of the non-members by the reference model", finiteVector)
	requireFlags(c, "members", "nonmembers")
	c.MarkFlagsRequiredTogether("reference-members", "reference-nonmembers")
	in.answerWith(func(*cobra.Command) (cli.Answer, error) {
		if reference.Members == nil {
			reference = nil
		}
		rows, err := attackLosses(model, reference)
		return attackAnswer("Attacks by losses", rows, rows), err
	})
	return c
}

// attackLosses uses losses as the negative ELBO of a model without a KL term.
func attackLosses(model attack.Samples, reference *attack.Samples) ([]attackRow, error) {
	view, member := lossView(model)
	e := generative.Evidence{Model: view, Member: member}
	attacks := []generative.Attack{generative.Recon{}}
	if reference != nil {
		if len(model.Members) != len(reference.Members) || len(model.Nonmembers) != len(reference.Nonmembers) {
			return nil, fmt.Errorf("%d members and %d non-members, by the reference %d and %d",
				len(model.Members), len(model.Nonmembers), len(reference.Members), len(reference.Nonmembers))
		}
		r, _ := lossView(*reference)
		e.Reference = &r
		attacks = append(attacks, generative.LikelihoodRatio{})
	}
	var rows []attackRow
	for _, a := range attacks {
		r, err := attack.Run(a, e, member)
		if err != nil {
			return nil, err
		}
		rows = append(rows, newAttackRow(a.Name(), r, audit.TiedScores(model.Members, model.Nonmembers).Why))
	}
	rows[0].Attack = "threshold"
	return rows, nil
}

func lossView(s attack.Samples) (v generative.View, member []bool) {
	losses, member := s.Joined()
	return generative.View{Recon: losses, KL: make([]float64, len(losses))}, member
}
