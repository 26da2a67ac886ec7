package own_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif" // its decoder is registered, as another package of a program may do
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/array/npy"
)

// picture is an image whose brightness tells its class.
func picture(width, height, class, i int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, color.NRGBA{uint8(40 + 120*class + (i*7+x)%30), uint8(x * 5), uint8(y * 5), 255})
		}
	}
	return m
}

func grey(m image.Image) image.Image {
	out := image.NewGray(m.Bounds())
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			out.Set(x, y, m.At(x, y))
		}
	}
	return out
}

func encoded(t testing.TB, name string, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	err := png.Encode(&b, m)
	if strings.HasSuffix(name, ".jpg") {
		b.Reset()
		err = jpeg.Encode(&b, m, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// folder makes a folder of n images of each class.
func folder(t testing.TB, n int, each func(class, i int) image.Image, part ...string) string {
	t.Helper()
	dir := t.TempDir()
	for class, name := range []string{"cat", "dog"} {
		for i := range n {
			file := fmt.Sprintf("%02d.png", i)
			if i%3 == 1 {
				file = fmt.Sprintf("%02d.jpg", i)
			}
			put(t, encoded(t, file, each(class, i)), append(append([]string{dir}, part...), name, file)...)
		}
	}
	return dir
}

func put(t testing.TB, b []byte, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAFolderOfImages(t *testing.T) {
	dir := folder(t, 10, func(class, i int) image.Image { return picture(6, 4, class, i) })
	put(t, []byte("x"), dir, ".DS_Store")
	put(t, []byte("x"), dir, "cat", ".hidden")
	put(t, []byte("x"), dir, "README.md")
	m, err := own.ReadImages(dir)
	if err != nil {
		t.Fatal(err)
	}
	info, err := m.Info()
	if err != nil || info.Shape != [3]int{3, 4, 6} || info.Rows != 20 || info.Features != 72 || !slices.Equal(info.Classes, []string{"cat", "dog"}) {
		t.Errorf("%+v, %v", info, err)
	}
	for _, part := range []string{"20 images of 6 x 4 pixels, colour", "2 classes: cat (10), dog (10)", "README.md is not in the folder of a class"} {
		if !strings.Contains(m.String(), part) {
			t.Errorf("the report lacks %q:\n%s", part, m)
		}
	}
	p, err := m.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := p.About.Rows("file=dog/03.png"); err != nil || !slices.Equal(rows, []int{13}) {
		t.Errorf("rows %v, %v", rows, err)
	}
	if rows, err := p.About.Rows("class=dog"); err != nil || len(rows) != 10 || rows[0] != 10 {
		t.Errorf("rows %v, %v", rows, err)
	}
	g, err := own.ReadImages(dir, own.Grey())
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := g.Info(); info.Shape != [3]int{1, 4, 6} {
		t.Errorf("grey: %+v", info)
	}
	all := folder(t, 5, func(class, i int) image.Image { return grey(picture(6, 4, class, i)) })
	for want, option := range map[int][]own.ImageOption{1: nil, 3: {own.Colour()}} {
		m, err := own.ReadImages(all, option...)
		if err != nil {
			t.Fatal(err)
		}
		if info, _ := m.Info(); info.Shape[0] != want {
			t.Errorf("grey files: %+v", info)
		}
	}
}

func TestGivenPartsOfAFolder(t *testing.T) {
	dir := folder(t, 6, func(class, i int) image.Image { return picture(5, 5, class, i) }, "train")
	for i, class := range []string{"cat", "dog", "dog"} {
		put(t, encoded(t, ".png", picture(5, 5, min(i, 1), i)), dir, "test", class, fmt.Sprintf("%d.png", i))
	}
	m, err := own.ReadImages(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, err := m.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Prepare(t.Context(), 3)
	if err != nil {
		t.Fatal(err)
	}
	if a.Train.X.Rows != 12 || !slices.Equal(a.Test.IDs, []int{12, 13, 14}) || !slices.Equal(a.Test.Y, []int{0, 1, 1}) || a.Hash != b.Hash {
		t.Errorf("%d train rows, test rows %v of %v", a.Train.X.Rows, a.Test.IDs, a.Test.Y)
	}
	if rows, err := a.About.Rows("file=test/dog/2.png"); err != nil || !slices.Equal(rows, []int{14}) {
		t.Errorf("%v, %v", rows, err)
	}
	put(t, encoded(t, ".png", picture(5, 5, 1, 1)), dir, "test", "fox", "1.png")
	_, err = own.ReadImages(dir)
	wants(t, "a class of the test part", err, "fox: the class is not in the train part; its classes are cat, dog")
}

func TestAllBadFilesOfAFolderAreNamed(t *testing.T) {
	dir := folder(t, 10, func(class, i int) image.Image { return picture(8, 8, class, i) })
	whole := encoded(t, ".png", picture(8, 8, 0, 1))
	put(t, whole[:len(whole)-30], dir, "cat", "00.png")
	put(t, []byte("not an image"), dir, "cat", "notes.txt")
	put(t, encoded(t, ".png", picture(9, 8, 0, 1)), dir, "dog", "00.png")
	put(t, nil, dir, "dog", "01.jpg")
	_, err := own.ReadImages(dir)
	wants(t, "four of them", err, dir, "4 of 21 files cannot be used:", "\n  cat/00.png: the image is damaged", "\n  cat/notes.txt: not an image in PNG or JPEG",
		"\n  dog/00.png: 9 x 8 pixels, most images have 8 x 8; Size(8)", "\n  dog/01.jpg: ")
	_, err = own.ReadImages(dir, own.Size(4))
	wants(t, "scaled", err, "3 of 21 files cannot be used")
	for i := range 12 {
		put(t, []byte("GIF89a"), dir, "cat", fmt.Sprintf("%02d.gif", i))
	}
	_, err = own.ReadImages(dir)
	wants(t, "many", err, "16 of 33 files", "and 6 more")
	if strings.Count(err.Error(), "\n  ") != 11 {
		t.Errorf("not ten files are named:\n%v", err)
	}
}

// A picture in a format whose decoder another package registered is refused all the same: an animation would be its first picture.
func TestOnlyPNGAndJPEGAreRead(t *testing.T) {
	dir := folder(t, 10, func(class, i int) image.Image { return picture(8, 8, class, i) })
	var b bytes.Buffer
	if err := gif.Encode(&b, picture(8, 8, 0, 1), nil); err != nil {
		t.Fatal(err)
	}
	put(t, b.Bytes(), dir, "cat", "moves.gif")
	put(t, b.Bytes(), dir, "cat", "moves.png")
	_, err := own.ReadImages(dir)
	wants(t, "a GIF", err, "2 of 22 files cannot be used", "\n  cat/moves.gif: not an image in PNG or JPEG", "\n  cat/moves.png: not an image in PNG or JPEG")
}

// An empty part is no part that the split may make up.
func TestAnEmptyPartIsRefused(t *testing.T) {
	for full, empty := range map[string]string{"train": "test", "Test": "TRAIN"} {
		dir := folder(t, 6, func(class, i int) image.Image { return picture(5, 5, class, i) }, full)
		if err := os.Mkdir(filepath.Join(dir, empty), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := own.ReadImages(dir)
		wants(t, empty, err, filepath.Join(dir, empty)+": there are no folders in it, expected one per class")
	}
}

func TestAFolderThatIsNoneIsRefused(t *testing.T) {
	tiny := encoded(t, ".png", picture(2, 2, 0, 0))
	for want, files := range map[string][]string{
		"there are no folders in it, expected one per class":       {},
		"all 3 images are of the class \"a\"":                      {"a/1.png", "a/2.png", "a/3.png"},
		"every class needs two images or more":                     {"a/1.png", "a/2.png", "a/3.png", "b/1.png"},
		"x.png: an image beside the folders":                       {"a/1.png", "x.png"},
		"a/deep: a folder in the folder of a class":                {"a/deep/1.png", "b/1.png"},
		"the folders train, val: expected train and test":          {"train/a/1.png", "val/a/1.png"},
		"5 images are too few for 2 classes: every class must be ": {"a/1.png", "a/2.png", "a/3.png", "b/1.png", "b/2.png"},
	} {
		dir := t.TempDir()
		for _, name := range files {
			put(t, tiny, dir, filepath.FromSlash(name))
		}
		_, err := own.ReadImages(dir)
		wants(t, want, err, dir, filepath.FromSlash(want))
	}
	dir := folder(t, 5, func(class, i int) image.Image { return picture(4, 4, class, i) })
	if err := os.Mkdir(filepath.Join(dir, "fox"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := own.ReadImages(dir)
	wants(t, "an empty class", err, "fox: there are no images in it")
	_, err = own.ReadImages(filepath.Join(dir, "absent"))
	wants(t, "no folder", err, "absent")
	_, err = own.ReadImages(filepath.Join(dir, "cat", "00.png"))
	wants(t, "a file", err, "expected a folder with a folder per class")
	_, err = own.ReadImages(dir, own.Size(0))
	wants(t, "no size", err, "Size(0)")
	_, err = own.ReadImages(dir, own.Grey(), own.Colour())
	wants(t, "two colours", err, "grey and in colour")
}

// A header that announces more pixels than memory is refused before they are decoded.
func TestAHugeImageIsRefused(t *testing.T) {
	dir := folder(t, 5, func(class, i int) image.Image { return picture(4, 4, class, i) })
	b := encoded(t, ".png", picture(4, 4, 0, 0))
	copy(b[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536 x 65536
	header := b[12:29]
	copy(b[29:], checksum(header))
	put(t, b, dir, "cat", "huge.png")
	_, err := own.ReadImages(dir)
	wants(t, "4 gigapixels", err, "cat/huge.png: 65536 x 65536 pixels, at most 67108864")
}

// testdata/make.py made the files with Pillow.
func TestScalingAndGreyAreThoseOfPillow(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "picture.png"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []int{8, 20, 33} {
		want, _, err := npy.ReadRecords(filepath.Join("testdata", fmt.Sprintf("scaled%d.npy", side)))
		if err != nil {
			t.Fatal(err)
		}
		got := own.ScaledPixels(m, 3, side)
		for y := range side {
			row := want.Read(make([]float64, 3*side), y)
			for x := range side {
				for ch := range 3 {
					d := row[3*x+ch] - float64(got[(ch*side+y)*side+x])
					if limit := map[bool]float64{true: 0, false: 1}[side == 20]; d > limit || d < -limit { // Pillow rounds between both directions
						t.Fatalf("side %d: pixel %d, %d of channel %d: %d, Pillow has %v", side, x, y, ch, got[(ch*side+y)*side+x], row[3*x+ch])
					}
				}
			}
		}
	}
	want, err := npy.ReadMatrix(filepath.Join("testdata", "grey.npy"))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range own.Pixels(m, 1) {
		if float64(v) != want.Data[k] {
			t.Fatalf("grey pixel %d is %d, Pillow has %v", k, v, want.Data[k])
		}
	}
}
