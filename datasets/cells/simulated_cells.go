// The small simulated set, with planted groups.

package cells

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/cells"
)

// simulatedSeed seeds the simulated sets, which never change: PCG of math/rand/v2 is part of Go's
// compatibility promise.
const simulatedSeed = 0x6c65746865 // "lethe"

// Simulation returns the parameters and the generator of the set simulated_cells. Its Draw also
// returns the gene programme.
func Simulation() (s cells.Simulation, rng *rand.Rand) {
	s = cells.Simulation{Cells: 2000, Genes: 3000, Library: 4000, Markers: 60, NearCopies: 40, Batches: 2, BatchSD: 0.1}
	return s, rand.New(rand.NewPCG(simulatedSeed, 1))
}

// simulatedCells returns the description and the loader of counts with known truth: six common
// types and two rare ones of 32 and 14 cells, 40 near-copies of other cells, and two nearly equal
// batches.
func simulatedCells() set {
	return set{
		info: datasets.Info{
			Name: "simulated_cells", Title: "Simulated cells", Task: "the type of a cell from its counted molecules",
			Rows: 2000, Features: 3000, Synthetic: true,
			Classes: []string{"type0", "type1", "type2", "type3", "type4", "type5", "rare0", "rare1"}, Licence: "Apache-2.0",
			Description: "Negative binomial counts of 3,000 genes in 2,000 cells, with rare types, near-duplicates and batches planted.",
			Reading: []string{
				"Obs has the batch of every cell, and for a near-copy the barcode of its original.",
			},
		},
		load: func(r *loader) (*Cells, error) {
			s, rng := Simulation()
			return drawSimulated(r, s, rng)
		},
	}
}

// drawSimulated draws a set.
func drawSimulated(r *loader, s cells.Simulation, rng *rand.Rand) (*Cells, error) {
	m, err := s.Draw(r.ctx, rng)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", r.info.Name, err)
	}
	c := &Cells{Counts: m.Counts, Genes: m.Genes, Y: m.Type, Obs: map[string][]string{}}
	for j := range m.Genes {
		c.GeneIDs = append(c.GeneIDs, fmt.Sprintf("SIM%05d", j+1))
	}
	for i := range m.Type {
		c.Barcodes = append(c.Barcodes, fmt.Sprintf("cell-%d", i+1))
	}
	for i, origin := range m.CopyOf {
		original := ""
		if origin >= 0 {
			original = c.Barcodes[origin]
		}
		c.Obs["twin_of"] = append(c.Obs["twin_of"], original)
		c.Obs["batch"] = append(c.Obs["batch"], strconv.Itoa(m.Batch[i]))
	}
	c.Planted = plantedGroups(m)
	return c, nil
}

// The planted groups of the simulated cells.
const (
	NearCopies = "twins"       // near-copies of other cells
	Singles    = "singles"     // as many cells of the same types that have no near copy
	Batch      = "small batch" // the smallest common type's cells of the second batch
)

// plantedGroups returns the groups of planted cells.
func plantedGroups(m *cells.Simulated) map[string][]int {
	common := 0
	for t, name := range m.Types {
		if strings.HasPrefix(name, "type") {
			common = t // the last is the smallest
		}
	}
	doubled, wanted := map[int]bool{}, map[int]int{}
	out := map[string][]int{}
	for i, origin := range m.CopyOf {
		if origin >= 0 {
			doubled[i], doubled[origin] = true, true
			wanted[m.Type[i]]++
			out[NearCopies] = append(out[NearCopies], i)
		}
	}
	for i, t := range m.Type {
		if !doubled[i] && wanted[t] > 0 {
			wanted[t]--
			out[Singles] = append(out[Singles], i)
		}
		if t == common && m.Batch[i] == 1 {
			out[Batch] = append(out[Batch], i)
		}
	}
	return out
}
