// Claims: reading them from outputs, and comparing two executions.

package notebook

import (
	"fmt"
	"strings"
)

// Claim is a machine-checked statement that a cell has printed.
type Claim struct {
	Cell      int // number of the cell, from 1
	Holds     bool
	Statement string // the same in every run
	Evidence  string // with the numbers of this run
}

// How lib/nb prints a claim.
const (
	claimHolds = "claim holds: "
	claimFails = "claim FAILS: "
	evidence   = " — "
)

// String prints the claim as the cell did.
func (c Claim) String() string {
	s := claimFails
	if c.Holds {
		s = claimHolds
	}
	s += c.Statement
	if c.Evidence != "" {
		s += evidence + c.Evidence
	}
	return s
}

// Claims returns the claims in the notebook's outputs, in order.
func (nb *Notebook) Claims() []Claim {
	var found []Claim
	for i, c := range nb.Cells {
		for _, o := range c.Outputs {
			for line := range strings.SplitSeq(o.Text+"\n"+o.text("text/plain"), "\n") {
				if claim, ok := parseClaim(line); ok {
					claim.Cell = i + 1
					found = append(found, claim)
				}
			}
		}
	}
	return found
}

func parseClaim(line string) (c Claim, ok bool) {
	line = strings.TrimSpace(line)
	rest, holds := strings.CutPrefix(line, claimHolds)
	if !holds {
		if rest, ok = strings.CutPrefix(line, claimFails); !ok {
			return c, false
		}
	}
	c.Holds = holds
	c.Statement = rest
	if at := strings.LastIndex(rest, evidence); at >= 0 {
		c.Statement, c.Evidence = rest[:at], rest[at+len(evidence):]
	}
	return c, true
}

// ClaimsDiff is a difference between two executions. One of the two is nil if only the
// other has the claim.
type ClaimsDiff struct {
	Committed, Now *Claim
}

// String names the cell and shows both claims.
func (d ClaimsDiff) String() string {
	cell, committed, now := 0, "not there", "not there"
	if d.Committed != nil {
		cell, committed = d.Committed.Cell, d.Committed.String()
	}
	if d.Now != nil {
		cell, now = d.Now.Cell, d.Now.String()
	}
	return fmt.Sprintf("cell %d\n  committed: %s\n  now:       %s", cell, committed, now)
}

// CompareClaims compares two executions of a notebook: the same statements, in the same
// order, with the same verdicts. Evidence may differ.
func CompareClaims(committed, now []Claim) []ClaimsDiff {
	var diffs []ClaimsDiff
	for _, p := range align(committed, now) {
		if p.Committed == nil || p.Now == nil || p.Committed.Holds != p.Now.Holds {
			diffs = append(diffs, p)
		}
	}
	return diffs
}

// align pairs equal statements along their longest common subsequence.
func align(a, b []Claim) []ClaimsDiff {
	common := make([][]int, len(a)+1) // of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i].Statement == b[j].Statement {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var pairs []ClaimsDiff
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i].Statement == b[j].Statement:
			pairs = append(pairs, ClaimsDiff{&a[i], &b[j]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			pairs = append(pairs, ClaimsDiff{Committed: &a[i]})
			i++
		default:
			pairs = append(pairs, ClaimsDiff{Now: &b[j]})
			j++
		}
	}
	return pairs
}
