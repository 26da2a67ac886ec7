// The nearest-neighbour attack: a record is scored by how close its code is to
// codes of known members.

package generative

import (
	"cmp"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/features"
)

// Neighbours scores a record by the negative mean distance of its code to the K nearest codes of
// known members. The index holds retained records and the members under attack. A member is not its
// own neighbour, and for each non-member one member is left out in turn, so that both are compared
// with equally many.
//
// Null: AUC 0.5. The attack asks whether members are closer to the training data than other records
// of their kind: rarity alone moves both sides.
//
// Difference from the published program: members are in the index. CodedNeighbours is the program's
// attack.
type Neighbours struct {
	K int `json:"k,omitempty"` // 0: 10
	// ExcludeMembers leaves the members under attack out of the index.
	ExcludeMembers bool `json:"strangers,omitempty"`
}

// CodedNeighbours is the attack of the published program: the index holds only retained records,
// never the members under attack. Members of a rare kind are then farther away than all others: its
// AUC of 0.007 measures rarity.
func CodedNeighbours() Neighbours { return Neighbours{ExcludeMembers: true} }

var _ Attack = Neighbours{}

// Name implements Attack.
func (a Neighbours) Name() string {
	if a.ExcludeMembers {
		return "neighbours-coded"
	}
	return "neighbours"
}

// About implements Attack.
func (a Neighbours) About() string {
	if a.ExcludeMembers {
		return "negative distance to retained records' nearest codes, members left out"
	}
	return "negative distance to the nearest codes of known members"
}

// Scores implements Attack.
func (a Neighbours) Scores(e Evidence) (attack.Samples, error) {
	if e.Retained == nil {
		return attack.Samples{}, fmt.Errorf("retained records: %w", errNoCodes)
	}
	index, members := e.Retained, 0
	if !a.ExcludeMembers {
		var err error
		if index, members, err = stackCodes(e.Model.Members.Codes, e.Retained); err != nil {
			return attack.Samples{}, err
		}
	}
	return e.Model.score(func(v View) ([]float64, error) { return a.scores(v.Codes, index, members) })
}

// scores scores records against an index whose first rows are the members.
func (a Neighbours) scores(codes, index array.Rows, members int) ([]float64, error) {
	if codes == nil {
		return nil, errNoCodes
	}
	n := features.Neighbours{Codes: codes, Reference: index, K: cmp.Or(a.K, 10)}
	if members > 0 {
		n.Exclude = func(i int) int { return i % members } // a member itself
	}
	out, err := n.MeanDistances()
	for i := range out {
		out[i] = -out[i]
	}
	return out, err
}

// stackCodes returns the members' codes followed by the retained ones, and the number of members.
func stackCodes(members, retained array.Rows) (array.Rows, int, error) {
	if members == nil {
		return nil, 0, fmt.Errorf("members: %w", errNoCodes)
	}
	m, d := members.Shape()
	n, other := retained.Shape()
	if d != other || m == 0 {
		return nil, 0, fmt.Errorf("%d members with codes of %d axes, retained ones have %d", m, d, other)
	}
	out := array.New[float64](m+n, d)
	for i := range out.Rows {
		if i < m {
			copy(out.Row(i), members.Read(out.Row(i), i))
		} else {
			copy(out.Row(i), retained.Read(out.Row(i), i-m))
		}
	}
	return out, m, nil
}
