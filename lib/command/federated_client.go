// lethe federated client: the work of one user in one round.

package command

import (
	"encoding/json"
	"fmt"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated/flower"

	"github.com/spf13/cobra"
)

func newFederatedClient() *cobra.Command {
	c := &cobra.Command{
		Use:   "client --study study.json --shard FOLDER --user K --round N --in in.safetensors --out out.safetensors",
		Short: "Train one user's model in one round: weights in, weights out",
		Long: `Train a federation's weights on one user's records for one round, and print as JSON
the number of records and the loss. The folder of records has x.npy (n, d) and y.npy
(n,). The command reads nothing else and sends nothing: the program that carries
weights between users and server, such as Flower, starts it.

Memory: about five times the files of records, and the activations of a batch.`,
		Example: "  lethe federated client --study study.json --shard users/3 --user 3 --round 2 --in in.safetensors --out out.safetensors",
		Args:    cobra.NoArgs,
	}
	var study flower.Study
	var own flower.Shard
	in := inputs{c: c}
	addFile(&in, &study, "study", "the federation's study.json", flower.ReadStudy)
	addFile(&in, &own, "shard", "folder with the user's records", flower.ReadShard)
	f := c.Flags()
	from := f.String("in", "", "safetensors file: the weights of the round")
	to := f.String("out", "", "safetensors file to write the user's weights to")
	user, round := f.Int("user", 0, "the user's number, from 0"), f.Int("round", 0, "the round, from 1")
	requireFlags(c, "study", "shard", "user", "round", "in", "out")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, err := in.read(); err != nil {
			return err
		}
		p, _, err := study.ReadWeights(*from)
		if err != nil {
			return fmt.Errorf("--in: %w", err)
		}
		e, err := engine.Open("")
		if err != nil {
			return err
		}
		defer e.Close()
		r, err := study.Runner(e)
		if err != nil {
			return err
		}
		p, result, err := study.RunClientRound(cmd.Context(), r, p, own, *user, *round)
		if err != nil {
			return err
		}
		if err := flower.WriteWeights(*to, p, nil); err != nil {
			return err
		}
		return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
	}
	return c
}
