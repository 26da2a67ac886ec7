// lethe audit --only scores: the metrics of an attack from its scores.

package command

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"

	"github.com/spf13/cobra"
)

// level is the coverage of the intervals that the command line reports.
const level = 0.95

func newScores() *cobra.Command {
	c := &cobra.Command{
		Use:   "scores --members m.npy --nonmembers n.npy",
		Short: "AUC, advantage and TPR of membership scores of your own attack",
		Long: `Measure how well scores tell members of the training set from non-members.

Both files hold one score per record, saved with numpy.save (float or integer,
shape (n,) or (n, 1)); higher means member. For an attack by losses save the
negative losses.

It reports the AUC with an interval over records, the advantage 2 AUC - 1 with and
without its sign, the advantage by chance alone at these sample sizes, and the true
positive rate at small false positive rates. Memory: about 60 bytes per score.`,
		Example: `  lethe audit --only scores --members forget_scores.npy --nonmembers test_scores.npy
  lethe audit --only scores --members m.npy --nonmembers n.npy --json`,
		Args: cobra.NoArgs,
	}
	var s attack.Samples
	in := inputs{c: c, distinct: memberFlags}
	addFile(&in, &s.Members, "members", "npy file with the scores of members", finiteVector)
	addFile(&in, &s.Nonmembers, "nonmembers", "npy file with the scores of non-members", finiteVector)
	requireFlags(c, "members", "nonmembers")
	in.answerWith(func(*cobra.Command) (cli.Answer, error) {
		r, err := attack.ScoreByOdds(s, level)
		if err != nil {
			return cli.Answer{}, err
		}
		a := scoreAnswer{r, rates(r), audit.TiedScores(s.Members, s.Nonmembers).Why}
		return cli.Answer{Value: a, Text: a.table().Text}, nil
	})
	return c
}

// finiteVector reads one number per record and refuses NaN and infinity by file and row.
func finiteVector(path string) ([]float64, error) {
	x, err := npy.ReadVector(path)
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: row %d is %v", path, i, v)
		}
	}
	return x, err
}

// fewScores is the number of records on a side below which stats.AUCOdds misses more than it says; see stats.DeLong.
const fewScores = 20

// scoreAnswer is a report with the reason why its numbers are no evidence.
type scoreAnswer struct {
	*attack.ScoreReport
	Rates      map[string]*float64 `json:"tpr_at_fpr"`
	NoEvidence string              `json:"no_evidence,omitempty"`
}

func (r scoreAnswer) table() *report.Table {
	t := evidenceTable(fmt.Sprintf("Membership scores of %s and %s", report.Plural(r.NMembers, "member"), report.Plural(r.NNonmembers, "non-member")))
	a := r.Advantage
	over := fmt.Sprintf("%d + %d records", r.NMembers, r.NNonmembers)
	t.add("AUC", stats.Estimate{Value: r.AUC.Value, Low: r.AUC.Low, High: r.AUC.High}, over, "0.5",
		"the chance that a member scores above a non-member; below 0.5 non-members score higher, as they do after over-unlearning")
	t.add("advantage, signed", stats.Estimate{Value: a.Signed, Low: 2*r.AUC.Low - 1, High: 2*r.AUC.High - 1}, over, "0",
		"2 AUC - 1: negative is a finding too")
	t.add("advantage", stats.Estimate{Value: a.Value, Low: a.Low, High: a.High}, over, fmt.Sprintf("%.4f on average", a.ChanceMean),
		fmt.Sprintf("of an adversary who knows which way to read the score; chance alone gives up to %.4f in 95 of 100 cases, so a "+
			"value below that is no evidence", a.ChanceP95))
	for _, rate := range attack.ReportedFPR {
		fpr := fmt.Sprint(rate)
		t.Add(report.Str("TPR at FPR "+fpr), rateCell(r.ScoreReport, fpr), report.Str(""), report.Str(over), report.Str(fpr))
	}
	t.Notes = append(t.Notes, "TPR at FPR x: the share of members that are recognised when at most the share x of non-members is "+
		"wrongly accused; without skill it is x.")
	if min(r.NMembers, r.NNonmembers) < fewScores {
		t.Notes = append(t.Notes, fmt.Sprintf("Intervals of fewer than %d records on a side may be too short: those of 5 members and 200 non-members "+
			"hold an AUC of 0.9 in 89 of 100 cases, those of 2 members an AUC of 0.8 in 86.", fewScores))
	}
	if r.NoEvidence != "" {
		t.Notes = append(t.Notes, "The numbers are no evidence: "+r.NoEvidence+".")
	}
	return t.Table
}

// evidence is a table with one measure per row.
type evidence struct{ *report.Table }

func evidenceTable(title string) evidence {
	return evidence{&report.Table{Title: title, Columns: []report.Column{
		{Name: "measure"}, {Name: "value", Align: report.AlignRight}, {Name: fmt.Sprintf("%g %% interval", 100*level)}, {Name: "over"}, {Name: "null"},
	}}}
}

// add adds a measure with its interval, and its explanation as a note.
func (t evidence) add(name string, e stats.Estimate, over, null, reading string) {
	interval := report.Gap("no interval: one record only")
	if e.HasInterval() {
		interval = report.Str(report.FormatInterval(e.Low, e.High, 4))
	}
	t.Add(report.Str(name), report.Num(e.Value, 4), interval, report.Str(over), report.Str(null))
	if reading != "" {
		t.Notes = append(t.Notes, name+": "+reading+".")
	}
}
