package unlearn

// All lists every method and control at its paper setting; it is what `lethe
// list` prints and what the conformance suite runs. A new method adds one line.
// StepMatched and Tuned make another method of one; here they stand around those
// that the papers' tables show so.
func All() []Method {
	return []Method{
		GradientAscent{},
		NegGrad{},
		FineTuning{},
		SCRUB{},
		SCRUBKurmanji{},
		BadTeacher{},
		BadTeacherChundawat{},
		RandomLabel{},
		Tuned[RandomLabel]{},
		StepMatched[RandomLabel]{},
		SalUn{},
		Tuned[SalUn]{},
		StepMatched[SalUn]{},
		L1Sparsity{},
		RetainTuning{},
		AscentTuning{},
		SSD{},
		SSDFoster{},
		Unroll{},
		UnrollThudi{},
		Retrain{},
		SecondOracle,
		DoNothing{},
		RandomWeights{},
	}
}
