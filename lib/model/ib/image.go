package ib

import "fmt"

// imageSide is the side of a square image of so many values in so many channels, 0 where
// there is none.
func imageSide(values, channels int) int {
	for s := 1; channels*s*s <= values; s++ {
		if channels*s*s == values {
			return s
		}
	}
	return 0
}

// checkImage reports values that are no square image.
func checkImage(values, channels int) error {
	if channels < 1 {
		return fmt.Errorf("images of %d channels", channels)
	}
	if imageSide(values, channels) == 0 {
		return fmt.Errorf("%d values are no square image of %d channels", values, channels)
	}
	return nil
}
