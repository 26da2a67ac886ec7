package fishing

// Counts of single genes, for notebooks on count distributions.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/utility"
)

// GeneCounts are the counts of a gene in the cells of one type, which have the same proportion
// of the gene, and the means that follow from their library sizes.
type GeneCounts struct {
	Gene     string
	X, Means []float64
}

// CommonTypeCounts are the counts of genes in the most common type of the simulated cells. Each
// count is set to 0 with probability lost.
func CommonTypeCounts(ctx context.Context, lost float64, rng *rand.Rand, genes ...string) ([]GeneCounts, error) {
	c, err := datacells.Load(ctx, "simulated_cells")
	if err != nil {
		return nil, err
	}
	var out []GeneCounts
	for _, name := range genes {
		j := slices.Index(c.Genes, name)
		if j < 0 {
			return nil, fmt.Errorf("the simulated cells have no gene %q", name)
		}
		out = append(out, countsOf(c, j, lost, rng))
	}
	return out, nil
}

func countsOf(c *datacells.Cells, gene int, lost float64, rng *rand.Rand) GeneCounts {
	g := GeneCounts{Gene: c.Genes[gene]}
	total, molecules := 0.0, 0.0
	for i, y := range c.Y {
		if y != 0 {
			continue
		}
		x, library := float64(c.Counts.At(i, gene)), 0.0
		if rng.Float64() < lost {
			x = 0
		}
		_, counts := c.Counts.Row(i)
		for _, v := range counts {
			library += float64(v)
		}
		g.X, g.Means = append(g.X, x), append(g.Means, library)
		total, molecules = total+x, molecules+library
	}
	for i := range g.Means {
		g.Means[i] *= total / molecules
	}
	return g
}

// LogLikelihood is the mean over cells of the log probability of the counts. With zero inflation
// the mean of the other counts is raised accordingly.
func (g GeneCounts) LogLikelihood(l utility.CountDistribution) float64 {
	sum := 0.0
	for i, x := range g.X {
		sum += l.LogProbability(x, g.Means[i]/(1-l.Inflation))
	}
	return sum / float64(len(g.X))
}

// FitDistribution is the distribution of maximum likelihood, over dispersions from 0.25 to 100 and, if
// inflated, inflations up to 0.6.
func (g GeneCounts) FitDistribution(inflated bool) utility.CountDistribution {
	best := utility.CountDistribution{Dispersion: 1}
	most := g.LogLikelihood(best)
	for k := 0; k <= 30 && (inflated || k == 0); k++ {
		for t := 0.25; t < 100; t *= 1.15 {
			l := utility.CountDistribution{Dispersion: t, Inflation: float64(k) / 50}
			if v := g.LogLikelihood(l); v > most {
				best, most = l, v
			}
		}
	}
	return best
}
