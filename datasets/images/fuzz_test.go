package images

import (
	"bytes"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
)

// FuzzTinyImageNet reads any bytes as the archive of three classes: a text or an
// error comes back, and memory is bounded by the limits.
func FuzzTinyImageNet(f *testing.F) {
	f.Add(zipped(f, tinyFiles(f)...))
	f.Add(zipped(f, tinyFiles(f)[:5]...))
	f.Add(zipped(f, entry{name: "../../wnids.txt", b: []byte("x")}))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, b []byte) {
		z, err := readZip(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		o := &tinyArchive{zip: z, shape: [3]int{3, 64, 64}}
		classes, err := o.classes(3)
		if err != nil {
			return
		}
		if len(classes) != 3 || len(o.class) != 3 {
			t.Errorf("classes %q", classes)
		}
		if o.annotations(4) != nil {
			return
		}
		for k, y := range o.testClasses {
			if y < 0 || y > 2 {
				t.Errorf("validation image %d is of class %d", k, y)
			}
		}
		_ = o.image("tiny-imagenet-200/val/images/val_0.JPEG", make([]byte, 3*64*64)) // may fail, may not panic
	})
}

func FuzzJPEG(f *testing.F) {
	f.Add(plainJPEG(f, 4, 4, paint(1)))
	f.Add(jpegOf(f, corners(4)))
	f.Add([]byte{0xFF, 0xD8, 0xFF, 0xD9})
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = decodeJPEG(make([]byte, 48), b, [3]int{3, 4, 4}) // may fail, may not panic
	})
}

func FuzzTarball(f *testing.F) {
	f.Add(tarGz(f, entry{name: "a", b: []byte("abc")}, entry{name: "b", b: []byte("bcd")}))
	f.Add(tarGz(f, entry{name: "a", kind: '2'}))
	f.Add([]byte{0x1F, 0x8B})
	f.Fuzz(func(t *testing.T, b []byte) {
		files, err := datasets.ReadTarball(t.Context(), bytes.NewReader(b), func(name string) (int64, bool) { return -100, name == "a" })
		if err != nil {
			return
		}
		for name, b := range files {
			if name != "a" || len(b) > 100 {
				t.Errorf("%q with %d bytes", name, len(b))
			}
		}
	})
}

func FuzzCIFARBatch(f *testing.F) {
	f.Add(cifarRecord(0, 1, 2), 2)
	f.Add(cifarRecord(0, 1), 1)
	f.Add([]byte{1}, 1)
	f.Fuzz(func(t *testing.T, b []byte, labels int) {
		info := cifar100().info
		p, err := cifarBatch{labels: 1 + labels&1}.part("batch", info, b)
		if err != nil {
			return
		}
		if p.rows*(info.Features+1+labels&1) != len(b) {
			t.Errorf("%d records in %d bytes", p.rows, len(b))
		}
		if _, _, err := p.read(p.rows-1, make([]byte, info.Features)); err != nil {
			t.Error(err)
		}
	})
}
