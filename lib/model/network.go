// Networks that take their sizes from the data.

package model

import (
	"fmt"
	"reflect"

	"github.com/lethe-ml/lethe/lib/defaults"
)

// Sizes are the sizes of a data set's records and labels.
type Sizes struct {
	Features int    // values of a record
	Classes  int    // of the labels
	Shape    [3]int // channels, height and width of images; zero for other records
	// Vocabulary is the greatest number of tokens that the records of texts are made of, 0 for
	// other records and where it is not known.
	Vocabulary int
}

// Network is a network that takes its sizes from the data. Every architecture of this
// module whose sizes depend on the data is one; its zero sizes are filled in.
type Network interface {
	// ForData returns the architecture for records of the given sizes. It is an error if
	// the network is not made for such records.
	ForData(Sizes) (Architecture, error)
}

// NetworkFunc is a function as a Network. It is given the number of features and of
// classes.
type NetworkFunc func(features, classes int) Architecture

// ForData implements Network.
func (f NetworkFunc) ForData(s Sizes) (Architecture, error) { return f(s.Features, s.Classes), nil }

// Fit returns the architecture of a network for records of the given sizes, with its defaults. It refuses an
// architecture whose method ForData is that of an architecture that it embeds: the result
// would be the embedded one, without what was added to it.
func Fit(n Network, s Sizes) (Architecture, error) {
	a, err := n.ForData(s)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, fmt.Errorf("the network %T returns no architecture for records of %d features and %d classes, and no error: "+
			"ForData, or the function, returns nil", n, s.Features, s.Classes)
	}
	if _, is := n.(Architecture); is && reflect.TypeOf(a) != reflect.TypeOf(n) {
		return nil, fmt.Errorf("the network %T has the method ForData of %T, which it embeds; write one that returns a %T", n, a, n)
	}
	return defaults.Fill(a), nil
}

// Fixed is an architecture of fixed sizes as a Network: it fits only data of these sizes.
func Fixed(a Architecture) Network { return fixed{a} }

type fixed struct{ arch Architecture }

// ForData implements Network.
func (f fixed) ForData(s Sizes) (Architecture, error) {
	a := defaults.Fill(f.arch)
	if err := a.Check(); err != nil {
		return nil, err
	}
	if a.Inputs() != s.Features {
		return nil, fmt.Errorf("%s takes %d features, the data have %d", a.Name(), a.Inputs(), s.Features)
	}
	if c, is := a.(Classifier); is && c.Classes() != s.Classes {
		return nil, fmt.Errorf("%s tells %d classes apart, the data have %d", a.Name(), c.Classes(), s.Classes)
	}
	return f.arch, nil
}

// FillSize sets a network's size from the data: zero becomes the size of the data, any
// other value must be equal to it. what names the size, such as "features".
func FillSize(network, what string, size *int, data int) error {
	if *size == 0 {
		*size = data
	}
	if *size != data {
		return fmt.Errorf("%s has %d %s, the data have %d", network, *size, what, data)
	}
	return nil
}

// CheckVocabulary returns an error for a network whose table of tokens (TokenReader) is too small
// for a vocabulary of n tokens.
func CheckVocabulary(a Architecture, n int) error {
	if r, is := a.(TokenReader); is && r.VocabularySize() < n {
		return fmt.Errorf("%s: the vocabulary has %d tokens, the network %d: it is not the vocabulary of these weights", a.Name(), n, r.VocabularySize())
	}
	return nil
}

// FillClassifier fills in the features and outputs of a classifier; see FillSize.
func FillClassifier(network string, features, outputs *int, s Sizes) error {
	if err := FillSize(network, "features", features, s.Features); err != nil {
		return err
	}
	return FillSize(network, "outputs", outputs, s.Classes)
}

// FillImages fills in the channels, the side and the outputs of a network for square
// images; see FillSize. Records that are not square images are an error.
func FillImages(network string, channels, side, outputs *int, s Sizes) error {
	switch {
	case s.Shape[0] == 0:
		return fmt.Errorf("%s takes images, the data are records of %d features", network, s.Features)
	case s.Shape[1] != s.Shape[2]:
		return fmt.Errorf("%s takes square images, these have %d x %d pixels; Size(%d) cuts and scales the images of a folder",
			network, s.Shape[2], s.Shape[1], min(s.Shape[1], s.Shape[2]))
	}
	if err := FillSize(network, "channels", channels, s.Shape[0]); err != nil {
		return err
	}
	if err := FillSize(network, "pixels a side", side, s.Shape[1]); err != nil {
		return err
	}
	return FillSize(network, "outputs", outputs, s.Classes)
}
