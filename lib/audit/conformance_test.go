package audit_test

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/audit/lenstest"
)

func TestEveryLensConforms(t *testing.T) {
	for _, world := range [][]audit.Lens{audit.FolderLenses(), audit.CaseLenses()} {
		names := map[string]bool{}
		for _, l := range world {
			if names[l.Name()] {
				t.Errorf("two lenses are called %s", l.Name())
			}
			names[l.Name()] = true
			t.Run(l.Name(), func(t *testing.T) { lenstest.Run(t, l) })
		}
	}
}
