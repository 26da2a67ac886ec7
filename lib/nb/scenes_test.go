package nb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// scenes are the cells that the tests run in processes of their own.
var scenes = map[string]func(){
	"alternate": func() {
		for i := range alternations {
			fmt.Printf("line %d\n", i)
			Markdown(fmt.Sprintf("shown %d", i))
		}
	},
	"all": func() {
		Table(testTable())
		Figure(testFigure(1))
		Markdown("Some *text*.")
	},
	"bar": func() {
		bar := NewBar(1000, "training")
		for range 1000 {
			bar.Add(1)
			time.Sleep(500 * time.Microsecond)
		}
		bar.Done()
	},
	"live": func() {
		live := NewLive()
		began := time.Now()
		for i := 1; time.Since(began) < time.Second; i++ {
			live.Figure(testFigure(float64(i)))
			time.Sleep(time.Millisecond)
		}
		live.Figure(testFigure(4242))
		live.Done()
	},
	"fail": func() {
		fmt.Println("before")
		live := NewLive()
		live.Markdown("state one")
		live.Markdown("state two")
		Check(errors.New("the file is gone"))
	},
	"interrupted": func() {
		fmt.Println("ready")
		<-Context().Done()
		Check(fmt.Errorf("epoch 3 is saved: %w", context.Canceled))
	},
	"undrawable": func() { Figure(testFigure(math.NaN())) },
}

const alternations = 200

func testTable() *report.Table {
	half := 0.5
	return &report.Table{
		ID: "test", Title: "Scores <of> methods", Caption: "Higher is better.",
		Columns: []report.Column{{Name: "method"}, {Name: "accuracy", Unit: "%", Note: "balanced", Paper: true}},
		Rows: []report.Row{
			{Cells: []report.Cell{report.Str("forget & go"), report.Num(0.25, 2)}},
			{Kind: report.Control, Cells: []report.Cell{report.Str("do nothing"), {Text: "0.50", Value: &half}}},
			{Kind: report.Paper, Group: "others", Cells: []report.Cell{report.Str("SCRUB"), report.Gap("not printed")}},
		},
		Notes:      []string{"Only a test."},
		Provenance: report.Provenance{Scale: "quick", Seeds: []int64{0, 1, 2}},
	}
}

func testFigure(last float64) plot.Figure {
	return plot.Curves{
		Meta:   plot.Meta{Title: "Loss"},
		Curves: []plot.Curve{{Name: "model", X: []float64{1, 2, 3}, Y: []float64{3, 2, last}}},
	}
}
