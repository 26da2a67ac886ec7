// What a language model is asked: the questions of the data, its answers to them, and how probable
// other answers are to it.

package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/text/bpe"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// ErrNoQuestions is the error for records that are no answers to questions, or whose questions have
// no wrong answers.
var ErrNoQuestions = errors.New("the records are no answers to questions with wrong answers")

// decoder returns the network that predicts the next token, and its vocabulary.
func (p *Problem) decoder() (text.Decoder, *bpe.Vocabulary, error) {
	m, is := p.Arch.(text.Decoder)
	if !is {
		return m, nil, fmt.Errorf("the network %s does not predict the next token", p.Arch.Name())
	}
	v, err := bpe.New(p.About.Vocabulary)
	return m, v, err
}

// question returns the question of a record.
func (p *Problem) question(id int) (datasets.Question, error) {
	if id < 0 || id >= len(p.About.Questions) {
		return datasets.Question{}, ErrNoQuestions
	}
	return p.About.Questions[id], nil
}

// Questions returns the questions of records of the data, or ErrNoQuestions.
func (p *Problem) Questions(records datasets.Part) ([]datasets.Question, error) {
	out := make([]datasets.Question, len(records.IDs))
	for k, id := range records.IDs {
		var err error
		if out[k], err = p.question(id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Ask returns what a decoder with these weights answers to the questions of records: the most
// probable token after each, at most as many as a record predicts. A token that the vocabulary does not
// have, where the network has room for more, is U+FFFD: only an untrained model says it.
func (p *Problem) Ask(ctx context.Context, weights nn.Params, records datasets.Part) ([]string, error) {
	m, v, err := p.decoder()
	if err != nil {
		return nil, err
	}
	questions, err := p.Questions(records)
	if err != nil {
		return nil, err
	}
	prompts := make([][]int, len(questions))
	for k, q := range questions {
		if prompts[k], err = v.Tokens(texts.Prompt(q.Text)); err != nil {
			return nil, fmt.Errorf("record %d: %w", records.IDs[k], err)
		}
	}
	g, err := text.NewGenerator(p.Runner.Engine, m)
	if err != nil {
		return nil, err
	}
	answers, err := g.Continue(ctx, weights, prompts, text.Sampling{Most: m.Predicted, End: v.End()})
	if err != nil {
		return nil, err
	}
	out := make([]string, len(answers))
	for k, tokens := range answers {
		if out[k], err = decoded(v, tokens); err != nil {
			return nil, fmt.Errorf("record %d: %w", records.IDs[k], err)
		}
	}
	return out, nil
}

// decoded returns the text of tokens, with U+FFFD for those that are not in the vocabulary.
func decoded(v *bpe.Vocabulary, tokens []int) (string, error) {
	var out strings.Builder
	for len(tokens) > 0 {
		n := slices.IndexFunc(tokens, func(token int) bool { return token >= v.Size() })
		if n < 0 {
			n = len(tokens)
		}
		part, err := v.Decode(tokens[:n])
		if err != nil {
			return "", err
		}
		out.WriteString(part)
		if n < len(tokens) {
			out.WriteRune(utf8.RuneError)
			n++
		}
		tokens = tokens[n:]
	}
	return out.String(), nil
}

// Answers returns how probable answers to the questions of records are to a decoder with these
// weights, per token and with the end of the text: the right one in other words, or as it was trained
// on where there are no others, and the wrong ones. It is ErrNoQuestions where a record has none.
func (p *Problem) Answers(weights nn.Params, records datasets.Part) (*language.Answers, error) {
	m, v, err := p.decoder()
	if err != nil {
		return nil, err
	}
	questions, err := p.Questions(records)
	if err != nil {
		return nil, err
	}
	var asked [][]float32
	out := &language.Answers{}
	for k, q := range questions {
		if len(q.Wrong) == 0 {
			return nil, ErrNoQuestions
		}
		right := cmp.Or(q.Paraphrase, q.Answer)
		for _, answer := range append([]string{right}, q.Wrong...) {
			record, err := recordOf(m, v, q.Text, answer)
			if err != nil {
				return nil, fmt.Errorf("record %d, the answer %q: %w", records.IDs[k], answer, err)
			}
			asked = append(asked, record)
		}
	}
	tokens, err := text.Measure(p.Runner, weights, array.Matrix[float32]{Rows: len(asked), Cols: m.Inputs(), Data: slices.Concat(asked...)})
	if err != nil {
		return nil, err
	}
	each := tokens.MeanLoss()
	for k := range each {
		each[k] = -each[k]
	}
	for _, q := range questions {
		n := len(q.Wrong)
		out.Right, out.Wrong = append(out.Right, each[0]), append(out.Wrong, each[1:1+n:1+n])
		each = each[1+n:]
	}
	return out, nil
}

// recordOf returns the record of a question with an answer.
func recordOf(m text.Decoder, v *bpe.Vocabulary, question, answer string) ([]float32, error) {
	given, err := v.Tokens(texts.Prompt(question))
	if err != nil {
		return nil, err
	}
	follows, err := v.Tokens(answer)
	if err != nil {
		return nil, err
	}
	record := make([]float32, m.Inputs())
	return record, m.Record(record, text.Passage{Given: given, Follows: append(follows, v.End())})
}

// PredictedTexts returns what the tokens to predict of a decoder's records say, without the end of the
// text: the answers, or all but the first token.
func (p *Problem) PredictedTexts(records datasets.Part) ([]string, error) {
	m, v, err := p.decoder()
	if err != nil {
		return nil, err
	}
	in, err := m.NextInputs(records.X)
	if err != nil {
		return nil, err
	}
	out := make([]string, records.X.Rows)
	for i := range out {
		var tokens []int
		for k, weight := range in[loss.NextWeights].Row(i) {
			if token := int(in[loss.NextTokens].Row(i)[k]); weight > 0 && token != v.End() {
				tokens = append(tokens, token)
			}
		}
		if out[i], err = v.Decode(tokens); err != nil {
			return nil, fmt.Errorf("record %d: %w", records.IDs[i], err)
		}
	}
	return out, nil
}

// Groups returns a number for every record, of the train part and after it of the test part; those of
// one number are of one group, such as one person's, which the split kept together. unit is what a
// group is. nil: the split was by records.
func (p *Problem) Groups() (groups []int, unit string) {
	k := slices.IndexFunc(p.About.Columns, func(c datasets.Column) bool { return p.About.GroupColumn != "" && c.Name == p.About.GroupColumn })
	if k < 0 {
		return nil, ""
	}
	const nobody = -1 // the code of a record that belongs to nobody, a group of its own
	known, n := map[float64]int{}, 0
	for _, id := range slices.Concat(p.Train.IDs, p.Test.IDs) {
		v := cellNumber(p.About.Columns[k], id)
		if _, is := known[v]; !is || v == nobody {
			known[v] = n
			n++
		}
		groups = append(groups, known[v])
	}
	if p.About.GroupColumn == texts.ColumnText {
		return groups, "text"
	}
	return groups, p.About.GroupColumn
}
