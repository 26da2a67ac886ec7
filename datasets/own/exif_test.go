package own_test

// The orientation of images: what EXIF says, and files in which it says nothing that makes sense.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/own"
)

// tiff is EXIF data with three tags, of which the second is the orientation.
func tiff(order binary.AppendByteOrder, kind uint16, count, value uint32) []byte {
	b := []byte("MM\x00*")
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		b = []byte("II*\x00")
	}
	b = append(order.AppendUint32(b, 10), 0, 0) // the directory stands after a gap
	b = order.AppendUint16(b, 3)
	for _, tag := range []uint16{0x10f, 0x112, 0x132} {
		b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, tag), kind), count)
		if kind == 3 {
			b = append(order.AppendUint16(b, uint16(value)), 0, 0)
		} else {
			b = order.AppendUint32(b, value)
		}
	}
	return append(b, 0, 0, 0, 0)
}

// oriented is EXIF data with an orientation.
func oriented(o int) []byte { return tiff(binary.BigEndian, 3, 1, uint32(o)) }

func segment(marker byte, data string) string {
	return string([]byte{0xff, marker}) + string(binary.BigEndian.AppendUint16(nil, uint16(len(data)+2))) + data
}

// inJPEG puts segments behind the first mark of a JPEG file.
func inJPEG(file []byte, segments ...string) []byte {
	return slices.Concat(file[:2], []byte(strings.Join(segments, "")), file[2:])
}

func exifSegment(exif []byte) string { return segment(0xe1, "Exif\x00\x00"+string(exif)) }

// inPNG puts a chunk eXIf before the pixels of a PNG file, or behind them.
func inPNG(file, exif []byte, behind bool) []byte {
	body := append([]byte("eXIf"), exif...)
	chunk := slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(exif))), body, checksum(body))
	at := 33 // behind the header
	if behind {
		at = len(file) - 12
	}
	return slices.Concat(file[:at], chunk, file[at:])
}

// turnedBy is what Pillow's ImageOps.exif_transpose makes of the rows 0 1 2 and 3 4 5.
var turnedBy = map[int][][]uint8{
	1: {{0, 1, 2}, {3, 4, 5}}, 2: {{2, 1, 0}, {5, 4, 3}}, 3: {{5, 4, 3}, {2, 1, 0}}, 4: {{3, 4, 5}, {0, 1, 2}},
	5: {{0, 3}, {1, 4}, {2, 5}}, 6: {{3, 0}, {4, 1}, {5, 2}}, 7: {{5, 2}, {4, 1}, {3, 0}}, 8: {{2, 5}, {1, 4}, {0, 3}},
}

// blocks is an image of 3 x 2 squares of 8 pixels a side, which JPEG keeps.
func blocks(i int) image.Image {
	m := image.NewGray(image.Rect(0, 0, 24, 16))
	for y := range 16 {
		for x := range 24 {
			m.SetGray(x, y, color.Gray{Y: uint8(40*(3*(y/8)+x/8) + i)})
		}
	}
	return m
}

// pixel returns a value of an image as it was before it was normalised, 0 to 1.
func pixel(p *datasets.Prepared, x []float32, ch, row, column int) float64 {
	s := p.About.Shape
	return float64(x[(ch*s[1]+row)*s[2]+column])*p.Norm.SD[ch] + p.Norm.Mean[ch]
}

func TestImagesAreTurnedAsEXIFSays(t *testing.T) {
	keys := map[string]bool{}
	for o, want := range turnedBy {
		dir := t.TempDir()
		for i := range 12 {
			class := []string{"cat", "dog"}[i%2]
			put(t, inJPEG(encoded(t, ".jpg", blocks(i)), exifSegment(oriented(o))), dir, class, fmt.Sprintf("%d.jpg", i))
			put(t, inPNG(encoded(t, ".png", blocks(i)), oriented(o), i%3 == 0), dir, class, fmt.Sprintf("%d.png", i))
		}
		m, p := images(t, dir)
		if p.About.Shape != [3]int{1, 8 * len(want), 8 * len(want[0])} {
			t.Errorf("orientation %d: shape %v", o, p.About.Shape)
			continue
		}
		for r := range p.Train.X.Rows {
			i := 0
			if _, err := fmt.Sscanf(strings.Split(file(p, p.Train.IDs[r]), "/")[1], "%d.", &i); err != nil {
				t.Fatal(err)
			}
			for y := range p.About.Shape[1] {
				for x := range p.About.Shape[2] {
					got := 255 * pixel(p, p.Train.X.Row(r), 0, y, x)
					if exact := float64(40*int(want[y/8][x/8]) + i); got < exact-3 || got > exact+3 {
						t.Fatalf("orientation %d: pixel %d, %d of %s is %v, want %v", o, x, y, file(p, p.Train.IDs[r]), got, exact)
					}
				}
			}
		}
		if note := "24 images were turned as their EXIF orientation says."; strings.Contains(m.String(), note) != (o > 1) {
			t.Errorf("orientation %d:\n%s", o, m)
		}
		keys[m.Key()] = true
	}
	if len(keys) != 8 {
		t.Errorf("%d keys", len(keys))
	}
}

// Portraits of a phone, of which some lie on their side in the file, have one size and one content.
func TestPortraitsOfAPhone(t *testing.T) {
	dir := t.TempDir()
	for i := range 12 {
		for k, class := range []string{"cat", "dog"} {
			standing, lying := image.NewGray(image.Rect(0, 0, 4, 6)), image.NewGray(image.Rect(0, 0, 6, 4))
			for y := range 6 {
				for x := range 4 {
					v := color.Gray{Y: uint8(100*k + 7*i + 3*y + x)}
					standing.SetGray(x, y, v)
					lying.SetGray(y, 3-x, v)
				}
			}
			put(t, encoded(t, ".png", standing), dir, class, fmt.Sprintf("%02d.png", i))
			put(t, inPNG(encoded(t, ".png", lying), oriented(6), false), dir, class, fmt.Sprintf("%02d turned.png", i))
		}
	}
	for _, options := range [][]own.ImageOption{nil, {own.Size(3)}} {
		m, p := images(t, dir, options...)
		if len(options) == 0 && p.About.Shape != [3]int{1, 6, 4} || !strings.Contains(m.String(), "24 images were turned") {
			t.Errorf("%v\n%s", p.About.Shape, m)
		}
		equalPairs(t, p, func(name string) string { return strings.Replace(name, " turned", "", 1) })
	}
}

// What EXIF does not say, or says in a way that is not understood, leaves an image as it is.
func TestOrientationsThatAreRead(t *testing.T) {
	jpg, png := encoded(t, ".jpg", blocks(0)), encoded(t, ".png", blocks(0))
	short, long := func(v uint32) []byte { return tiff(binary.LittleEndian, 3, 1, v) }, func(v uint32) []byte { return tiff(binary.BigEndian, 4, 1, v) }
	at := func(offset uint32) []byte { return binary.BigEndian.AppendUint32([]byte("MM\x00*"), offset) }
	many := slices.Concat(at(8), []byte("\xff\xff"), bytes.Repeat([]byte("\x01\x00\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00"), 3))
	for name, c := range map[string]struct {
		file []byte
		want int
	}{
		"none":                      {jpg, 1},
		"none in PNG":               {png, 1},
		"little-endian":             {inJPEG(jpg, exifSegment(short(6))), 6},
		"four bytes":                {inJPEG(jpg, exifSegment(long(8))), 8},
		"behind other segments":     {inJPEG(jpg, segment(0xe0, "JFIF\x00"), segment(0xe1, "http://ns.adobe.com/xap/1.0/\x00<x/>"), segment(0xe2, ""), exifSegment(short(3))), 3},
		"the first of two":          {inJPEG(jpg, exifSegment(short(5)), exifSegment(short(3))), 5},
		"filled":                    {inJPEG(jpg, "\xff\xff\xff", exifSegment(short(7))), 7},
		"stray bytes":               {inJPEG(jpg, "abc\xff\x00\xff\xd3", exifSegment(short(7))), 7},
		"behind the pixels":         {append(slices.Clone(jpg), exifSegment(short(7))...), 1},
		"behind the end":            {append([]byte("\xff\xd8\xff\xd9"), exifSegment(short(7))...), 1},
		"a segment without length":  {inJPEG(jpg, "\xff\xe1\x00\x01", exifSegment(short(7))), 1},
		"behind the pixels of PNG":  {inPNG(png, short(4), true), 4},
		"with the start of JPEG's":  {inPNG(png, append([]byte("Exif\x00\x00"), short(4)...), false), 4},
		"no number":                 {inPNG(png, short(0), false), 1},
		"a number too great":        {inPNG(png, short(9), false), 1},
		"a great number":            {inPNG(png, long(6<<16), false), 1},
		"a text":                    {inPNG(png, tiff(binary.BigEndian, 2, 1, 6<<24), false), 1},
		"two numbers":               {inPNG(png, tiff(binary.BigEndian, 3, 2, 6), false), 1},
		"another order":             {inPNG(png, append([]byte("XX"), short(6)[2:]...), false), 1},
		"an offset behind the end":  {inPNG(png, at(9), false), 1},
		"an offset far behind":      {inPNG(png, at(0xffffffff), false), 1},
		"an offset to the end":      {inPNG(png, at(8), false), 1},
		"an offset to the start":    {inPNG(png, at(0), false), 1},
		"half a number of entries":  {inPNG(png, append(at(8), 0), false), 1},
		"more entries than there":   {inPNG(png, many, false), 1},
		"half an entry":             {inPNG(png, oriented(6)[:10+2+12+11], false), 1},
		"an entry and nothing more": {inPNG(png, oriented(6)[:10+2+12+12], false), 6},
		"an empty chunk":            {inPNG(png, nil, false), 1},
		"a chunk without an end":    {append(slices.Clone(png[:33]), "\xff\xff\xff\xffabcd"...), 1},
		"a chunk longer than there": {slices.Concat(png[:33], []byte("\xff\xff\xff\xffeXIf"), short(6)), 6},
		"nothing":                   {nil, 1},
		"a beginning":               {[]byte("\xff"), 1},
	} {
		if got := own.Orientation(bytes.NewReader(c.file)); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// Files that end early, and files with wrong bytes, have an orientation.
func TestDamagedFilesHaveAnOrientation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, file := range exifFiles(t) {
		for n := range file {
			checkOrientation(t, file[:n])
		}
		file = file[:min(len(file), 120)]
		for range 20000 {
			b := slices.Clone(file)
			for range 1 + rng.IntN(4) {
				b[rng.IntN(len(b))] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(rng.Uint32())}[rng.IntN(6)]
			}
			checkOrientation(t, b)
		}
	}
}

func FuzzOrientation(f *testing.F) {
	for _, file := range exifFiles(f) {
		f.Add(file)
	}
	f.Fuzz(checkOrientation)
}

func exifFiles(t testing.TB) (out [][]byte) {
	jpg, png := encoded(t, ".jpg", blocks(0)), encoded(t, ".png", blocks(0))
	for _, exif := range [][]byte{oriented(6), tiff(binary.LittleEndian, 3, 1, 6), tiff(binary.LittleEndian, 4, 1, 6)} {
		out = append(out, inJPEG(jpg, exifSegment(exif)), inPNG(png, exif, false), inPNG(png, exif, true))
	}
	return out
}

func checkOrientation(t *testing.T, file []byte) {
	if o := own.Orientation(bytes.NewReader(file)); o < 1 || o > 8 {
		t.Fatalf("%q: %d", file, o)
	}
}
