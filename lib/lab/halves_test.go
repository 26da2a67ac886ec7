package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	owndata "github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/train"
)

// Held-out records are halved by groups where the split kept groups together: a method that learns from one half has seen nobody of the
// other. Without groups the halves are those that they were.
func TestHalvesOfHeldOutRecordsPartNoGroup(t *testing.T) {
	var b strings.Builder
	b.WriteString("person,height,smokes\n")
	for i := range 300 {
		fmt.Fprintf(&b, "P%d,%d,%s\n", i/5, 150+i*7%50, []string{"yes", "no"}[i*i%7%2])
	}
	path := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	open := func(options ...owndata.TableOption) *Case {
		data, err := owndata.ReadTable(path, append(options, owndata.Target("smokes"))...)
		if err != nil {
			t.Fatal(err)
		}
		c, err := newLab(t).Case(t.Context(), Setting{Data: data, Forget: Random{Fraction: 0.1}, Fit: train.Config{Epochs: 1}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open(owndata.Group("person"))
	seen, read := c.heldOutRows(), c.EvalRows()
	if len(seen)+len(read) != c.Test.X.Rows || len(seen) < c.Test.X.Rows/3 || len(read) < c.Test.X.Rows/3 || !slices.IsSorted(seen) {
		t.Fatalf("%d and %d of %d rows", len(seen), len(read), c.Test.X.Rows)
	}
	groups, unit := c.Groups()
	held := map[int]bool{}
	for _, row := range seen {
		held[groups[c.Train.X.Rows+row]] = true
	}
	for _, row := range read {
		if held[groups[c.Train.X.Rows+row]] {
			t.Errorf("row %d is of a %s of the other half", row, unit)
		}
	}
	plain := open(owndata.Ignore("person"))
	if n := len(plain.heldOutRows()); plain.Problem.TestGroups != nil || n != (plain.Test.X.Rows+1)/2 {
		t.Errorf("without groups %d of %d rows are in the first half", n, plain.Test.X.Rows)
	}
}
