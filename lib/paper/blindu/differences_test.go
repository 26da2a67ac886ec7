package blindu

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// notesOf are the notes of a case, with a backdoor and without.
func notesOf(train, forget int, cases ...Case) string {
	return strings.Join(differences(cases, func(Case) (int, int) { return train, forget }), "\n")
}

// A note disappears when its setting is the program's, and appears when it is not.
func TestTheNotesAreOfTheCasesOwnSettings(t *testing.T) {
	paper, err := StudyAt("paper")
	if err != nil {
		t.Fatal(err)
	}
	digit, table := paper.Cases[0], paper.Cases[2]
	for what, c := range map[string]struct {
		of            Case
		train, forget int
		words         string
		same          func(c *Case, train, forget *int) // makes the setting the program's
	}{
		"beta":           {digit, 60_000, 3600, "beta 0.0001 (here 0.001)", func(c *Case, _, _ *int) { c.Goal = lab.Compression{Beta: new(1e-4)} }},
		"local epochs":   {digit, 60_000, 3600, "10 local epochs a round (here 2)", func(c *Case, _, _ *int) { c.Users.LocalEpochs = 10 }},
		"erased records": {digit, 60_000, 3600, "each of the 3 who ask holds the same 1200 records to be forgotten (here 3600)", func(_ *Case, _, f *int) { *f = 1200 }},
		"the original":   {digit, 60_000, 3600, "the original is trained by the users (here at one place)", func(c *Case, _, _ *int) { c.Forget = lab.User{} }},
		"the rate":       {digit, 60_000, 3600, "the rate 0.601 (here 0.6)", func(c *Case, _, _ *int) { c.Rate = 0.601 }},
		"epochs":         {digit, 60_000, 3600, "", nil},
		"rows":           {table, 39_073, 2344, "26048 training records (here 39073)", func(_ *Case, n, _ *int) { *n = 26_048 }},
		"five and five":  {table, 39_073, 2344, "five epochs without the backdoor, then five with it (here all with it)", func(c *Case, _, _ *int) { c.Forget = lab.Random{} }},
		"rounds":         {table, 39_073, 2344, "at most 25 rounds (here 20)", func(c *Case, _, _ *int) { c.Users.Rounds = 25 }},
		"users' batches": {table, 39_073, 2344, "users' batches of 20 (here 100)", func(c *Case, _, _ *int) { c.Users.Batch = 20 }},
		"sex":            {table, 39_073, 2344, "a masked sex is -2 (here 0)", func(c *Case, _, _ *int) { c.Only = []string{Original, HBFU} }},
		"auxiliary":      {table, 39_073, 2344, "the auxiliary records are the retain set", func(c *Case, _, _ *int) { c.Only = []string{Original, HBFU} }},
		"no federation":  {table, 39_073, 2344, "federations", func(c *Case, _, _ *int) { c.Only = []string{Original, VBU, WithReplacement} }},
	} {
		if got := notesOf(c.train, c.forget, c.of); !strings.Contains(got, c.words) {
			t.Errorf("%s: %q is not said in %s", what, c.words, got)
		}
		if c.same == nil {
			continue
		}
		c.same(&c.of, &c.train, &c.forget)
		if got := notesOf(c.train, c.forget, c.of); strings.Contains(got, c.words) {
			t.Errorf("%s: %q is said of the program's own: %s", what, c.words, got)
		}
	}
	digit.Fit.Epochs, digit.Fit.Batch = 7, 30
	if got := notesOf(60_000, 3600, digit); !strings.Contains(got, "20 epochs (here 7)") || !strings.Contains(got, "batches of 20 (here 30)") {
		t.Errorf("another training: %s", got)
	}
	if got := notesOf(3000, 180, glyphs()); got != "" {
		t.Errorf("of drawings, which the program has not: %s", got)
	}
	photo := notesOf(50_000, 3000, cifar10())
	for _, words := range []string{"every photograph is cropped once at random", "beta 1e-06 in federations (here 0.01)", "the auxiliary records are the retain set"} {
		if !strings.Contains(photo, words) {
			t.Errorf("photographs: %q is not said in %s", words, photo)
		}
	}
}

// Two cases of one data set share a note, and what a figure varies is no difference.
func TestTheNotesSayAThingOnce(t *testing.T) {
	paper, err := StudyAt("paper")
	if err != nil {
		t.Fatal(err)
	}
	all := differences(paper.Cases, uncounted)
	if slices.Sort(all); len(slices.Compact(slices.Clone(all))) != len(all) || len(all) < 4 {
		t.Errorf("%d notes: %q", len(all), all)
	}
	for _, n := range all {
		if words := strings.Fields(n); len(words) > 70 {
			t.Errorf("%d words: %s", len(words), n)
		}
	}
	for _, w := range []sweep{byBeta, byRate} {
		s, err := w.study("paper", backdoorCase)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(differences(s.Cases, uncounted), " ")
		if said := strings.Contains(got, "beta 0.0001"); said != (w.axis != byBeta.axis) {
			t.Errorf("%s: %s", w.axis, got)
		}
		if said := strings.Contains(got, "the rate 0.601"); said != (w.axis != byRate.axis) {
			t.Errorf("%s: %s", w.axis, got)
		}
	}
	c := paper.Cases[0]
	c.Only = []string{Original, WithReplacement}
	if got := stoppingNotes([]Case{c})[0]; !strings.Contains(got, "by other thresholds") || strings.Contains(got, VBUCoded) {
		t.Errorf("no row is as coded: %s", got)
	}
	if got := stoppingNotes(paper.Cases)[0]; !strings.Contains(got, "by the program's own rules '"+Coded+"', '"+VBUCoded+"', the users' turns of '"+HBFUCoded+"'.") {
		t.Errorf("rows as coded: %s", got)
	}
}

func TestEndsAreCounted(t *testing.T) {
	for want, ends := range map[string][]string{
		"5 of 5: a":                         {"a", "a", "a", "a", "a"},
		"3 of 5: a; 2 of 5: b":              {"a", "b", "a", "b", "a"},
		"1 of 3: c; 1 of 3: a; 1 of 3: b":   {"c", "a", "b"},
		"forgotten after 1 epoch":           {"forgotten after 1 epoch"},
		"2 of 4: a; 1 of 4: aa; 1 of 4: ab": {"a", "aa", "a", "ab"},
	} {
		if got := countEndings(ends); got != want {
			t.Errorf("%q: %q, want %q", ends, got, want)
		}
	}
}

// The program's numbers on every data set: what is coded.
func TestTheProgramsNumbers(t *testing.T) {
	digit, photo, table := mnist(), cifar10(), adult()
	for _, c := range []struct {
		of     Case
		vbu    unlearn.Stop
		blindu unlearn.Coded
		rest   string // rate, epochs, auxiliary, weighting
		hbfu   string // local epochs, erasing, batch, stop
	}{
		{digit, unlearn.Stop{Batch: 0.02, Epoch: 0.1}, unlearn.Coded{Stop: unlearn.Stop{Epoch: 0.05, Times: 2}}, "4 0  exponential", "10 0 0 {0.02 0 0}"},
		{glyphs(), unlearn.Stop{Batch: 0.02, Epoch: 0.1}, unlearn.Coded{Stop: unlearn.Stop{Epoch: 0.05, Times: 2}}, "4 0  exponential", "10 0 20 {0.02 0 0}"},
		{photo, unlearn.Stop{Batch: 0.05, Epoch: 0.08}, unlearn.Coded{Stop: unlearn.Stop{Batch: 0.05, Epoch: 0.08}}, "4 0 retained exponential", "10 50 0 {0.02 0.1 2}"},
		{cifar10Lossy3000(), unlearn.Stop{Batch: 0.05, Epoch: 0.08}, unlearn.Coded{Stop: unlearn.Stop{Batch: 0.05, Epoch: 0.08}}, "4 0 retained exponential", "10 50 0 {0.02 0.1 2}"},
		{table, unlearn.Stop{Batch: 0.02, Epoch: 0.1}, unlearn.Coded{Stop: unlearn.Stop{Batch: 0.02, Epoch: 0.1}, Kept: 5}, "1 15 retained ", "10 30 20 {0.02 0.1 8}"},
	} {
		v, b, h := c.of.codedVBU(), c.of.codedBlindU(), c.of.codedHBFU()
		if *v.Stop != c.vbu || *b.Coded != c.blindu {
			t.Errorf("%s: stops %+v and %+v", c.of.Label, *v.Stop, *b.Coded)
		}
		if got := fmt.Sprintf("%g %d %s %s", *b.Rate, b.Epochs, b.Auxiliary, b.Masking.Weighting); got != c.rest || b.Masking.Rate != 0.601 {
			t.Errorf("%s: BlindU %q", c.of.Label, got)
		}
		if got := fmt.Sprintf("%d %d %d %v", h.LocalEpochs, h.ErasingEpochs, h.Batch, *h.Stop); got != c.hbfu {
			t.Errorf("%s: HBFU %q", c.of.Label, got)
		}
	}
	if h := digit.codedHBFU(); h.Portion*3600 != 1200 {
		t.Errorf("MNIST: %v of 3,600 in a round", h.Portion)
	}
	digit.Forget = lab.User{}
	if h := digit.codedHBFU(); h.Portion*6000 != 1200 {
		t.Errorf("MNIST, a user who leaves: %v of 6,000 in a round", h.Portion)
	}
	if h := table.codedHBFU(); h.Rounds != 25 || h.Portion != 1.0/3 { // args.epochs+20, epochs 5; each third
		t.Errorf("Adult: %d rounds, %v in a round", h.Rounds, h.Portion)
	}
	table.Forget = lab.User{}
	if h := table.codedHBFU(); math.Abs(h.Portion-0.1/0.3) > 1e-15 { // erased_local_r = 0.1/erased_portion
		t.Errorf("Adult, a user who leaves: %v in a round", h.Portion)
	}
	if rows := table.weightedVariants(); rows != nil {
		t.Errorf("columns of a table are drawn by weights: %v", rows)
	}
	for i, a := range mnist().weightedVariants() {
		m := a.Method.(unlearn.BlindU).Masking
		if m.Weighting != privacy.Exponential || m.Replacement != (i == 0) || a.Label != []string{WithWeighted, WithoutWeighted}[i] {
			t.Errorf("%s: %+v", a.Label, m)
		}
	}
}
