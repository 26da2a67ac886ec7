// Tiny-ImageNet: description and loader.

package images

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
)

// tinyImageNet returns the description and the loader of Tiny-ImageNet: 500 training images of
// each of 200 classes, and as test part the published validation images, 50 of each class, because
// the labels of the published test images are secret.
//
// Classes are in the order of their WordNet numbers (n01443537, ...), as programs that list the
// folders have them; wnids.txt has another order. A class name is the number and the first of its
// words in words.txt. Training rows are sorted by class and number, test rows by number. Grey
// images get three equal channels.
//
// The SHA-256 is not from the publisher: independent public records of the archive agree on it and
// on the 248,100,043 bytes. Any other file is refused. Pixels depend on the JPEG decoder, so
// Images.Hash can change with the Go release that built the program.
func tinyImageNet() set {
	const name = "tiny-imagenet-200.zip"
	return set{
		info: datasets.Info{
			Name: "tiny_imagenet", Title: "Tiny-ImageNet", Folder: "tiny_imagenet", Task: "what a photograph shows, of two hundred kinds",
			Rows: 110000, TestRows: 10000, Features: 12288, Shape: [3]int{3, 64, 64}, NumClasses: 200,
			Licence:     "research use (ImageNet's terms)",
			Citation:    "Y. Le, X. Yang (2015), Tiny ImageNet Visual Recognition Challenge, CS231N, Stanford University",
			Homepage:    "http://cs231n.stanford.edu",
			Description: "Photographs of two hundred kinds of things, 64 x 64 in colour, as JPEG files.",
			Reading: []string{
				"The test part is the published validation part; the labels of the published test part are secret.",
				"The SHA-256 was agreed on by public records of the archive; the publisher states none.",
			},
			Files: []datasets.File{{Name: name, Size: 248100043, Compressed: true,
				SHA256:  "6198c8ae015e2b3e007c7841da39ec069199b9aa3bfa943a462022fe5e43c821",
				Sources: []datasets.Source{{URL: "http://cs231n.stanford.edu/tiny-imagenet-200.zip"}}}},
		},
		open: func(r *loader) (*content, error) { return openTiny(r, name) },
	}
}

const tinyFolder = "tiny-imagenet-200/"

// tinyArchive is the opened archive.
type tinyArchive struct {
	path        string
	zip         *zipIndex
	shape       [3]int
	wnids       []string       // sorted
	class       map[string]int // of a WordNet number
	testClasses []int          // class of every validation image
}

func openTiny(r *loader, name string) (c *content, err error) {
	file, source, err := datasets.OpenFile(r.ctx, r.info, name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			file.Close()
			err = fmt.Errorf("datasets: %s: %w", file.Name(), err)
		}
	}()
	r.sources = append(r.sources, source)
	state, err := file.Stat()
	if err != nil {
		return nil, err
	}
	z, err := readZip(file, state.Size())
	if err != nil {
		return nil, err
	}
	t := &tinyArchive{path: file.Name(), zip: z, shape: r.info.Shape}
	classes, err := t.classes(r.info.ClassCount())
	if err != nil {
		return nil, err
	}
	if err := t.annotations(r.info.TestRows); err != nil {
		return nil, err
	}
	each := (r.info.Rows - r.info.TestRows) / len(classes)
	return &content{classes: classes, close: file.Close,
		train: part{rows: each * len(classes), read: func(row int, pixels []byte) (int, int, error) {
			id := t.wnids[row/each]
			return row / each, 0, t.image(fmt.Sprintf("%strain/%s/images/%s_%d.JPEG", tinyFolder, id, id, row%each), pixels)
		}},
		test: part{rows: len(t.testClasses), read: func(row int, pixels []byte) (int, int, error) {
			return t.testClasses[row], 0, t.image(fmt.Sprintf("%sval/images/val_%d.JPEG", tinyFolder, row), pixels)
		}}}, nil
}

func (t *tinyArchive) image(name string, pixels []byte) error {
	b, err := t.zip.read(name, maxJPEG)
	if err == nil {
		err = decodeJPEG(pixels, b, t.shape)
	}
	if err != nil {
		return fmt.Errorf("%s: %s: %w", t.path, name, err)
	}
	return nil
}

// maxText bounds the archive's lists; words.txt, the longest, has 3 MB.
const maxText = 16 << 20

// classes reads wnids.txt and the words of the numbers in it.
func (t *tinyArchive) classes(want int) ([]string, error) {
	list, err := t.zip.read(tinyFolder+"wnids.txt", maxText)
	if err != nil {
		return nil, err
	}
	t.wnids = strings.Fields(string(list))
	slices.Sort(t.wnids)
	if len(t.wnids) != want {
		return nil, fmt.Errorf("wnids.txt: %d classes, expected %d", len(t.wnids), want)
	}
	t.class = map[string]int{}
	for k, id := range t.wnids {
		if !isWordNet(id) {
			return nil, fmt.Errorf("wnids.txt: %q is not a WordNet number", clipped(id))
		}
		if _, twice := t.class[id]; twice {
			return nil, fmt.Errorf("wnids.txt: %s occurs twice", id)
		}
		t.class[id] = k
	}
	words, err := t.zip.read(tinyFolder+"words.txt", maxText)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(t.wnids)
	for line := range strings.Lines(string(words)) {
		id, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if k, ok := t.class[id]; ok {
			first, _, _ := strings.Cut(text, ",")
			names[k] = strings.TrimSpace(id + " " + clipped(first))
		}
	}
	return names, nil
}

// annotations reads the classes of the validation images: a line per image with
// its file name, its WordNet number and a box, separated by tabs.
func (t *tinyArchive) annotations(images int) error {
	const name = "val/val_annotations.txt"
	text, err := t.zip.read(tinyFolder+name, maxText)
	if err != nil {
		return err
	}
	t.testClasses = make([]int, images)
	seen, line := make([]bool, images), 0
	for record := range strings.Lines(string(text)) {
		line++
		fields := strings.Split(strings.TrimSpace(record), "\t")
		if len(fields) < 2 {
			return fmt.Errorf("%s:%d: %d fields, expected a file name and a class", name, line, len(fields))
		}
		number, right := strings.CutPrefix(fields[0], "val_")
		number, jpeg := strings.CutSuffix(number, ".JPEG")
		k, err := strconv.Atoi(number)
		if !right || !jpeg || err != nil || k < 0 || k >= images || strconv.Itoa(k) != number {
			return fmt.Errorf("%s:%d: %q is none of val_0.JPEG to val_%d.JPEG", name, line, clipped(fields[0]), images-1)
		}
		if seen[k] {
			return fmt.Errorf("%s:%d: val_%d.JPEG occurs twice", name, line, k)
		}
		class, ok := t.class[fields[1]]
		if !ok {
			return fmt.Errorf("%s:%d: the class %q is not in wnids.txt", name, line, clipped(fields[1]))
		}
		seen[k], t.testClasses[k] = true, class
	}
	if missing := slices.Index(seen, false); missing >= 0 {
		return fmt.Errorf("%s: no line for val_%d.JPEG", name, missing)
	}
	return nil
}

// isWordNet reports whether id is a WordNet number, n and eight digits. Such a text is safe as a
// part of a file name.
func isWordNet(id string) bool {
	if len(id) != 9 || id[0] != 'n' {
		return false
	}
	for _, c := range id[1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// clipped shortens a text from a file for an error or a name.
func clipped(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
