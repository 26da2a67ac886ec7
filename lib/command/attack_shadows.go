package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/cli"

	"github.com/spf13/cobra"
)

func newAttackShadows() *cobra.Command {
	c := &cobra.Command{
		Use:   "shadows --target t.npy --shadows S.npy --in in.npy --truth member.npy [--population z.npy --population-shadows Z.npy]",
		Short: "LiRA and RMIA from scores of shadow models",
		Long: `Attack a model by shadow models: models trained in the same way, each on a random
part of the records in question.

t (n,) holds the target's score of every record, S (m, n) those of m shadow models,
in (m, n) which of them had which record (bools, or 0 and 1), truth (n,) which
records the target had. Scores are higher for what a model fits: for LiRA scaled
confidences of a classifier, or any score; for RMIA log-likelihoods. RMIA also wants
the scores of records that no model had: z (k,) by the target and Z (m, k) by the
shadow models.

--method chooses; lira-online is the paper's, with a spread for every record, and
lira-online-pooled better with fewer than some 64 models. Offline attacks use only
models without the record. The coded ones are those of the published program. u-lira
is for shadow models that had a record and have unlearned it by the method under
attack, as --in says; it runs where --method names it. Without --method an attack that
the files are not enough for is left out, with the reason: a record that too few shadow
models had, no population.

Memory: about three times the files.`,
		Example: `  lethe attack shadows --target t.npy --shadows S.npy --in in.npy --truth member.npy
  lethe attack shadows --target t.npy --shadows S.npy --in in.npy --truth member.npy --population z.npy --population-shadows Z.npy --json
  lethe attack shadows --target t.npy --shadows S.npy --in in.npy --truth member.npy --method lira-online-pooled`,
		Args: cobra.NoArgs,
	}
	var e shadow.Evidence
	var member []bool
	population := &shadow.Population{}
	in := inputs{c: c}
	addFile(&in, (*[]float64)(&e.Target), "target", "npy file: the target's scores", finiteVector)
	addFile(&in, &e.Shadows.Scores, "shadows", "npy file: scores by shadow models, a row each", readFinite(npy.ReadMatrix))
	addFile(&in, &e.Shadows.In, "in", "npy file: which shadow model had which record", npy.ReadMask)
	addFile(&in, &member, "truth", "npy file: which records the target had", readTargetMask)
	addFile(&in, (*[]float64)(&population.Target), "population", "npy file: the target's scores of records that no model had", finiteVector)
	addFile(&in, &population.Shadows, "population-shadows", "npy file: their scores by shadow models, a row each", readFinite(npy.ReadMatrix))
	names := c.Flags().StringSlice("method", nil,
		"attacks, with commas between; none: all that the files allow, but u-lira: "+cli.List(namesOf(shadowAttacks(), shadow.Attack.Name)))
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
		rows, err := attackShadows(e, member, *names)
		return attackAnswer("Attacks by shadow models", rows, rows), err
	})
	return c
}

// shadowAttacks are those of the library, and LiRA with one spread for all records.
func shadowAttacks() []shadow.Attack {
	return append(shadow.All(), shadow.LiRA{Pooled: true}, shadow.LiRA{Offline: true, Pooled: true})
}

// attackShadows runs the attacks of these names; of none all, and says of those that the
// files are not enough for why they are left out. U-LiRA wants to be asked for: that the
// shadow models have unlearned is in no file.
func attackShadows(e shadow.Evidence, member []bool, names []string) ([]attackRow, error) {
	var rows []attackRow
	var first error
	ran := false
	for _, a := range shadowAttacks() {
		_, unasked := a.(shadow.ULiRA)
		if len(names) == 0 && unasked || len(names) > 0 && !slices.Contains(names, a.Name()) {
			continue
		}
		r, err := shadow.Run(a, e, member)
		row := attackRow{Attack: a.Name(), ScoreReport: r}
		var lacks *shadow.Inapplicable
		switch {
		case err == nil:
			ran = true
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
