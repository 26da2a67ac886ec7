package nn

// Names of outputs that several networks and losses share.
const (
	// Logits are a classifier's scores, one per class.
	Logits = "logits"
	// Output is the output of a network with a single output, such as a
	// reconstruction or a denoised image.
	Output = "output"
)
