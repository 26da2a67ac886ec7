package command

// Folders of images that lethe try does not take as they are.

import (
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Oblong images are refused with their width first, and with the flag that makes them square.
func TestTryNamesTheFlagThatMakesImagesSquare(t *testing.T) {
	t.Setenv("LETHE_STORE", t.TempDir())
	dir := t.TempDir()
	for class, shade := range []uint8{40, 200} {
		for i := range 20 {
			m := image.NewGray(image.Rect(0, 0, 8, 12))
			for k := range m.Pix {
				m.Pix[k] = shade + uint8(i*k%50)
			}
			path := filepath.Join(dir, fmt.Sprint("class", class), fmt.Sprintf("%d.png", i))
			check(t, os.MkdirAll(filepath.Dir(path), 0o755))
			f, err := os.Create(path)
			check(t, err)
			check(t, png.Encode(f, m))
			check(t, f.Close())
		}
	}
	r := lethe(t, "try", "--images", dir, "--seeds", "1", "--out", filepath.Join(t.TempDir(), "r"))
	if want := "these have 8 x 12 pixels; --size 8 cuts and scales"; r.Code == 0 || !strings.Contains(r.Stderr, want) {
		t.Errorf("%d, want %q\n%s", r.Code, want, r.Stderr)
	}
}

// A folder with a test part of its own: what is held out there is not forgotten, and the report does not say that it is.
func TestTrySaysWhichImagesOfTheTestPartAreNotForgotten(t *testing.T) {
	t.Setenv("LETHE_STORE", t.TempDir())
	dir := t.TempDir()
	for part, images := range map[string]int{"train": 20, "test": 10} {
		for class, shade := range map[string]uint8{"cats": 40, "dogs": 200} {
			for i := range images {
				m := image.NewGray(image.Rect(0, 0, 8, 8))
				for k := range m.Pix {
					m.Pix[k] = shade + uint8(i*k%50)
				}
				path := filepath.Join(dir, part, class, fmt.Sprintf("%d.png", i))
				check(t, os.MkdirAll(filepath.Dir(path), 0o755))
				f, err := os.Create(path)
				check(t, err)
				check(t, png.Encode(f, m))
				check(t, f.Close())
			}
		}
	}
	out := filepath.Join(t.TempDir(), "r")
	args := []string{"try", "--images", dir, "--seeds", "1", "--epochs", "1", "--methods", "fine-tuning", "--out", out, "--forget"}
	wantWords(t, lethe(t, append(args, "file in train/cats/3.png,train/cats/4.png,test/dogs/5.png")...),
		"What is left of 2 of the 3 records with file in train/cats/3.png,train/cats/4.png,test/dogs/5.png (1 is in the test part)",
		"records of the condition are in it, 1 in number. They are held out")
	md, err := os.ReadFile(filepath.Join(out, "report.md"))
	check(t, err)
	if strings.Contains(string(md), "All records of the condition are in the training data") {
		t.Errorf("the report says that all are forgotten:\n%s", md)
	}
}
