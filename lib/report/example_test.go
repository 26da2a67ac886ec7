package report_test

import (
	"bytes"
	"fmt"
	"os"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// A table with one method and one control.
func Example() {
	auc := stats.Estimate{Value: 0.612, Low: 0.591, High: 0.633, Level: 0.95, Over: "records", N: 398}
	t := report.Table{
		ID:      "example",
		Columns: []report.Column{{Name: "method"}, {Name: "AUC"}, {Name: "p"}},
		Rows: []report.Row{
			{Cells: []report.Cell{report.Str("SCRUB"), report.Est(auc, 2), report.PVal(0.0031)}},
			{Kind: report.Control, Cells: []report.Cell{report.Str("do nothing"), report.Num(0.6, 2), report.Gap("one seed")}},
		},
		Provenance: report.Provenance{Scale: "quick", Seeds: []int64{0, 1, 2}},
	}
	if err := t.Text(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// method                    AUC           p
	// ─────────────────────────────────────────
	// SCRUB       0.61 [0.59, 0.63]       0.003
	// ┄┄ controls ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
	// do nothing               0.60  (one seed)
	// ─────────────────────────────────────────
	// scale: quick
	// seeds: 0-2
}

// A table is filled row by row.
func ExampleTable_Add() {
	t := report.Table{Title: "Squares", Columns: report.Columns("n", "n squared")}
	for n := range 3 {
		t.Add(report.Num(float64(n), 0), report.Num(float64(n*n), 0))
	}
	if err := t.Text(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Squares
	//
	// n  n squared
	// ────────────
	// 0          0
	// 1          1
	// 2          4
	// ────────────
}

// Numbers in running text follow the same style as in tables.
func ExampleFormatNumber() {
	fmt.Println(report.FormatNumber(-0.02345, 3), report.FormatInterval(-0.03, 0.01, 2), report.FormatP(0.00001))
	// Output: −0.023 [−0.03, 0.01] <0.001
}

// The line under a figure.
func ExampleProvenance_Line() {
	p := report.Provenance{Scale: "quick", Seeds: []int64{0, 1, 2, 9}, Engine: "go", Kernel: "AVX2"}
	fmt.Println(p.Line())
	// Output: scale quick · seeds 0-2, 9 · engine go, AVX2
}

// A committed table is read back and shown without computing it again.
func ExampleReadJSON() {
	t := report.Table{ID: "small", Columns: []report.Column{{Name: "method"}, {Name: "AUC"}}, Rows: []report.Row{
		{Cells: []report.Cell{report.Str("SCRUB"), report.Num(0.55, 2)}},
		{Kind: report.Paper, Cells: []report.Cell{report.Str("SCRUB"), report.Num(0.5, 2)}},
	}}
	var b bytes.Buffer
	if err := t.JSON(&b); err != nil {
		fmt.Println(err)
		return
	}
	again, err := report.ReadJSON(&b)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Markdown(os.Stdout))
	// Output:
	// | method | AUC |
	// | :--- | ---: |
	// | SCRUB | 0.55 |
	// | *printed in the paper* | |
	// | *paper: SCRUB* | 0.50 |
	// <nil>
}
