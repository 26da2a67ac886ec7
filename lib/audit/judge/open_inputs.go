// Loading what models are given of records: rows of numbers, or tokens of texts.

package judge

import (
	"strings"
)

// The names of the arrays of inputs.
const (
	inputArray       = "inputs"
	inputTokenArray  = "input_tokens"
	inputOffsetArray = "input_offset"
)

// loadInputs reads the inputs of the records, which are the same for all models.
func (a *loader) loadInputs() {
	texts := len(a.InputTokens) + len(a.InputOffset)
	switch {
	case len(a.Inputs) > 0 && texts > 0:
		a.problems.add(strings.Join(a.Inputs, " + "), "inputs are rows of numbers or tokens of texts: give inputs.npy, or input_tokens.npy with "+
			"input_offset.npy")
	case len(a.Inputs) > 0:
		if s := a.loadMatrix(a.Inputs); s != nil {
			a.e.Inputs = s
		}
	case len(a.InputTokens) > 0 && len(a.InputOffset) == 0:
		a.problems.add(strings.Join(a.InputTokens, " + "), "tokens of whole texts need input_offset.npy beside them: n+1 positions at which the "+
			"tokens of each "+
			"text begin, and their end")
	case len(a.InputOffset) > 0 && len(a.InputTokens) == 0:
		a.problems.add(strings.Join(a.InputOffset, " + "), "it says where texts begin, and there is no input_tokens.npy with their tokens")
	case texts > 0:
		a.loadTexts()
	}
}

// loadTexts reads the tokens of every text.
func (a *loader) loadTexts() {
	offsets, name := a.readOffsets(a.InputOffset), strings.Join(a.InputTokens, " + ")
	if len(a.InputTokens) > 1 {
		a.problems.add(name, "the numbers of tokens must be in one file")
		return
	}
	info, ok := a.header(name)
	if !ok {
		return
	}
	if !isVector(info) {
		a.problems.add(name, "shape %s, expected one number per token, all texts end to end", info)
		return
	}
	if info.Kind() == 'b' {
		a.problems.add(name, "%s, and the numbers of tokens are expected", info)
		return
	}
	tokens, ok := a.readNaturals(name, info, 0, "tokens are numbered from 0")
	if !ok || offsets == nil {
		return
	}
	if end := offsets[len(offsets)-1]; len(tokens) != end {
		a.problems.add(name, "%d tokens, and %s ends at %d", len(tokens), strings.Join(a.InputOffset, " + "), end)
		return
	}
	if len(offsets)-1 != a.e.Records {
		return // loadHeaders has reported it
	}
	for i := range a.e.Records {
		a.e.Texts = append(a.e.Texts, tokens[offsets[i]:offsets[i+1]])
	}
}
