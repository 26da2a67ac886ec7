// The simulated set of PBMC-33k's size.

package cells

import (
	"math/rand/v2"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/cells"
)

// AtlasSimulation returns the parameters and the generator of the set simulated_atlas. It has as
// many cells, genes and counts above 0 as PBMC-33k, and its three smallest clusters. The raised
// genes of a type make up a seventh of its counts; with a quarter of that (240 genes raised
// sixfold) the paper's recipe finds only three clusters.
func AtlasSimulation() (s cells.Simulation, rng *rand.Rand) {
	s = cells.Simulation{Cells: 33148, Genes: 32738, Types: 11, Rare: []int{35, 55, 85}, Markers: 240, Fold: 25, Library: 575, Batches: 6, BatchSD: 0.05}
	return s, rand.New(rand.NewPCG(simulatedSeed, 2))
}

// simulatedAtlas returns the description and the loader of counts of PBMC-33k's size, for
// measuring time and memory without its file.
func simulatedAtlas() set {
	return set{
		info: datasets.Info{
			Name: "simulated_atlas", Title: "Simulated cells of PBMC-33k's size", Task: "the type of a cell from its counted molecules",
			Rows: 33148, Features: 32738, Synthetic: true,
			Classes: []string{"type0", "type1", "type2", "type3", "type4", "type5", "type6", "type7", "type8", "type9", "type10",
				"rare0", "rare1", "rare2"},
			Licence: "Apache-2.0",
			Description: "Negative binomial counts of 32,738 genes in 33,148 cells, 17.5 million above 0, with rare types of 35, 55 and 85 cells and " +
				"six nearly equal batches.",
			Reading: []string{"Drawing the counts takes half a minute on two cores and about 800 MB.", "Obs has the batch of every cell."},
		},
		load: func(r *loader) (*Cells, error) {
			s, rng := AtlasSimulation()
			return drawSimulated(r, s, rng)
		},
	}
}
