package datasets_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
)

func load(t *testing.T, name string) *datasets.Table {
	t.Helper()
	table, err := datasets.Load(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestGeneratedSetsStayTheSameForEver(t *testing.T) {
	for name, want := range map[string]string{ // from the release that introduced them; they may not change
		"two_moons":        "61819493f226013aac3d877d04e514c5a4fb8c76b7d4fd49c8b986dd55c619fb",
		"moons_island":     "8479f0fad525cb30d42cae26fd8cfda9cf669d2b4c0b77bac4e85fa6f0883397",
		"blobs_duplicates": "efc1063737bdcaefeeeac715dbf09be522f88ece21f8f646900f80a34694b4dc",
		"tabular_outliers": "6c074d56ea39964eac9115e4fef182f833050f34b09838ad86850b7117af0a28",
		"linear_flips":     "09418ffa5aea882c6df24b96a565220b3eb77d5adb9db69b4f346c02ff3d09c6",
	} {
		a, b := load(t, name), load(t, name)
		if a.Hash != b.Hash || a.Hash != want {
			t.Errorf("%s: %s then %s, want %s", name, a.Hash, b.Hash, want)
		}
		if !a.Synthetic || len(a.Sources) > 0 {
			t.Errorf("%s: synthetic %v, sources %v", name, a.Synthetic, a.Sources)
		}
	}
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for j := range a {
		sum += (a[j] - b[j]) * (a[j] - b[j])
	}
	return math.Sqrt(sum)
}

// nearest returns the smallest distance from row i to another row, and that row.
func nearest(x array.Matrix[float64], i int) (float64, int) {
	best, at := math.Inf(1), -1
	for k := range x.Rows {
		if d := distance(x.Row(i), x.Row(k)); k != i && d < best {
			best, at = d, k
		}
	}
	return best, at
}

func TestPlantedDuplicatesAreTheOnlyNearPairs(t *testing.T) {
	table := load(t, "blobs_duplicates")
	originals, copies := table.Planted["originals"], table.Planted["copies"]
	if len(originals) != 60 || len(copies) != 60 {
		t.Fatalf("%d originals, %d copies", len(originals), len(copies))
	}
	for i := range table.X.Rows {
		d, k := nearest(table.X, i)
		isCopy := slices.Contains(copies, i) && slices.Contains(originals, k)
		isOriginal := slices.Contains(originals, i) && slices.Contains(copies, k)
		if (isCopy || isOriginal) != (d < 0.1) {
			t.Errorf("row %d: nearest row %d at %v, planted pair: %v", i, k, d, isCopy || isOriginal)
		}
		if d < 0.1 && table.Y[i] != table.Y[k] {
			t.Errorf("rows %d and %d are near and of different classes", i, k)
		}
	}
}

func TestPlantedOutliersAreFarAwayAndContradictTheRule(t *testing.T) {
	table := load(t, "tabular_outliers")
	outliers := table.Planted["outliers"]
	if len(outliers) != 40 || slices.Max(outliers) < 1000 {
		t.Fatalf("%d outliers, the last in row %d", len(outliers), slices.Max(outliers))
	}
	against, with := 0, 0
	for i := range table.X.Rows {
		row := table.X.Row(i)
		score := 1.2*row[0] - 0.8*row[1] + 0.6*row[2] - 0.4*row[3] + 0.3*row[4] + 0.8*row[9] - 0.4
		agrees := (score > 0) == (table.Y[i] == 1)
		planted := slices.Contains(outliers, i)
		if planted != (row[8] == 2) {
			t.Errorf("row %d: outlier %v, shop %v", i, planted, row[8])
		}
		if planted && !agrees {
			against++
		}
		if !planted && agrees {
			with++
		}
	}
	if against < 36 || with < 1960*8/10 {
		t.Errorf("%d of 40 outliers contradict the rule, %d of 1960 others follow it", against, with)
	}
}

func TestTwoMoonsLieOnTheirArcs(t *testing.T) {
	table := load(t, "two_moons")
	far := 0
	for i := range table.X.Rows {
		x, y := table.X.Row(i)[0], table.X.Row(i)[1]
		if table.Y[i] == 1 {
			x, y = 1-x, 0.5-y
		}
		if math.Abs(math.Hypot(x, y)-1) > 0.45 { // three standard deviations
			far++
		}
	}
	if far > 10 {
		t.Errorf("%d of 1000 points are off their arc", far)
	}
}

func TestTheIslandIsAloneAndOfTheOtherClass(t *testing.T) {
	table := load(t, "moons_island")
	island := table.Planted["island"]
	if len(island) != 30 {
		t.Fatalf("%d points on the island", len(island))
	}
	tip := table.Planted["tip"]
	if len(tip) < 30 || len(tip) > 60 { // 45 of 300 on average
		t.Errorf("%d points on the tip", len(tip))
	}
	for _, i := range tip {
		if x := table.X.Row(i)[0]; table.Y[i] != 0 || x > -0.4 {
			t.Errorf("row %d of the tip is at x = %.2f and of class %d", i, x, table.Y[i])
		}
	}
	for _, i := range island {
		if table.Y[i] != 1 {
			t.Errorf("row %d of the island is of class %d", i, table.Y[i])
		}
		best, class := math.Inf(1), -1
		for k := range table.X.Rows {
			if d := distance(table.X.Row(i), table.X.Row(k)); !slices.Contains(island, k) && d < best {
				best, class = d, table.Y[k]
			}
		}
		if best < 0.3 || class != 0 {
			t.Errorf("row %d: the nearest point off the island is %.2f away and of class %d", i, best, class)
		}
	}
}

func ExampleLoad() {
	table, err := datasets.Load(context.Background(), "breast_cancer")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.X.Rows, table.X.Cols, table.Classes, table.Features[0].Name, table.X.Row(0)[0])
	// Output: 569 30 [malignant benign] mean radius 17.99
}

func ExamplePrepare() {
	table, err := datasets.Load(context.Background(), "two_moons")
	if err != nil {
		fmt.Println(err)
		return
	}
	split, err := datasets.StratifiedSplit(table.Y, 0.2, 999)
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := datasets.Prepare(table, split)
	fmt.Println(data.Train.X.Rows, data.Test.X.Rows, data.Train.X.Cols, err)
	// Output: 800 200 2 <nil>
}
