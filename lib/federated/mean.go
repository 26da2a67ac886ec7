package federated

import (
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/nn"
)

// Mean says how users are weighted in the mean.
type Mean int

const (
	// ByRecords weights a user by the number of their records in the round, as McMahan et
	// al. do.
	ByRecords Mean = iota
	// Equally weights all users alike, as BlindU's program does.
	Equally
)

// weight returns the weight of a user with this many records.
func (m Mean) weight(records int) float64 {
	if m == Equally {
		return 1
	}
	return float64(records)
}

// Update is what a user sends back.
type Update struct {
	User    int
	Records int // number of records trained on
	Params  nn.Params
}

// Average returns the mean of the updates, added up in float64 in the order given and
// rounded once to float32. It returns an error that names the user for two updates of one
// user, for weights that are not finite, and for weights of another model.
func (m Mean) Average(updates []Update) (nn.Params, error) {
	if len(updates) == 0 {
		return nil, errors.New("federated: the mean of no weights")
	}
	s, seen := newSum(updates[0].Params), map[int]bool{}
	for _, u := range updates {
		if u.Records < 0 {
			return nil, fmt.Errorf("federated: user %d: %d records", u.User, u.Records)
		}
		if seen[u.User] {
			return nil, fmt.Errorf("federated: user %d sent twice", u.User)
		}
		seen[u.User] = true
		if err := s.add(u.Params, m.weight(u.Records)); err != nil {
			return nil, fmt.Errorf("federated: user %d: %w", u.User, err)
		}
	}
	return s.mean()
}

// sum is a weighted sum of weights.
type sum struct {
	like   nn.Params
	values [][]float64
	counts float64
}

func newSum(like nn.Params) *sum {
	s := &sum{like: like}
	for _, p := range like {
		s.values = append(s.values, make([]float64, len(p.Data)))
	}
	return s
}

func (s *sum) add(p nn.Params, count float64) error {
	if err := nn.SameShape(p, s.like); err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}
	for i, t := range p {
		for j, v := range t.Data {
			s.values[i][j] += float64(count * float64(v))
		}
	}
	s.counts += count
	return nil
}

func (s *sum) mean() (nn.Params, error) {
	if !(s.counts > 0) {
		return nil, fmt.Errorf("federated: the mean is over %v records", s.counts)
	}
	out := s.like.Clone()
	for i, t := range out {
		for j := range t.Data {
			t.Data[j] = float32(s.values[i][j] / s.counts)
		}
	}
	if err := out.Check(); err != nil {
		return nil, fmt.Errorf("federated: the mean: %w", err)
	}
	return out, nil
}
