package images_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/datasets/images"
)

// real loads rows of a published set, or skips the test where its files are not here.
func real(t *testing.T, name string, train, test []int) *images.Images {
	t.Helper()
	datatest.Dir(t)
	m, err := images.LoadRows(t.Context(), name, train, test)
	if errors.Is(err, datasets.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// every returns from, from+step, ... below n.
func every(from, step, n int) []int {
	out := []int{}
	for k := from; k < n; k += step {
		out = append(out, k)
	}
	return out
}

func counts(classes int, labels []int) []int {
	out := make([]int, classes)
	for _, y := range labels {
		out[y]++
	}
	return out
}

func TestMNISTHasThePublishedClassCounts(t *testing.T) {
	m := real(t, "mnist", every(0, 1, 60000), every(0, 1, 10000))
	if got := counts(10, m.Train.Y); !slices.Equal(got, []int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}) {
		t.Errorf("training classes %v", got)
	}
	if got := counts(10, m.Test.Y); !slices.Equal(got, []int{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}) {
		t.Errorf("test classes %v", got)
	}
	if !slices.Equal(m.Train.Y[:5], []int{5, 0, 4, 1, 9}) {
		t.Errorf("first labels %v", m.Train.Y[:5])
	}
	// The numbers that every tutorial normalises MNIST by.
	n, err := images.MeasureChannels(m.Train.X, m.Shape)
	if err != nil || math.Abs(n.Mean[0]-0.1307) > 5e-5 || math.Abs(n.SD[0]-0.3081) > 5e-5 {
		t.Errorf("mean %v, standard deviation %v, %v", n.Mean, n.SD, err)
	}
}

func TestFashionMNISTHasThePublishedClassCounts(t *testing.T) {
	m := real(t, "fashion_mnist", every(0, 1, 60000), every(0, 1, 10000))
	for k, n := range map[int][]int{6000: m.Train.Y, 1000: m.Test.Y} {
		if got := counts(10, n); slices.Max(got) != k || slices.Min(got) != k {
			t.Errorf("classes of %d images, want %d of each", got, k)
		}
	}
	if !slices.Equal(m.Train.Y[:5], []int{9, 0, 0, 3, 0}) || !slices.Equal(m.Test.Y[:5], []int{9, 2, 1, 1, 6}) {
		t.Errorf("first labels %v and %v", m.Train.Y[:5], m.Test.Y[:5])
	}
	// The numbers that every tutorial normalises Fashion-MNIST by.
	n, err := images.MeasureChannels(m.Train.X, m.Shape)
	if err != nil || math.Abs(n.Mean[0]-0.2860) > 5e-5 || math.Abs(n.SD[0]-0.3530) > 5e-5 {
		t.Errorf("mean %v, standard deviation %v, %v", n.Mean, n.SD, err)
	}
}

// agrees says whether channel means and spreads are near CIFAR-10's published
// ones, which differ enough that exchanged channels show.
func agrees(t *testing.T, m *images.Images, mean, sd float64) {
	t.Helper()
	n, err := images.MeasureChannels(m.Train.X, m.Shape)
	if err != nil {
		t.Fatal(err)
	}
	want := images.CIFAR10Normalisation()
	for ch := range 3 {
		if math.Abs(n.Mean[ch]-want.Mean[ch]) > mean || math.Abs(n.SD[ch]-want.SD[ch]) > sd {
			t.Errorf("channel %d: mean %.4f, standard deviation %.4f, want about %v and %v", ch, n.Mean[ch], n.SD[ch], want.Mean[ch], want.SD[ch])
		}
	}
	t.Logf("%s: means %.4f, standard deviations %.4f", m.Name, n.Mean, n.SD)
}

func TestTheFirst4000OfCIFAR10AreThePublishedOnes(t *testing.T) {
	m := real(t, "cifar10_first4000", every(0, 1, 4000), []int{})
	// Labels and the first pixel of the first image as the field's tutorials show them: a frog whose first pixel is (59, 62, 63).
	if !slices.Equal(m.Train.Y[:10], []int{6, 9, 9, 4, 1, 1, 2, 7, 8, 3}) {
		t.Errorf("first labels %v", m.Train.Y[:10])
	}
	for ch, want := range []float32{59, 62, 63} {
		if got := m.Train.X.Row(0)[ch*1024] * 255; math.Abs(float64(got-want)) > 1e-4 {
			t.Errorf("channel %d of the first pixel is %v, want %v", ch, got, want)
		}
	}
	agrees(t, m, 0.01, 0.01)
	if m.Caveat == "" {
		t.Error("no caveat")
	}
}

func TestTheLossyCIFAR10IsNearThePublishedOne(t *testing.T) {
	m := real(t, "cifar10_jpeg", every(0, 23, 50000), every(0, 499, 10000))
	for k, row := range m.Train.IDs {
		if m.Train.Y[k] != row/5000 {
			t.Fatalf("row %d is of class %d", row, m.Train.Y[k])
		}
	}
	agrees(t, m, 0.012, 0.02)
}

// The lossy copy keeps the order within a class: the first of a class in the
// first training batch is number 0000 of its folder, and so on. That pairs all
// 4,000 lossless images with their copies, and the difference can be measured.
func TestLossyTwinsOfLosslessImagesAreFound(t *testing.T) {
	exact := real(t, "cifar10_first4000", every(0, 1, 4000), []int{})
	twins, seen := make([]int, 4000), make([]int, 10)
	for i, y := range exact.Train.Y {
		twins[i] = 5000*y + seen[y]
		seen[y]++
	}
	lossy := real(t, "cifar10_jpeg", twins, []int{})
	squares, shift, far := 0.0, 0.0, 0
	for i := range 4000 {
		square := 0.0
		for j, v := range lossy.Train.X.Row(i) {
			d := 255 * float64(v-exact.Train.X.Row(i)[j])
			square += d * d
			shift += d
		}
		if squares += square; math.Sqrt(square/3072) > 30 { // unrelated photographs are 60 levels apart
			far++
		}
	}
	rms := math.Sqrt(squares / 4000 / 3072)
	shift /= 4000 * 3072
	t.Logf("%.3f grey levels, mean difference %.4f, %d of 4000 far", rms, shift, far)
	if rms < 7.5 || rms > 9.5 || math.Abs(shift) > 0.2 || far > 0 {
		t.Errorf("%.3f grey levels, mean difference %.4f, %d of 4000 far", rms, shift, far)
	}
}

func TestOlivettiIsWhatScikitLearnLoads(t *testing.T) {
	m := real(t, "olivetti_idx", every(0, 1, 400), []int{})
	// fetch_olivetti_faces().data of scikit-learn, as its users print it: the
	// first three and last three values of the first two rows.
	for row, want := range [][6]float32{
		{0.30991736, 0.3677686, 0.41735536, 0.15289256, 0.16115703, 0.1570248},
		{0.45454547, 0.47107437, 0.5123967, 0.15289256, 0.15289256, 0.15289256},
	} {
		x := m.Train.X.Row(row)
		for k, v := range want {
			at := k
			if k >= 3 {
				at = 4096 - 6 + k
			}
			if math.Abs(float64(x[at]-v)) > 1e-7 {
				t.Errorf("row %d, value %d is %v, want %v", row, at, x[at], v)
			}
		}
	}
	for row, y := range m.Train.Y {
		if y != row/10 {
			t.Fatalf("row %d shows person %d", row, y)
		}
	}
	if slices.Max(m.Train.X.Data) != 1 {
		t.Errorf("the brightest pixel is %v", slices.Max(m.Train.X.Data))
	}
}

func TestThePublishedArchivesLoadWhereTheyAre(t *testing.T) {
	for _, name := range []string{"cifar10", "cifar100", "svhn", "tiny_imagenet", "olivetti"} {
		t.Run(name, func(t *testing.T) {
			info, err := images.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			m := real(t, name, every(0, 97, info.Rows-info.TestRows), every(0, 97, info.TestRows))
			if len(slices.Compact(slices.Sorted(slices.Values(m.Train.Y)))) != len(m.Classes) {
				t.Errorf("not every class is among %d images", len(m.Train.Y))
			}
		})
	}
}
