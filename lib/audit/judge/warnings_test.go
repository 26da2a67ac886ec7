package judge

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array/npy"
)

// groupedTexts is a folder of texts whose forgotten records are of so many groups, and all others of ten.
func groupedTexts(t *testing.T, forgotten int) string {
	t.Helper()
	dir, groups := writeTexts(t, true), make([]int, textRecords)
	for i := range groups {
		if groups[i] = 1000 + i%10; i < textForget {
			groups[i] = i % forgotten
		}
	}
	must(t, npy.WriteIndices(filepath.Join(dir, "group.npy"), groups))
	return dir
}

// Exchanged models are noted where the forgotten records are of few groups, too, and not where they are so few that
// chance makes all say the same.
func TestExchangedModelsAreNotedWithFewGroups(t *testing.T) {
	for groups, want := range map[int]bool{5: false, 6: true, 8: true, 20: true} {
		for _, other := range []string{"unlearned", "retrained-1"} {
			dir := groupedTexts(t, groups)
			noted := func() bool {
				e, err := Open(dir)
				must(t, err)
				return strings.Contains(strings.Join(e.Notes, "\n"), "are the two models exchanged?")
			}
			if noted() {
				t.Errorf("%d groups: noted before", groups)
			}
			must(t, removePatched(dir, "original", other))
			exchangeFiles(t, dir, "original", other)
			if noted() != want {
				t.Errorf("%d groups, original and %s exchanged: noted %t", groups, other, !want)
			}
		}
	}
}

// A model that unlearned nothing fits some records better by chance, and the records of a group together.
func TestModelsThatDifferByChanceAreNotExchanged(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, groups := range []int{6, 9, 12, 40} {
		noted := 0
		for range 400 {
			e := &Evidence{}
			e.Records, e.Groups = 120, make([]int, 120)
			better := make([]bool, 120)
			coin := make([]bool, groups)
			for g := range coin {
				coin[g] = rng.IntN(2) == 0
			}
			for i := range better {
				e.Groups[i] = i % groups
				better[i] = coin[i%groups]
			}
			if e.surelyMore(better, rowsOf(120)) {
				noted++
			}
		}
		if noted > 14 { // of 6 groups, one in 64 says the same
			t.Errorf("%d groups: %d of 400 noted", groups, noted)
		}
	}
}

func removePatched(dir string, models ...string) error {
	for _, m := range models {
		if err := os.RemoveAll(filepath.Join(dir, m, "patched.npy")); err != nil {
			return err
		}
	}
	return nil
}
