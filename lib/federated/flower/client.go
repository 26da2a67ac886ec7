// A user's work in one round, as the Flower client calls it.

package flower

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// Answer is what a user sends back besides the weights.
type Answer struct {
	User    int     `json:"user"`
	Records int     `json:"records"`
	Loss    float64 `json:"loss"` // the objective in the last local epoch
}

// RunClientRound does a user's work of one round (1, 2, ...) on their own records, from the
// weights p, which it does not change. LocalFederation does the same work in one process.
func (s Study) RunClientRound(ctx context.Context, r *model.Runner, p nn.Params, own Shard, user, round int) (nn.Params, Answer, error) {
	if user < 0 || user >= s.Users || round < 1 || round > s.Federation.Rounds {
		return nil, Answer{}, fmt.Errorf("user %d in round %d; the study has the users 0 to %d and the rounds 1 to %d",
			user, round, s.Users-1, s.Federation.Rounds)
	}
	if err := s.checkShard(own); err != nil {
		return nil, Answer{}, fmt.Errorf("user %d: %w", user, err)
	}
	work := s.task(func(rows []int) (train.Objective, error) { return own.objective(rows, s.Classes) })
	task, err := work(federated.UserRound{Round: round, User: user, Rows: rowRange(0, len(own.Y))})
	if err != nil {
		return nil, Answer{}, err
	}
	out, loss, err := task.Do(ctx, r, p, s.Federation.UserRoundSeed(round, user))
	if err != nil {
		return nil, Answer{}, fmt.Errorf("round %d, user %d: %w", round, user, err)
	}
	return out, Answer{User: user, Records: len(own.Y), Loss: loss}, nil
}
