package labtest

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/internal/conform"
)

// numbers are 40 numbers with the class of their parity, with a fault.
type numbers struct {
	Fault string
	calls *int
}

func (numbers) Name() string { return "numbers" }

func (d numbers) Info() (datasets.Info, error) {
	info := datasets.Info{Rows: 40, Features: 1, Classes: []string{"even", "odd"}}
	switch d.Fault {
	case "rows":
		info.Rows = 17
	case "classes":
		info.Classes = []string{"odd", "even"}
	}
	return info, nil
}

func (d numbers) Prepare(_ context.Context, shift int) (*datasets.Prepared, error) {
	*d.calls++
	if d.Fault == "ignores the shift" {
		shift = 0
	}
	seed := uint64(shift)
	if d.Fault == "draws anew" {
		seed = uint64(*d.calls)
	}
	norm := datasets.Normalisation{Mean: []float64{20 + float64(shift)}, SD: []float64{10 - float64(shift)}}
	order := rand.New(rand.NewPCG(1, seed)).Perm(40)
	part := func(ids []int) datasets.Part {
		p := datasets.Part{X: array.New[float32](len(ids), 1), IDs: ids}
		for i, id := range ids {
			p.X.Row(i)[0] = float32((float64(id) - norm.Mean[0]) / norm.SD[0])
			switch {
			case d.Fault == "says the part" && len(ids) == 8:
				p.X.Row(i)[0] = 1
			case d.Fault == "features drawn anew":
				p.X.Row(i)[0] += float32(shift) / 100
			case d.Fault == "no number with a shift" && shift > 0 && i == 3:
				p.X.Row(i)[0] = float32(math.NaN())
			}
			p.Y = append(p.Y, id%2)
		}
		if d.Fault == "numbers the places" {
			slices.Sort(p.IDs)
		}
		return p
	}
	first := 8
	if d.Fault == "fewer with a shift" && shift > 0 {
		first = 10
	}
	about := datasets.About{Name: "numbers", Classes: []string{"even", "odd"}}
	return &datasets.Prepared{About: about, Train: part(order[first:]), Test: part(order[:8]), Norm: norm}, nil
}

// dataFaults has what the suite says, by fault and check.
var dataFaults = map[string]string{
	"rows/is what its description says":                   "Info says that there are 17 records",
	"classes/is what its description says":                "Info says that the classes are",
	"draws anew/is the same when it is prepared again":    "Prepare returns other records",
	"ignores the shift/is divided by the shift":           "the shift is ignored",
	"numbers the places/is divided by the shift":          "an ID is of one record",
	"says the part/is divided by the shift":               "whose features do not depend on the part that it is in",
	"features drawn anew/is divided by the shift":         "feature 0 of the record of the ID",
	"no number with a shift/is what its description says": "with the shift 1: data set numbers: record",
	"fewer with a shift/is what its description says":     "with the shift 1: data set numbers: Info says that there are 40 records",
}

func TestBrokenData(t *testing.T) {
	conform.RunOnlyByFails(t)
	for _, fault := range []string{"rows", "classes", "draws anew", "ignores the shift", "numbers the places",
		"says the part", "features drawn anew", "no number with a shift", "fewer with a shift"} {
		t.Run(fault, func(t *testing.T) { Data(t, numbers{fault, new(int)}) })
	}
}

// The suite passes data without a fault and says what is wrong with others.
func TestTheSuiteFindsEveryFaultOfData(t *testing.T) {
	Data(t, numbers{"", new(int)})
	conform.CheckSubtestsSay(t, "TestBrokenData", dataFaults)
}
