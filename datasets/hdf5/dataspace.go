package hdf5

import "fmt"

// shape reads the dimensions of a dataset: none for a scalar, a single 0 for a null dataspace.
func (o *object) shape() ([]int, error) {
	if !o.isDataset() {
		return nil, fmt.Errorf("a group, not a dataset")
	}
	c, err := o.need(msgDataspace, "dataspace")
	if err != nil {
		return nil, err
	}
	return dataspace(c)
}

func dataspace(c *cursor) ([]int, error) {
	version, rank := c.u8(), int(c.u8())
	c.next(1)
	switch version {
	case 1:
		c.next(5)
	case 2:
		if c.u8() == 2 {
			return []int{0}, c.err
		}
	default:
		return nil, fmt.Errorf("a dataspace of version %d", version)
	}
	if rank > maxRank {
		return nil, fmt.Errorf("%d dimensions", rank)
	}
	dims := make([]int, rank)
	for k := range dims {
		d := c.u64()
		if d > maxBytes {
			return nil, fmt.Errorf("dimension %d is %d", k+1, d)
		}
		dims[k] = int(d)
	}
	return dims, c.err
}

// elements returns the product of dimensions.
func elements(dims []int) (int, error) {
	n := 1
	for _, d := range dims {
		if d > 0 && n > maxBytes/d {
			return 0, fmt.Errorf("more than %d elements", maxBytes)
		}
		n *= d
	}
	return n, nil
}
