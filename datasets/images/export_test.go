package images

import (
	"fmt"
	"image/color"
	"slices"
	"strings"
	"testing"
)

// Made files have so many images of three classes.
const (
	MadeTrain = 60
	MadeTest  = 18
)

// Stand puts made files in the place of those of CIFAR-100 or of Tiny-ImageNet for the
// length of a test.
func Stand(t *testing.T, name string) {
	t.Helper()
	files := map[string]map[string][]byte{
		"cifar100":      {"cifar-100-binary.tar.gz": madeHundred(t)},
		"tiny_imagenet": {tinyZip: madeTiny(t)},
	}
	all := publishedSets()
	k := slices.IndexFunc(all, func(s set) bool { return s.info.Name == name })
	if name == "tiny_imagenet" {
		all[k].info.NumClasses = 3
	}
	all[k], _ = small(t, all[k], MadeTrain+MadeTest, MadeTest, files[name])
	sets = func() []set { return all }
	t.Cleanup(func() { sets = publishedSets })
}

// madeHundred is an archive in CIFAR-100's format, whose classes come in turn.
func madeHundred(t *testing.T) []byte {
	part := func(n, from int) (b []byte) {
		for i := range n {
			b = append(b, cifarRecord(from+i, 7, byte(i%3))...)
		}
		return b
	}
	return tarGz(t, entry{name: "cifar-100-binary/train.bin", b: part(MadeTrain, 0)}, entry{name: "cifar-100-binary/test.bin", b: part(MadeTest, MadeTrain)})
}

// madeTiny is an archive in Tiny-ImageNet's format, with a hue for every class.
func madeTiny(t *testing.T) []byte {
	ids := []string{"n00000001", "n00000002", "n00000003"}
	photograph := func(class, k int) []byte {
		return plainJPEG(t, 64, 64, color.RGBA{byte(100 * class), byte(9 * k), byte(200 - 90*class), 255})
	}
	notes := ""
	out := []entry{{name: tinyFolder + "wnids.txt", b: []byte(strings.Join(ids, "\n"))}, {name: tinyFolder + "words.txt", b: []byte("n00000001\ta thing\n")}}
	for k := range MadeTest {
		name := fmt.Sprintf("val_%d.JPEG", k)
		notes += name + "\t" + ids[k%3] + "\t0\t0\t9\t9\n"
		out = append(out, entry{name: tinyFolder + "val/images/" + name, b: photograph(k%3, k)})
	}
	for class, id := range ids {
		for k := range MadeTrain / 3 {
			out = append(out, entry{name: fmt.Sprintf("%strain/%s/images/%s_%d.JPEG", tinyFolder, id, id, k), b: photograph(class, k)})
		}
	}
	return zipped(t, append(out, entry{name: tinyFolder + "val/val_annotations.txt", b: []byte(notes)})...)
}
