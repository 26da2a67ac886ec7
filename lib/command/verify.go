// lethe audit --only ruler: RULER's metrics from saved embeddings.

package command

import (
	"cmp"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/ruler"

	"github.com/spf13/cobra"
)

func newVerifyRuler() *cobra.Command {
	c := &cobra.Command{
		Use:   "ruler --unlearned U.npy [--oracle O.npy [--original G.npy]] --forget f.npy --retain r.npy",
		Short: "RULER's metrics M1 to M4 from embeddings of any model",
		Long: `RULER's metrics from the embeddings of a model from any framework.

U, O and G are matrices (n, p) of the same n records in the same order, of any numeric
type, saved with numpy.save: the activations before the output head, without dropout,
of the unlearned model, of the oracle (retrained without the forget set, from the same
initial weights) and of the original. f and r hold row numbers (integers).

Without an oracle only M4 is computed, with an oracle also M1 and M2, and with the
original also M3. All retained records are used unless --cap or --baseline-cap sets a
limit; the paper draws 2000 for M4 and 500 for M2.

Memory: 1.1 times the files of float32 and float64, about twice those of float16
and bfloat16, and at most 300 MB.`,
		Example: `  lethe audit --only ruler --unlearned U.npy --forget f.npy --retain r.npy
  lethe audit --only ruler --unlearned U.npy --oracle O.npy --original G.npy --forget f.npy --retain r.npy --json
  lethe audit --only ruler --unlearned U.npy --oracle O.npy --forget f.npy --retain r.npy --cap 2000 --baseline-cap 500`,
		Args: cobra.NoArgs,
	}
	var e ruler.Evidence
	in := inputs{c: c, distinct: []string{"unlearned", "oracle"}}
	addFile(&in, &e.Unlearned, "unlearned", "npy file: embeddings under the unlearned model", readFinite(npy.ReadRows))
	addFile(&in, &e.Oracle, "oracle", "npy file: embeddings under the oracle", readFinite(npy.ReadRows))
	addFile(&in, &e.Original, "original", "npy file: embeddings under the original model", readFinite(npy.ReadRows))
	addFile(&in, &e.Forget, "forget", "npy file: row numbers of the forget set", npy.ReadIndices)
	addFile(&in, &e.Retain, "retain", "npy file: row numbers of the retain set", npy.ReadIndices)
	galleryCap := c.Flags().Int("cap", 0, "retained records that M4 searches, 0: all (the paper: 2000)")
	baselineCap := c.Flags().Int("baseline-cap", 0, "retained records in the baseline of M2, 0: all (the paper: 500)")
	asPublished := c.Flags().Bool("zero-rows", false, "give embeddings of zero length similarity 0, as the published program does")
	requireFlags(c, "unlearned", "forget", "retain")
	c.PreRunE = func(cmd *cobra.Command, _ []string) error {
		switch f := cmd.Flags(); {
		case f.Changed("original") && !f.Changed("oracle"):
			return cli.Usagef("--original: M3 compares with the oracle; give --oracle too")
		case *galleryCap < 0:
			return cli.Usagef("--cap %d: expected 0 (all) or a number of records", *galleryCap)
		case *baselineCap < 0:
			return cli.Usagef("--baseline-cap %d: expected 0 (all) or a number of records", *baselineCap)
		}
		return nil
	}
	in.answerWith(func(*cobra.Command) (cli.Answer, error) {
		opt := ruler.Options{GalleryCap: cmp.Or(*galleryCap, ruler.NoCap), RetainCap: cmp.Or(*baselineCap, ruler.NoCap), Level: level, Wide: true}
		if *asPublished {
			opt.ZeroNorm = ruler.AsPublished
		}
		r, err := ruler.Measure(e, opt)
		if err != nil {
			return cli.Answer{}, err
		}
		a := rulerAnswer{r, audit.CollapsedRows("embeddings", e.Unlearned, e.Forget, e.Retain).Why}
		return cli.Answer{Value: a.json(), Text: a.table().Text}, nil
	})
	return c
}

// metricJSON is an estimate in which null stands for unknown values.
type metricJSON struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	Null  *float64 `json:"null"`
	N     int      `json:"n"`
	Level float64  `json:"level"`
	Over  string   `json:"over"`
}

func newMetricJSON(e *stats.Estimate) *metricJSON {
	if e == nil {
		return nil
	}
	return &metricJSON{cli.Finite(e.Value), cli.Finite(e.Low), cli.Finite(e.High), e.Null, e.N, e.Level, e.Over}
}

// rulerAnswer is a result with the reason why its numbers are no evidence.
type rulerAnswer struct {
	*ruler.Result
	noEvidence string
}

func (r rulerAnswer) json() any {
	return struct {
		M1       *metricJSON    `json:"m1,omitempty"`
		M2       *metricJSON    `json:"m2,omitempty"`
		M2Mean   *metricJSON    `json:"m2_mean,omitempty"`
		M3       *metricJSON    `json:"m3,omitempty"`
		M4       *metricJSON    `json:"m4"`
		AsCoded  *metricJSON    `json:"m4_as_coded"`
		M4NullSD float64        `json:"m4_null_sd"`
		Forget   int            `json:"n_forget"`
		Retain   int            `json:"n_retain"`
		Gallery  int            `json:"n_gallery"`
		Baseline int            `json:"n_baseline"`
		Copies   int            `json:"copies"`
		ZeroRows ruler.ZeroRows `json:"zero_rows"`

		NoEvidence string `json:"no_evidence,omitempty"`
	}{newMetricJSON(r.M1), newMetricJSON(r.M2), newMetricJSON(r.M2Mean), newMetricJSON(r.M3), newMetricJSON(r.M4), newMetricJSON(r.M4AsCoded),
		r.M4NullSD, r.Forget, r.Retain, r.Gallery, r.Baseline, r.Copies, r.ZeroRows, r.noEvidence}
}

func (r rulerAnswer) table() *report.Table {
	t := evidenceTable(fmt.Sprintf("RULER on %d forget and %d retain records", r.Forget, r.Retain))
	add := func(name string, e *stats.Estimate, null, reading string) {
		if e != nil {
			t.add(name, *e, fmt.Sprintf("%d %s", e.N, e.Over), null, reading)
		}
	}
	add("M1", r.M1, "none", "similarity of the forget records' embeddings to the oracle's; 1 is the same direction, and what is high "+
		"depends on the data, so read M2")
	add("M2", r.M2, "0", fmt.Sprintf("M1 less the median over %d retained records; below 0 the paper reads residual memory, above 0 "+
		"over-correction", r.Baseline))
	add("M2, mean", r.M2Mean, "0", "M2 against the mean instead of the median; where the two differ in sign, neither says much")
	add("M3", r.M3, "0", "change of M1 through unlearning; negative means that unlearning moved the forget records away from where the oracle has them")
	add("M4", r.M4, "0.5", fmt.Sprintf("rank of the forget records' nearest neighbours among those of %d retained records; above 0.5 "+
		"the paper reads memory, below 0.5 over-displacement. By chance it varies with standard deviation %s or more. A model that never saw "+
		"the records can be away from 0.5 too, so compare with an oracle's own M4", r.Gallery, report.FormatNumber(r.M4NullSD, 4)))
	if r.Copies > 0 {
		add("M4, as coded", r.M4AsCoded, "0.5", fmt.Sprintf("M4 where the last bit of a similarity decides between copies, as in the authors' "+
			"program: %d forget records have the embedding of a retained record up to rounding, and no record is nearer than that", r.Copies))
	}
	if z := r.ZeroRows; z.Unlearned+z.Oracle+z.Original > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("Embeddings of zero length passed: %d of the unlearned model, %d of the oracle, %d of "+
			"the original.", z.Unlearned, z.Oracle, z.Original))
	}
	if r.noEvidence != "" {
		t.Notes = append(t.Notes, "The numbers are no evidence: "+r.noEvidence+".")
	}
	return t.Table
}
