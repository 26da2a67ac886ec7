// Faces: sets of images divided by people.

package lab

import (
	"context"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
)

// Faces is a set of faces divided by people: the test part has all images of some of them, so that
// no model is trained on any image of theirs. Where the set has no labels, half of the people are
// one class, drawn by a seed; see images.Identities.
//
// The column images.IdentityColumn names who is on an image. RandomGroups forgets some of the
// people of the train part, Where named ones.
type Faces struct{ images.Identities }

// Name implements Data.
func (d Faces) Name() string { return d.Set }

func (d Faces) withDefaults() Faces { return Faces{d.Identities.WithDefaults()} }

// Info implements Data.
func (d Faces) Info() (datasets.Info, error) {
	info, err := d.Identities.Info()
	if err != nil {
		return info, otherKind(d.Set, err)
	}
	return info, nil
}

// Prepare implements Data. shift is added to the seed of who is held out; the arbitrary groups stay
// the same.
func (d Faces) Prepare(ctx context.Context, shift int) (*datasets.Prepared, error) {
	d = d.withDefaults()
	d.Seed += uint32(shift)
	return d.Identities.Prepare(ctx)
}
