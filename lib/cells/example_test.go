package cells_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Simulated counts become clusters, and the clusters are the types that were planted.
func ExampleOptions_Prepare() {
	m, err := cells.Simulation{Cells: 400}.Draw(context.Background(), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		fmt.Println(err)
		return
	}
	o := cells.Options{Choice: cells.Choice{Filter: cells.Filter{MinGenes: 100}, Variable: cells.Variable{Top: 300}}, PCA: cells.PCA{Components: 20}, Use: 15}
	p, err := o.Prepare(m.Counts, m.Genes, rand.New(rand.NewPCG(3, 4)))
	if err != nil {
		fmt.Println(err)
		return
	}
	truth := make([]int, len(p.Cells))
	for k, i := range p.Cells {
		truth[k] = m.Type[i]
	}
	agreement, err := stats.AdjustedRandIndex(p.Groups, truth)
	fmt.Println(p.Logged.Cols, "genes, agreement with the planted types above 0.9:", agreement > 0.9, err)
	// Output: 300 genes, agreement with the planted types above 0.9: true <nil>
}

// Which cells the paper trains on follows from their number alone.
func ExamplePaperSplit() {
	s, err := cells.PaperSplit(10)
	fmt.Println(s.Train, s.Unseen, err)
	// Output: [8 1 5 0 7 2 9 4] [3 6] <nil>
}
