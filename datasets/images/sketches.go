// The generated set of faces: line drawings of forty people.

package images

import (
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/datasets"
)

// sketches returns a generated set of faces for runs without files: forty people, ten drawings
// each, 16 x 16 grey. A person is a face of nine strokes of their own: eyes, brows, nose, mouth and
// cheeks lie elsewhere, and are longer or shorter. The drawings of a person differ as glyphs do:
// shifted, turned, sheared, scaled, of another thickness and contrast, with noise.
//
// The task is whether the corners of the mouth point up or down, as they do on all drawings of a
// person: a property of the person by which the others are not told apart, as gender is on
// photographs. Half of the people have either.
//
// There are no parts: all drawings are in Train, those of person p in rows 10 p to 10 p + 9. The
// column "identity" names the person. The drawings never change; see glyphs.
func sketches() set {
	return set{
		info: datasets.Info{
			Name: "sketches", Title: "Sketches of faces", Task: "whether the corners of the mouth point up or down",
			Rows: sketchPeople * sketchesEach, Features: glyphSide * glyphSide, Shape: [3]int{1, glyphSide, glyphSide}, Synthetic: true,
			Classes: []string{"up", "down"}, Licence: "Apache-2.0",
			Description: "Generated drawings of the faces of forty people, ten each: for forgetting a person.",
		},
		open: func(r *loader) (*content, error) { return drawSketches(), nil },
	}
}

const (
	sketchStream = 6 // after that of the glyphs
	sketchPeople = 40
	sketchesEach = 10
)

// sketchDeformation is smaller than that of the glyphs, so that drawings of a person are alike.
var sketchDeformation = deformation{turn: .08, shear: .08, scale: [2]float64{5.4, 6.4}, middle: [2]float64{6.9, 8.1},
	thick: [2]float64{.5, .9}, contrast: [2]float64{.6, 1}, paper: [2]float64{0, .15}}

// drawSketches generates the set.
func drawSketches() *content {
	rng := rand.New(rand.NewPCG(glyphSeed, sketchStream))
	down := make([]bool, sketchPeople)
	for i := range down {
		down[i] = i >= sketchPeople/2
	}
	rng.Shuffle(len(down), func(i, j int) { down[i], down[j] = down[j], down[i] })
	var drawings []drawing
	identity := datasets.Column{Name: IdentityColumn, Kind: datasets.Category}
	for p := range sketchPeople {
		identity.Values = append(identity.Values, fmt.Sprintf("person %02d", p+1))
		face, y := drawFace(down[p], rng), 0
		if down[p] {
			y = 1
		}
		for range sketchesEach {
			drawings = append(drawings, drawing{y: y, pixels: face.draw(sketchDeformation, rng)})
			identity.Codes = append(identity.Codes, int32(p))
		}
	}
	return &content{train: drawingsPart(drawings), columns: []datasets.Column{identity}}
}

// drawFace returns the face of a new person.
func drawFace(down bool, rng *rand.Rand) glyph {
	between := func(low, high float64) float64 { return low + float64((high-low)*rng.Float64()) }
	apart, eye, eyes := between(.25, .6), between(.05, .3), between(-.5, -.1)
	brow, slant := eyes-between(.2, .5), between(-.2, .2)
	nose, length := between(-.1, .3), between(.1, .5)
	mouth, wide, bend := between(.5, .8), between(.2, .6), between(.2, .4)
	if down {
		bend = -bend
	}
	cheek, jaw := between(.7, 1), between(-.4, .4)
	return glyph{strokes: []stroke{
		{-apart - eye, eyes, -apart + eye, eyes}, {apart - eye, eyes, apart + eye, eyes},
		{-apart - eye, brow + slant, -apart + eye, brow - slant}, {apart - eye, brow - slant, apart + eye, brow + slant},
		{0, nose - length, 0, nose},
		{-wide, mouth - bend, 0, mouth}, {0, mouth, wide, mouth - bend},
		{-cheek, -.6, -cheek, jaw}, {cheek, -.6, cheek, jaw},
	}}
}
