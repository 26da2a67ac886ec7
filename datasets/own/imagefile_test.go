package own_test

// What is kept of the files of images: 16 bits, and colours below transparency.

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	pictures "github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/datasets/own"
)

// images reads and prepares a folder.
func images(t testing.TB, dir string, options ...own.ImageOption) (*own.Images, *datasets.Prepared) {
	t.Helper()
	m, err := own.ReadImages(dir, options...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return m, p
}

// file returns the name of the file of an image.
func file(p *datasets.Prepared, id int) string {
	for _, c := range p.About.Columns {
		if c.Name == "file" {
			return c.Values[c.Codes[id]]
		}
	}
	return ""
}

// equalPairs checks that images have the same values as those whose file has another name.
func equalPairs(t *testing.T, p *datasets.Prepared, other func(name string) string) {
	t.Helper()
	values, pairs := map[string][]float32{}, 0
	for _, part := range []datasets.Part{p.Train, p.Test} {
		for r, id := range part.IDs {
			values[file(p, id)] = part.X.Row(r)
		}
	}
	for name, x := range values {
		if other(name) == name {
			continue
		}
		pairs++
		if !slices.Equal(x, values[other(name)]) {
			t.Errorf("%s and %s differ", name, other(name))
		}
	}
	if 2*pairs != len(values) {
		t.Errorf("%d pairs in %d images", pairs, len(values))
	}
}

// in16 is an image in 16 bits: grey, in colour, or half transparent in colour.
func in16(kind string, width, height int, value func(ch, x, y int) uint16) image.Image {
	r := image.Rect(0, 0, width, height)
	grey, opaque, clear := image.NewGray16(r), image.NewRGBA64(r), image.NewNRGBA64(r)
	for y := range height {
		for x := range width {
			red, green, blue := value(0, x, y), value(1, x, y), value(2, x, y)
			grey.SetGray16(x, y, color.Gray16{Y: red})
			opaque.SetRGBA64(x, y, color.RGBA64{R: red, G: green, B: blue, A: math.MaxUint16})
			clear.SetNRGBA64(x, y, color.NRGBA64{R: red, G: green, B: blue, A: uint16(9000 * ((x + y) % 3))})
		}
	}
	return map[string]image.Image{"grey": grey, "colour": opaque, "transparent": clear}[kind]
}

// Scans in 12 bits, whose values are nearly black in 8.
func TestSixteenBitsAreKept(t *testing.T) {
	value := func(class, i int) func(ch, x, y int) uint16 {
		return func(ch, x, y int) uint16 { return uint16(150*class + (31*i+17*ch+7*x+3*y)%100 + 900*(x%3)) }
	}
	for kind, channels := range map[string]int{"grey": 1, "colour": 3, "transparent": 3} {
		dir := t.TempDir()
		for i := range 20 {
			put(t, encoded(t, ".png", in16(kind, 5, 4, value(i%2, i))), dir, []string{"ill", "well"}[i%2], fmt.Sprintf("%d.png", i))
		}
		m, p := images(t, dir)
		if want := [3]int{channels, 4, 5}; p.About.Shape != want || !strings.Contains(m.String(), "\n16 bits per channel.\n") {
			t.Errorf("%s: %v\n%s", kind, p.About.Shape, m)
		}
		_, scaled := images(t, dir, own.Size(3))
		check16(t, kind, p, func(name string) func(ch, x, y int) float64 {
			v := value(numbered(t, name))
			return func(ch, x, y int) float64 { return float64(v(ch, x, y)) }
		})
		check16(t, kind+", scaled", scaled, func(name string) func(ch, x, y int) float64 {
			v := value(numbered(t, name))
			return func(ch, x, y int) float64 {
				var middle []float32
				for k := range 16 {
					middle = append(middle, float32(v(ch, k%4, k/4)))
				}
				return math.Round(pictures.ScaleChannel(middle, 4, 3)[3*y+x])
			}
		})
	}
}

// numbered returns the class and the number of a file such as ill/12.png.
func numbered(t *testing.T, name string) (class, i int) {
	t.Helper()
	if _, err := fmt.Sscanf(name[strings.Index(name, "/"):], "/%d.", &i); err != nil {
		t.Fatal(err)
	}
	return i % 2, i
}

// check16 compares images with their values in 16 bits.
func check16(t *testing.T, what string, p *datasets.Prepared, want func(name string) func(ch, x, y int) float64) {
	t.Helper()
	s := p.About.Shape
	for r, id := range p.Train.IDs {
		value := want(file(p, id))
		for k := range s[0] * s[1] * s[2] {
			ch, y, x := k/(s[1]*s[2]), k/s[2]%s[1], k%s[2]
			if got := math.MaxUint16 * pixel(p, p.Train.X.Row(r), ch, y, x); math.Abs(got-value(ch, x, y)) > 0.01 {
				t.Fatalf("%s: pixel %d, %d of channel %d of %s is %v, want %v", what, x, y, ch, file(p, id), got, value(ch, x, y))
			}
		}
	}
}

// A picture is the same record in both depths.
func TestAPictureInBothDepthsIsOneRecord(t *testing.T) {
	mixed, shallow, deep := t.TempDir(), t.TempDir(), t.TempDir()
	for i := range 24 {
		class, m := []string{"cat", "dog"}[i%2], picture(6, 6, i%2, i)
		wide := in16("colour", 6, 6, func(ch, x, y int) uint16 {
			c := m.At(x, y).(color.NRGBA)
			return 257 * uint16([]uint8{c.R, c.G, c.B}[ch])
		})
		name := fmt.Sprintf("%02d.png", i)
		put(t, encoded(t, ".png", m), shallow, class, name)
		put(t, encoded(t, ".png", wide), deep, class, name)
		put(t, encoded(t, ".png", m), mixed, class, name)
		put(t, encoded(t, ".png", wide), mixed, class, "deep "+name)
	}
	for _, options := range [][]own.ImageOption{nil, {own.Grey()}, {own.Size(4)}, {own.Size(4), own.Grey()}} {
		m, p := images(t, mixed, options...)
		if !strings.Contains(m.String(), "16 bits per channel in 24 images; the others have 8, and are read with 16.") {
			t.Error(m)
		}
		equalPairs(t, p, func(name string) string { return strings.Replace(name, "deep ", "", 1) })
	}
	_, a := images(t, shallow)
	m, b := images(t, deep)
	if !slices.Equal(a.Train.X.Data, b.Train.X.Data) || !slices.Equal(a.Test.X.Data, b.Test.X.Data) {
		t.Error("a set has other values in 16 bits")
	}
	if !strings.Contains(m.String(), "16 bits per channel.") {
		t.Error(m)
	}
}

// Images in 8 bits have the keys that they had when 16 bits and orientations were not read.
func TestKeysOfImagesStay(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "picture.png"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i := range 10 {
		put(t, b, dir, []string{"cat", "dog"}[i%2], fmt.Sprintf("%d.png", i))
	}
	for want, options := range map[string][]own.ImageOption{
		"92f8a7d2e9f6fa651d038a2a965b3d78c666bfef9b56b973e346fa6eb8af7a50": nil,
		"cd7b5967442f34092999aa87662bbbabe5c32e9c5679d9c0ac7b1e7f69521867": {own.Size(8), own.Grey()},
	} {
		if m, _ := images(t, dir, options...); m.Key() != want {
			t.Errorf("the key %s, want %s", m.Key(), want)
		}
	}
}

// Where 16 bits or an orientation change what is read, the key holds them.
func TestKeysHoldWhatIsReadOtherwise(t *testing.T) {
	wide := func(class, i int) image.Image {
		return in16("grey", 4, 4, func(_, x, y int) uint16 { return uint16(1000*class + i + x*y) })
	}
	shallow, deep := func(class, i int) image.Image { return picture(4, 4, class, i) }, pngs(t, 4, wide)
	turned, straight := pngs(t, 4, shallow), pngs(t, 4, shallow)
	both := pngs(t, 4, wide)
	for dir, o := range map[string]int{turned: 3, straight: 1, both: 3} {
		put(t, inPNG(encoded(t, ".png", shallow(0, 9)), oriented(o), false), dir, "cat", "more.png")
	}
	for dir, reading := range map[string]string{pngs(t, 4, shallow): "{}", straight: "{}", deep: `{"Bits":16}`, turned: `{"Turned":true}`, both: `{"Bits":16,"Turned":true}`} {
		m, p := images(t, dir)
		text := fmt.Sprintf(`["lethe/own/1","images",[%q],%s]`, p.About.Sources[0].SHA256, reading)
		if want := fmt.Sprintf("%x", sha256.Sum256([]byte(text))); m.Key() != want {
			t.Errorf("the key is not that of %s", text)
		}
	}
}

func TestTransparencyIsNoted(t *testing.T) {
	clear := func(alpha uint8) func(class, i int) image.Image {
		return func(class, i int) image.Image {
			m := picture(6, 6, class, i).(*image.NRGBA)
			for k := 3; k < len(m.Pix)/2; k += 4 {
				m.Pix[k] = alpha
			}
			return m
		}
	}
	note := " have transparent pixels. Transparency is ignored: the colours below it are used."
	var first []float32
	for alpha, want := range map[uint8]string{255: "", 254: "8 images" + note, 0: "8 images" + note} {
		m, p := images(t, pngs(t, 4, clear(alpha)))
		if strings.Contains(m.String(), "ransparen") != (want != "") || !strings.Contains(m.String(), want) {
			t.Errorf("alpha %d:\n%s", alpha, m)
		}
		if first == nil {
			first = p.Train.X.Data
		}
		if !slices.Equal(first, p.Train.X.Data) {
			t.Errorf("alpha %d changes what is read", alpha)
		}
	}
	palette := pngs(t, 4, func(class, i int) image.Image {
		m := image.NewPaletted(image.Rect(0, 0, 4, 4), color.Palette{color.NRGBA{uint8(9 * i), 1, 2, 255}, color.NRGBA{R: 200}, color.NRGBA{uint8(100 * class), 5, 6, 255}})
		m.Pix[3], m.Pix[7] = uint8(class), 2
		return m
	})
	if m, _ := images(t, palette); !strings.Contains(m.String(), "4 images"+note) { // those of one class have no such pixel
		t.Error(m)
	}
}

// pngs makes a folder of n PNG files of each class.
func pngs(t testing.TB, n int, each func(class, i int) image.Image) string {
	t.Helper()
	dir := t.TempDir()
	for k := range 2 * n {
		put(t, encoded(t, ".png", each(k%2, k/2)), dir, []string{"cat", "dog"}[k%2], fmt.Sprintf("%d.png", k))
	}
	return dir
}

func TestPartsOfAFolderCanHaveCapitals(t *testing.T) {
	for _, names := range [][2]string{{"Train", "Test"}, {"TRAIN", "test"}, {"train", "TEST"}} {
		dir := folder(t, 6, func(class, i int) image.Image { return picture(5, 5, class, i) }, names[0])
		for i := range 4 {
			put(t, encoded(t, ".png", picture(5, 5, i%2, i)), dir, names[1], []string{"cat", "dog"}[i%2], fmt.Sprintf("%d.png", i))
		}
		m, p := images(t, dir)
		if !strings.Contains(m.String(), "the last 4 are the test part") || p.Train.X.Rows != 12 || p.Test.X.Rows != 4 || !slices.Equal(p.About.Classes, []string{"cat", "dog"}) {
			t.Errorf("%v: %d and %d\n%s", names, p.Train.X.Rows, p.Test.X.Rows, m)
		}
		if name := file(p, 12); name != names[1]+"/cat/0.png" {
			t.Errorf("%v: the first test image is %s", names, name)
		}
		put(t, encoded(t, ".png", picture(5, 5, 0, 0)), dir, "Val", "cat", "1.png")
		_, err := own.ReadImages(dir)
		wants(t, "a third part", err, "Val", "expected train and test")
	}
}

func TestClassesThatAreSpeltAlikeAreNoted(t *testing.T) {
	dir := folder(t, 5, func(class, i int) image.Image { return picture(4, 4, class, i) })
	if m, _ := images(t, dir); strings.Contains(m.String(), "alone") {
		t.Error(m)
	}
	for i := range 5 {
		put(t, encoded(t, ".png", picture(4, 4, 1, i)), dir, " Cat", fmt.Sprintf("%d.png", i))
	}
	note := `" Cat" and "cat" are two classes, which differ in capitals or spaces alone.` + "\n"
	if m, _ := images(t, dir); strings.Count(m.String(), note) != 1 {
		t.Error(m)
	}
	labels := bytes.Repeat([]byte("c\x00\x00\x00a\x00\x00\x00t\x00\x00\x00C\x00\x00\x00a\x00\x00\x00t\x00\x00\x00"), 20)
	y := npyFile(t, "y.npy", "<U3", "(40,)", labels)
	values := make([]byte, 40*16)
	for i := range values {
		values[i] = byte(i*i + i/16)
	}
	records, err := own.ReadArrays(npyFile(t, "x.npy", "|u1", "(40, 16)", values), y)
	if err != nil {
		t.Fatal(err)
	}
	grey, err := own.ReadArrays(npyFile(t, "x.npy", "|u1", "(40, 4, 4)", values), y, own.Grey())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*own.Arrays{records, grey} {
		if strings.Count(a.String(), `"Cat" and "cat" are two classes, which differ in capitals`) != 1 {
			t.Error(a)
		}
	}
}
