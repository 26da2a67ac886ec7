// The records of one user: files and checks.

package flower

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/train"
)

// Shard is the records of one user.
type Shard struct {
	X array.Matrix[float32] // one record per row
	Y []int                 // their classes, 0, 1, ...
}

// ReadShard reads a user's folder: x.npy (n, features) and y.npy (n).
func ReadShard(folder string) (Shard, error) {
	return ReadRecords(filepath.Join(folder, "x.npy"), filepath.Join(folder, "y.npy"))
}

// ReadRecords reads records (n, features), as float32, and their classes (n).
func ReadRecords(x, y string) (Shard, error) {
	m, err := npy.ReadSingle(x)
	if err != nil {
		return Shard{}, err
	}
	s := Shard{X: m}
	if err := s.X.Check(x); err != nil {
		return s, err
	}
	if s.Y, err = npy.ReadClasses(y); err != nil {
		return s, err
	}
	if len(s.Y) != s.X.Rows {
		return s, fmt.Errorf("%s: %d records, %s: %d classes", x, s.X.Rows, y, len(s.Y))
	}
	return s, nil
}

// ReadShards reads the records of all users of a federation's folder.
func (s Study) ReadShards(folder string) ([]Shard, error) {
	there, err := files.List(filepath.Join(folder, usersFolder), "", "")
	if err != nil {
		return nil, err
	}
	there = slices.DeleteFunc(there, func(path string) bool { return filepath.Base(path)[0] == '.' })
	if len(there) != s.Users {
		return nil, fmt.Errorf("%s has %d users, the study %d", filepath.Join(folder, usersFolder), len(there), s.Users)
	}
	var out []Shard
	for k := range s.Users {
		u, err := ReadShard(userFolder(folder, k))
		if err != nil {
			return nil, fmt.Errorf("user %d: %w", k, err)
		}
		out = append(out, u)
	}
	return out, nil
}

func (s Shard) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := npy.Write(filepath.Join(folder, "x.npy"), s.X); err != nil {
		return err
	}
	return npy.WriteIndices(filepath.Join(folder, "y.npy"), s.Y)
}

// Split returns the part of the records that each user has.
func (s Shard) Split(users []federated.User) []Shard {
	var out []Shard
	for _, u := range users {
		out = append(out, s.gather(u.Rows))
	}
	return out
}

func (s Shard) gather(rows []int) Shard {
	out := Shard{X: s.X.Gather(rows), Y: make([]int, len(rows))}
	for i, row := range rows {
		out.Y[i] = s.Y[row]
	}
	return out
}

// Classes returns the highest class plus one.
func (s Shard) Classes() int {
	most := math.MinInt
	for _, y := range s.Y {
		most = max(most, y)
	}
	return most + 1
}

// objective returns the cross-entropy on the given rows.
func (s Shard) objective(rows []int, classes int) (train.Objective, error) {
	part := s.gather(rows)
	return train.Objective{{X: part.X, Targets: []train.Target{train.CrossEntropy(part.Y, classes, 1)}}}, nil
}

// checkShard returns an error for records that do not fit the study's network.
func (s Study) checkShard(u Shard) error {
	if len(u.Y) == 0 || u.X.Cols != s.Features {
		return fmt.Errorf("%d records of %d features, the study's have %d", len(u.Y), u.X.Cols, s.Features)
	}
	for i, y := range u.Y {
		if y < 0 || y >= s.Classes {
			return fmt.Errorf("record %d is of class %d, the study has the classes 0 to %d", i, y, s.Classes-1)
		}
	}
	return nil
}
