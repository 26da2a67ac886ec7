// lethe audit --only features: attackers trained on features of records.

package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"

	"github.com/spf13/cobra"
)

func newAttackFeatures() *cobra.Command {
	c := &cobra.Command{
		Use:   "features --members M.npy --nonmembers N.npy [--protocol NAMES]",
		Short: "Train an attacker on features of records, by a protocol",
		Long: `Train an attacker that tells members from non-members by features of a model: losses,
outputs, latent codes. Memory: about five times the files.

M and N are matrices (n, d), a row per record, saved with numpy.save. The protocol says on which
records attackers are trained and which they score. Lethe's own, cross-fitted-logistic and
cross-fitted-mlp, standardise the features and score each record by an attacker not trained on it.
within-groups subtracts the mean of a record's group, its type for instance, from its features first;
it needs --member-groups and --nonmember-groups. P-A to P-F are the six protocols of "Fishing for
Privacy". All of them but P-D score records that the attacker was trained on; a second row shows
the result without those, but for P-C and P-F, which leave none. P-A and P-B also need the features of the records in the original model.

If the non-members were chosen because they lie near members, give --beside: for each of them the
row of its nearest member. Lethe's protocols then keep the two in the same fold. In different
folds, an attacker trained on one is wrong about the other: AUC below 0.5 even without memory.`,
		Example: `  lethe audit --only features --members M.npy --nonmembers N.npy
  lethe audit --only features --members M.npy --nonmembers N.npy --protocol P-C,cross-fitted-mlp
  lethe audit --only features --members M.npy --nonmembers N.npy --original-members OM.npy --original-nonmembers ON.npy --protocol P-A`,
		Args: cobra.NoArgs,
	}
	var q learned.Target
	var original learned.Records
	in, matrix := inputs{c: c, distinct: memberFlags}, readFinite(npy.ReadMatrix)
	addFile(&in, &q.Model.Members, "members", "npy file: features of members", matrix)
	addFile(&in, &q.Model.Nonmembers, "nonmembers", "npy file: features of non-members", matrix)
	addFile(&in, &original.Members, "original-members", "npy file: features of the members in the original model", matrix)
	addFile(&in, &original.Nonmembers, "original-nonmembers", "npy file: features of the non-members in the original model", matrix)
	addFile(&in, &q.NearestMember, "beside", "npy file: each non-member's nearest member, its row from 0", npy.ReadIndices)
	var groups learned.Groups
	addFile(&in, &groups.Members, "member-groups", "npy file: the group of each member, a number from 0", npy.ReadIndices)
	addFile(&in, &groups.Nonmembers, "nonmember-groups", "npy file: the group of each non-member", npy.ReadIndices)
	names := c.Flags().StringSlice("protocol", []string{learned.CrossFitted(nil).Name},
		"names: "+cli.List(namesOf(learned.Protocols(), protocolFlag)))
	seed := c.Flags().Uint64("seed", 0, "seed of folds and attackers")
	requireFlags(c, "members", "nonmembers")
	c.MarkFlagsRequiredTogether("original-members", "original-nonmembers")
	c.MarkFlagsRequiredTogether("member-groups", "nonmember-groups")
	var protocols []learned.Protocol
	c.PreRunE = func(*cobra.Command, []string) (err error) {
		for i, name := range *names { // the name of a row is taken as well
			if k := slices.IndexFunc(learned.Protocols(), func(p learned.Protocol) bool { return p.Name == name }); k >= 0 {
				(*names)[i] = protocolFlag(learned.Protocols()[k])
			}
		}
		protocols, err = selectByName("protocol", learned.Protocols(), protocolFlag, *names)
		return err
	}
	in.answerWith(func(cmd *cobra.Command) (cli.Answer, error) {
		if cmd.Flags().Changed("original-members") {
			q.Original = &original
		}
		if cmd.Flags().Changed("member-groups") {
			q.Groups = &groups
		}
		reports, err := attackFeatures(cmd, protocols, q, engine.Root(*seed))
		return attackAnswer("Attackers trained on features", featureRows(reports), featureAnswers(reports)), err
	})
	return c
}

func attackFeatures(
	cmd *cobra.Command, protocols []learned.Protocol, q learned.Target, seed engine.Root,
) (out []*learned.Report, err error) {
	var e *engine.Engine
	if slices.ContainsFunc(protocols, needsEngine) {
		if e, err = engine.Open(""); err != nil {
			return nil, err
		}
		defer e.Close()
	}
	for _, p := range protocols {
		r, err := p.Run(cmd.Context(), e, q, seed)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

func needsEngine(p learned.Protocol) bool {
	_, alone := p.Attacker.(learned.Logistic)
	return !alone
}

// featureRows has a second row for protocols that score records that the attacker was
// trained on.
func featureRows(reports []*learned.Report) []attackRow {
	var out []attackRow
	for _, r := range reports {
		trained := 0
		for _, c := range r.Scores {
			if c.Trained {
				trained++
			}
		}
		row := attackRow{Attack: r.Protocol, ScoreReport: &r.ScoreReport}
		if trained > 0 {
			row.note = fmt.Sprintf("the attacker was trained on %d of the %d records that it scores: interval and chance do not hold, and above "+
				"chance it may only know its own records", trained, len(r.Scores))
		}
		if strings.HasPrefix(r.Protocol, "cross-fitted") || r.Protocol == learned.WithinGroups().Name {
			row.note = "interval and chance are wider by sqrt 2, because the folds share training records"
		}
		if !slices.ContainsFunc(r.Scores, func(c learned.RecordScore) bool { return c.Score != r.Scores[0].Score }) {
			row.note = "all scores are the same"
			if r.Protocol == learned.WithinGroups().Name {
				row.note += ": no group has members and non-members, so that there is nothing to compare"
			}
		}
		out = append(out, row)
		if trained > 0 && r.HeldOut != nil {
			out = append(out, attackRow{Attack: r.Protocol + ", held out", ScoreReport: r.HeldOut})
		}
	}
	return out
}

// featureAnswer is a report whose rates are null where so few non-members cannot show one.
type featureAnswer struct {
	*learned.Report
	Rates   map[string]*float64 `json:"tpr_at_fpr"`
	HeldOut *scoreAnswer        `json:"held_out"`
}

func featureAnswers(reports []*learned.Report) (out []featureAnswer) {
	for _, r := range reports {
		a := featureAnswer{Report: r, Rates: rates(&r.ScoreReport)}
		if r.HeldOut != nil {
			a.HeldOut = &scoreAnswer{ScoreReport: r.HeldOut, Rates: rates(r.HeldOut)}
		}
		out = append(out, a)
	}
	return out
}

// protocolFlag returns the name of a protocol on the command line, where commas separate names:
// "P-A-kept-codes" for "P-A, kept codes". It leaves a name without commas and spaces as it is.
func protocolFlag(p learned.Protocol) string {
	return strings.NewReplacer(", ", "-", " ", "-").Replace(p.Name)
}
