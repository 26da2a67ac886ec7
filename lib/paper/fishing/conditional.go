package fishing

// The table of the conditional autoencoder.

import (
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

var conditional = paper.Recipe{
	ID:    "fishing/conditional",
	Title: "Fishing, Section 6. Who was in training? Fisher scrubbing of a conditional autoencoder",
	Doc: "The head of this decoder's mean sees the cell's type, so that weights of a type's own can be changed alone. The paper attacks " +
		"it by P-F, an attacker of " +
		"each model that is scored on what it learned, compares the advantage with P-A's of the plain autoencoder, and finds it as high after scrubbing as " +
		"before. Here both autoencoders have both attackers and ours. 'as coded' scrubs with the damping 1e-8 of the program; the paper " +
		"says 0.1, as elsewhere. " +
		"The retrained models never met the type: its columns of their heads are as they were drawn.",
}

// ScrubbedCoded is the scrubbing that the program applies to the conditional network.
const ScrubbedCoded = "Fisher scrubbing, damping 1e-8, as coded"

// byConditional is the first case of a scale, plain and conditional.
func byConditional(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	plain := s.Cases[0]
	plain.Part, plain.Only = "conditional", []string{Original, Retrained, OtherSeed, Ten, Fisher, FisherSum}
	plain.Protocols = []learned.Protocol{learned.PB(), learned.PF(), learned.CrossFitted(nil)}
	with := plain.conditional()
	with.Part = "conditional/types"
	with.Also = []lab.Variant{{Label: ScrubbedCoded, Method: unlearn.FisherScrub{Damping: 1e-8}}}
	plain.Label += "; plain"
	with.Label += "; conditional"
	s.Cases = []Case{plain, with}
	return s, nil
}

// printedConditional are the paper's advantages and, marked with *, AUCs of its program.
func printedConditional(c Case, variant string) string {
	if c.preparation().Types {
		return map[string]string{Original: "0.864*  0.73", ScrubbedCoded: "0.858*  0.72"}[variant]
	}
	return map[string]string{Original: "0.769  0.54 (P-A)", Fisher: "0.814  0.63 (P-A)"}[variant]
}

func (ev *evidence) conditional() *paper.Output {
	source := "AUC and advantage by P-F on PBMC-33k; *: not in the paper, in its program's recorded outputs; (P-A): of another protocol"
	t := ev.attackTable(conditional, ev.printedOfCase(source, "not in the paper", printedConditional),
		paper.ShareColumn("AUC, P-F", "an attacker of each model, scored on the cells that it learned from; null 0.5", ProtocolAUC(learned.PF().Name)))
	return &paper.Output{Table: t}
}
