// lethe audit: every lens that saved arrays of a model permit, and a report.

package command

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit/judge"
	"github.com/lethe-ml/lethe/lib/cli"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newAudit(singles []single) *cobra.Command {
	c := &cobra.Command{
		Use:   "audit FOLDER [--only LENSES] [--out REPORT]",
		Short: "Audit your own model from saved arrays, and write a report",
		Long: `Has a model from any framework forgotten? FOLDER holds arrays saved with numpy.save.
Row i of every array is the same record, trained on or not:

  forget.npy, retain.npy, heldout.npy    row numbers, or masks of n bools
  labels.npy, group.npy (n,)             classes 0, 1, ...; persons, whom intervals are over
  unlearned/outputs.npy (n, C)           logits or probabilities; or losses.npy (n,)
  unlearned/embedding.npy (n, p)         input of the last layer; activations/NAME.npy
  offset.npy, unlearned/logprob.npy      language models: a number per token
  inputs.npy (n, d)                      what models are given: copies, and a guess without a model
  original/, retrained-1/, checkpoint-1/, quantised-int4/, shadow-1/   the same of other models

forget.npy and the unlearned model are required. Every lens that the arrays permit is applied; the
report says what others need. --kit, --onnx, --state, --tofu and --open-unlearning make a folder.
Without one, --only takes arrays: lethe audit --only sde --help.`,
		Example: `  lethe audit my-model
  lethe audit my-model --onnx original=before.onnx,unlearned=after.onnx --data X.npy
  lethe audit --only scores --members m.npy --nonmembers n.npy`,
		Args: cobra.MaximumNArgs(1),
	}
	var opt judge.Options
	c.Flags().StringVar(&opt.Config, "config", "", "JSON that says where arrays are (default: FOLDER/audit.json)")
	out := c.Flags().String("out", "", "folder for the report (default: beside the arrays)")
	c.Flags().Uint64Var(&opt.Seed, "seed", 0, "seed of the lenses' draws, but M2 to M4 and loss threshold")
	verify := c.Flags().String("verify", "", "report.json: are FOLDER's files still those of the report?")
	var from auditSource
	from.flags(c)
	asJSON := cli.JSONFlag(c)
	only := onlyFlag(c, singles)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch named := len(args) > 0 || opt.Config != ""; {
		case *verify != "":
			return verifyReport(cmd, *verify, args, *asJSON)
		case from.kit != "" && len(*only) > 0:
			return cli.Usagef("--kit prints a file and measures nothing; leave out --only")
		case from.kit != "":
			return printKit(cmd, from.kit)
		case !named && len(*only) > 0:
			return runSingle(cmd, singles, *only)
		case !named:
			return cli.Usagef("name a folder of arrays, or a --config that says where they are")
		}
		lenses, err := lensesNamed(*only)
		if err != nil {
			return err
		}
		if err := checkNoSingles(cmd); err != nil {
			return err
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
		e.Notes = append(e.Notes, from.notes...)
		r, err := e.ReportBy(cmd.Context(), lenses...)
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

// verifyReport says whether the files of a report are those that it was made from.
func verifyReport(cmd *cobra.Command, report string, args []string, asJSON bool) error {
	var given []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "verify" && f.Name != "json" {
			given = append(given, "--"+f.Name)
		}
	})
	if len(given) > 0 {
		return cli.Usagef("--verify measures nothing; leave out %s", cli.List(given))
	}
	v, err := judge.VerifyReport(report, strings.Join(args, ""))
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	switch {
	case asJSON:
		if err := cli.WriteJSON(w, v); err != nil {
			return err
		}
	case len(v.Changes) == 0:
		fmt.Fprintf(w, "all %d files are those that the report was made from\n%s\n", v.Files, wrap(v.NotChecked))
	default:
		for _, p := range v.Changes {
			fmt.Fprintln(w, cli.Printable(p.File+": "+p.What))
		}
	}
	if len(v.Changes) > 0 {
		return fmt.Errorf("%d of the report's %d files are not those that it was made from, and %d are new", v.Changed, v.Files, v.New)
	}
	return nil
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
	for _, s := range r.Inputs.Sentences(r.Evidence) {
		fmt.Fprintf(w, "%s\n\n", wrap(cli.Printable(s)))
	}
	if len(r.Verdicts) > 0 {
		if err := r.Table().Text(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	for _, s := range r.QuantisedSentences() {
		fmt.Fprintf(w, "%s\n\n", wrap(cli.Printable(s)))
	}
	for _, c := range r.Costs {
		fmt.Fprintf(w, "%s\n\n", wrap(cli.Printable(c.String())))
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
