package audit

import "testing"

// Shadow models that had forgotten records more often than held-out ones give an AUC above one half without a memory.
func TestUnlikeNumbersOfShadowModelsAreNoEvidence(t *testing.T) {
	design := func(ours, theirs int) (shadows []*Arrays, forget, heldOut []int) {
		for range 16 {
			shadows = append(shadows, &Arrays{In: make([]bool, 400)})
		}
		for i := range 400 {
			n := ours
			if i >= 200 {
				n = theirs
				heldOut = append(heldOut, i)
			} else {
				forget = append(forget, i)
			}
			n += i%3 - 1
			for k := range n {
				shadows[(k+i)%16].In[i] = true
			}
		}
		return shadows, forget, heldOut
	}
	for _, c := range []struct {
		ours, theirs int
		want         Call
	}{{8, 8, ""}, {14, 2, CannotTell}, {12, 8, CannotTell}, {2, 14, CannotTell}} {
		if got := unlikeCounts(design(c.ours, c.theirs)); got.Call != c.want {
			t.Errorf("%d and %d of 16: %v", c.ours, c.theirs, got)
		}
	}
}
