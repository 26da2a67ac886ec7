package fishing

// What latent means tell about cell types.

import (
	"context"
	"slices"

	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/utility"
)

// Latent is what the latent means of unseen cells tell about the published cell types. The
// paper's program uses Leiden's clusters instead. Cells of unknown type are left out.
type Latent struct {
	Cells      int     `json:"n_cells"` // cells with a type
	Types      int     `json:"n_types"` // among them
	ARI        float64 `json:"ari"`     // of k-means clusters with the types
	Silhouette float64 `json:"silhouette"`
	Probe      float64 `json:"probe"`    // accuracy of a linear probe for the type
	Majority   float64 `json:"majority"` // accuracy of the majority class
}

// measureLatent measures unseen cells.
func measureLatent(ctx context.Context, c *lab.Case, unseen cellOutputs) (l Latent, err error) {
	var rows, types []int
	for i, y := range c.Test.Y {
		if c.About.Classes[y] != datacells.Unlabelled {
			rows, types = append(rows, i), append(types, y)
		}
	}
	means := array.Convert[float64](unseen.mean.Gather(rows))
	l.Cells, l.Types, l.Majority = len(rows), len(slices.Compact(slices.Sorted(slices.Values(types)))), utility.MajorityShare(types)
	if l.ARI, err = utility.ClusterAgreement(means, types, engine.Root(attackSeed+c.Shift).Stream(engine.StreamClusters)); err != nil {
		return l, err
	}
	if l.Silhouette, err = utility.Silhouette(means, types); err != nil {
		return l, err
	}
	found, err := utility.Probe{}.Accuracy(ctx, means, types)
	if err != nil {
		return l, err
	}
	l.Probe = found.Value
	return l, nil
}
