// The list of the package's networks.

package text

import "github.com/lethe-ml/lethe/lib/model"

// Family is one of the package's networks.
type Family struct {
	Name  string // as in model.Architecture
	About string // one line
	// New returns the network in its default setting for texts of so many tokens. outputs is
	// the number of classes, which a language model does not use.
	New func(vocabulary, tokens, outputs int) model.Architecture
}

// All lists the networks.
func All() []Family {
	return append(Classifiers(),
		Family{BERT{}.Name(), "BERT's encoder, trained to predict hidden tokens (masked language modelling)",
			func(v, t, _ int) model.Architecture { return BERT{Vocabulary: v, Tokens: t} }},
		Family{Decoder{}.Name(), "GPT-2's decoder, trained to predict the next token",
			func(v, t, _ int) model.Architecture { return Decoder{Vocabulary: v, Tokens: t} }},
	)
}

// Classifiers lists the networks that tell classes of texts apart.
func Classifiers() []Family {
	return []Family{{Classifier{}.Name(), "BERT's encoder and a linear layer on the embedding of [CLS]",
		func(v, t, o int) model.Architecture { return Classifier{Vocabulary: v, Tokens: t, Outputs: o} }}}
}
