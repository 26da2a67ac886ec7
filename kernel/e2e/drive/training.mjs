// A notebook with a training that takes a while, through the library that the
// notebooks use.

const definitions = (seed, epochs) => `import (
	"fmt"
	"sync"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/nb"
	"github.com/lethe-ml/lethe/lib/train"
)

// long trains a model and says with which epoch this run of the cell began.
func long() {
	l := nb.Try(lab.Open())
	var once sync.Once
	l.AfterEpoch = func(e train.Epoch) {
		once.Do(func() { fmt.Printf("began with epoch %d of %d\\n", e.Epoch, ${epochs}) })
		if e.Epoch%20 == 0 {
			fmt.Printf("training: %d of %d\\n", e.Epoch, ${epochs})
		}
	}
	c := nb.Try(l.Case(nb.Context(), lab.Setting{
		Data: lab.Table{Set: "moons_island"}, Forget: lab.Planted("island"), Seed: ${seed}, Fit: train.Config{Epochs: ${epochs}},
	}))
	nb.Try(c.TrainedModel(nb.Context(), c.Original()))
	fmt.Printf("trained on %d records\\n", len(c.Train.Y))
}`;

// training returns the cells: definitions, and one that trains.
export function training(seed, epochs) {
  return [definitions(seed, epochs), "%%\nlong()"];
}

// epochsDone reads the last line, "training: 40 of 100".
export function epochsDone(text) {
  const found = Array.from(text.matchAll(/: (\d+) of \d+/g));
  return found.length ? Number(found.at(-1)[1]) : 0;
}

// beganWith reads with which epoch the cell began.
export function beganWith(text) {
  const found = text.match(/began with epoch (\d+)/);
  return found ? Number(found[1]) : 0;
}
