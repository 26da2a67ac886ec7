package paper

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// CountRuns returns how many different runs of the store there are among ids, in
// any order, and a hash that stands for them all in report.Provenance.
func CountRuns(ids []string) (n int, hash string) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	h := sha256.Sum256([]byte(strings.Join(ids, "\n")))
	return len(ids), hex.EncodeToString(h[:])
}
