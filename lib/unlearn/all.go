package unlearn

// All lists every method and control at its paper setting; it is what `lethe
// list` prints and what the conformance suite runs. A new method adds one line.
func All() []Method {
	return []Method{
		GradientAscent{},
		NegGrad{},
		FineTuning{},
		SCRUB{},
		BadTeacher{},
		RandomLabel{},
		SalUn{},
		L1Sparsity{},
		Unroll{},
		Retrain{},
		SecondOracle,
		DoNothing{},
		RandomWeights{},
	}
}
