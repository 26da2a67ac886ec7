// lethe data: listing, downloading and checking data sets.

package command

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/fetch"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/report"

	"github.com/spf13/cobra"
)

func newData() *cobra.Command {
	c := cli.Group(&cobra.Command{
		Use:   "data",
		Short: "List, download and check the data sets",
		Long: `List, download and check the data sets.

Files are in the folder that LETHE_DATA names, by default lethe/data in the user's
cache folder, one folder per data set. Only "data get" downloads, and no file is used
before its published checksum, where there is one, is checked.`,
		Example: "  lethe data list\n  lethe data get german_credit heart_disease\n  lethe data verify",
	})
	c.AddCommand(newDataList(), newDataGet(), newDataVerify())
	return c
}

func checkDataSetNames(_ *cobra.Command, names []string) error {
	for _, name := range names {
		if _, err := dataSetNamed(name); err != nil {
			return err
		}
	}
	return nil
}

func dataSetNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return namesOf(filesOfData(), func(i datasets.Info) string { return i.Name }), cobra.ShellCompDirectiveNoFileComp
}

type dataSetJSON struct {
	Name        string     `json:"name"`
	Title       string     `json:"title"`
	Task        string     `json:"task"`
	Rows        int        `json:"rows"`
	Features    int        `json:"features"`
	TestRows    int        `json:"test_rows"`
	Shape       []int      `json:"shape,omitempty"` // of images: channels, height, width
	Classes     []string   `json:"classes"`
	ClassCount  int        `json:"class_count"`
	Licence     string     `json:"licence"`
	Citation    string     `json:"citation,omitempty"`
	Homepage    string     `json:"homepage,omitempty"`
	Description string     `json:"description"`
	Reading     []string   `json:"reading,omitempty"`
	Embedded    bool       `json:"embedded"`
	Synthetic   bool       `json:"synthetic"`
	State       string     `json:"state"` // "here", "missing", "built in", "generated"
	Files       []fileJSON `json:"files"`
}

type fileJSON struct {
	Name   string   `json:"name"`
	Size   int64    `json:"size"`
	SHA256 string   `json:"sha256"`
	MD5    string   `json:"md5,omitempty"` // where no SHA-256 is known
	URLs   []string `json:"urls"`

	Optional bool   `json:"optional"`       // the set loads without it
	Make     string `json:"make,omitempty"` // a command that makes it, where nobody publishes it
}

func newDataSetJSON(i datasets.Info) dataSetJSON {
	d := dataSetJSON{Name: i.Name, Title: i.Title, Task: i.Task, Rows: i.Rows, Features: i.Features, TestRows: i.TestRows,
		Classes: i.Classes, ClassCount: i.ClassCount(), Licence: i.Licence, Citation: i.Citation, Homepage: i.Homepage,
		Description: i.Description, Reading: i.Reading, Embedded: i.Embedded, Synthetic: i.Synthetic, State: dataSetState(i), Files: []fileJSON{}}
	if i.Shape != ([3]int{}) {
		d.Shape = i.Shape[:]
	}
	if d.Classes == nil {
		d.Classes = []string{}
	}
	for _, f := range i.Files {
		file := fileJSON{f.Name, f.Size, f.SHA256, f.MD5, []string{}, f.Optional, f.Make}
		for _, s := range f.Sources {
			file.URLs = append(file.URLs, s.URL)
		}
		d.Files = append(d.Files, file)
	}
	return d
}

func newDataList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "All data sets: state, shape, licence and size",
		Long: `All data sets, and weights and logs that "data get" downloads: state, shape, licence and size.

"By hand" says that "data get" cannot download the files, because nobody publishes them
or no checksum is known: it says what to put where.`,
		Example: "  lethe data list\n  lethe data list --json",
		Args:    cobra.NoArgs,
	}
	cli.AnswerWith(c, func(*cobra.Command, []string) (cli.Answer, error) {
		return cli.Answer{Value: dataSetList(filesOfData()), Text: dataSetTable(filesOfData()).Text}, nil
	})
	return c
}

func dataSetList(all []datasets.Info) []dataSetJSON {
	var out []dataSetJSON
	for _, i := range all {
		out = append(out, newDataSetJSON(i))
	}
	return out
}

func dataSetTable(all []datasets.Info) *report.Table {
	t := textTable("Data sets", "name", "state", "files", "rows", "features", "classes", "licence", "task")
	count := func(n int) string { // weights and logs have no records
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	for _, i := range all {
		features := count(i.Features)
		if i.Shape != ([3]int{}) {
			features = fmt.Sprintf("%d x %d x %d", i.Shape[0], i.Shape[1], i.Shape[2])
		}
		t.Rows = append(t.Rows, textRow(i.Name, dataSetState(i), sizeText(i), count(i.Rows), features, count(i.ClassCount()), i.Licence, i.Task))
	}
	return t
}

// dataSetState says whether a data set can be loaded. It only looks for the files; data
// verify reads them.
func dataSetState(i datasets.Info) string {
	switch {
	case i.Synthetic:
		return "generated"
	case i.Present():
		return "here"
	case i.Embedded:
		return "built in"
	}
	return "missing"
}

// sizeText is the size of a data set's files, with "by hand" if they cannot be downloaded.
func sizeText(i datasets.Info) string {
	switch {
	case i.Synthetic:
		return ""
	case !i.Embedded && !i.Published():
		return formatSize(i.Size()) + ", by hand"
	}
	return formatSize(i.Size())
}

func formatSize(bytes int64) string {
	if bytes == 0 {
		return "size not known"
	}
	return cli.Bytes(bytes)
}

func newDataGet() *cobra.Command {
	return &cobra.Command{
		Use:   "get NAME...",
		Short: "Download data sets from their publishers",
		Long: `Download data sets from their publishers into the data folder.

Licence and size are shown before a download. An interrupted download resumes where it
stopped. A file whose checksum is not the published one is moved aside and never used.`,
		Example:           "  lethe data get german_credit\n  LETHE_DATA=~/tables lethe data get adult bank_marketing",
		Args:              cobra.MatchAll(cobra.MinimumNArgs(1), checkDataSetNames),
		ValidArgsFunction: dataSetNames,
		RunE: func(cmd *cobra.Command, names []string) error {
			for _, name := range names {
				if err := getDataSet(cmd, name); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func getDataSet(cmd *cobra.Command, name string) error {
	info, err := dataSetNamed(name)
	if err != nil {
		return err
	}
	w := cmd.ErrOrStderr()
	var file *progress.Task
	defer func() { file.Done() }()
	err = fetch.Get(cmd.Context(), info, fetch.Progress{
		Begin: func(i datasets.Info, f datasets.File, s datasets.Source) {
			file.Done()
			_, file = progress.StartUnits(cmd.Context(), f.Name, f.Size, "B")
			fmt.Fprintf(w, "lethe: %s: %s (%s), licence: %s\nlethe: from %s\n", i.Title, f.Name, formatSize(f.Size), i.Licence, s.URL)
		},
		Bytes: func(done, total int64) { file.Expect(total); file.Set(done) },
		Note:  func(line string) { fmt.Fprintln(w, "lethe:", line) },
	})
	if err != nil {
		return err
	}
	where := "generated, needs no file"
	if len(info.Files) > 0 {
		dir, err := datasets.Dir()
		if err != nil {
			return err
		}
		where = "in " + filepath.Join(dir, info.Folder)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", name, where)
	return nil
}

type fileStatusJSON struct {
	DataSet string `json:"data_set"`
	File    string `json:"file"`
	Path    string `json:"path"`
	State   string `json:"state"` // "ok", "missing", "built in", "generated", "damaged", "no hash known"
	SHA256  string `json:"sha256,omitempty"`
	Problem string `json:"problem,omitempty"`
}

func newDataVerify() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify [NAME...]",
		Short: "Check the data files by their published checksums",
		Long: `Check the data files by their published checksums.

Without a name all data sets are checked, and a missing file is no failure. A missing
file of a named data set is one.`,
		Example:           "  lethe data verify\n  lethe data verify adult --json",
		Args:              checkDataSetNames,
		ValidArgsFunction: dataSetNames,
	}
	cli.AnswerWith(c, func(cmd *cobra.Command, names []string) (cli.Answer, error) {
		named := len(names) > 0
		if !named {
			names, _ = dataSetNames(nil, nil, "")
		}
		all, bad, err := verifyData(cmd, names, named)
		t := textTable("", "data set", "file", "state", "path or problem")
		for _, s := range all {
			t.Rows = append(t.Rows, textRow(s.DataSet, s.File, s.State, cmp.Or(s.Problem, s.Path)))
		}
		a := cli.Answer{Value: all, Text: t.Text}
		if len(bad) > 0 {
			a.Err = fmt.Errorf("not usable: %s", cli.List(bad))
		}
		return a, err
	})
	return c
}

// verifyData checks the files of the named data sets. bad are the names of those that are
// damaged, or missing though they were named for.
func verifyData(cmd *cobra.Command, names []string, named bool) (all []fileStatusJSON, bad []string, err error) {
	all = []fileStatusJSON{}
	for _, name := range names {
		info, err := dataSetNamed(name)
		if err != nil {
			return nil, nil, err
		}
		if info.Synthetic {
			all = append(all, fileStatusJSON{DataSet: name, State: "generated"})
			continue
		}
		files, err := datasets.Check(cmd.Context(), info)
		if err != nil {
			return nil, nil, err
		}
		broken := false
		for _, f := range files {
			s := fileStatusJSON{DataSet: name, File: f.Name, Path: f.Path, State: "ok", SHA256: f.Got}
			switch {
			case errors.Is(f.Err, datasets.ErrMissing) && info.Embedded:
				s.State = "built in"
			case errors.Is(f.Err, datasets.ErrMissing):
				s.State, broken = "missing", broken || named && !f.Optional
			case f.Err != nil:
				s.State, s.Problem, broken = "damaged", f.Err.Error(), true
			case f.Want == "":
				s.State = "no hash known"
			}
			all = append(all, s)
		}
		if broken {
			bad = append(bad, name)
		}
	}
	return all, bad, nil
}
