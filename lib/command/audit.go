// lethe audit: every lens that saved arrays of a model permit, and a report.

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
		Short: "Audit your own model from saved arrays, and write a report",
		Long: `Find out whether a model from any framework has forgotten, from a folder of arrays
saved with numpy.save. Every lens (a measurement with a verdict) that the arrays
permit is applied; for every other lens the report says what it needs.

Row i of every array is the same record, trained on or not:

  labels.npy      (n,)    classes, 0, 1, 2, ...
  forget.npy      (k,)    row numbers, or a mask of n bools
  retain.npy      (k,)    records that the unlearned model was to keep
  heldout.npy     (k,)    records that no model was trained on
  unlearned/      outputs.npy (n, C), logits or probabilities; losses.npy (n,)
                  if there are no classes; embedding.npy (n, p), the input of
                  the last layer; activations/NAME.npy (n, q)
  original/       the same of the model before unlearning
  retrained/      the same of a model trained without the forget records;
                  several are retrained-1/, retrained-2/
  checkpoint-1/, ...
                  outputs.npy of models saved during unlearning, in order: when the
                  records are forgotten, and whether more steps overdo or undo it
  shadow-1/, ...  outputs.npy, and in.npy: what the model was trained on

Only the unlearned model and forget.npy are required. Files in other places or with
other names are listed in audit.json, see
https://github.com/lethe-ml/lethe/blob/main/docs/guide/audit.md
All problems of the folder are reported together, and nothing is measured then.

--kit pytorch, jax or sklearn prints a Python file that writes such a folder. Networks
exported as ONNX are run by Lethe: --onnx unlearned=after.onnx --data X.npy; --output
names one of several outputs (default: the first of floats). So are PyTorch networks
that Lethe knows, from their weights: --state unlearned=after.safetensors --arch
resnet-18 --data X.npy (see lethe state). The folder must then hold no arrays of other
models, unless audit.json names them.

It writes report.html (a page that needs no other files), report.md and report.json.
Memory: 40 bytes per record and model, and three arrays at a time.`,
		Example: `  lethe audit my-model
  lethe audit my-model --out my-report --seed 2
  lethe audit --config audit.json --json
  lethe audit --kit pytorch            a Python file to start from
  lethe audit my-model --onnx original=before.onnx,unlearned=after.onnx --data X.npy
  lethe audit my-model --state original=before.safetensors,unlearned=after.safetensors --arch small-cnn:norm --data X.npy`,
		Args: cobra.MaximumNArgs(1),
	}
	var opt judge.Options
	c.Flags().StringVar(&opt.Config, "config", "", "JSON file that says where arrays are (default: FOLDER/audit.json, if it exists)")
	out := c.Flags().String("out", "", "folder for the report (default: report, beside the arrays)")
	c.Flags().Uint64Var(&opt.Seed, "seed", 0, "seed of the lenses' random draws")
	var from auditSource
	from.flags(c)
	asJSON := cli.JSONFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if from.kit != "" {
			return printKit(cmd, from.kit)
		}
		if len(args) == 0 && opt.Config == "" {
			return cli.Usagef("name a folder of arrays, or a --config that says where they are")
		}
		folder, parent := "", filepath.Dir(opt.Config)
		if len(args) > 0 {
			folder, parent = args[0], args[0]
		}
		report := cmp.Or(*out, filepath.Join(parent, "report"))
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

// printAudit prints the answers, the tables of the report, and where the report is.
func printAudit(cmd *cobra.Command, r *judge.Report, page string) error {
	w := cmd.OutOrStdout()
	for _, a := range r.Answers() {
		fmt.Fprintf(w, "%s\n\n", wrap(cli.Printable(a)))
	}
	for _, n := range r.Evidence.Notes {
		fmt.Fprintf(w, "%s\n\n", wrap("Note: "+cli.Printable(n)))
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
		t := textTable("Not measured", "lens", "why")
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
