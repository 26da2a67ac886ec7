// Progress of a cell's own loops; the work of the library shows by itself.

package nb

import (
	"time"

	"github.com/lethe-ml/lethe/lib/progress"
)

// barEvery is the shortest pause between two drawings of an output that changes.
const barEvery = 100 * time.Millisecond

// NewBar starts a bar for a loop of the cell that takes total units. A total below 1 means
// unknown. It shows after two seconds; trainings and all other work of the library that runs
// inside the loop move the same bar. Call Add after every unit, and Done at the end.
func NewBar(total int, what string) *progress.Task { return progress.Begin(what, total) }
