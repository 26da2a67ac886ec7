package nn

// Zero is how a setting says that it is really zero. The rule of the house: a
// setting that is 0 stands for its default, wherever it has one. A number of
// which 0 itself makes sense, such as a momentum or the weight of a loss, is
// set to Zero instead:
//
//	unlearn.NegGrad{Alpha: nn.Zero} // the forget set alone
//
// Zero is the smallest number there is. It is not 0, so no default takes its
// place, however often a setting is resolved; as JSON, and so in a store key, it
// is 5e-324; and nothing has to translate it back, because it computes like 0:
// a float32 of it is 0, and 1 minus it is 1.
const Zero = 5e-324
