package nn

// Zero sets a field to zero where 0 means the default:
//
//	unlearn.NegGrad{Alpha: nn.Zero} // the forget set alone
//
// Zero is the smallest positive float64, so no default replaces it. In JSON, and so in a
// store key, it is 5e-324. It computes like 0: as a float32 it is 0, and 1 minus it is 1.
const Zero = 5e-324
