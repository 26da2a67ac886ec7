package kernel

import (
	"fmt"

	"github.com/lethe-ml/lethe/kernel/cli"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/attack/shadow"

	"github.com/spf13/cobra"
)

// shadowFiles are the paths given to attack shadows.
type shadowFiles struct{ target, shadows, in, truth, population, populationShadows string }

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
shadow models; without them it is left out.

--method chooses; lira-online is the paper's, with a spread for every record, and
lira-online-pooled better with fewer than some 64 models. Offline attacks use only
models without the record. The coded ones are those of the published program. u-lira
is for shadow models that had a record and have unlearned it by the method under
attack, as --in says; it runs where --method names it.

Memory: about three times the files.`,
		Example: `  lethe attack shadows --target t.npy --shadows S.npy --in in.npy --truth member.npy
  lethe attack shadows --target t.npy --shadows S.npy --in in.npy --truth member.npy --population z.npy --population-shadows Z.npy --json
  lethe attack shadows --target t.npy --shadows S.npy --in in.npy --truth member.npy --method lira-online-pooled`,
		Args: cobra.NoArgs,
	}
	var in shadowFiles
	var names []string
	for _, f := range []struct {
		to          *string
		name, about string
	}{
		{&in.target, "target", "npy file: the target's scores"},
		{&in.shadows, "shadows", "npy file: scores by shadow models, a row each"},
		{&in.in, "in", "npy file: which shadow model had which record"},
		{&in.truth, "truth", "npy file: which records the target had"},
		{&in.population, "population", "npy file: the target's scores of records that no model had"},
		{&in.populationShadows, "population-shadows", "npy file: their scores by shadow models, a row each"},
	} {
		c.Flags().StringVar(f.to, f.name, "", f.about)
	}
	c.Flags().StringSliceVar(&names, "method", nil, "attacks, with commas between; none: all that the files allow, but u-lira: "+cli.List(methodNames()))
	required(c, "target", "shadows", "in", "truth")
	c.MarkFlagsRequiredTogether("population", "population-shadows")
	asJSON := cli.JSONFlag(c)
	c.PreRunE = func(*cobra.Command, []string) error {
		for _, name := range names {
			if err := cli.OneOf("method", name, methodNames()...); err != nil {
				return err
			}
		}
		return nil
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		defer frugal()()
		rows, err := in.attack(names)
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.WriteJSON(cmd.OutOrStdout(), rows)
		}
		return attackTable("Attacks by shadow models", rows).Text(cmd.OutOrStdout())
	}
	return c
}

// shadowAttacks are those of the library, and LiRA with one spread for all records.
func shadowAttacks() []shadow.Attack {
	return append(shadow.All(), shadow.LiRA{Pooled: true}, shadow.LiRA{Offline: true, Pooled: true})
}

func methodNames() []string {
	var out []string
	for _, a := range shadowAttacks() {
		out = append(out, a.Name())
	}
	return out
}

// attack runs the attacks of these names; of none those that have all they need.
func (in shadowFiles) attack(names []string) ([]attacked, error) {
	e, member, err := in.read()
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	var rows []attacked
	for _, a := range shadowAttacks() {
		if len(names) > 0 && !wanted[a.Name()] || len(names) == 0 && !permitted(a, e) {
			continue
		}
		r, err := shadow.Run(a, e, member)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", given("target", in.target, "shadows", in.shadows, "in", in.in, "truth", in.truth,
				"population", in.population, "population-shadows", in.populationShadows), err)
		}
		rows = append(rows, attacked{Attack: a.Name(), ScoreReport: r})
	}
	return rows, nil
}

// permitted tells whether the files are enough for an attack that nobody asked for.
// U-LiRA wants to be asked for: that the shadow models have unlearned is in no file.
func permitted(a shadow.Attack, e shadow.Evidence) bool {
	switch a.(type) {
	case shadow.RMIA:
		return e.Population != nil
	case shadow.ULiRA:
		return false
	}
	return true
}

func (in shadowFiles) read() (e shadow.Evidence, member []bool, err error) {
	target, err := readFlag("target", in.target, npy.ReadVector)
	if err != nil {
		return e, nil, err
	}
	e.Target = target
	if e.Shadows.Scores, err = readFlag("shadows", in.shadows, finite(npy.ReadMatrix)); err != nil {
		return e, nil, err
	}
	if e.Shadows.In, err = readFlag("in", in.in, npy.ReadMask); err != nil {
		return e, nil, err
	}
	truth, err := readFlag("truth", in.truth, npy.ReadMask)
	if err != nil {
		return e, nil, err
	}
	if len(truth) != 1 {
		return e, nil, fmt.Errorf("--truth: %s: %d rows, expected one: the target's", in.truth, len(truth))
	}
	if in.population == "" {
		return e, truth[0], nil
	}
	e.Population = &shadow.Population{}
	if e.Population.Target, err = readFlag("population", in.population, npy.ReadVector); err != nil {
		return e, nil, err
	}
	e.Population.Shadows, err = readFlag("population-shadows", in.populationShadows, finite(npy.ReadMatrix))
	return e, truth[0], err
}
