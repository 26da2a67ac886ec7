// The nearest-neighbour attack: a record is scored by how close its code is to
// codes of known members.

package generative

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
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
func (a Neighbours) Scores(e Evidence) ([]float64, error) {
	if e.Model.Codes == nil || e.Retained == nil {
		return nil, errors.New("there are no codes of the records under attack, or none of retained ones")
	}
	n := features.Neighbours{Codes: e.Model.Codes, Reference: e.Retained, K: cmp.Or(a.K, 10)}
	if !a.ExcludeMembers {
		members, without, err := e.members()
		if err != nil {
			return nil, err
		}
		if n.Reference, err = stackCodes(members, e.Model.Codes, e.Retained); err != nil {
			return nil, err
		}
		n.Exclude = func(i int) int { return without[i] }
	}
	out, err := n.MeanDistances()
	for i := range out {
		out[i] = -out[i]
	}
	return out, err
}

// members returns the positions of the members, and for every record the member that is not its
// neighbour, as an index into these: itself, or for non-members each in turn.
func (e Evidence) members() (members, without []int, err error) {
	rows, _ := e.Model.Codes.Shape()
	if len(e.Member) != rows {
		return nil, nil, fmt.Errorf("membership of %d records, codes of %d", len(e.Member), rows)
	}
	for i, in := range e.Member {
		if in {
			members = append(members, i)
		}
	}
	if len(members) == 0 {
		return nil, nil, errors.New("there are no members")
	}
	seen := map[bool]int{}
	for _, in := range e.Member {
		without = append(without, seen[in]%len(members))
		seen[in]++
	}
	return members, without, nil
}

// stackCodes returns the members' codes followed by the retained ones.
func stackCodes(members []int, codes, retained array.Rows) (array.Rows, error) {
	_, d := codes.Shape()
	n, other := retained.Shape()
	if d != other {
		return nil, fmt.Errorf("codes of %d axes, retained ones have %d", d, other)
	}
	out := array.New[float64](len(members)+n, d)
	for k, i := range members {
		copy(out.Row(k), codes.Read(out.Row(k), i))
	}
	for i := range n {
		row := out.Row(len(members) + i)
		copy(row, retained.Read(row, i))
	}
	return out, nil
}
