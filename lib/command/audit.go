package command

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/lethe-ml/lethe/lib/audit/judge"
	"github.com/lethe-ml/lethe/lib/cli"

	"github.com/spf13/cobra"
)

func newAudit() *cobra.Command {
	c := &cobra.Command{
		Use:   "audit FOLDER [--config audit.json] [--out REPORT]",
		Short: "Judge a model of yours by everything that its arrays permit, and write a report",
		Long: `Judge whether a model from any framework has forgotten, from a folder of arrays
saved with numpy.save. Every judgement that the arrays permit is made, and for
every other one the report says what it would need.

Row i of every array is the same record, trained on or not:

  labels.npy      (n,)    classes, 0, 1, 2, ...
  forget.npy      (k,)    row numbers, or a mask of n bools
  retain.npy      (k,)    what the unlearned model was to keep
  heldout.npy     (k,)    what no model was trained on
  unlearned/      outputs.npy (n, C), logits or probabilities; losses.npy (n,)
                  where there are no classes; embedding.npy (n, p), what goes
                  into the last layer; activations/NAME.npy (n, q)
  original/       the same of the model before unlearning
  retrained/      the same of a model trained without the forget records;
                  several are retrained-1/, retrained-2/
  checkpoint-1/, ...
                  outputs.npy of models saved along unlearning, in their order: when the
                  records are forgotten, and whether that is overdone or undone
  shadow-1/, ...  outputs.npy, and in.npy: what the model was trained on

Only the unlearned model and forget.npy must be there. Files that lie elsewhere or
are called otherwise are named in audit.json (docs/guide/audit.md). Whatever is wrong with
the folder is listed at once, and nothing is judged then.

--kit pytorch, jax or sklearn prints a Python file that writes such a folder. Networks
exported as ONNX are run here: --onnx unlearned=after.onnx --data X.npy; --output names
one of several outputs, of which the first of floats is taken otherwise. So are those
of PyTorch that Lethe knows, from their weights: --state unlearned=after.safetensors
--arch resnet-18 --data X.npy (see lethe state). The folder may hold no arrays of
other models then, unless audit.json names them.

report.html, report.md and report.json are written; the page needs nothing from
elsewhere. Memory: 40 bytes per record and model, and three arrays at a time.`,
		Example: `  lethe audit my-model
  lethe audit my-model --out my-report --seed 2
  lethe audit --config audit.json --json
  lethe audit --kit pytorch            a Python file to start from
  lethe audit my-model --onnx original=before.onnx,unlearned=after.onnx --data X.npy
  lethe audit my-model --state original=before.safetensors,unlearned=after.safetensors --arch small-cnn:norm --data X.npy`,
		Args: cobra.MaximumNArgs(1),
	}
	var opt judge.Options
	c.Flags().StringVar(&opt.Config, "config", "", "JSON file that says where arrays lie (default: FOLDER/audit.json, where there is one)")
	out := c.Flags().String("out", "", "folder for the report (default: report, beside the arrays)")
	c.Flags().Uint64Var(&opt.Seed, "seed", 0, "of the draws that judgements make")
	var from auditSource
	from.flags(c)
	asJSON := cli.JSONFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if from.kit != "" {
			return printKit(cmd, from.kit)
		}
		if len(args) == 0 && opt.Config == "" {
			return cli.Usagef("name a folder of arrays, or a --config that says where they lie")
		}
		folder, beside := "", filepath.Dir(opt.Config)
		if len(args) > 0 {
			folder, beside = args[0], args[0]
		}
		report := cmp.Or(*out, filepath.Join(beside, "report"))
		files, err := from.run(cmd, folder, opt.Config)
		if err != nil {
			return err
		}
		defer collectEarly()()
		e, err := judge.OpenWith(folder, opt)
		if err != nil {
			return err
		}
		if err := checkAllUsed(e, files); err != nil {
			return err
		}
		r, err := e.Report(cmd.Context())
		if err != nil {
			return err
		}
		if err := r.Write(report); err != nil {
			return err
		}
		if *asJSON {
			return r.JSON(cmd.OutOrStdout())
		}
		return printAudit(cmd, r, filepath.Join(report, "report.html"))
	}
	return c
}

// printAudit prints the answer, what stands beside it, and where the rest is.
func printAudit(cmd *cobra.Command, r *judge.Report, page string) error {
	w := cmd.OutOrStdout()
	for _, a := range r.Answers() {
		fmt.Fprintf(w, "%s\n\n", wrap(cli.Printable(a)))
	}
	for _, n := range r.Evidence.Notes {
		fmt.Fprintf(w, "%s\n\n", wrap("Odd: "+cli.Printable(n)))
	}
	if len(r.Verdicts) > 0 {
		if err := r.Table().Text(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if len(r.Exposures) > 0 {
		for _, m := range r.Evidence.ModelsOf(judge.Unlearned) {
			for _, s := range r.StandOut(m.Name) {
				fmt.Fprintf(w, "%s\n\n", wrap(s))
			}
		}
		if err := r.RatesTable().Text(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	if t := r.Trajectory; t != nil && len(t.Curves) > 0 {
		for _, s := range t.Sentences() {
			fmt.Fprintf(w, "%s\n\n", wrap(cli.Printable(s)))
		}
		for _, table := range t.Tables() {
			if err := table.Text(w); err != nil {
				return err
			}
			fmt.Fprintln(w)
		}
	}
	if len(r.Skipped) > 0 {
		t := textTable("Not judged", "judgement", "why")
		for _, u := range r.Skipped {
			t.Rows = append(t.Rows, textRow(u.Name(), cli.Printable(u.Why)))
		}
		if err := t.Text(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "the whole report:", cli.Printable(page))
	return nil
}
