// lethe try: unlearning methods compared on the user's own data.

package command

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/comparison"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"

	"github.com/spf13/cobra"
)

// imageBatch is the default number of images per batch. Of other data a batch is all records,
// as RULER's.
const imageBatch = 256

// tryOptions are the flags of lethe try.
type tryOptions struct {
	data    ownData
	forget  forgetFlags
	model   string
	methods []string
	seeds   int
	epochs  int
	batch   int
	out     string
	changed func(flag string) bool
}

func newTry() *cobra.Command {
	c := &cobra.Command{
		Use:   "try FILE.csv --target COLUMN [--forget CONDITION] [--out REPORT]",
		Short: "Compare unlearning methods on your own data, and write a report",
		Long: `Train a model on your data and one without the records to forget, unlearn by several
methods, and say what is left of the records, with several seeds.

Data are a table in CSV or TSV, texts in such a table, a folder of images with one folder per
class, single cells, or arrays of NumPy. The records to forget are those of a condition
('person_id=17', 'hospital in A,B', 'age>=80', 'visit=2020-01-01..2020-03-31'), a class, the
records that a file numbers, or a random share. With fewer than six no lens has a verdict.

It writes report.html (one file), report.md and report.json. What is computed is kept: the same
command goes on where it was stopped, and more methods or seeds compute only what is new.`,
		Example: `  lethe try people.csv --target income --above 50000 --forget 'city=Bern' --seeds 10
  lethe try --text reports.csv --column report --target diagnosis --forget 'patient_id=17'
  lethe try --images photos --forget-class cats
  lethe try --npy X.npy y.npy --forget-records forget.npy`,
		Args: cobra.MaximumNArgs(1),
	}
	var o tryOptions
	o.data.flags(c)
	o.forget.flags(c)
	f := c.Flags()
	o.changed = f.Changed
	f.StringVar(&o.model, "model", "", "network, by the data if none is named: "+cli.List(networkNames()))
	f.StringSliceVar(&o.methods, "methods", nil, `by name, or all (default: RULER's five, random-label, ssd)`)
	f.IntVar(&o.seeds, "seeds", 0, fmt.Sprintf("number of seeds: splits, initial weights (default: %d, of texts %d)", comparison.DefaultSeeds, textSeeds))
	f.IntVar(&o.epochs, "epochs", 0, fmt.Sprintf("epochs of training (default: 50, RULER's; of texts %d)", textEpochs))
	f.IntVar(&o.batch, "batch", 0, fmt.Sprintf("records per batch (default: all, RULER's; of images %d, of texts %d)", imageBatch, textBatch))
	f.StringVar(&o.out, "out", "", "folder for the report, whatever it holds (default: NAME-report)")
	store := storeFlag(c)
	engine := f.String("engine", "", "engine: auto, lethe, go, xla, xla:cuda (default: LETHE_ENGINE, or auto)")
	var precision string
	precisionFlag(c, &precision)
	asJSON := cli.JSONFlag(c)
	cli.ShortHelp(c, "target", "above", "text", "images", "cells", "npy", "forget", "forget-class", "forget-records",
		"forget-share", "methods", "seeds", "model", "out", "json")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		spec, err := withPrecision(*engine, precision)
		if err != nil {
			return err
		}
		setting, methods, err := o.setting(args)
		if err != nil {
			return err
		}
		folder := o.out
		if folder == "" {
			var taken string
			if folder, taken, err = comparison.FolderFor(setting); err != nil {
				return fmt.Errorf("%w; --out FOLDER writes this report elsewhere, or into that folder in place of what it holds", err)
			}
			if taken != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "lethe: another report of these data is kept (%q); this one goes to %s\n", taken, cli.Printable(folder))
			}
		}
		env, err := openEnv(cmd, *store, spec)
		if err != nil {
			return err
		}
		defer env.Engine.Close()
		if err := os.MkdirAll(folder, 0o755); err != nil { // before anything is trained
			return fmt.Errorf("the folder for the report: %w", err)
		}
		if s, is := setting.Data.(fmt.Stringer); is {
			fmt.Fprintln(cmd.ErrOrStderr(), asFlags(strings.TrimSpace(s.String())))
		}
		study := comparison.Study{Lab: env.Lab(), Setting: setting, Methods: methods, Seeds: o.seeds, Words: asFlags,
			Warn: func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), "lethe:", text) }}
		result, err := study.Run(cmd.Context())
		if err != nil {
			_ = os.Remove(folder) // if it is empty
		}
		if cmd.Context().Err() != nil {
			return fmt.Errorf("what was finished is kept; the same command goes on from there (%w)", err)
		}
		if err != nil {
			return flagError{o.data.explain(err)}
		}
		if err := result.Write(folder); err != nil {
			return err
		}
		if *asJSON {
			return result.JSON(cmd.OutOrStdout())
		}
		if err := result.Table().Text(cmd.OutOrStdout()); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout())
		for _, s := range result.Answers() {
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", wrap(cli.Printable(s)))
		}
		fmt.Fprintln(cmd.OutOrStdout(), "the whole report:", cli.Printable(filepath.Join(folder, "report.html")))
		return nil
	}
	return c
}

// setting returns the setting and the methods that the command line names.
func (o *tryOptions) setting(args []string) (s lab.Setting, methods []unlearn.Method, err error) {
	if o.changed("seeds") && o.seeds < 1 || o.changed("epochs") && o.epochs < 1 || o.changed("batch") && o.batch < 1 {
		return s, nil, cli.Usagef("--seeds, --epochs and --batch are positive numbers")
	}
	if s.Data, err = o.data.read(args); err != nil {
		return s, nil, err
	}
	if s.Forget, err = o.forget.set(); err != nil {
		return s, nil, err
	}
	if share, drawn := s.Forget.(lab.Random); drawn && o.data.group != "" {
		s.Forget = wholeGroups(share, o.data.group)
	}
	info, err := s.Data.Info()
	if err != nil {
		return s, nil, err
	}
	name := currentName(cmp.Or(o.model, defaultNetwork(info)))
	networks, err := selectByName("model", tryNetworks, func(n tryNetwork) string { return n.name }, []string{name})
	if err != nil {
		return s, nil, err
	}
	s.Model, s.Goal = networks[0].network, networks[0].goal
	s.Fit = train.Config{Epochs: o.epochs, Batch: o.batch}
	switch {
	case info.Vocabulary > 0:
		if s.Forget, err = forgetTexts(s.Data, s.Forget); err != nil {
			return s, nil, err
		}
		fillTextFit(&s)
		o.seeds = cmp.Or(o.seeds, textSeeds)
	case o.batch == 0 && info.Shape[0] > 0:
		s.Fit.Batch = imageBatch
	}
	methods, err = selectMethods(o.methods, s.Goal == nil)
	if info.Vocabulary > 0 {
		inBatches(methods)
	}
	return s, methods, err
}

// defaultNetwork returns the name of the network for data, if the command line names none.
func defaultNetwork(info datasets.Info) string {
	switch {
	case info.Vocabulary > 0:
		return text.Classifier{}.Name()
	case info.Shape[0] > 0:
		return vision.SmallCNN{}.Name()
	}
	return tabular.MLP{}.Name()
}

// currentName returns the name of a network that --model gave another one in the first version.
func currentName(name string) string {
	before := map[string]string{"mlp": tabular.MLP{}.Name(), "resmlp": tabular.ResMLP{}.Name(), "blocks": tabular.Blocks{}.Name(), "vae": vae.Cells{}.Name()}
	return cmp.Or(before[name], name)
}

// tryNetwork is a network that --model names, as lethe list models does.
type tryNetwork struct {
	name    string
	network model.Network
	goal    lab.Goal // nil: that of a classifier
}

var tryNetworks = []tryNetwork{
	{tabular.MLP{}.Name(), tabular.MLP{}, nil}, {tabular.ResMLP{}.Name(), tabular.ResMLP{}, nil},
	{tabular.FTTransformer{}.Name(), tabular.FTTransformer{}, nil},
	{tabular.OneHidden{}.Name(), tabular.OneHidden{}, nil}, {tabular.Blocks{}.Name(), tabular.Blocks{}, nil},
	{vision.SmallCNN{}.Name(), vision.SmallCNN{}, nil}, {vision.AllCNN{}.Name(), vision.AllCNN{}, nil}, {vision.ResNet18{}.Name(), vision.ResNet18{}, nil},
	{text.Classifier{}.Name(), text.SmallClassifier(), nil},
	{vae.Cells{}.Name(), vae.Cells{}, lab.Reconstruction{}},
}

func networkNames() (out []string) {
	for _, n := range tryNetworks {
		out = append(out, n.name)
	}
	return out
}

// selectMethods returns the methods of a flag: the default ones, all that fit, or those
// named. Models that are no classifiers have the general methods alone.
func selectMethods(names []string, classifier bool) ([]unlearn.Method, error) {
	all, chosen := comparison.AllMethods(), comparison.Methods()
	if !classifier {
		general := func(m unlearn.Method) bool { return !m.Info().General }
		all, chosen = append(slices.DeleteFunc(all, general), unlearn.Generative()...), slices.DeleteFunc(chosen, general)
	}
	switch {
	case len(names) == 0:
		return chosen, nil
	case slices.Contains(names, "all") && len(names) > 1:
		return nil, cli.Usagef(`--methods: "all" stands alone`)
	case names[0] == "all":
		return all, nil
	}
	for k, name := range names {
		names[k] = strings.TrimSpace(name)
		if why := unfit(names[k], all); why != "" {
			return nil, cli.Usagef("--methods %s: %s", names[k], why)
		}
	}
	chosen, err := selectByName("methods", all, func(m unlearn.Method) string { return m.Info().Name }, names)
	if err != nil && !classifier {
		return nil, fmt.Errorf("%w; other methods need a classifier, and this network is none", err)
	}
	return chosen, err
}

// unfit says why a method that there is cannot be compared here; empty: it can, or there is none of the name.
func unfit(name string, fit []unlearn.Method) string {
	is := func(m unlearn.Method) bool { return m.Info().Name == name }
	k := slices.IndexFunc(unlearn.All(), is)
	if k < 0 || slices.ContainsFunc(fit, is) {
		return ""
	}
	switch m := unlearn.All()[k]; {
	case lab.IsControl(m):
		return "it is a control, and controls are rows of every report"
	case m.Info().Sees.Earlier:
		return "it needs weights from during the training, which are kept in notebooks and programs (Setting.Keep), not here"
	}
	return "it is for other models than the one that is trained here (see lethe list methods)"
}
