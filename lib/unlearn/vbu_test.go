// Tests of vbu.go.

package unlearn

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/federated"
)

// In the first step the codes are the original's, so that the divergence and its gradient
// are 0 and every weight of it takes the same step. The loss in the second step is then
// linear in the weight, and rises.
func TestVBUsDivergenceCountsByItsWeight(t *testing.T) {
	r := newServer(t).request()
	second := func(weight *float64) float64 {
		_, rep, err := Apply(t.Context(), VBU{Divergence: weight, Epochs: 2, LR: 0.01, Batch: r.Forget.X.Rows}, r)
		if err != nil || len(rep.History) != 2 {
			t.Fatal(rep, err)
		}
		return rep.History[1].Loss
	}
	none, one, three := second(new(0.0)), second(nil), second(new(3.0))
	if !(one > none+1e-6) || math.Abs((three-none)-3*(one-none)) > 0.02*(three-none) {
		t.Errorf("the loss of the second step is %v without a divergence, %v with the paper's, %v with three times as much", none, one, three)
	}
}

// The retained records that a user trains on are drawn anew in every round, and
// independently for every user.
func TestAShareIsAUsersAndARoundsOwn(t *testing.T) {
	r := Request{Seed: 7}
	seen := map[string]federated.UserRound{}
	for round := range 3 {
		for user := range 3 {
			at := federated.UserRound{Round: round, User: user}
			share := r.keptRows(at, 30, 12)
			if again := r.keptRows(at, 30, 12); len(share) != 12 || !slices.Equal(share, again) {
				t.Errorf("%+v: %v, again %v", at, share, again)
			}
			key := fmt.Sprint(share)
			if before, twice := seen[key]; twice {
				t.Errorf("%+v draws what %+v draws", at, before)
			}
			seen[key] = at
		}
	}
	if got := r.keptRows(federated.UserRound{}, 5, 12); len(got) != 5 {
		t.Errorf("%d of five records", len(got))
	}
}
