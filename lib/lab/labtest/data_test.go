package labtest

import (
	"context"
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
	order := rand.New(rand.NewPCG(1, seed)).Perm(40)
	part := func(ids []int) datasets.Part {
		p := datasets.Part{X: array.New[float32](len(ids), 1), IDs: ids}
		for i, id := range ids {
			p.X.Row(i)[0] = float32(id)/40 - 0.5
			p.Y = append(p.Y, id%2)
		}
		if d.Fault == "numbers the places" {
			slices.Sort(p.IDs)
		}
		return p
	}
	return &datasets.Prepared{About: datasets.About{Name: "numbers", Classes: []string{"even", "odd"}}, Train: part(order[8:]), Test: part(order[:8]),
		Norm: datasets.Normalisation{Mean: []float64{0}, SD: []float64{1}}}, nil
}

// dataFaults has what the suite says, by fault and check.
var dataFaults = map[string]string{
	"rows/is what its description says":                "Info says that there are 17 records",
	"classes/is what its description says":             "Info says that the classes are",
	"draws anew/is the same when it is prepared again": "Prepare returns other records",
	"ignores the shift/is divided by the shift":        "the shift is ignored",
	"numbers the places/is divided by the shift":       "an ID is of one record",
}

func TestBrokenData(t *testing.T) {
	conform.RunOnlyByFails(t)
	for _, fault := range []string{"rows", "classes", "draws anew", "ignores the shift", "numbers the places"} {
		t.Run(fault, func(t *testing.T) { Data(t, numbers{fault, new(int)}) })
	}
}

// The suite passes data without a fault and says what is wrong with others.
func TestTheSuiteFindsEveryFaultOfData(t *testing.T) {
	Data(t, numbers{"", new(int)})
	conform.CheckSubtestsSay(t, "TestBrokenData", dataFaults)
}
