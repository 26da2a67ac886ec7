package stats

// RateCoverage returns how often Student's 95 % interval over two to five rates contains their
// mean. A rate is a number in [0, 1], such as one per trained model. low and high are the worst
// and the best of several distributions with means from 0.5 to 0.95: symmetric ones, skewed ones,
// and one with its mass at both ends. TestStudentCoversRates simulates them. known is false for
// other numbers of rates.
//
// Student's interval is exact for normal values only. Rates are bounded: near a bound their
// distribution is skewed, and a few of them often show too little spread. More models make the
// interval shorter but hardly increase its coverage between three and five.
func RateCoverage(n int) (low, high float64, known bool) {
	if n < 2 || n > 5 {
		return 0, 0, false
	}
	return 0.89, 0.95, true
}
