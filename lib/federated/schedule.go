package federated

import (
	"cmp"
	"fmt"
	"slices"
)

// Request is what a user asks to have forgotten.
type Request struct {
	Round int `json:"round"` // the first round that respects it, 1, 2, ...
	User  int `json:"user"`
	// Leaves says that the user leaves with all of their records; otherwise they stay and
	// erase some rows.
	Leaves bool  `json:"leaves,omitempty"`
	Rows   []int `json:"rows,omitempty"`
}

// Schedule lists who asks for what, and when. A row stands for one record: once any holder
// of it has erased it, no user trains on it any more.
type Schedule []Request

// Check returns an error for a request that these users cannot make.
func (s Schedule) Check(users []User) error {
	for i, q := range s {
		if err := q.check(users); err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
	}
	return nil
}

func (q Request) check(users []User) error {
	k := slices.IndexFunc(users, func(u User) bool { return u.ID == q.User })
	switch {
	case q.Round < 1:
		return fmt.Errorf("from round %d on; the first is 1", q.Round)
	case k < 0:
		return fmt.Errorf("of user %d, who does not exist", q.User)
	case q.Leaves && len(q.Rows) > 0:
		return fmt.Errorf("user %d leaves and must not name rows", q.User)
	case !q.Leaves && len(q.Rows) == 0:
		return fmt.Errorf("user %d erases nothing", q.User)
	}
	if row, twice := findDuplicate(q.Rows); twice {
		return fmt.Errorf("user %d erases row %d twice", q.User, row)
	}
	for _, row := range q.Rows {
		if !slices.Contains(users[k].Rows, row) {
			return fmt.Errorf("user %d erases row %d, which they do not have", q.User, row)
		}
	}
	return nil
}

// erasedByRound returns the rows that no user trains on in a round.
func (s Schedule) erasedByRound(users []User, round int) map[int]bool {
	out := map[int]bool{}
	for _, q := range s {
		if q.Round > round {
			continue
		}
		rows := q.Rows
		if q.Leaves {
			rows = users[slices.IndexFunc(users, func(u User) bool { return u.ID == q.User })].Rows
		}
		for _, row := range rows {
			out[row] = true
		}
	}
	return out
}

// UsersAt returns the users who may take part in a round, by ascending ID, with the rows
// that each may train on, in the user's order. Users who have left or have no rows are left
// out.
func (s Schedule) UsersAt(users []User, round int) []User {
	gone := s.erasedByRound(users, round)
	var out []User
	for _, u := range users {
		kept := slices.DeleteFunc(slices.Clone(u.Rows), func(row int) bool { return gone[row] })
		if len(kept) > 0 && !s.hasLeft(u.ID, round) {
			out = append(out, User{ID: u.ID, Rows: kept})
		}
	}
	slices.SortFunc(out, func(a, b User) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (s Schedule) hasLeft(user, round int) bool {
	return slices.ContainsFunc(s, func(q Request) bool { return q.Leaves && q.User == user && q.Round <= round })
}

// ErasedRows returns the rows of a user that no user trains on in a round, in the user's
// order: what a method that works on erased records has to forget.
func (s Schedule) ErasedRows(u User, users []User, round int) []int {
	gone := s.erasedByRound(users, round)
	return slices.DeleteFunc(slices.Clone(u.Rows), func(row int) bool { return !gone[row] })
}
