package nb

// Exercise checks an answer by a condition on its outcome, and prints whether it is right,
// with the hint where it is not. The zero value of T means "not answered yet", so choose
// questions with another answer:
//
//	epochs := 0 // your answer here
//	nb.Exercise(1, epochs, left(epochs) < 0.5, "how long does it take to forget half?")
//
// Use Answer for a question with one right answer, which must not stand in the notebook. An
// exercise without an answer is no error.
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
