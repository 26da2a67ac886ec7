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
// was found, and an audit that cannot tell for lack of power has no verdict. 4: the whole audit allows for the number
// of families of lenses, and says what is said of single records; its folder has the inputs. 5: the blind attack
// compares within classes too. 6: it compares normal scores, and lenses of a family are taken together too.
// 7: whether sets were drawn alike is asked at 95 %, whatever the coverage of a reference. 8: it is not asked of values
// that do not compare forgotten with other records. 9: a model nearer to one retrained model than they are to each other is
// like them, doubts about the order of arrays clear nobody, and single records are compared with all retrained models together.
// 10: no power is said where a family more needs it, the floor of neighbours is a rank's, losses and copies can be doubted.
// 11: beside retrained models single records stand out less often, because thresholds may move by chance too.
const Results = 11

const (
	id    = "alarms"
	title = "How often does an audit err?"
	doc   = "Audits of models whose answer is known. A network that was retrained on the retained records with another seed has forgotten " +
		"perfectly: a verdict that places it anywhere but beside the retrained models is a false alarm. An original of another seed has " +
		"forgotten nothing: a lens should find a memory in it. Every model is compared with one original and with none, one, two or five " +
		"retrained models. Without any, inputs show whether forgotten and held-out records differ by themselves. The first row is the " +
		"answer of the whole audit."
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
	// Beside are the audits of a model.
	Beside []Beside
	// Models is the number of models with each answer that are audited, of as many seeds.
	Models int
}

// StudyAt returns the study of a scale.
func StudyAt(scale string) (Study, error) {
	cases, err := lenses.Cases(scale)
	if err != nil {
		return Study{}, fmt.Errorf("alarms: %w", err)
	}
	return Study{Scale: scale, Cases: cases, Beside: []Beside{{0, false}, {0, true}, {1, true}, {2, true}, {5, true}}, Models: 10}, nil
}

// label names a case in answers and their keys: by its name, and by its data set too where several cases have that name.
func (s Study) label(of lenses.NamedCase) string {
	same := 0
	for _, c := range s.Cases {
		if c.Name == of.Name {
			same++
		}
	}
	if same < 2 {
		return of.Name
	}
	return fmt.Sprintf("%s: %s", of.DataSet(), of.Name)
}

// seeds is the number of seeds of the retrained models that audits compare with and of the models that are audited.
func (s Study) seeds() int { return s.references() + s.Models }

// references is the number of retrained models that audits compare with.
func (s Study) references() (n int) {
	for _, b := range s.Beside {
		n = max(n, b.Retrained)
	}
	return n
}
