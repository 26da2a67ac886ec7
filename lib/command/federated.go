// lethe federated: federated averaging in one process or with Flower.

package command

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/federated/flower"

	"github.com/spf13/cobra"
)

func newFederated() *cobra.Command {
	c := cli.Group(&cobra.Command{
		Use:   "federated",
		Short: "Federated averaging: in one process, or over a network with Flower",
		Long: `Federated averaging (McMahan et al. 2017): many users train one model, and none of
them shares their records.

A federation is a folder: study.json is known to all users, users/3 holds the records
of user 3. "cut" makes one from your arrays, "run" trains it in one process. "flower"
writes a Flower app that trains it over a network: every machine has study.json and
the folder of its own user only, and Flower starts "client" for each round of a user.
Both ways give the same weights, bit for bit, if the same users take part; "run
--like" checks it.`,
		Example: `  lethe federated cut --x X.npy --y y.npy --users 5 --alpha 0.5 --rounds 10 --out study
  lethe federated run study --out weights.safetensors
  lethe federated flower study
  lethe federated run study --like study/weights.safetensors`,
	})
	c.AddCommand(newFederatedCut(), newFederatedRun(), newFederatedClient(), newFederatedFlower())
	return c
}

func newFederatedCut() *cobra.Command {
	c := &cobra.Command{
		Use:   "cut --x X.npy --y y.npy --users K --rounds N --out FOLDER",
		Short: "Split records among users and write a federation's folder",
		Long: `Split records among users and write the folder of a federation.

X (n, d) holds a record per row, y (n,) their classes 0, 1, ... or bools. Without
--alpha all users get the same number of random records. With it, each class is split
among users by a Dirichlet distribution: with a small alpha users have few classes
and very different numbers of records.

Memory: about five times the files, where they hold float32.`,
		Example: `  lethe federated cut --x X.npy --y y.npy --users 10 --rounds 20 --out study
  lethe federated cut --x X.npy --y y.npy --users 10 --alpha 0.3 --least 10 --fraction 0.5 --rounds 20 --out study`,
		Args: cobra.NoArgs,
	}
	s := flower.Study{}
	f := c.Flags()
	x := f.String("x", "", "npy file: the records")
	y := f.String("y", "", "npy file: their classes")
	out := f.String("out", "", "the folder to write")
	f.IntVar(&s.Users, "users", 0, "how many users")
	alpha := f.Float64("alpha", 0, "parameter of the Dirichlet distribution of classes; 0: all users alike")
	least := f.Int("least", 1, "least number of records of a user")
	f.StringVar(&s.Network, "network", "one-hidden", "one of the networks for tables that lethe list shows")
	f.IntVar(&s.Federation.Rounds, "rounds", 0, "number of rounds")
	f.Float64Var(&s.Federation.Fraction, "fraction", 0, "share of the users drawn in every round; 0: all")
	equally := f.Bool("equally", false, "weight all users equally, and not by their numbers of records")
	f.Int64Var((*int64)(&s.Federation.Seed), "seed", 1, "seed of all random draws")
	f.IntVar(&s.Local.Epochs, "epochs", 1, "epochs of a user in a round")
	f.IntVar(&s.Local.Batch, "batch", 0, "records per step; 0: all records of the user")
	f.Float64Var(&s.Local.Rate, "rate", 0, "learning rate of Adam; 0: 0.001")
	f.Float64Var(&s.Local.Clip, "clip", 0, "clip gradients to this norm; 0: no clipping")
	requireFlags(c, "x", "y", "users", "rounds", "out")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		all, err := flower.ReadRecords(*x, *y)
		if err != nil {
			return err
		}
		if *equally {
			s.Federation.Mean = federated.Equally
		}
		s.Features, s.Classes = all.X.Cols, all.Classes()
		if s.Classes > len(all.Y) {
			return cli.Usagef("--y: %s has the class %d, and there are %d records: classes are numbered 0, 1, ...", *y, s.Classes-1, len(all.Y))
		}
		if empty := absentClasses(all.Y, s.Classes); len(empty) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "lethe: no record has one of the classes %v; they count as classes nevertheless\n", empty)
		}
		users, err := assignRecords(all.Y, s, *alpha, *least)
		if err != nil {
			return err
		}
		if err := s.Write(*out, all.Split(users)); err != nil {
			return err
		}
		t := textTable("", "user", "records")
		for _, u := range users {
			t.Rows = append(t.Rows, textRow(fmt.Sprint(u.ID), fmt.Sprint(len(u.Rows))))
		}
		return t.Text(cmd.OutOrStdout())
	}
	return c
}

// absentClasses returns the classes that no record has.
func absentClasses(y []int, classes int) (out []int) {
	has := make([]bool, classes)
	for _, c := range y {
		has[c] = true
	}
	for c, present := range has {
		if !present {
			out = append(out, c)
		}
	}
	return out
}

func assignRecords(y []int, s flower.Study, alpha float64, least int) ([]federated.User, error) {
	if least < 1 {
		return nil, cli.Usagef("--least %d: every user needs a record", least)
	}
	if alpha == 0 && s.Users > 0 && least > len(y)/s.Users {
		return nil, cli.Usagef("--least %d: %d records for %d users", least, len(y), s.Users)
	}
	if alpha == 0 {
		return federated.IID(len(y), s.Users, s.Federation.Seed)
	}
	return federated.Dirichlet{Alpha: alpha, Least: least}.Split(y, s.Users, s.Federation.Seed)
}
