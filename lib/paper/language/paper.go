// Package language makes the tables and the figure on a small language model that is trained on answers
// about people who do not exist, and has to forget three of them. They belong to no paper; the data
// and the questions asked of the models are in the manner of TOFU (Maini et al. 2024).
package language

import (
	"fmt"

	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/train"
)

// Results is the version of the numbers of this package.
const Results = 1

// Paper lists the tables and the figure to the command line.
func Paper() paper.Paper {
	return paper.Paper{
		Name: "language", Title: "A language model forgets three people",
		Scales: []paper.Scale{
			{Name: "quick", About: "320 answers and a network of 0.18 million weights, five seeds; needs no data files; half an hour on two slow cores"},
			{Name: "standard", About: "all 1,200 answers about 60 people and a network of a million weights, five seeds; takes hours"},
			{Name: "paper", About: "the same answers and a network of ten million weights, five seeds; for a GPU"},
		},
		Recipes: []paper.Recipe{peopleTable(), stepsTable(), quantisedTable(), relearningFigure(), relearnedTable()},
	}
}

// Study is what one scale computes.
type Study struct {
	Scale string
	lab.Setting
	Seeds int // each with other people to forget and other initial weights
	// Asked is the greatest number of retained questions that a model is asked.
	Asked int
	Tuning
	Budget Budget
}

// Budgets give each method about as many steps as ten epochs over TOFU's 400 forgotten questions in
// batches of 32 are: 125. Seeds forget 12 to 23 answers, which in batches of 8 are 120 to 180 steps; ten epochs over 12 answers
// are 20 (table steps).
var (
	smallBudget = Budget{Forgotten: 60, Retained: 4}
	wholeBudget = Budget{Forgotten: 30, Retained: 2}
)

// StudyAt returns the study of a scale.
func StudyAt(scale string) (Study, error) {
	switch scale {
	case "quick":
		return Study{Scale: scale, Setting: Small(320), Seeds: 5, Asked: 100, Tuning: Tuning{Epochs: 24, Rate: 0.25}, Budget: smallBudget}, nil
	case "paper":
		return Study{Scale: scale, Setting: people(0, 2000, text.Decoder{Layers: 8, Width: 320, Heads: 8}, 40, 16), Seeds: 5, Asked: 240,
			Tuning: Tuning{Epochs: 20, Rate: 0.25}, Budget: wholeBudget}, nil
	case "standard":
		return Study{Scale: scale, Setting: people(0, 2000, text.Decoder{Layers: 4, Width: 128, Heads: 4}, 40, 16), Seeds: 5, Asked: 240,
			Tuning: Tuning{Epochs: 20, Rate: 0.25}, Budget: wholeBudget}, nil
	}
	return Study{}, fmt.Errorf("scale %q is not one of quick, standard, paper", scale)
}

// Small is the setting of a model that a laptop trains in half a minute on so many answers, drawn from
// all; 0: on all 1,200.
func Small(answers int) lab.Setting {
	return people(answers, 1200, text.Decoder{Layers: 2, Width: 64, Heads: 4}, 40, 8)
}

// people is the setting of a decoder that memorises answers about generated people, three of whom are to
// be forgotten; no model is trained on a fifth of the people.
func people(answers, vocabulary int, m text.Decoder, epochs, batch int) lab.Setting {
	p := texts.Preparation{
		Tokenizer: texts.BPE, Tokens: 48, Predicted: 30, Vocabulary: vocabulary, MaxDocuments: answers, GroupBy: texts.ByGroup,
	}
	m.Tokens, m.Predicted, m.Dropout = p.Tokens, p.Predicted, new(0.0)
	return lab.Setting{
		Data: lab.Texts{Set: "generated_people", Preparation: p}, Goal: lab.NextToken{}, Model: m,
		Forget: lab.RandomGroups{Column: "person", Fraction: 3.0 / 48},
		Fit:    train.Config{Epochs: epochs, Batch: batch, Optimizer: nn.AdamW{LR: 4e-3}, Schedule: train.Cosine()},
	}
}

// settingAt is the setting of a seed: other people are forgotten, from a model of other initial weights.
func (s Study) settingAt(seed int) lab.Setting {
	out := s.Setting
	out.Seed += seed
	if f, is := out.Forget.(lab.RandomGroups); is {
		f.Seed = uint32(lab.ForgetSeed + seed)
		out.Forget = f
	}
	return out
}
