package kernel

import (
	"encoding/json"
	"fmt"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated/flower"

	"github.com/spf13/cobra"
)

// clientFiles are the paths given to federated client.
type clientFiles struct{ study, shard, in, out string }

func newFederatedClient() *cobra.Command {
	c := &cobra.Command{
		Use:   "client --study study.json --shard FOLDER --user K --round N --in in.safetensors --out out.safetensors",
		Short: "One user's work of one round: weights in, weights out",
		Long: `Train a federation's weights on one user's records, as he does in one round, and
print as JSON how many records he has and his loss. The folder of his records has
x.npy (n, d) and y.npy (n,). Nothing else is read and nothing is sent: whatever
carries weights between users and server, Flower for instance, starts it.

Memory: about five times the files of records, and the network's activations of a batch.`,
		Example: "  lethe federated client --study study.json --shard users/3 --user 3 --round 2 --in in.safetensors --out out.safetensors",
		Args:    cobra.NoArgs,
	}
	var files clientFiles
	f := c.Flags()
	f.StringVar(&files.study, "study", "", "the federation's study.json")
	f.StringVar(&files.shard, "shard", "", "folder with the user's records")
	f.StringVar(&files.in, "in", "", "safetensors file: the weights of the round")
	f.StringVar(&files.out, "out", "", "safetensors file to write the user's weights to")
	user, round := f.Int("user", 0, "the user's number, from 0"), f.Int("round", 0, "the round, from 1")
	required(c, "study", "shard", "user", "round", "in", "out")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		answer, err := files.work(cmd, *user, *round)
		if err != nil {
			return err
		}
		return json.NewEncoder(cmd.OutOrStdout()).Encode(answer)
	}
	return c
}

func (f clientFiles) work(cmd *cobra.Command, user, round int) (flower.Answer, error) {
	s, err := readFlag("study", f.study, flower.ReadStudy)
	if err != nil {
		return flower.Answer{}, err
	}
	own, err := readFlag("shard", f.shard, flower.ReadShard)
	if err != nil {
		return flower.Answer{}, err
	}
	p, _, err := s.ReadWeights(f.in)
	if err != nil {
		return flower.Answer{}, fmt.Errorf("--in: %w", err)
	}
	e, err := engine.Open("")
	if err != nil {
		return flower.Answer{}, err
	}
	defer e.Close()
	r, err := s.Runner(e)
	if err != nil {
		return flower.Answer{}, err
	}
	p, answer, err := s.Client(cmd.Context(), r, p, own, user, round)
	if err != nil {
		return flower.Answer{}, err
	}
	return answer, flower.WriteWeights(f.out, p, nil)
}
