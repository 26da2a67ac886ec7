package fishing

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/store"
)

// Rows carry the label of their case, by which tables find them: cases that differ in the
// label alone do not share what is stored.
func TestCasesOfOtherLabelsHaveOtherKeys(t *testing.T) {
	e := newEnv(t)
	of := briefStudy().Cases[0]
	opened, err := e.Lab().Case(t.Context(), of.setting(0))
	if err != nil {
		t.Fatal(err)
	}
	other := of
	other.Label += ", another name"
	id := func(k store.Key) string {
		t.Helper()
		id, err := k.ID()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for name, keyOf := range map[string]func(*lab.Lab, *lab.Case, Case) store.Key{
		"rows": key, "overlap": overlapKey,
		"within": func(l *lab.Lab, c *lab.Case, of Case) store.Key {
			return shadowStoreKey(l, c, ShadowModels{Case: of, Models: 4})
		},
	} {
		first := id(keyOf(e.Lab(), opened, of))
		if id(keyOf(e.Lab(), opened, other)) == first {
			t.Errorf("%s: two labels have one key", name)
		}
		if id(keyOf(e.Lab(), opened, of)) != first {
			t.Errorf("%s: one case has two keys", name)
		}
	}
}
