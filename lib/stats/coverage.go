package stats

// RateCoverage is how often Student's 95 % interval over two to five rates, numbers
// in [0, 1] such as one per trained model, holds the mean of their law: from the
// worst to the best of several laws with means from 0.5 to 0.95, symmetric ones,
// skewed ones and one that is piled up at both ends. TestStudentCoversRates
// simulates them. Known is false for other numbers of rates.
//
// Student's interval is exact for normal values alone. Rates are bounded; near an
// end their law is skewed, and a few of them show too little spread too often.
// More models make the interval shorter, not much truer: what it misses at three
// it still misses at five.
func RateCoverage(n int) (low, high float64, known bool) {
	if n < 2 || n > 5 {
		return 0, 0, false
	}
	return 0.89, 0.95, true
}
