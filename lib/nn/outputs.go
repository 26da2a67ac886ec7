package nn

// Names of outputs that several networks and losses know.
const (
	// Logits are a classifier's scores, one per class.
	Logits = "logits"
	// Output is what a network returns that has one thing to return, such as a
	// reconstruction or a denoised image.
	Output = "output"
)
