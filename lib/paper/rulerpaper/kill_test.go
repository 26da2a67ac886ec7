package rulerpaper

import (
	"context"
	"os"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/store/storetest"
)

// killScale is the small sweep that is killed.
func killScale() Scale {
	return Scale{Name: "kill", DataSets: []string{"two_moons"}, Seeds: 2, MaxRows: 60}
}

// sweepChild is the process that the test kills: it computes Table 1 into the
// store and prints it.
func sweepChild(dir string) error {
	e, err := engine.Open("auto")
	if err != nil {
		return err
	}
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	out, err := table3.Run(context.Background(), envOf(&paper.Env{Engine: e, Store: s}), killScale())
	if err != nil {
		return err
	}
	return out.Table.JSON(os.Stdout)
}

func TestMain(m *testing.M) { storetest.Main(m, sweepChild) }

func TestASweepKilledFiftyTimesEndsInTheSameTable(t *testing.T) {
	storetest.Kills{Times: 50, Seed: 1}.Run(t)
}
