package learned

import (
	"errors"
	"fmt"
)

// groups returns the groups of the records of stacked, nil if the protocol does not use them.
func (p Protocol) groups(q Target) ([]int, error) {
	if !p.Residual {
		return nil, nil
	}
	if q.Groups == nil {
		return nil, errors.New("residual features need groups, which are not given")
	}
	g := *q.Groups
	if len(g.Members) != q.Model.Members.Rows || len(g.Nonmembers) != q.Model.Nonmembers.Rows {
		return nil, fmt.Errorf("groups of %d members and %d non-members, there are %d and %d",
			len(g.Members), len(g.Nonmembers), q.Model.Members.Rows, q.Model.Nonmembers.Rows)
	}
	return append(append([]int(nil), g.Members...), g.Nonmembers...), nil
}

// groupMeans holds the means of the known records of every group.
type groupMeans struct {
	groups []int             // of the records of stacked
	mean   map[int][]float64 // of a group's known records, both roles together
	both   []int             // the known records of groups with some of either role
}

func newGroupMeans(source Records, groups, known []int) groupMeans {
	all, out := source.stacked(), groupMeans{groups, map[int][]float64{}, nil}
	n, members := map[int]float64{}, map[int]float64{}
	for _, i := range known {
		n[groups[i]]++
		if i < source.Members.Rows {
			members[groups[i]]++
		}
	}
	for _, i := range known {
		g := groups[i]
		if out.mean[g] == nil {
			out.mean[g] = make([]float64, all.Cols)
		}
		for j, v := range all.Row(i) {
			out.mean[g][j] += v / n[g]
		}
		if 0 < members[g] && members[g] < n[g] {
			out.both = append(out.both, i)
		}
	}
	return out
}

// residuals returns features minus their group's mean, or 0 if no record of the group is known.
func (g groupMeans) residuals(r Records) Records {
	out := r.gather(indices(r.size())) // a copy
	row := func(i int) []float64 {
		if i < r.Members.Rows {
			return out.Members.Row(i)
		}
		return out.Nonmembers.Row(i - r.Members.Rows)
	}
	for i, group := range g.groups {
		mean := g.mean[group]
		if mean == nil {
			clear(row(i))
		}
		for j, m := range mean {
			row(i)[j] -= m
		}
	}
	return out
}
