package images

import (
	"fmt"
	"math/rand/v2"
)

// Augmentation is the usual augmentation of small photographs: a random crop out of the image with
// a border of zeros, then a horizontal flip with probability 1/2. The zero value has a border of 4
// pixels.
//
// The image with number row in the training set is augmented in an epoch with the generator
//
//	engine.Root(seed).Stream(engine.StreamAugment, epoch, row)
//
// so that its crop does not depend on its batch or on other images, and a resumed run draws the
// same numbers as an uninterrupted one.
//
// The border is 0 in the values that Row gets. With pixels in 0..1, normalised after augmentation,
// the border is black, as in other programs.
type Augmentation struct {
	Border int  // in pixels; 0 means 4
	NoCrop bool // no random crop
	NoFlip bool // no random flip
}

const defaultBorder = 4

// WithDefaults returns a with the default border in place of 0.
func (a Augmentation) WithDefaults() Augmentation {
	if a.Border == 0 {
		a.Border = defaultBorder
	}
	return a
}

// Row writes the augmented image src into dst. Both hold the shape's number of values, channel by
// channel, and may not overlap.
func (a Augmentation) Row(dst, src []float32, shape [3]int, rng *rand.Rand) error {
	if err := fitsShape(shape, dst, src); err != nil {
		return err
	}
	m, err := a.Draw(rng)
	if err != nil {
		return err
	}
	cropFlip(dst, src, shape, m.Down, m.Right, m.Flip)
	return nil
}

// Move says how an image is augmented: its window begins Down lines below and Right pixels to the
// right of the image's corner, and is mirrored if Flip is true.
type Move struct {
	Down, Right int
	Flip        bool
}

// Draw draws how an image is augmented. It takes three numbers from rng, whatever the settings: the
// line and the column where the crop begins, and the flip. A border out of range is an error.
func (a Augmentation) Draw(rng *rand.Rand) (Move, error) {
	border := a.WithDefaults().Border
	if border < 0 || border > 1<<15 {
		return Move{}, fmt.Errorf("images: a border of %d pixels; 1 to %d are possible, 0 means %d", a.Border, 1<<15, defaultBorder)
	}
	m := Move{rng.IntN(2*border+1) - border, rng.IntN(2*border+1) - border, rng.IntN(2) == 1}
	if a.NoCrop {
		m.Down, m.Right = 0, 0
	}
	m.Flip = m.Flip && !a.NoFlip
	return m, nil
}

// cropFlip copies the window that begins down lines below and right pixels to the right of the
// image's corner, zeros outside the image, and mirrors it if flip is true.
func cropFlip(dst, src []float32, shape [3]int, down, right int, flip bool) {
	c, h, w := shape[0], shape[1], shape[2]
	for line := range c * h {
		to := dst[line*w : (line+1)*w]
		y := line%h + down
		if y < 0 || y >= h {
			clear(to)
			continue
		}
		from := src[(line/h*h+y)*w:][:w]
		for x := range to {
			at := x
			if flip {
				at = w - 1 - x
			}
			if at += right; at < 0 || at >= w {
				to[x] = 0
			} else {
				to[x] = from[at]
			}
		}
	}
}

// fitsShape checks the lengths of rows of one image.
func fitsShape(shape [3]int, rows ...[]float32) error {
	c, h, w := shape[0], shape[1], shape[2]
	if c < 1 || h < 1 || w < 1 {
		return fmt.Errorf("images: the shape %d has a side below 1", shape)
	}
	for _, r := range rows {
		if len(r) != c*h*w {
			return fmt.Errorf("images: %d values; an image of %d x %d x %d has %d", len(r), c, h, w, c*h*w)
		}
	}
	return nil
}
