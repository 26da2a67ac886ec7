package own_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lethe-ml/lethe/datasets/own"
)

// A file of any bytes is read or refused; what is read can be prepared or is refused.
func FuzzReadTable(f *testing.F) {
	pandas, err := os.ReadFile(filepath.Join("testdata", "pandas.csv"))
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{string(pandas), rTable(false), rTable(true), good("c,n,y"), "\ufeffsep=;\r\na;y\r\n1,5;u\r\n2;v\r\n;\r\n",
		"y\tx\n\"a\nb\"\t1e9\n\"\"\t\"\"\n", "y,x\n007,2020-01-02T03:04:05Z\n1e999,?\n", ",y\n,\n", "y|x|\n1|2|\n", "\x1f\x8b", "y,x\n\xff,1\n"} {
		f.Add(text, "y")
	}
	f.Add(rTable(false), "Species")
	path := filepath.Join(f.TempDir(), "t.csv")
	f.Fuzz(func(t *testing.T, text, target string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, options := range [][]own.TableOption{{own.Target(target)}, {own.Target(target), own.DropUnlabelled(), own.DecimalComma(), own.Category(target)}, {own.Above(target, 1)}} {
			table, err := own.ReadTable(path, options...)
			if err != nil {
				continue
			}
			p, err := table.Prepare(t.Context(), 1)
			if err != nil {
				t.Fatalf("%q is read and cannot be prepared: %v", text, err)
			}
			info, err := table.Info()
			if err != nil || info.Rows != p.Train.X.Rows+p.Test.X.Rows || info.Features != p.Train.X.Cols || table.String() == "" {
				t.Fatalf("%q: %+v, %v", text, info, err)
			}
			for _, c := range p.About.Columns {
				if c.Rows() != info.Rows {
					t.Fatalf("%q: %d cells in the column %q of %d rows", text, c.Rows(), c.Name, info.Rows)
				}
			}
		}
	})
}
