package paper

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// CountRuns returns the number of distinct run IDs, in any order, and a hash of all of them for
// report.Provenance.
func CountRuns(ids []string) (n int, hash string) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	h := sha256.Sum256([]byte(strings.Join(ids, "\n")))
	return len(ids), hex.EncodeToString(h[:])
}
