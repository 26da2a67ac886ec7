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
