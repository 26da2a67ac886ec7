// Tests of seed.go.

package nb

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
)

func TestASeedMovesWithTheEnvironment(t *testing.T) {
	t.Setenv(engine.SeedEnv, "")
	if got := Seed(7); got != 7 {
		t.Errorf("without %s the seed 7 is %d", engine.SeedEnv, got)
	}
	t.Setenv(engine.SeedEnv, "2")
	if got := Seed(7); got != 2*engine.SeedStep+7 {
		t.Errorf("the seed 7 moved by 2 steps is %d", got)
	}
}
