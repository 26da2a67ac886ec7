package blindu

// The notes on where the settings of a table differ from those of the published program. They
// are generated from the case's settings.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// script has the settings of the program on its data set.
type script struct {
	beta                 float64
	train, epochs, batch int
	// Of its federations: the greatest number of rounds, local epochs per round, users' batch
	// size, and the number of records to be forgotten that each requesting user holds, the same
	// for all.
	rounds, local, users, erased int
}

var scripts = map[string]script{
	"mnist":   {beta: 1e-4, train: 60_000, epochs: 20, batch: 20, rounds: 20, local: 10, users: 100, erased: 1200},
	"cifar10": {beta: 1e-2, train: 50_000, epochs: 20, batch: 100, rounds: 20, local: 10, users: 100, erased: 1000},
	"adult":   {beta: 1e-3, train: 26_048, epochs: 10, batch: 20, rounds: 25, local: 10, users: 20, erased: 868},
}

// settingDifferences lists values of the program next to the ones here, where they differ.
type settingDifferences []string

func (u *settingDifferences) add(differ bool, program string, here any) {
	if differ {
		*u = append(*u, fmt.Sprintf("%s (here %v)", program, here))
	}
}

// note is the list as a sentence, none if it is empty.
func (u settingDifferences) note(of string) []string {
	if len(u) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s, in the program: %s.", of, strings.Join(u, "; "))}
}

// variedSettings tells what a table or figure varies between cases, which is then not a
// difference.
type variedSettings struct{ beta, rate bool }

func variedAmong(cases []Case) (v variedSettings) {
	for _, c := range cases {
		if c.DataSet() == cases[0].DataSet() {
			v.beta = v.beta || c.beta() != cases[0].beta()
			v.rate = v.rate || c.rate() != cases[0].rate()
		}
	}
	return v
}

// trainingDifferences are the differences in the training of the original on that number of records;
// 0: unknown.
func (c Case) trainingDifferences(records int, v variedSettings) []string {
	p, known := scripts[c.publishedDataSet()]
	if !known {
		return nil
	}
	var u settingDifferences
	u.add(!v.beta && c.beta() != p.beta, fmt.Sprintf("beta %g", p.beta), c.beta())
	u.add(records != 0 && records != p.train, fmt.Sprintf("%d training records", p.train), records)
	u.add(c.Fit.Epochs != p.epochs, fmt.Sprintf("%d epochs", p.epochs), c.Fit.Epochs)
	u.add(c.Fit.Batch != p.batch, fmt.Sprintf("batches of %d", p.batch), c.Fit.Batch)
	u.add(c.program() == adults && c.Backdoor() != nil, "five epochs without the backdoor, then five with it", "all with it")
	u.add(c.Backdoor() != nil, "the clean records stay beside their copies with the backdoor", "they are replaced")
	u.add(c.User() == nil, "Adam is made anew in every epoch", "once")
	u.add(c.program() == photos, "every photograph is cropped once at random", "as published")
	return u.note(c.DataSet() + ", training")
}

// federationDifferences are the differences of the federations, where forget records are to be
// forgotten.
func (c Case) federationDifferences(forget int, v variedSettings) []string {
	p, known := scripts[c.publishedDataSet()]
	if !known || !c.isFederated() {
		return nil
	}
	var u settingDifferences
	users := defaults.Fill(c.Users)
	u.add(users.Rounds != p.rounds, fmt.Sprintf("at most %d rounds", p.rounds), users.Rounds)
	u.add(users.LocalEpochs != p.local, fmt.Sprintf("%d local epochs a round", p.local), users.LocalEpochs)
	u.add(users.Batch != p.users, fmt.Sprintf("users' batches of %d", p.users), users.Batch)
	if c.User() == nil {
		same := fmt.Sprintf("each of the %d who ask holds the same %d records to be forgotten", users.Requesters, p.erased)
		u.add(forget != 0 && forget != p.erased, same, forget)
		u.add(true, "the original is trained by the users", "at one place")
	}
	u.add(c.program() == photos && !v.beta && c.beta() != 1e-6, "beta 1e-06 in federations", c.beta())
	return u.note(c.DataSet() + ", federations")
}

// maskingDifferences are the differences in the masking and in what a blind server has.
func (c Case) maskingDifferences(v variedSettings) []string {
	masks := func(a lab.Variant) bool {
		m, is := a.Method.(unlearn.BlindU)
		return is && !m.Unmasked
	}
	if _, known := scripts[c.publishedDataSet()]; !known || !slices.ContainsFunc(c.variants(), masks) {
		return nil
	}
	var u settingDifferences
	u.add(!v.rate && c.rate() != 0.601, "the rate 0.601", c.rate())
	u.add(c.HasPixels(), "pixels are drawn by weights exp(v/2)", "uniformly where a row says nothing else")
	u.add(c.program() == adults, "a masked sex is -2", c.masking(false).Fill)
	u.add(c.program() != digits, "the auxiliary records are the retain set", "unseen ones where a row says nothing else")
	return u.note(c.DataSet() + ", blind server")
}

// stoppingNotes describe the stopping rules of the rows.
func stoppingNotes(cases []Case) []string {
	var own []string
	for label, row := range map[string]string{VBUCoded: "'%s'", Coded: "'%s'", HBFUCoded: "the users' turns of '%s'"} {
		if slices.ContainsFunc(cases, func(c Case) bool { return c.hasVariant(label) }) {
			own = append(own, fmt.Sprintf(row, label))
		}
	}
	slices.Sort(own)
	out := "Methods stop at the end of an epoch or a round, by chance on what is to be forgotten, BlindU on its codes"
	if len(own) == 0 {
		return []string{out + "; the program within an epoch, too, and by other thresholds."}
	}
	return []string{out + "; by the program's own rules " + strings.Join(own, ", ") + "."}
}

func (c Case) hasVariant(label string) bool {
	return slices.ContainsFunc(c.variants(), func(a lab.Variant) bool { return a.Label == label })
}

// isFederated reports whether a row is a federation.
func (c Case) isFederated() bool {
	return slices.ContainsFunc(c.variants(), func(a lab.Variant) bool {
		switch m := a.Method.(type) {
		case unlearn.HBFU, unlearn.BFU, unlearn.RapidRetraining:
			return true
		case unlearn.BlindU:
			return m.Beside != nil
		}
		return false
	})
}

// differences are the notes of all cases, each once. count returns how many records a case is
// trained on and how many of them are to be forgotten; 0: unknown.
func differences(cases []Case, count func(Case) (train, forget int)) (notes []string) {
	v := variedAmong(cases)
	for _, c := range cases {
		train, forget := count(c)
		for _, n := range slices.Concat(c.trainingDifferences(train, v), c.federationDifferences(forget, v), c.maskingDifferences(v)) {
			if !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
	}
	return notes
}

// uncounted is the count for callers without evidence on a case's models.
func uncounted(Case) (train, forget int) { return 0, 0 }

// differences are those of the evidence's cases.
func (ev *evidence) differences() []string {
	return append(differences(ev.Cases, func(c Case) (int, int) {
		for _, r := range ev.Rows {
			if r.Case == c.Label {
				return r.Train, r.Forget
			}
		}
		return 0, 0
	}), stoppingNotes(ev.Cases)...)
}

// withCellsNote is a figure's caption with the place of its notes.
func withCellsNote(caption string, notes []string) string {
	if len(notes) == 0 {
		return caption
	}
	return caption + " Settings that are not the program's stand in the notes below Table III."
}
