// The Olivetti faces: descriptions and loaders.

package images

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/mat5"
)

// olivettiWhite is the brightest byte of the faces, by which scikit-learn divides too.
const olivettiWhite = 242

// olivetti returns the description and the loader of the AT&T ("Olivetti") faces in the form that
// scikit-learn loads: 40 people, ten images each, 64 x 64. There are no published parts; all
// images are in Train. Rows 10 p to 10 p + 9 show person p.
//
// SHA-256, address and orientation are those of scikit-learn 1.9.1
// (sklearn/datasets/_olivetti_faces.py). No source states the length of the file. The loader was
// tested on small files in the same format only, not on the file itself.
func olivetti() set {
	return set{
		info: datasets.Info{
			Name: "olivetti", Title: "Olivetti faces", Folder: "olivetti", Task: "whose face it is",
			Rows: 400, Features: 4096, Shape: [3]int{1, 64, 64}, Classes: people(),
			Licence: "research use, with citation",
			Citation: "F. Samaria, A. Harter (1994), Parameterisation of a stochastic model for human face identification, 2nd " +
				"IEEE Workshop on Applications of Computer Vision; AT&T Laboratories Cambridge",
			Homepage:    "https://cam-orl.co.uk/facedatabase.html",
			Description: "Faces of forty people, ten images each, 64 x 64 grey: for forgetting a person.",
			Reading:     []string{"The brightest pixel of the set (242) is 1, as in scikit-learn."},
			Files: []datasets.File{{Name: "olivettifaces.mat", AtMost: 64 << 20,
				SHA256: "b612fb967f2dc77c9c62d3e1266e0c73d5fca46a4b8906c18e454d41af987794",
				Sources: []datasets.Source{
					{URL: "https://ndownloader.figshare.com/files/5976027"},
					{URL: "https://cs.nyu.edu/~roweis/data/olivettifaces.mat"},
				}}},
		},
		white: olivettiWhite, people: true,
		open: openOlivetti,
	}
}

// openOlivetti reads the array "faces", pixels x images, an image column by column.
func openOlivetti(r *loader) (*content, error) {
	path, b, err := r.file("olivettifaces.mat")
	if err != nil {
		return nil, err
	}
	arrays, err := mat5.Read(b, int64(8*r.info.Rows*r.info.Features), "faces")
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", path, err)
	}
	x := arrays["faces"]
	if !slices.Equal(x.Dims, []int{r.info.Features, r.info.Rows}) {
		return nil, fmt.Errorf("datasets: %s: faces has dimensions %d, expected %d x %d", path, x.Dims, r.info.Features, r.info.Rows)
	}
	h, w := r.info.Shape[1], r.info.Shape[2]
	image, perPerson := make([]byte, h*w), r.info.Rows/len(r.info.Classes)
	return &content{train: part{rows: r.info.Rows, read: func(row int, pixels []byte) (int, int, error) {
		for k := range image {
			v := x.Float(row*h*w + k)
			if v < 0 || v > 255 || v != math.Trunc(v) {
				return 0, 0, fmt.Errorf("%s: faces(%d,%d) is %v; pixels are 0 to %d", path, k+1, row+1, v, olivettiWhite)
			}
			image[k] = byte(v)
		}
		transposeInto(pixels, image, 1, h, w)
		return row / perPerson, 0, nil
	}}}, nil
}

// olivettiIdx returns the same faces from a pair of idx files, an unpublished copy in a simpler
// format.
func olivettiIdx() set {
	s := olivetti()
	s.info.Name, s.info.Title = "olivetti_idx", "Olivetti faces, a copy in idx format"
	s.info.Files = []datasets.File{
		{Name: "olivetti-images-idx3-ubyte", Size: 1638416, SHA256: "139db5ade073e030ff543fe74df478b29cff6e9da9a50bf1e0c9a29f0d2f114d"},
		{Name: "olivetti-labels-idx1-ubyte", Size: 408, SHA256: "87b0dbf71b8091a9cef50af2767e98a87f3b0bde56f1eda7bb591d156e542390"},
	}
	s.info.Reading = append(s.info.Reading, "The files are a copy in another format; whether all bytes are those of olivettifaces.mat was not compared.")
	s.caveat = "The faces come from a copy in another format that was not compared with the published file."
	s.open = func(r *loader) (*content, error) {
		train, err := r.idxPart("olivetti-images-idx3-ubyte", "olivetti-labels-idx1-ubyte")
		return &content{train: train}, err
	}
	return s
}

func people() []string {
	out := make([]string, 40)
	for p := range out {
		out[p] = fmt.Sprintf("person %d", p+1)
	}
	return out
}
