package audit_test

import (
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
)

// Two groups show nothing, however many records they have: the verdict is withheld, as of every lens.
func TestSubsetsNeedGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := array.New[float64](240, 4)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for groups, want := range map[int]audit.Call{2: audit.TooFew, 8: ""} {
		e := &audit.Evidence{Records: 240, Groups: make([]int, 240)}
		for i := range 240 {
			set := []*[]int{&e.Forget, &e.Retain, &e.HeldOut}[i/80]
			*set = append(*set, i)
			e.Groups[i] = i/80*100 + i%groups
		}
		r, err := audit.Subsets{Draws: 4}.Read(e, &audit.Arrays{Embedding: inMemory{&x}})
		if err != nil {
			t.Fatal(err)
		}
		if r.NoEvidence.Call != want {
			t.Errorf("%d groups: %v, want %q", groups, r.NoEvidence, want)
		}
	}
}
