// The networks for tables take their sizes from the data: model.Network.

package tabular

import "github.com/lethe-ml/lethe/lib/model"

// ForData implements model.Network.
func (m MLP) ForData(s model.Sizes) (model.Architecture, error) {
	err := model.FillClassifier(m.Name(), &m.Features, &m.Outputs, s)
	return m, err
}

// ForData implements model.Network.
func (m ResMLP) ForData(s model.Sizes) (model.Architecture, error) {
	err := model.FillClassifier(m.Name(), &m.Features, &m.Outputs, s)
	return m, err
}

// ForData implements model.Network.
func (m FTTransformer) ForData(s model.Sizes) (model.Architecture, error) {
	err := model.FillClassifier(m.Name(), &m.Features, &m.Outputs, s)
	return m, err
}

// ForData implements model.Network.
func (m OneHidden) ForData(s model.Sizes) (model.Architecture, error) {
	err := model.FillClassifier(m.Name(), &m.Features, &m.Outputs, s)
	return m, err
}

// ForData implements model.Network.
func (m Blocks) ForData(s model.Sizes) (model.Architecture, error) {
	err := model.FillClassifier(m.Name(), &m.Features, &m.Outputs, s)
	return m, err
}
