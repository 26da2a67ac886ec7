// The networks for images take their sizes from the data: model.Network.

package vision

import "github.com/lethe-ml/lethe/lib/model"

// ForData implements model.Network.
func (m SmallCNN) ForData(s model.Sizes) (model.Architecture, error) {
	err := model.FillImages(m.Name(), &m.Channels, &m.Side, &m.Outputs, s)
	return m, err
}

// ForData implements model.Network.
func (m AllCNN) ForData(s model.Sizes) (model.Architecture, error) {
	err := model.FillImages(m.Name(), &m.Channels, &m.Side, &m.Outputs, s)
	return m, err
}

// ForData implements model.Network.
func (m ResNet18) ForData(s model.Sizes) (model.Architecture, error) {
	err := model.FillImages(m.Name(), &m.Channels, &m.Side, &m.Outputs, s)
	return m, err
}
