// lethe audit --only sde: split-half dependence evaluation from saved activations.

package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/verify/sde"

	"github.com/spf13/cobra"
)

// Limits of audit --only sde, which bound its memory: all pairs of records of both halves take
// 4 n^2 bytes for n rows, and as much again while they are computed.
const (
	maxRecords      = 30_000
	maxPermutations = 1_000_000
	maxBins         = 1_000_000
)

func newVerifySDE() *cobra.Command {
	c := &cobra.Command{
		Use:   "sde --target T.npy --in I.npy --out O.npy",
		Short: "SDE's verdict on a set of records: in or out of training",
		Long: `Split-half dependence evaluation (SDE) of activations of a model from any framework,
with an explanation of what the statistic measures.

T, I and O are matrices (n, p) of any numeric type, saved with numpy.save: the
activations of one layer of one model, without dropout, of the target records, of
records in the training set and of records outside it. All have the same number of
rows. Rows must be in random order, because the first half of each file is compared
with the second; --shuffle puts them in random order.

The paper uses the bandwidth sqrt-dim, and 128 for the logits of ten classes.
The verdict is invalid if the references fail the Mann-Whitney gate.

A file may have at most 30000 rows. Memory: 8 n^2 bytes for n rows, and five times
the files in float64.`,
		Example: `  lethe audit --only sde --target T.npy --in I.npy --out O.npy
  lethe audit --only sde --target T.npy --in I.npy --out O.npy --bandwidth 128 --json
  lethe audit --only sde --target T.npy --in I.npy --out O.npy --bandwidth median --bins 32 --shuffle --seed 2`,
		Args: cobra.NoArgs,
	}
	var sets [3]array.Matrix[float64]
	in := inputs{c: c, distinct: []string{"target", "in", "out"}}
	addFile(&in, &sets[0], "target", "npy file: activations of the target records", readFinite(readMatrixBounded))
	addFile(&in, &sets[1], "in", "npy file: activations of records in the training set", readFinite(readMatrixBounded))
	addFile(&in, &sets[2], "out", "npy file: activations of records outside the training set", readFinite(readMatrixBounded))
	opt := sde.Options{}
	bandwidth := c.Flags().String("bandwidth", sde.SqrtDim().String(), "sigma of the Gaussian kernel: sqrt-dim, median or a number")
	c.Flags().IntVar(&opt.Permutations, "permutations", sde.PaperPermutations, "draws per set")
	c.Flags().IntVar(&opt.Bins, "bins", sde.DefaultBins, "bins of the Jensen-Shannon divergence")
	c.Flags().Uint64Var(&opt.Seed, "seed", 1, "seed of the permutations")
	shuffle := c.Flags().Bool("shuffle", false, "put the rows of each file in random order first")
	requireFlags(c, "target", "in", "out")
	c.PreRunE = func(*cobra.Command, []string) (err error) {
		if opt.Bandwidth, err = sde.ParseBandwidth(*bandwidth); err != nil {
			return cli.Usagef("--%w", err)
		}
		switch {
		case opt.Permutations < 2:
			return cli.Usagef("--permutations %d: expected 2 or more", opt.Permutations)
		case opt.Permutations > maxPermutations:
			return cli.Usagef("--permutations %d: at most %d are drawn", opt.Permutations, maxPermutations)
		case opt.Bins < 1 || opt.Bins > maxBins:
			return cli.Usagef("--bins %d: expected 1 to %d", opt.Bins, maxBins)
		}
		return nil
	}
	in.answerWith(func(*cobra.Command) (cli.Answer, error) {
		for i, x := range sets {
			if *shuffle {
				sets[i] = x.Gather(sde.RandomOrder(x.Rows, opt.Seed, i))
			}
		}
		r, err := sde.Judge(&sets[0], sde.References{In: &sets[1], Out: &sets[2]}, opt)
		if err != nil {
			return cli.Answer{}, err
		}
		a := sdeAnswer{r, collapsedSets(&sets)}
		return cli.Answer{Value: a.json(), Text: a.table().Text}, nil
	})
	return c
}

// readMatrixBounded reads a matrix unless its header states more than maxRecords rows.
func readMatrixBounded(path string) (none array.Matrix[float64], err error) {
	info, err := npy.ReadInfo(path)
	if err != nil {
		return none, err
	}
	if len(info.Shape) > 0 && info.Shape[0] > maxRecords {
		return none, fmt.Errorf("%s: %d rows; SDE compares all pairs, at most %d rows are allowed: give a random part of them",
			path, info.Shape[0], maxRecords)
	}
	return npy.ReadMatrix(path)
}

// hsicJSON is a split-half distribution for JSON.
type hsicJSON struct {
	Mean      *float64   `json:"mean"`
	ExactMean *float64   `json:"exact_mean"`
	SD        *float64   `json:"sd"`
	ExactSD   *float64   `json:"exact_sd"`
	Identity  *float64   `json:"identity"`
	Spread    [2]float64 `json:"spread"`
	N         int        `json:"n_half"`
}

func newHSICJSON(d *sde.Distribution) hsicJSON {
	return hsicJSON{cli.Finite(d.Mean), cli.Finite(d.ExactMean), cli.Finite(d.SD), cli.Finite(d.ExactSD), cli.Finite(d.Identity), d.Spread, d.N}
}

// sdeAnswer is a result with the reason why its verdict is no evidence.
type sdeAnswer struct {
	*sde.Result
	noEvidence string
}

// collapsedSets returns why activations of target, in and out are no evidence, if sets or many rows are the same.
func collapsedSets(sets *[3]array.Matrix[float64]) string {
	target, in, out := &sets[0], &sets[1], &sets[2]
	for _, pair := range []struct {
		names    string
		one, two *array.Matrix[float64]
	}{{"target and in", target, in}, {"target and out", target, out}, {"in and out", in, out}} {
		if slices.Equal(pair.one.Data, pair.two.Data) {
			return pair.names + " hold the same activations"
		}
	}
	for _, pair := range [][2]*array.Matrix[float64]{{target, in}, {target, out}, {in, out}, {out, in}} {
		if why := audit.CollapsedSets("activations", pair[0], pair[1]); why.Call != "" {
			return why.Why
		}
	}
	return ""
}

func (r sdeAnswer) json() any {
	type sets struct {
		Target hsicJSON `json:"target"`
		In     hsicJSON `json:"in"`
		Out    hsicJSON `json:"out"`
	}
	return struct {
		HSIC        sets          `json:"hsic"`
		JSD         sde.Distances `json:"jsd"`
		MannWhitney sde.Gate      `json:"mann_whitney"`
		Verdict     sde.Verdict   `json:"verdict"`
		Sigma       float64       `json:"sigma"`
		NoEvidence  string        `json:"no_evidence,omitempty"`
	}{sets{newHSICJSON(r.Target), newHSICJSON(r.In), newHSICJSON(r.Out)}, r.JSD, r.Gate, r.Verdict, r.Target.Sigma, r.noEvidence}
}

func (r sdeAnswer) table() *report.Table {
	t := &report.Table{Title: fmt.Sprintf("SDE on %d target records: %s", 2*r.Target.N, r.verdict()), Columns: []report.Column{{Name: "set"}}}
	for _, name := range []string{"HSIC, mean", "exact mean", "sd", "identity", "spreads", "JSD to target"} {
		t.Columns = append(t.Columns, report.Column{Name: name, Align: report.AlignRight})
	}
	add := func(name string, d *sde.Distribution, jsd report.Cell) {
		t.Add(report.Str(name), numberCell(d.Mean), numberCell(d.ExactMean), numberCell(d.SD), numberCell(d.Identity),
			report.Str(fmt.Sprintf("%.4g, %.4g", d.Spread[0], d.Spread[1])), jsd)
	}
	add("target", r.Target, report.Str(""))
	add("in training", r.In, report.Num(r.JSD.In, 4))
	add("out of training", r.Out, report.Num(r.JSD.Out, 4))
	t.Notes = append(t.Notes,
		"HSIC: between the first half of a set and the second, over random orders of the second half; identity is the order given.",
		fmt.Sprintf("exact mean: over all orders. It is the product of the spreads of the two halves, over n - 1 = %d: what the "+
			"statistic measures is how wide the activations are spread on the scale of sigma = %.4g, whatever the reason. "+
			"Activations that are all scaled by a few per cent get the opposite verdict, so compare with a model that never "+
			"saw either set.", r.Target.N-1, r.Target.Sigma),
		"JSD: Jensen-Shannon divergence in nats, 0 for equal distributions and at most 0.6931; the nearer reference gives the verdict.",
		fmt.Sprintf("Gate: in training above out of training by the one-sided Mann-Whitney test, U = %s, p %s (%s at %g). The "+
			"p-value falls to 0 with the number of permutations and is no probability of error.",
			strconv.FormatFloat(r.Gate.U, 'f', -1, 64), withEqualsSign(report.FormatP(r.Gate.P)), passedOrFailed(r.Gate.Valid), r.Gate.Alpha))
	return t
}

func (r sdeAnswer) verdict() string {
	if r.noEvidence != "" {
		return fmt.Sprintf("%s, but no evidence: %s", r.Verdict, r.noEvidence)
	}
	if !r.Gate.Valid {
		return fmt.Sprintf("%s, but invalid because the references fail the gate", r.Verdict)
	}
	return string(r.Verdict)
}

func passedOrFailed(ok bool) string {
	if ok {
		return "passed"
	}
	return "failed"
}

// withEqualsSign puts "= " before a p-value that has no sign of its own.
func withEqualsSign(p string) string {
	if strings.HasPrefix(p, "<") {
		return p
	}
	return "= " + p
}

// numberCell is a table cell of a number that may be far below 1.
func numberCell(v float64) report.Cell {
	c := report.Str(strconv.FormatFloat(v, 'g', 5, 64))
	c.Value = cli.Finite(v)
	return c
}
