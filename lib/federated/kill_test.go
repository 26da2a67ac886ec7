// A killed run ends in the same bits.

package federated

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m, child) }

// ended is the result of a run.
type ended struct {
	Weights string
	History []Round
}

// child is the process that is killed. It saves every round and prints first what it finds
// saved, then its result.
func child(dir string) error {
	e, err := enginetest.Open()
	if err != nil {
		return err
	}
	r, err := model.NewRunner(e, small)
	if err != nil {
		return err
	}
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	data := newTable(200)
	users, err := Dirichlet{Alpha: 1, Least: 1}.Split(data.y, 6, 2)
	if err != nil {
		return err
	}
	f := Federation{Config: Config{Rounds: 40, Fraction: 0.7, Silent: 0.2, Seed: 5}, Users: users, Work: LocalTraining(data.objective, local),
		Requests: Schedule{{Round: 20, User: 1, Leaves: true}}}
	run, err := s.Do(context.Background(), store.Key{Recipe: "federated"}, func(ctx context.Context, w *store.Work) error {
		h := Hooks{SaveEvery: 1, Save: func(s *State) error { return w.SaveCheckpoint(s.File()) }}
		file, text, ok, err := w.LoadCheckpoint()
		if err != nil {
			return err
		}
		if ok {
			if h.Resume, err = LoadState(file, text, initial()); err != nil {
				return err
			}
			fmt.Printf("resumed after %d rounds\n", h.Resume.RoundsDone())
		}
		p, history, err := Run(ctx, r, initial(), f, h)
		if err != nil {
			return err
		}
		return w.WriteJSON("ended.json", ended{p.Hash(), history})
	})
	if err != nil {
		return err
	}
	var out ended
	if err := run.JSON("ended.json", &out); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

// A run that is killed repeatedly ends in the same weights and the same history as an
// undisturbed one.
func TestARunThatIsKilledEndsInTheSameBits(t *testing.T) {
	storetest.Kills{Times: 6, Seed: 1, Resumed: func(*testing.T, string) {}}.Run(t)
}
