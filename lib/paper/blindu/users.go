package blindu

// The table of requests by several users.

import (
	"context"
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

var users = paper.Recipe{
	ID:    "blindu/users",
	Title: "BlindU. A user leaves, a user erases some records",
	Doc: "The train part is split among ten users, who train the original together by federated averaging. Then one user asks to leave, and all of " +
		"that user's records are to be forgotten, or asks to erase half of them. Unequal users have other mixtures of classes and other numbers of " +
		"records (a Dirichlet distribution, alpha 0.5). 'retrained' is trained by the users who remain, or on the records that remain, from the same " +
		"weights for as many rounds. HBFU and BFU continue with all users, and the user who asks erases their own records; a user who leaves has no " +
		"others. BlindU's server works alone, with that user's codes: at 'equal rounds' it takes as many model steps in a round as the user would, in " +
		"batches of the same size, and ends after as many rounds or when it has forgotten, as they do; its other row keeps the paper's own epochs, " +
		"the same where users' batches are as large as its own. 'auxiliary records alone' goes on training for three epochs. " +
		"The paper has no user who leaves, and another number of rounds for every method. A " +
		"user's records are ordinary records, so a model that never met them gives most of their labels: read every row beside 'retrained'.",
}

// usersVariants are the rows of the table, in order.
var usersVariants = []string{Original, Retrained, OtherSeed, Auxiliary, HBFU, HBFUCoded, BFU, Rapid, WithoutReplacement, WithRounds, WithoutRounds,
	CompressedRounds}

// usersStudy is the study of the table.
func usersStudy(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	return withUsers(s, s.Cases[0]), nil
}

// withUsers is a study of requests by the users of a case, whatever its own forget set.
func withUsers(s Study, c Case) Study {
	data := strings.TrimSuffix(c.Label, ", backdoor")
	c.Only = usersVariants
	s.Cases = nil
	for _, r := range []struct {
		label   string
		request lab.User
	}{
		{"a user leaves", lab.User{}},
		{"a user leaves, unequal users", lab.User{Alpha: 0.5}},
		{"a user erases half, unequal users", lab.User{Share: 0.5, Alpha: 0.5}},
	} {
		at := c
		at.Label = data + ", " + r.label
		r.request.Users = c.Users
		at.Forget = r.request
		s.Cases = append(s.Cases, at)
	}
	return s
}

// addRounds adds the rounds and steps of a model, and the numbers of records of the users.
func (r *Row) addRounds(ctx context.Context, c *lab.Case, a lab.Variant, rep *unlearn.Report) error {
	r.Least, r.Most = len(c.Holders[0].Rows), 0
	for _, u := range c.Holders {
		r.Least, r.Most = min(r.Least, len(u.Rows)), max(r.Most, len(u.Rows))
	}
	if rep != nil {
		r.Rounds = rep.Epochs
		return nil
	}
	o := c.ModelSpec(a.Method)
	if o.Rows == lab.AllRecords {
		return nil // nothing was done
	}
	t, err := c.TrainedModel(ctx, o)
	if err == nil {
		r.Rounds, r.Steps = len(t.History), t.History[len(t.History)-1].Steps
	}
	return err
}

func (ev *evidence) users() *paper.Output {
	value := func(name, note string, digits int, value func(Row) int) column {
		return column{Name: name, Note: note, Cell: func(l line) report.Cell {
			return report.Num(l.Mean(func(r Row) float64 { return float64(value(r)) }).Value, digits)
		}}
	}
	t := ev.variantTable(users, []column{
		erasedMeanColumn, maskedColumn, retainColumn,
		paper.MeanColumn("gap", "erased less retain in each model: near 0 where it met both alike, below where the erased records are known less well than "+
			"those that stay; nearest to 'retrained' is best", 4, func(r Row) float64 { return r.Erased - r.Retain }),
		testColumn, drawnColumn,
		value("rounds", "until the method ended, mean over models; of BlindU's own epochs, epochs; of the controls one training's", 1,
			func(r Row) int { return r.Rounds }),
		value("steps", "of all users together; of BlindU those of the server, "+criticsSteps(), 0, func(r Row) int { return r.Steps }),
	})
	for _, c := range ev.Cases {
		if rows := ev.rowsOf(c.Label, Original); len(rows) > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: user %d of %d asks; they hold %d to %d records.",
				c.Label, c.User().Number, defaults.Fill(c.User().Users).Count, rows[0].Least, rows[0].Most))
		}
	}
	return &paper.Output{Table: t}
}
