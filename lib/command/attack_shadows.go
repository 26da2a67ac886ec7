// lethe audit --only shadows: LiRA, RMIA and U-LiRA from scores of shadow models.

package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/audit/judge"
	"github.com/lethe-ml/lethe/lib/cli"

	"github.com/spf13/cobra"
)

func newAttackShadows() *cobra.Command {
	c := &cobra.Command{
		Use:   "shadows --target t.npy --shadows S.npy --in in.npy --truth member.npy [--population z.npy --population-shadows Z.npy]",
		Short: "LiRA and RMIA from scores of shadow models",
		Long: `Attack a model with shadow models: models trained in the same way, each on a random
part of the records in question.

t (n,) holds the target's score of every record, S (m, n) those of m shadow models, in (m, n)
which shadow model was trained on which record (bools, or 0 and 1), truth (n,) which records the
target had. Higher scores mean a better fit: for LiRA the scaled confidences of a classifier, or any
score; for RMIA log-likelihoods. RMIA also needs the scores of records that no model was trained on:
z (k,) by the target and Z (m, k) by the shadow models.

--method chooses attacks. lira-online is the paper's, with a variance for every record;
lira-online-pooled is better with fewer than about 64 models. Offline attacks use only
models without the record. Those named "coded" follow the published program. u-lira is
for shadow models that had a record and have unlearned it by the method under attack,
as --in says; it runs only if --method names it. Without --method, attacks that the
files do not suffice for are left out, with the reason: a record that too few shadow
models had, or no population.

Memory: about three times the files.`,
		Example: `  lethe audit --only shadows --target t.npy --shadows S.npy --in in.npy --truth member.npy
  lethe audit --only shadows --target t.npy --shadows S.npy --in in.npy --truth member.npy --population z.npy --population-shadows Z.npy`,
		Args: cobra.NoArgs,
	}
	var e shadow.Evidence
	var member []bool
	population := &shadow.Population{}
	in := inputs{c: c}
	addFile(&in, (*[]float64)(&e.Target), "target", "npy file: the target's scores", finiteVector)
	addFile(&in, &e.Shadows.Scores, "shadows", "npy file: scores by shadow models, a row each", readFinite(npy.ReadMatrix))
	addFile(&in, &e.Shadows.In, "in", "npy file: which shadow model was trained on which record", npy.ReadMask)
	addFile(&in, &member, "truth", "npy file: which records the target was trained on", readTargetMask)
	addFile(&in, (*[]float64)(&population.Target), "population", "npy file: the target's scores of records that no model had", finiteVector)
	addFile(&in, &population.Shadows, "population-shadows", "npy file: their scores by shadow models, a row each", readFinite(npy.ReadMatrix))
	names := c.Flags().StringSlice("method", nil,
		"names (default: all that the files suffice for, without u-lira): "+cli.List(namesOf(shadowAttacks(), shadow.Attack.Name)))
	requireFlags(c, "target", "shadows", "in", "truth")
	c.MarkFlagsRequiredTogether("population", "population-shadows")
	c.PreRunE = func(*cobra.Command, []string) error {
		_, err := selectByName("method", shadowAttacks(), shadow.Attack.Name, *names)
		return err
	}
	in.answerWith(func(*cobra.Command) (cli.Answer, error) {
		if population.Target != nil {
			e.Population = population
		}
		if err := checkMasks(e); err != nil {
			return cli.Answer{}, err
		}
		rows, err := attackShadows(e, member, *names)
		if err == nil && !slices.Contains(*names, shadow.ULiRA{}.Name()) {
			noteMembership(c, e)
		}
		return attackAnswer("Attacks by shadow models", rows, rows), err
	})
	return c
}

// checkMasks refuses masks whose shape is not that of the scores.
func checkMasks(e shadow.Evidence) error {
	models, records, cols := e.Shadows.Scores.Rows, e.Shadows.Scores.Cols, 0
	if len(e.Shadows.In) > 0 {
		cols = len(e.Shadows.In[0])
	}
	if len(e.Shadows.In) == models && cols == records || records != len(e.Target) {
		return nil // the attacks refuse scores of other records
	}
	turned := ""
	if len(e.Shadows.In) == records && cols == models {
		turned = "; save its transpose"
	}
	return fmt.Errorf("--in: %d x %d, and --shadows has %d x %d, a row per shadow model and a column per record%s", len(e.Shadows.In), cols,
		models, records, turned)
}

// noteMembership prints what is odd about the masks. Shadow models that have unlearned fit nothing better.
func noteMembership(c *cobra.Command, e shadow.Evidence) {
	scores := make([][]float64, e.Shadows.Scores.Rows)
	for k := range scores {
		scores[k] = e.Shadows.Scores.Row(k)
	}
	if why := judge.MembershipDoubt(scores, e.Shadows.In); why != "" {
		fmt.Fprintln(c.ErrOrStderr(), "--in: "+why)
	}
}

// shadowAttacks are the library's attacks, and LiRA with one variance for all records.
func shadowAttacks() []shadow.Attack {
	return append(shadow.All(), shadow.LiRA{Pooled: true}, shadow.LiRA{Offline: true, Pooled: true})
}

// attackShadows runs the attacks of these names. Without names it runs all, and reports
// those that the files do not suffice for as left out. U-LiRA must be named: no file says
// that the shadow models have unlearned.
func attackShadows(e shadow.Evidence, member []bool, names []string) ([]attackRow, error) {
	var rows []attackRow
	var first error
	ran := false
	for _, a := range shadowAttacks() {
		_, unasked := a.(shadow.ULiRA)
		if len(names) == 0 && unasked || len(names) > 0 && !slices.Contains(names, a.Name()) {
			continue
		}
		r, err := attack.Run(a, e, member)
		row := attackRow{Attack: a.Name()}
		var lacks *shadow.Inapplicable
		switch {
		case err == nil:
			ran, row = true, newAttackRow(a.Name(), r, tiedScores(e.Target, member))
		case len(names) > 0 || !errors.As(err, &lacks):
			return nil, err
		default:
			row.LeftOut, first = lacks.Why, cmp.Or(first, err)
		}
		rows = append(rows, row)
	}
	if !ran {
		return nil, first
	}
	return rows, nil
}

// tiedScores returns why scores are no evidence, if those of members and non-members tie.
func tiedScores(scores []float64, member []bool) string {
	var s attack.Samples
	for i, v := range scores {
		to := &s.Nonmembers
		if member[i] {
			to = &s.Members
		}
		*to = append(*to, v)
	}
	return audit.TiedScores(s.Members, s.Nonmembers).Why
}

// readTargetMask reads a mask of one row: the target's.
func readTargetMask(path string) ([]bool, error) {
	mask, err := npy.ReadMask(path)
	if err == nil && len(mask) != 1 {
		err = fmt.Errorf("%s: %d rows, expected one: the target's", path, len(mask))
	}
	if err != nil {
		return nil, err
	}
	return mask[0], nil
}
