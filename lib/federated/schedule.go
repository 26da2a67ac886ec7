package federated

import (
	"cmp"
	"fmt"
	"slices"
)

// Request is what a user asks to have forgotten.
type Request struct {
	Round int `json:"round"` // the first round that obeys it, 1, 2, ...
	User  int `json:"user"`
	// Leaves says that the user goes, with all his records; otherwise he stays and
	// erases some of his rows.
	Leaves bool  `json:"leaves,omitempty"`
	Rows   []int `json:"rows,omitempty"`
}

// Schedule is who asks what, and when. A row stands for one record of one person:
// once anybody who holds it has erased it, nobody trains on it any more.
type Schedule []Request

// Check reports a request that these users cannot make.
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
		return fmt.Errorf("of user %d, who is none", q.User)
	case q.Leaves && len(q.Rows) > 0:
		return fmt.Errorf("user %d leaves, and names rows beside", q.User)
	case !q.Leaves && len(q.Rows) == 0:
		return fmt.Errorf("user %d erases nothing", q.User)
	}
	if row, twice := findDuplicate(q.Rows); twice {
		return fmt.Errorf("user %d erases row %d twice", q.User, row)
	}
	for _, row := range q.Rows {
		if !slices.Contains(users[k].Rows, row) {
			return fmt.Errorf("user %d erases row %d, which is not his", q.User, row)
		}
	}
	return nil
}

// erasedByRound are the rows that nobody trains on in a round.
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

// UsersAt is who may take part in a round, in the order of their numbers, and the rows
// that each may train on, in his own order. A user who has left, or has no rows any
// more, is not among them.
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

// ErasedRows are the rows of one of the users that nobody trains on in a round, in his
// own order: what a method that works on erased records is to forget.
func (s Schedule) ErasedRows(u User, users []User, round int) []int {
	gone := s.erasedByRound(users, round)
	return slices.DeleteFunc(slices.Clone(u.Rows), func(row int) bool { return !gone[row] })
}
