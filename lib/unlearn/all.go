package unlearn

import "slices"

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
		AuxiliaryTuning{},
		RetainTuning{},
		RetrainShare{},
		DPRetrain{},
		AscentTuning{},
		SSD{},
		SSDFoster{},
		FisherScrub{},
		HBFU{},
		RapidRetraining{},
		RapidRetraining{Plain: true},
		Unroll{},
		UnrollThudi{},
		Retrain{},
		SecondOracle,
		NoOp{},
		RandomWeights{},
	}
}

// Generative lists the methods for variational autoencoders alone, at their paper
// setting, as All lists the others. Methods of All that are General serve them too.
func Generative() []Method {
	return []Method{
		LatentContrast{},
		SCRUBLatent{},
		FrozenCritics{},
		ExtraGradient{},
		ExtraGradientTrue{},
	}
}

// Bottlenecks lists the methods for information bottlenecks alone, in the same way.
func Bottlenecks() []Method {
	return []Method{
		BlindU{},
		VBU{},
		BFU{},
	}
}

// AllKinds lists the methods of All, Generative and Bottlenecks.
func AllKinds() []Method { return slices.Concat(All(), Generative(), Bottlenecks()) }
