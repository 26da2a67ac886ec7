package ib

import "fmt"

// imageSide returns the side of a square image with this many values and channels, 0 where
// there is none.
func imageSide(values, channels int) int {
	for s := 1; channels*s*s <= values; s++ {
		if channels*s*s == values {
			return s
		}
	}
	return 0
}

// checkImage returns an error for values that do not form a square image.
func checkImage(values, channels int) error {
	if channels < 1 {
		return fmt.Errorf("images of %d channels", channels)
	}
	if imageSide(values, channels) == 0 {
		return fmt.Errorf("%d values do not form a square image of %d channels", values, channels)
	}
	return nil
}
