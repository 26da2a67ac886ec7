// lethe federated run: trains a federation in one process.

package command

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/federated/flower"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/report"

	"github.com/spf13/cobra"
)

func newFederatedRun() *cobra.Command {
	c := &cobra.Command{
		Use:   "run FOLDER [--out weights.safetensors] [--like weights.safetensors]",
		Short: "Train a federation in one process",
		Long: `Train a federation in one process, from the study and the records of all users in its
folder.

With --like the same users take part in every round as in the run that made that file,
over a network or here. The weights and the losses of all rounds must then be the
same, bit for bit: otherwise the command prints by how much they differ, and fails.

Memory: about six times the files of records, and the activations of a batch.`,
		Example: "  lethe federated run study --out weights.safetensors\n  lethe federated run study --like study/weights.safetensors --json",
		Args:    cobra.ExactArgs(1),
	}
	out := c.Flags().String("out", "", "safetensors file to write the weights to, with the rounds in its metadata")
	like := c.Flags().String("like", "", "safetensors file of another run, to compare with")
	cli.AnswerWith(c, func(cmd *cobra.Command, args []string) (cli.Answer, error) {
		s, err := flower.ReadStudy(args[0])
		if err != nil {
			return cli.Answer{}, err
		}
		if err := checkWritable(args[0], *out); err != nil {
			return cli.Answer{}, err
		}
		p, history, err := runFederation(cmd, s, args[0], *like)
		if err != nil {
			return cli.Answer{}, err
		}
		if *out != "" {
			if err := flower.WriteWeights(*out, p, history); err != nil {
				return cli.Answer{}, err
			}
		}
		a := cli.Answer{Value: history, Text: roundsTable(history).Text}
		if *like != "" {
			a.Err = compareWeights(cmd, s, p, history, *like)
		}
		return a, nil
	})
	return c
}

// checkWritable refuses, before the training, an output file that cannot be written, and
// the study itself.
func checkWritable(study, out string) error {
	if out == "" {
		return nil
	}
	if files.SameFile(out, flower.StudyFile(study)) {
		return cli.Usagef("--out: %s is the study", out)
	}
	if err := files.Writable(out); err != nil {
		return cli.Usagef("--out: %w", err)
	}
	return nil
}

// runFederation trains on all users' records. If like is given, the same users take part in
// each round as in the run that made like.
func runFederation(cmd *cobra.Command, s flower.Study, folder, like string) (nn.Params, []federated.Round, error) {
	users, err := s.ReadShards(folder)
	if err != nil {
		return nil, nil, err
	}
	f, err := s.LocalFederation(users)
	if err != nil {
		return nil, nil, err
	}
	if like != "" {
		_, history, err := s.ReadWeights(like)
		if err != nil {
			return nil, nil, fmt.Errorf("--like: %w", err)
		}
		if len(history) == 0 {
			return nil, nil, fmt.Errorf("--like: %s does not say which rounds it came from", like)
		}
		f.Rounds, f.Participation = len(history), federated.ReplayParticipation(history)
	}
	e, err := engine.Open("")
	if err != nil {
		return nil, nil, err
	}
	defer e.Close()
	r, err := s.Runner(e)
	if err != nil {
		return nil, nil, err
	}
	p, err := s.Initial()
	if err != nil {
		return nil, nil, err
	}
	ctx, task := progress.Start(cmd.Context(), "federated averaging of "+filepath.Base(folder), 0)
	defer task.Done()
	return federated.Run(ctx, r, p, f, federated.Hooks{})
}

func roundsTable(history []federated.Round) *report.Table {
	t := textTable("", "round", "answered", "silent", "loss")
	for _, h := range history {
		loss := ""
		if h.Loss != nil {
			loss = fmt.Sprintf("%.4f", *h.Loss)
		}
		t.Rows = append(t.Rows, textRow(fmt.Sprint(h.Round), formatUsers(h.Answered), formatUsers(h.Silent), loss))
	}
	return t
}

func formatUsers(users []int) string { return strings.Trim(fmt.Sprint(users), "[]") }

// compareWeights returns an error if the weights, or the loss of a round, differ from those
// of another run.
func compareWeights(cmd *cobra.Command, s flower.Study, p nn.Params, history []federated.Round, like string) error {
	other, rounds, err := s.ReadWeights(like)
	if err != nil {
		return err
	}
	if p.Hash() != other.Hash() {
		d, err := p.Displacement(other)
		if err != nil {
			return err
		}
		return fmt.Errorf("the weights are not those of %s: their relative distance is %.3g (another kind of engine rounds differently)", like, d)
	}
	if err := compareLosses(history, rounds); err != nil {
		return fmt.Errorf("the weights are those of %s: %w", like, err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "lethe: the weights and losses are those of %s, bit for bit\n", like)
	return nil
}

// compareLosses returns an error for the first round whose loss differs, or is missing in
// one of the runs.
func compareLosses(history, other []federated.Round) error {
	if len(history) != len(other) {
		return fmt.Errorf("but there are %d rounds, and %d in the other", len(history), len(other))
	}
	for i, h := range history {
		a, b := h.Loss, other[i].Loss
		switch {
		case a == nil && b == nil:
		case a == nil || b == nil:
			return fmt.Errorf("but one of the two runs has no loss of round %d", h.Round)
		case *a != *b:
			return fmt.Errorf("but the loss of round %d is %v, and %v in the other", h.Round, *a, *b)
		}
	}
	return nil
}
