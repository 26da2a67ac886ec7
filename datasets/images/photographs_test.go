package images

import (
	"archive/tar"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checkColour compares the colour of a whole image, which JPEG keeps to a few levels.
func checkColour(t *testing.T, what string, row []float32, want color.RGBA) {
	t.Helper()
	plane := len(row) / 3
	for k, v := range row {
		c := []uint8{want.R, want.G, want.B}[k/plane]
		if math.Abs(float64(v)*255-float64(c)) > 3 {
			t.Fatalf("%s: channel %d, pixel %d is %.1f, want %d", what, k/plane, k%plane, float64(v)*255, c)
		}
	}
}

// paint is a colour for every image of the made archives.
func paint(k int) color.RGBA { return color.RGBA{byte(40 + 37*k), byte(250 - 29*k), byte(11 * k), 255} }

// jpegFolders is an archive like cifar10_jpeg's with one training and one test
// image per class.
func jpegFolders(t testing.TB) []entry {
	var out []entry
	for k, class := range cifar10Classes() {
		out = append(out, entry{name: "train/" + class + "/", kind: tar.TypeDir},
			entry{name: "train/" + class + "/0000.jpg", b: plainJPEG(t, 32, 32, paint(k%6))},
			entry{name: "test/" + class + "/0000.jpg", b: plainJPEG(t, 32, 32, paint(5-k%6))})
	}
	return out
}

const jpegArchive = "cifar10_jpegq_all60000.tar.gz"

func TestTheLossyCIFAR10IsSortedByClassAndSaysThatItIsLossy(t *testing.T) {
	m := mustLoad(t, cifar10JPEG(), 20, 10, map[string][]byte{jpegArchive: tarGz(t, jpegFolders(t)...)})
	for k := range 10 {
		if m.Train.Y[k] != k || m.Test.Y[k] != k {
			t.Errorf("row %d is of the classes %d and %d", k, m.Train.Y[k], m.Test.Y[k])
		}
		checkColour(t, fmt.Sprint("training row ", k), m.Train.X.Row(k), paint(k%6))
		checkColour(t, fmt.Sprint("test row ", k), m.Test.X.Row(k), paint(5-k%6))
	}
	if !strings.Contains(m.Caveat, "lossy") || !strings.Contains(strings.Join(cifar10JPEG().info.Reading, " "), "Lossy") {
		t.Errorf("caveat %q", m.Caveat)
	}
}

func TestBrokenPhotographsAreNamed(t *testing.T) {
	files := jpegFolders(t)
	at := slices.IndexFunc(files, func(e entry) bool { return e.name == "test/cat/0000.jpg" })
	for want, b := range map[string][]byte{
		"test/cat/0000.jpg: 31 x 32 pixels, expected 32 x 32": plainJPEG(t, 31, 32, paint(0)),
		"test/cat/0000.jpg: invalid JPEG format":              []byte("a photograph"),
		"test/cat/0000.jpg: unexpected EOF":                   files[at].b[:len(files[at].b)/2],
		`"test/cat/0000.jpg" has 1048577 bytes, the limit is`: make([]byte, maxJPEG+1),
	} {
		broken := slices.Clone(files)
		broken[at].b = b
		refuses(t, want, cifar10JPEG(), 20, 10, map[string][]byte{jpegArchive: tarGz(t, broken...)})
	}
	refuses(t, `no entry "test/cat/0000.jpg"`, cifar10JPEG(), 20, 10,
		map[string][]byte{jpegArchive: tarGz(t, slices.Delete(slices.Clone(files), at, at+1)...)})
}

func TestGreyPhotographsHaveThreeEqualChannels(t *testing.T) {
	grey := image.NewGray(image.Rect(0, 0, 4, 4))
	for k := range grey.Pix {
		grey.Pix[k] = byte(10 * k)
	}
	pixels := make([]byte, 48)
	if err := decodeJPEG(pixels, jpegOf(t, grey), [3]int{3, 4, 4}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pixels[:16], pixels[16:32]) || !bytes.Equal(pixels[:16], pixels[32:]) || pixels[15] < pixels[0]+100 {
		t.Errorf("pixels %v", pixels)
	}
	if err := decodeJPEG(pixels[:16], jpegOf(t, grey), [3]int{1, 4, 4}); err == nil {
		t.Error("one channel was read")
	}
}

// corners has a colour in each quarter, which shows the orientation of an image.
func corners(side int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			img.Set(x, y, []color.RGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 255, 255}}[y*2/side*2+x*2/side])
		}
	}
	return img
}

func TestPhotographsLieAsTheyWereTaken(t *testing.T) {
	pixels := make([]byte, 3*64*64)
	if err := decodeJPEG(pixels, jpegOf(t, corners(64)), [3]int{3, 64, 64}); err != nil {
		t.Fatal(err)
	}
	for corner, want := range [][3]bool{{true, false, false}, {false, true, false}, {false, false, true}, {true, true, true}} {
		y, x := 8+48*(corner/2), 8+48*(corner%2)
		for ch := range 3 {
			if got := pixels[(ch*64+y)*64+x]; (got > 128) != want[ch] {
				t.Errorf("line %d, column %d, channel %d is %d", y, x, ch, got)
			}
		}
	}
}

const tinyZip = "tiny-imagenet-200.zip"

// tinyFiles is an archive of three classes with two training images each and
// four validation images.
func tinyFiles(t testing.TB) []entry {
	out := []entry{
		{name: "tiny-imagenet-200/", b: nil},
		{name: "tiny-imagenet-200/wnids.txt", b: []byte("n02124075\nn01443537\nn04067472\n")},
		{name: "tiny-imagenet-200/words.txt", b: []byte("n00001740\tentity\nn01443537\tgoldfish, Carassius auratus\nn02124075\tEgyptian cat\n")},
		{name: "tiny-imagenet-200/val/val_annotations.txt", b: []byte("val_2.JPEG\tn01443537\t0\t0\t9\t9\nval_0.JPEG\tn04067472\t0\t32\t44\t62\nval_1.JPEG\tn02124075\t1\t2\t3\t4\nval_3.JPEG\tn01443537\t5\t6\t7\t8\n")},
		{name: "tiny-imagenet-200/test/images/test_0.JPEG", b: []byte("never read")},
	}
	for c, id := range []string{"n04067472", "n01443537", "n02124075"} {
		for k := range 2 {
			out = append(out, entry{name: fmt.Sprintf("tiny-imagenet-200/train/%s/images/%s_%d.JPEG", id, id, k), b: plainJPEG(t, 64, 64, paint(2*c+k))})
		}
	}
	for k := range 4 {
		out = append(out, entry{name: fmt.Sprintf("tiny-imagenet-200/val/images/val_%d.JPEG", k), b: plainJPEG(t, 64, 64, paint(k))})
	}
	return out
}

func threeClasses() set {
	s := tinyImageNet()
	s.info.NumClasses = 3
	return s
}

func TestTinyImageNetIsReadInThePublishedFormat(t *testing.T) {
	m := mustLoad(t, threeClasses(), 10, 4, map[string][]byte{tinyZip: zipped(t, tinyFiles(t)...)})
	if !slices.Equal(m.Classes, []string{"n01443537 goldfish", "n02124075 Egyptian cat", "n04067472"}) {
		t.Errorf("classes %q", m.Classes)
	}
	if !slices.Equal(m.Train.Y, []int{0, 0, 1, 1, 2, 2}) || !slices.Equal(m.Test.Y, []int{2, 1, 0, 0}) {
		t.Errorf("labels %v and %v", m.Train.Y, m.Test.Y)
	}
	for row, k := range []int{2, 3, 4, 5, 0, 1} { // sorted by WordNet number, not as in the archive
		checkColour(t, fmt.Sprint("training row ", row), m.Train.X.Row(row), paint(k))
	}
	for row := range 4 {
		checkColour(t, fmt.Sprint("validation row ", row), m.Test.X.Row(row), paint(row))
	}
}

func TestBrokenTinyImageNetArchivesAreNamed(t *testing.T) {
	const notes, ids = "tiny-imagenet-200/val/val_annotations.txt", "tiny-imagenet-200/wnids.txt"
	lines := "val_0.JPEG\tn01443537\nval_1.JPEG\tn01443537\nval_2.JPEG\tn01443537\n"
	for want, e := range map[string]entry{
		"wnids.txt: 2 classes, expected 3":                         {name: ids, b: []byte("n01443537 n02124075")},
		`wnids.txt: "../01443537" is not a WordNet number`:         {name: ids, b: []byte("n04067472 n02124075 ../01443537")},
		"wnids.txt: n02124075 occurs twice":                        {name: ids, b: []byte("n04067472 n02124075 n02124075")},
		"val_annotations.txt:1: 1 fields":                          {name: notes, b: []byte("val_0.JPEG n01443537")},
		"val_annotations.txt: no line for val_3.JPEG":              {name: notes, b: []byte(lines)},
		"val_annotations.txt:4: val_1.JPEG occurs twice":           {name: notes, b: []byte(lines + "val_1.JPEG\tn01443537\n")},
		`val_annotations.txt:4: "val_4.JPEG" is none of`:           {name: notes, b: []byte(lines + "val_4.JPEG\tn01443537\n")},
		`val_annotations.txt:4: "val_03.JPEG" is none of`:          {name: notes, b: []byte(lines + "val_03.JPEG\tn01443537\n")},
		`val_annotations.txt:4: the class "n00000000" is not in`:   {name: notes, b: []byte(lines + "val_3.JPEG\tn00000000\n")},
		"images/val_1.JPEG: 64 x 63 pixels, expected 64 x 64":      {name: "tiny-imagenet-200/val/images/val_1.JPEG", b: plainJPEG(t, 64, 63, paint(0))},
		`/images/val_1.JPEG" has 1048577 bytes, the limit is 1048`: {name: "tiny-imagenet-200/val/images/val_1.JPEG", b: make([]byte, maxJPEG+1)},
	} {
		files := tinyFiles(t)
		for k := range files {
			if files[k].name == e.name {
				files[k].b = e.b
			}
		}
		refuses(t, want, threeClasses(), 10, 4, map[string][]byte{tinyZip: zipped(t, files...)})
	}
	files := tinyFiles(t)
	refuses(t, "not a valid zip file", threeClasses(), 10, 4, map[string][]byte{tinyZip: []byte("no archive")})
	refuses(t, `no entry "tiny-imagenet-200/wnids.txt"`, threeClasses(), 10, 4, map[string][]byte{tinyZip: zipped(t, files[0])})
	refuses(t, `occurs twice`, threeClasses(), 10, 4, map[string][]byte{tinyZip: zipped(t, append(files, files[5])...)})
	refuses(t, `n04067472_1.JPEG"`, threeClasses(), 10, 4, map[string][]byte{tinyZip: zipped(t, slices.Delete(files, 6, 7)...)})
}

// The command that makes the first 4,000 images from the publisher's archive takes the first records of the first batch,
// as many bytes as the file has.
func TestTheFirstImagesOfCIFAR10AreMadeFromItsArchive(t *testing.T) {
	for _, program := range []string{"sh", "tar", "head"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	info, archive := cifar10First4000().info, cifar10().info.Files[0].Name
	file := info.Files[0]
	if want := int64(info.Rows * (1 + info.Features)); file.Size != want {
		t.Errorf("the file has %d bytes, and %d records %d", file.Size, info.Rows, want)
	}
	if reading := strings.Join(info.Reading, " "); !strings.Contains(reading, file.Make) || !strings.Contains(reading, "lethe data get cifar10") {
		t.Errorf("reading: %s", reading)
	}
	batch, dir := make([]byte, 10000*(1+info.Features)), t.TempDir()
	for i := range batch {
		batch[i] = byte(i >> 12)
	}
	packed := tarGz(t, entry{name: "cifar-10-batches-bin/batches.meta.txt", b: []byte("cat")}, entry{name: "cifar-10-batches-bin/data_batch_1.bin", b: batch})
	if err := os.WriteFile(filepath.Join(dir, archive), packed, 0o644); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("sh", "-c", file.Make)
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := os.ReadFile(filepath.Join(dir, file.Name))
	if err != nil || !bytes.Equal(got, batch[:file.Size]) {
		t.Errorf("%d bytes, or others than the first of the batch: %v", len(got), err)
	}
}
