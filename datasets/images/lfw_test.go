package images

// Tests of the loader of LFW, on small folders in the published format.

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
)

// lfwFiles are the files of a small LFW, by their path in the folder lfw: two people with ten
// images and one with two.
func lfwFiles(t testing.TB) map[string][]byte {
	t.Helper()
	out := map[string][]byte{"male_names.txt": nil, "female_names.txt": nil}
	for k, p := range []struct {
		name, list string
		images     int
	}{{"Bea_Two", "female_names.txt", 10}, {"Carl_Three", "male_names.txt", 2}, {"Abe_One", "male_names.txt", 11}} {
		for i := range p.images {
			file := fmt.Sprintf("%s_%04d.jpg", p.name, i+1)
			out[p.name+"/"+file] = plainJPEG(t, 250, 250, color.RGBA{uint8(60 * k), uint8(20 * i), 128, 255})
			out[p.list] = append(out[p.list], file+"\r\n"...)
		}
	}
	return out
}

// smallLFW writes the files into the data folder of the test and returns the set for so many
// people and images.
func smallLFW(t testing.TB, files map[string][]byte, people, rows int) (set, *loader) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv(datasets.EnvDir, dir)
	for name, b := range files {
		path := filepath.Join(dir, "lfw", filepath.FromSlash(name))
		check(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check(t, os.WriteFile(path, b, 0o644))
	}
	s := lfw()
	s.info.Rows = rows
	s.open = func(r *loader) (*content, error) { return openLFW(r, people) }
	return s, &loader{ctx: t.Context(), info: s.info}
}

func TestLFWIsReadInThePublishedFormat(t *testing.T) {
	s, r := smallLFW(t, lfwFiles(t), 2, 21)
	m, err := s.load(r, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	who := m.Columns[0]
	if who.Name != IdentityColumn || !slices.Equal(who.Values, []string{"Abe_One", "Bea_Two"}) || len(who.Codes) != 21 {
		t.Fatalf("%+v", who)
	}
	for row := range 21 {
		person, number := who.Values[who.Codes[row]], row
		if row >= 11 {
			number -= 11
		}
		wantY, wantRed := 0, 120
		if person == "Bea_Two" {
			wantY, wantRed = 1, 0
		}
		red, green := 255*m.Train.X.Row(row)[0], 255*m.Train.X.Row(row)[64*64+17]
		if m.Train.Y[row] != wantY || int(red+.5)-wantRed > 3 || wantRed-int(red+.5) > 3 || int(green+.5)-20*number > 3 || 20*number-int(green+.5) > 3 {
			t.Errorf("row %d: %s %d, class %d, red %v, green %v", row, person, number, m.Train.Y[row], red, green)
		}
	}
	if m.Caveat == "" || m.Shape != [3]int{3, 64, 64} || len(m.Sources) != 2 {
		t.Errorf("%+v", m.About)
	}
}

// The white square that is cut out fills the scaled image; a border outside is not seen.
func TestLFWIsCutAsItIsDescribed(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 250, 250))
	for y := range 250 {
		for x := range 250 {
			c := color.RGBA{255, 0, 0, 255}
			if y >= 70 && y < 195 && x >= 63 && x < 188 {
				c = color.RGBA{255, 255, 255, 255}
			}
			img.Set(x, y, c)
		}
	}
	path := filepath.Join(t.TempDir(), "x.jpg")
	check(t, os.WriteFile(path, jpegOf(t, img), 0o644))
	pixels := make([]byte, 3*64*64)
	check(t, readLFW(path, pixels))
	inside := pixels[64*64+64*2+2 : 64*64+64*2+62] // a line of green inside
	if slices.Min(inside) < 250 || slices.Min(pixels[64*64:]) < 90 {
		t.Errorf("green is %d inside and %d anywhere", slices.Min(inside), slices.Min(pixels[64*64:]))
	}
}

// The folder of another version may lie in the folder.
func TestLFWMayBeInTheFolderOfItsArchive(t *testing.T) {
	files := map[string][]byte{}
	for name, b := range lfwFiles(t) {
		if !strings.HasSuffix(name, ".txt") {
			name = "lfw-deepfunneled/" + name
		}
		files[name] = b
	}
	s, r := smallLFW(t, files, 2, 21)
	if _, err := s.load(r, nil, nil); err != nil {
		t.Error(err)
	}
	files["lfw_funneled/Abe_One/Abe_One_0001.jpg"] = files["lfw-deepfunneled/Abe_One/Abe_One_0001.jpg"]
	s, r = smallLFW(t, files, 2, 21)
	if _, err := s.load(r, nil, nil); err == nil || !strings.Contains(err.Error(), "two versions of the images") {
		t.Errorf("%v", err)
	}
}

func TestBrokenLFWFilesAreNamed(t *testing.T) {
	good := lfwFiles(t)
	small := plainJPEG(t, 240, 250, color.Gray{9})
	for want, files := range map[string]map[string][]byte{
		"Bea_Two_0003.jpg: 240 x 250 pixels, expected 250 x 250": with(good, "Bea_Two/Bea_Two_0003.jpg", small),
		"Abe_One_0011.jpg: ":                                      with(good, "Abe_One/Abe_One_0011.jpg", good["Abe_One/Abe_One_0011.jpg"][:300]),
		"Abe_One_0001.jpg: invalid JPEG format":                   with(good, "Abe_One/Abe_One_0001.jpg", []byte("no image")),
		"Abe_One/me.png: expected images Abe_One_0001.jpg":        with(good, "Abe_One/me.png", small),
		"Abe_One/Bea_Two_0011.jpg: expected images Abe_One_":      with(good, "Abe_One/Bea_Two_0011.jpg", small),
		"male_names.txt:2: there is no folder of \"Dora_Four\"":   with(good, "male_names.txt", []byte("Abe_One_0001.jpg\nDora_Four_0001.jpg\nCarl_Three\n")),
		"female_names.txt:2: Abe_One is in":                       with(good, "female_names.txt", []byte("Bea_Two_0001.jpg\nAbe_One_0002.jpg")),
		"Abe_One is neither in male_names.txt nor in female_name": with(good, "male_names.txt", []byte("Carl_Three\n")),
		"male_names.txt:3: \"name,gender\" is not the name of":    with(good, "male_names.txt", []byte("\nAbe_One\nname,gender\n")),
		"male_names.txt:1: \"../Abe_One_0001.jpg\" is not the":    with(good, "male_names.txt", []byte("../Abe_One_0001.jpg")),
		"3 people have at least 10 images, expected 2":            withPerson(good, "Zoe_Five", small),
		"male_names.txt:1: ":                                      with(good, "male_names.txt", []byte{0xFF, 0xFE, 'A', 0}),
	} {
		s, r := smallLFW(t, files, 2, 21)
		if _, err := s.load(r, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %q", err, want)
		}
	}
	s, r := smallLFW(t, map[string][]byte{"male_names.txt": nil, "female_names.txt": nil}, 2, 21)
	if _, err := s.load(r, nil, nil); !errors.Is(err, datasets.ErrMissing) || !strings.Contains(err.Error(), "there is no folder of a person") {
		t.Errorf("%v", err)
	}
}

// withPerson adds a person with ten images.
func withPerson(files map[string][]byte, name string, image []byte) map[string][]byte {
	for i := range 10 {
		files = with(files, fmt.Sprintf("%s/%s_%04d.jpg", name, name, i+1), image)
	}
	return files
}

func FuzzLFWNames(f *testing.F) {
	f.Add([]byte("Abe_One_0001.jpg\nBea_Two\n"))
	f.Add([]byte("\xEF\xBB\xBFAbe_One_0001.jpg"))
	f.Add([]byte("a/b\n_0001.jpg"))
	f.Fuzz(func(t *testing.T, b []byte) {
		last := 0
		err := readNames(b, func(name string, line int) error {
			if line <= last || strings.ContainsAny(name, "/\\\n,") {
				t.Errorf("line %d: %q", line, name)
			}
			last = line
			return nil
		})
		if err != nil && !strings.Contains(err.Error(), ":") {
			t.Errorf("%v names no line", err)
		}
	})
}
