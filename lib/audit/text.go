// What lenses on language models share: tokens of some records, and readings of scores per text.

package audit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

var errNothingForgotten = errors.New("there are no forgotten records")

// hasText reports whether there are arrays of language models, or a reference model.
func (e *Evidence) hasText() bool {
	return slices.ContainsFunc(e.Models, func(m *Arrays) bool {
		return m.Role == Reference || m.Tokens != nil || m.Answers != nil || m.Patched != nil
	})
}

// textEvidence returns what scores of texts read, of some records.
func (e *Evidence) textEvidence(m *Arrays, rows []int) (out language.Evidence, err error) {
	if out.Target, err = m.Tokens.Select(rows); err != nil {
		return out, err
	}
	if m.Prefixed != nil {
		if out.Prefixed, err = m.Prefixed.Select(rows); err != nil {
			return out, err
		}
	}
	if e.Compressed != nil {
		out.Compressed = valuesAt(e.Compressed, rows)
	}
	return out, nil
}

// textScores returns a score of some records.
func (e *Evidence) textScores(m *Arrays, s language.Score, rows []int) (Scored, error) {
	of, err := e.textEvidence(m, rows)
	if err != nil {
		return Scored{}, err
	}
	values, err := s.Scores(of)
	if one := (*language.DocumentError)(nil); errors.As(err, &one) { // of the selected documents
		err = &language.DocumentError{Score: one.Score, Document: rows[one.Document], Why: one.Why}
	}
	return Scored{rows, values}, err
}

// textAUC returns how well a score tells forgotten from held-out texts.
func (e *Evidence) textAUC(l Lens, m *Arrays, s language.Score) (*Reading, error) {
	forget, err := e.textScores(m, s, e.Forget)
	if err != nil {
		return nil, err
	}
	heldOut, err := e.textScores(m, s, e.HeldOut)
	if err != nil {
		return nil, err
	}
	ours, err := e.textScores(m, language.Loss{}, e.Forget)
	if err != nil {
		return nil, err
	}
	theirs, err := e.textScores(m, language.Loss{}, e.HeldOut)
	if err != nil {
		return nil, err
	}
	return e.ScoresReading(l, m, Scores{forget, heldOut}, TiedScores(ours.Values, theirs.Values))
}

// textShare returns the mean over the forgotten texts of a score in [0, 1].
func (e *Evidence) textShare(l Lens, m *Arrays, s language.Score) (*Reading, error) {
	if len(e.Forget) == 0 {
		return nil, errNothingForgotten
	}
	all, err := e.textScores(m, s, slices.Concat(e.Forget, e.Retain, e.HeldOut))
	if err != nil {
		return nil, err
	}
	forgotten := all.Values[:len(e.Forget)]
	r := e.readingWithoutNull(l, m, Above, stats.ClusterBounded(forgotten, e.Clusters(e.Forget), level, e.Units()))
	r.NoEvidence = firstReason(e.tooFewForgotten(), r.NoEvidence, e.copiedTexts(m), sameForAll(l.Name(), all.Values))
	return r, nil
}

// sameForAll returns the reason against a score that is the same for all texts, not only for the
// forgotten ones, which a model may have memorised.
func sameForAll(name string, values []float64) Reason {
	for _, v := range values {
		if math.Abs(v-values[0]) > 1e-6 {
			return Reason{}
		}
	}
	return Reason{CannotTell, fmt.Sprintf("%s is %.3g for every text", name, values[0])}
}

// tooFewForgotten returns the reason against few forgotten records.
func (e *Evidence) tooFewForgotten() Reason {
	return TooFewRecords(len(e.Forget), Forget.Adjective()+" records")
}

// copiedTexts returns the reason against forgotten texts of which many have the same
// log-probabilities: the same text, or a model that says the same of all.
func (e *Evidence) copiedTexts(m *Arrays) Reason {
	keys := make([]uint64, len(e.Forget))
	for k, i := range e.Forget {
		keys[k] = hashRow(m.Tokens.LogProb[m.Tokens.Offset[i]:m.Tokens.Offset[i+1]])
	}
	return tiesWithin("texts", keys)
}

// answersOf returns the answers to some questions.
func (m *Arrays) answersOf(rows []int) language.Answers {
	return language.Answers{Right: valuesAt(m.Answers.Right, rows), Wrong: valuesAt(m.Answers.Wrong, rows)}
}

// logRatios returns ln R of the forgotten questions; see TruthRatio.
func (e *Evidence) logRatios(m *Arrays) ([]float64, error) {
	if len(e.Forget) == 0 {
		return nil, errNothingForgotten
	}
	r, err := language.TruthRatio{}.Ratios(m.answersOf(e.Forget))
	if err != nil {
		return nil, err
	}
	return r.Log()
}

// drops returns what the forgotten texts lose where layers of the original model get a model's
// states.
func (e *Evidence) drops(original, m *Arrays) (array.Matrix[float64], error) {
	if len(e.Forget) == 0 {
		return array.Matrix[float64]{}, errNothingForgotten
	}
	x, err := m.Patched.Read()
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	_, layers := x.Shape()
	patched := array.New[float64](len(e.Forget), layers)
	for k, i := range e.Forget {
		copy(patched.Row(k), x.Read(patched.Row(k), i))
	}
	return language.Drops(language.FullScores(negatedAt(original.Losses, e.Forget)), patched)
}
