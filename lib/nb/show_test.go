// Tests of show.go.

package nb

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

func TestShowShowsPartsInTheirOrder(t *testing.T) {
	var out bytes.Buffer
	defer func(old *outputTarget) { std = old }(std)
	ended := 0
	std = &outputTarget{out: &out, err: &out, exit: func(code int) { ended = code }}
	table := &report.Table{Columns: report.Columns("AUC")}
	table.Add(report.Num(0.5, 2))
	Show("first", table, plot.Forest{Rows: []plot.ForestRow{{Label: "third", Estimate: stats.Estimate{Value: 1, Low: 0, High: 2}}}})
	text := out.String()
	a, b, c := strings.Index(text, "first"), strings.Index(text, "0.50"), strings.Index(text, "third")
	if a < 0 || b < a || c < b || ended != 0 {
		t.Errorf("ended with %d:\n%s", ended, text)
	}
	Show(3)
	if !strings.Contains(out.String(), "part 1 to show is a int") || ended == 0 {
		t.Errorf("ended with %d: %s", ended, out.String())
	}
}
