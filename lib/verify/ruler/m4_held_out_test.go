package ruler

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// Held-out records are ranked as forget records with the same embeddings are, among the same
// gallery, also under a cap.
func TestHeldOutRecordsAreRankedLikeForgetRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	all := gaussian(rng, 300, 8)
	forget, retain := split(rng, 300, 40)
	held := all.Gather(forget)
	for _, opt := range []Options{{}, {GalleryCap: 50}} {
		want, ranks, err := M4(Evidence{Unlearned: all, Forget: forget, Retain: retain}, opt)
		if err != nil {
			t.Fatal(err)
		}
		got, gotRanks, err := M4HeldOut(Evidence{Unlearned: all, HeldOut: &held, Retain: retain}, opt)
		if err != nil || got.Value != want.Value || !slices.Equal(ranks, gotRanks) {
			t.Errorf("%v and %v, %v", got, want, err)
		}
	}
}

func TestHeldOutEmbeddingsThatDoNotFitAreRefused(t *testing.T) {
	u, narrow, retain := ones(6, 3), ones(2, 2), []int{2, 3, 4}
	short := array.Matrix[float64]{Rows: 2, Cols: 3, Data: make([]float64, 5)}
	for want, e := range map[string]Evidence{
		"are missing":                    {Unlearned: u, Retain: retain},
		"have 2 columns, those of the":   {Unlearned: u, HeldOut: narrow, Retain: retain},
		"5 values do not fill 2 x 3":     {Unlearned: u, HeldOut: &short, Retain: retain},
		"forget set is empty":            {Unlearned: u, HeldOut: ones(0, 3), Retain: retain},
		"retain set is empty":            {Unlearned: u, HeldOut: ones(2, 3)},
		"unlearned embeddings, row 6: n": {Unlearned: u, HeldOut: zeroRow(ones(2, 3), 0), Retain: retain},
	} {
		if _, _, err := M4HeldOut(e, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
