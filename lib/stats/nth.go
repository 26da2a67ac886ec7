package stats

// nth moves the k-th smallest value of s to position k, with no greater value before it and no
// smaller one after it (Hoare's selection, median of three as pivot). NaN has no place among them.
// It takes linear time on average; sorting takes n log n.
func nth(s []float64, k int) float64 {
	for low, high := 0, len(s)-1; low < high; {
		i, j, pivot := low, high, medianOfThree(s[low], s[low+(high-low)/2], s[high])
		for i <= j {
			for s[i] < pivot {
				i++
			}
			for s[j] > pivot {
				j--
			}
			if i <= j {
				s[i], s[j] = s[j], s[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return s[k]
		}
	}
	return s[k]
}

// medianOfThree returns the median of three values.
func medianOfThree(a, b, c float64) float64 { return max(min(a, b), min(max(a, b), c)) }
