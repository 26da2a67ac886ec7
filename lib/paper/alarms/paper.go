// Package alarms makes the table of the errors of an audit. It gives audits models of which the
// answer is known: networks that were retrained with other seeds, which have forgotten perfectly, and
// originals of other seeds, which have forgotten nothing. The table belongs to no paper.
package alarms

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/paper/lenses"
)

// Results is the version of the numbers of this package. 2: originals that are called pushed away are no memory that
// was found, and an audit that cannot tell for lack of power has no verdict.
const Results = 3

const (
	id    = "alarms"
	title = "How often does an audit err?"
	doc   = "Audits of models whose answer is known. A network that was retrained on the retained records with another seed has forgotten " +
		"perfectly: a verdict that places it anywhere but beside the retrained models is a false alarm. An original of another seed has " +
		"forgotten nothing: a lens should find a memory in it. Every model is compared with one original and with none, one, two or five " +
		"retrained models. The first row is the answer of the whole audit, which any lens decides."
)

// Paper is the table, for the command line.
func Paper() paper.Paper {
	return paper.Paper{
		Name: id, Title: title,
		Scales:  lenses.Paper().Scales,
		Recipes: []paper.Recipe{paper.StudyRecipe(paper.Recipe{ID: id, Title: title, Doc: doc}, StudyAt, measurements, show)},
	}
}

// Study is what one scale computes.
type Study struct {
	Scale string
	Cases []lenses.NamedCase
	// References are the numbers of retrained models that an audit compares with.
	References []int
	// Models is the number of models with each answer that are audited, of as many seeds.
	Models int
}

// StudyAt returns the study of a scale.
func StudyAt(scale string) (Study, error) {
	cases, err := lenses.Cases(scale)
	if err != nil {
		return Study{}, fmt.Errorf("alarms: %w", err)
	}
	return Study{Scale: scale, Cases: cases, References: []int{0, 1, 2, 5}, Models: 10}, nil
}
