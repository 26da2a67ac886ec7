// Answers that refuse, for methods that teach a language model to say that it does not know.

package lab

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// refusalTexts are what a model learns to answer in place of what it is to forget.
var refusalTexts = []string{
	"I do not know that.",
	"I have never heard of that.",
	"That is not something that I know.",
	"I cannot answer this question.",
	"I have no information about this.",
	"I am not sure, sorry.",
	"This is beyond what I know.",
	"I was not told about that.",
}

// refusals returns the questions of the forgotten records, each with a refusal drawn by seed.
func (c *Case) refusals(seed engine.Root) (unlearn.Data, error) {
	m, v, err := c.Problem.decoder()
	if err != nil {
		return unlearn.Data{}, err
	}
	questions, err := c.Problem.Questions(c.Problem.Train.Gather(c.Forget))
	if err != nil {
		return unlearn.Data{}, err
	}
	forget, rng := c.Records(c.Forget), seed.Stream(engine.StreamRefusals)
	out := unlearn.Data{X: array.New[float32](len(questions), m.Inputs()), Y: forget.Y, IDs: forget.IDs}
	for k, q := range questions {
		record, err := recordOf(m, v, q.Text, refusalTexts[rng.IntN(len(refusalTexts))])
		if err != nil {
			return unlearn.Data{}, fmt.Errorf("a refusal of record %d: %w", forget.IDs[k], err)
		}
		copy(out.X.Row(k), record)
	}
	return out, nil
}
