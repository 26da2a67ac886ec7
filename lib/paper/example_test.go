package paper_test

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// A cell of a table is found by its column, its group and how its row begins.
func ExampleCellAt() {
	t := &report.Table{ID: "small", Columns: report.Columns("method", "M2"), Rows: []report.Row{
		{Group: "5 %", Cells: []report.Cell{report.Str("NegGrad"), report.Est(stats.Estimate{Value: -0.002, Low: -0.004, High: 0}, 3)}},
		{Group: "10 %", Cells: []report.Cell{report.Str("NegGrad"), report.Num(-0.001, 3)}},
	}}
	c, err := paper.CellAt(t, "M2", "5 %", "NegGrad")
	fmt.Println(c.Text, c.Estimate.Low, err)
	_, err = paper.CellAt(t, "M2", "5 %", "SCRUB")
	fmt.Println(err)
	// Output:
	// −0.002 [−0.004, 0.000] -0.004 <nil>
	// table small has no row [SCRUB] in the group "5 %"
}
