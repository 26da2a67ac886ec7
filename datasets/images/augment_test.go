package images_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
)

// counted is an image whose pixels are 1, 2, 3, ...
func counted(shape [3]int) []float32 {
	out := make([]float32, shape[0]*shape[1]*shape[2])
	for k := range out {
		out[k] = float32(k + 1)
	}
	return out
}

// cropByHand pads the image with zeros, takes the window and mirrors it: the
// definition, in the most literal way.
func cropByHand(src []float32, shape [3]int, border, top, left int, flip bool) []float32 {
	c, h, w := shape[0], shape[1], shape[2]
	var out []float32
	for ch := range c {
		padded := make([][]float32, h+2*border)
		for y := range padded {
			padded[y] = make([]float32, w+2*border)
		}
		for y := range h {
			for x := range w {
				padded[y+border][x+border] = src[(ch*h+y)*w+x]
			}
		}
		for y := range h {
			line := slices.Clone(padded[top+y][left : left+w])
			if flip {
				slices.Reverse(line)
			}
			out = append(out, line...)
		}
	}
	return out
}

// Every crop and flip that the customary setting can give is the one by hand,
// each comes about equally often, and nothing else comes.
func TestEveryCropAndFlipIsTheOneByHand(t *testing.T) {
	shape := [3]int{2, 5, 6}
	src := counted(shape)
	kinds, seen := map[string]bool{}, map[string]int{}
	for top := range 9 {
		for left := range 9 {
			for _, flip := range []bool{false, true} {
				kinds[fmt.Sprint(cropByHand(src, shape, 4, top, left, flip))] = true
			}
		}
	}
	rng, dst := rand.New(rand.NewPCG(1, 2)), make([]float32, len(src))
	const draws = 32400 // 200 per kind
	for range draws {
		if err := (images.Augmentation{}).Row(dst, src, shape, rng); err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(dst)]++
	}
	if len(kinds) != 162 || len(seen) != 162 {
		t.Fatalf("%d kinds by hand, %d drawn", len(kinds), len(seen))
	}
	square := 0.0
	for kind, n := range seen {
		if !kinds[kind] {
			t.Errorf("a crop that cannot be: %s", kind)
		}
		square += float64((n-200)*(n-200)) / 200
	}
	if square > 161+4*math.Sqrt(2*161) {
		t.Errorf("the kinds are not equally frequent: chi-squared %v on 161 degrees of freedom", square)
	}
}

func TestTheSourceIsLeftAlone(t *testing.T) {
	shape := [3]int{3, 4, 4}
	src := counted(shape)
	if err := (images.Augmentation{}).Row(make([]float32, 48), src, shape, rand.New(rand.NewPCG(1, 1))); err != nil || !slices.Equal(src, counted(shape)) {
		t.Errorf("%v, %v", src, err)
	}
}

func TestWithoutCropAndFlipNothingHappens(t *testing.T) {
	shape, dst := [3]int{3, 4, 5}, make([]float32, 60)
	if err := (images.Augmentation{NoCrop: true, NoFlip: true}).Row(dst, counted(shape), shape, rand.New(rand.NewPCG(1, 1))); err != nil || !slices.Equal(dst, counted(shape)) {
		t.Errorf("%v, %v", dst, err)
	}
}

// A setting switched off draws its numbers all the same, so that the others do not move.
func TestSwitchedOffPartsDrawTheirNumbers(t *testing.T) {
	shape := [3]int{1, 3, 3}
	next := func(a images.Augmentation) uint64 {
		rng := rand.New(rand.NewPCG(5, 5))
		if err := a.Row(make([]float32, 9), counted(shape), shape, rng); err != nil {
			t.Fatal(err)
		}
		return rng.Uint64()
	}
	if a, b := next(images.Augmentation{}), next(images.Augmentation{NoCrop: true, NoFlip: true}); a != b {
		t.Errorf("the streams go on with %d and %d", a, b)
	}
}

func TestAugmentationDependsOnSeedEpochAndRowOnly(t *testing.T) {
	shape := [3]int{1, 8, 8}
	draw := func(seed engine.Root, epoch, row uint64) string {
		dst := make([]float32, 64)
		if err := (images.Augmentation{}).Row(dst, counted(shape), shape, seed.Stream(engine.StreamAugment, epoch, row)); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(dst)
	}
	if first, again := draw(1, 2, 3), draw(1, 2, 3); first != again {
		t.Error("the same draw gave two crops")
	}
	met := map[string]bool{}
	for row := range uint64(60) {
		met[draw(1, 2, row)] = true
	}
	if len(met) < 35 { // 50 of 162 are met on average
		t.Errorf("sixty rows met %d crops", len(met))
	}
}

func TestBadShapesAreRefused(t *testing.T) {
	rng, n := rand.New(rand.NewPCG(1, 1)), datasets.Normalisation{Mean: []float64{0}, SD: []float64{1}}
	nine := make([]float32, 9)
	for want, err := range map[string]error{
		"8 values; an image of 1 x 3 x 3 has 9": (images.Augmentation{}).Row(nine[:8], nine, [3]int{1, 3, 3}, rng),
		"has a side below 1":                    (images.Augmentation{}).Row(nine, nine, [3]int{0, 3, 3}, rng),
		"a border of -1 pixels":                 (images.Augmentation{Border: -1}).Row(nine, nine, [3]int{1, 3, 3}, rng),
		"9 values; an image of 1 x 3 x 2 has 6": images.Normalise(n, nine, nine, [3]int{1, 3, 2}),
		"1 means and 1 standard deviations for": images.Normalise(n, nine, nine, [3]int{9, 1, 1}),
		"channel 0: mean 0, standard deviation 0": images.Normalise(datasets.Normalisation{Mean: []float64{0}, SD: []float64{0}}, nine, nine,
			[3]int{1, 3, 3}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := images.MeasureChannels(array.Matrix[float32]{}, [3]int{1, 3, 3}); err == nil {
		t.Error("no images were measured")
	}
	if _, err := images.Interleave(array.New[float32](1, 9), [3]int{1, 3, 2}); err == nil {
		t.Error("a wrong shape was interleaved")
	}
}

func TestNormalisedImagesHaveMeanZeroAndSpreadOne(t *testing.T) {
	shape, rng := [3]int{3, 4, 4}, rand.New(rand.NewPCG(3, 4))
	x := array.New[float32](50, 48)
	for k := range x.Data {
		x.Data[k] = float32(k/16%3) + rng.Float32()
	}
	n, err := images.MeasureChannels(x, shape)
	if err != nil {
		t.Fatal(err)
	}
	for ch := range 3 { // uniform: mean 1/2, standard deviation 1/sqrt(12), four standard errors
		if math.Abs(n.Mean[ch]-float64(ch)-0.5) > 0.041 || math.Abs(n.SD[ch]-math.Sqrt(1.0/12)) > 0.018 {
			t.Errorf("channel %d: mean %v, standard deviation %v", ch, n.Mean[ch], n.SD[ch])
		}
	}
	for i := range x.Rows {
		if err := images.Normalise(n, x.Row(i), x.Row(i), shape); err != nil { // in place
			t.Fatal(err)
		}
	}
	again, err := images.MeasureChannels(x, shape)
	if err != nil {
		t.Fatal(err)
	}
	for ch := range 3 {
		if math.Abs(again.Mean[ch]) > 1e-6 || math.Abs(again.SD[ch]-1) > 1e-6 {
			t.Errorf("channel %d: mean %v, standard deviation %v", ch, again.Mean[ch], again.SD[ch])
		}
	}
}

func TestInterleavePutsThePixelsChannelsSideBySide(t *testing.T) {
	x := array.Matrix[float32]{Rows: 1, Cols: 12, Data: counted([3]int{3, 2, 2})}
	got, err := images.Interleave(x, [3]int{3, 2, 2})
	if err != nil || !slices.Equal(got.Data, []float32{1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12}) {
		t.Errorf("%v, %v", got.Data, err)
	}
}

func ExampleAugmentation_Row() {
	shape := [3]int{1, 3, 3}
	src, dst := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, make([]float32, 9)
	rng := engine.Root(42).Stream(engine.StreamAugment, 0, 1) // epoch 0, row 1
	err := images.Augmentation{Border: 1}.Row(dst, src, shape, rng)
	fmt.Println(dst[:3], dst[3:6], dst[6:], err)
	// Output: [0 4 5] [0 7 8] [0 0 0] <nil>
}

func ExampleNormalise() {
	row := []float32{0, 0.5, 1}
	err := images.Normalise(images.CIFAR10Normalisation(), row, row, [3]int{3, 1, 1})
	fmt.Printf("%.3f %v\n", row, err)
	// Output: [-1.989 0.073 2.116] <nil>
}

func BenchmarkAugment(b *testing.B) {
	shape := [3]int{3, 32, 32}
	src, dst := counted(shape), make([]float32, 3072)
	row := uint64(0)
	for b.Loop() {
		row++
		if err := (images.Augmentation{}).Row(dst, src, shape, engine.Root(1).Stream(engine.StreamAugment, 0, row)); err != nil {
			b.Fatal(err)
		}
	}
}
