// Numbering, the numbers of records in a source of which some were left out.

package datasets

import (
	"fmt"
	"slices"
)

// Numbering says which records of a source were kept, such as the rows of a file that have a target.
type Numbering struct {
	// Kept are the numbers in the source, from 0, of the records that were kept, ascending: the
	// record with the ID r has the number Kept[r]. nil: all.
	Kept []int

	// Total is the number of records in the source.
	Total int

	// Unclear says why a number can mean two records; "" if it cannot.
	Unclear string
}

// IDs returns the IDs of records that are named by their numbers in the source. A record that was
// left out is an error. nil numbers records by their IDs.
func (n *Numbering) IDs(numbers []int) ([]int, error) {
	if n == nil {
		return numbers, nil
	}
	if n.Unclear != "" {
		return nil, fmt.Errorf("it is not clear which record a number means: %s", n.Unclear)
	}
	if n.Kept == nil {
		return numbers, nil
	}
	out := make([]int, len(numbers))
	for k, number := range numbers {
		id, is := slices.BinarySearch(n.Kept, number)
		switch {
		case !is && number >= 0 && number < n.Total:
			return nil, fmt.Errorf("record %d was left out when the data were read; records are numbered as in the file, from 0", number)
		case !is:
			return nil, fmt.Errorf("there is no record %d; records are numbered as in the file, from 0, and there are %d", number, n.Total)
		}
		out[k] = id
	}
	return out, nil
}

// Number returns the number in the source of the record with an ID.
func (n *Numbering) Number(id int) int {
	if n == nil || n.Kept == nil {
		return id
	}
	return n.Kept[id]
}
