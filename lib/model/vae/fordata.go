// The autoencoder of cells takes its sizes from the data: model.Network.

package vae

import "github.com/lethe-ml/lethe/lib/model"

// ForData implements model.Network. The one-hot classes of a conditional network follow
// the genes of a record.
func (m Cells) ForData(s model.Sizes) (model.Architecture, error) {
	err := model.FillSize(m.Name(), "genes", &m.Genes, s.Features-m.Clusters)
	return m, err
}
