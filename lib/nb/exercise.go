package nb

// Exercise checks a reader's answer by what comes of it. The zero value of T means
// that nobody has answered yet, so choose questions with another answer:
//
//	epochs := 0 // your answer here
//	nb.Exercise(1, epochs, left(epochs) < 0.5, "how long does it take to forget half?")
//
// A question with one right answer is Answer's, which does not hold it in clear.
// It prints whether the answer is right, and the hint where it is not. An
// exercise without an answer is not an error: notebooks are run with them.
func Exercise[T comparable](number int, answer T, right bool, hint string) {
	var zero T
	switch {
	case answer == zero:
		std.printLine(std.out, "exercise %d: not tried yet", number)
	case right:
		std.printLine(std.out, "exercise %d: right", number)
	default:
		std.printLine(std.out, "exercise %d: not yet. Hint: %s", number, oneLine(hint))
	}
}
