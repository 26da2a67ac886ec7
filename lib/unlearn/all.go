package unlearn

import "slices"

// All lists every method and control in its paper's setting. `lethe list` prints the list
// and the conformance suite runs it; a new method adds one line. StepMatched and Tuned wrap
// another method; the list has those that the papers' tables show.
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

// Generative lists the methods for variational autoencoders alone, in their paper's
// setting. Methods of All that are General work on autoencoders too.
func Generative() []Method {
	return []Method{
		LatentContrast{},
		SCRUBLatent{},
		FrozenCritics{},
		ExtraGradient{},
		ExtraGradientTrue{},
	}
}

// Bottlenecks lists the methods for information bottlenecks alone, in their paper's
// setting.
func Bottlenecks() []Method {
	return []Method{
		BlindU{},
		VBU{},
		BFU{},
	}
}

// LanguageModels lists the methods for language models that predict the next token, in their
// papers' setting, and TaskVector, which is General. TextTuned wraps another method. Methods of All that are General or distil work
// on language models too.
func LanguageModels() []Method {
	return []Method{
		GradDiff{},
		NPO{},
		SimNPO{},
		WGA{},
		SatImp{},
		UNDIAL{},
		RMU{},
		RefusalTuning{},
		IdkDPO{},
		TaskVector{},
		TextTuned[GradDiff]{},
	}
}

// AllKinds lists the methods of All, Generative, Bottlenecks and LanguageModels.
func AllKinds() []Method {
	return slices.Concat(All(), Generative(), Bottlenecks(), LanguageModels())
}
