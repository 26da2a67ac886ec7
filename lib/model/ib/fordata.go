// The information bottleneck takes its sizes from the data: model.Network.

package ib

import "github.com/lethe-ml/lethe/lib/model"

// ForData implements model.Network.
func (m Bottleneck) ForData(s model.Sizes) (model.Architecture, error) {
	err := model.FillClassifier(m.Name(), &m.Features, &m.Outputs, s)
	return m, err
}
