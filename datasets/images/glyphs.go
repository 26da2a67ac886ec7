// The generated image set: line drawings with planted groups.

package images

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
)

// glyphs returns a generated set for runs without files: ten line drawings, 16 x 16 grey, shifted,
// rotated, sheared and scaled, of different thickness and contrast, with noise. It has 3,000
// training and 1,000 test images.
//
// Three groups are planted among the training images; no image is in two of them:
//
//   - "originals" and "copies": 100 images and a near-copy of each, which differs by at most 4 of 255
//     grey levels in a pixel. Forgetting an original while its copy is retained must not look like a
//     failure.
//   - "mislabelled": 60 images with the class of another drawing, drawn evenly among the nine. A model
//     can only memorise them.
//
// The images never change: they are drawn from PCG of math/rand/v2, whose stream is part of Go's
// compatibility promise, and computed with sums, products, quotients and square roots only, which
// IEEE 754 rounds the same everywhere.
func glyphs() set {
	return set{
		info: datasets.Info{
			Name: "glyphs", Title: "Glyphs", Task: "which of ten line drawings it is",
			Rows: 4000, TestRows: 1000, Features: 256, Shape: [3]int{1, 16, 16}, Synthetic: true,
			Classes: glyphNames(), Licence: "Apache-2.0",
			Description: "Generated line drawings with planted near-duplicates and planted wrong labels.",
		},
		open: func(r *loader) (*content, error) { return drawGlyphs(r.info), nil },
	}
}

const (
	glyphSeed       = 0x6c65746865 // "lethe"
	glyphStream     = 5            // after those of the generated tables
	glyphCopies     = 100
	glyphMislabeled = 60
	glyphSide       = 16
	glyphGrain      = 40 // noise of a pixel in grey levels, at most
)

// stroke is a straight line between two points of a drawing, coordinates in -1..1, y downwards.
type stroke struct{ x1, y1, x2, y2 float64 }

// glyph is a drawing: strokes, or a circle of radius 0.9 if it is round.
type glyph struct {
	name    string
	round   bool
	strokes []stroke
}

// alphabet returns the drawings. None is the mirror image of another, so a horizontal flip changes
// no class.
func alphabet() []glyph {
	box := []stroke{{-.8, -.8, .8, -.8}, {.8, -.8, .8, .8}, {.8, .8, -.8, .8}, {-.8, .8, -.8, -.8}}
	return []glyph{
		{name: "ring", round: true},
		{name: "bar", strokes: []stroke{{0, -1, 0, 1}}},
		{name: "equals", strokes: []stroke{{-.9, -.4, .9, -.4}, {-.9, .4, .9, .4}}},
		{name: "triangle", strokes: []stroke{{0, -.9, .9, .7}, {.9, .7, -.9, .7}, {-.9, .7, 0, -.9}}},
		{name: "box", strokes: box},
		{name: "plus", strokes: []stroke{{0, -1, 0, 1}, {-1, 0, 1, 0}}},
		{name: "cross", strokes: []stroke{{-.8, -.8, .8, .8}, {-.8, .8, .8, -.8}}},
		{name: "corner", strokes: []stroke{{-.6, -.9, -.6, .8}, {-.6, .8, .8, .8}}},
		{name: "tee", strokes: []stroke{{-.9, -.8, .9, -.8}, {0, -.8, 0, 1}}},
		{name: "zed", strokes: []stroke{{-.8, -.8, .8, -.8}, {.8, -.8, -.8, .8}, {-.8, .8, .8, .8}}},
	}
}

func glyphNames() []string {
	var out []string
	for _, g := range alphabet() {
		out = append(out, g.name)
	}
	return out
}

// drawing is one image of the set.
type drawing struct {
	y      int
	pixels []byte
	group  string
}

// drawGlyphs generates the set. Rows are in random order, so that a row number does not reveal its
// group.
func drawGlyphs(info datasets.Info) *content {
	rng := rand.New(rand.NewPCG(glyphSeed, glyphStream))
	all := alphabet()
	draw := func(n int) []drawing {
		out := make([]drawing, n)
		for i := range out {
			out[i] = drawing{y: i % len(all), pixels: all[i%len(all)].draw(glyphDeformation, rng)}
		}
		return out
	}
	train := draw(info.Rows - info.TestRows - glyphCopies)
	for i, k := range rng.Perm(len(train))[:glyphCopies+glyphMislabeled] {
		d := &train[k]
		if i >= glyphCopies {
			d.group, d.y = "mislabelled", (d.y+1+rng.IntN(len(all)-1))%len(all)
			continue
		}
		d.group = "originals"
		train = append(train, drawing{y: d.y, pixels: nearCopy(d.pixels, rng), group: "copies"})
	}
	test := draw(info.TestRows)
	for _, part := range [][]drawing{train, test} {
		rng.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
	}
	planted := map[string][]int{}
	for row, d := range train {
		if d.group != "" {
			planted[d.group] = append(planted[d.group], row)
		}
	}
	return &content{train: drawingsPart(train), test: drawingsPart(test), planted: planted}
}

func drawingsPart(drawings []drawing) part {
	return part{rows: len(drawings), read: func(row int, pixels []byte) (int, int, error) {
		copy(pixels, drawings[row].pixels)
		return drawings[row].y, 0, nil
	}}
}

// nearCopy changes every pixel by at most 4 grey levels.
func nearCopy(pixels []byte, rng *rand.Rand) []byte {
	out := slices.Clone(pixels)
	for k, v := range out {
		out[k] = byte(min(max(int(v)+rng.IntN(9)-4, 0), 255))
	}
	return out
}

// deformation bounds how drawings of one glyph differ: the tangent of half the angle by which it is
// turned and the shear, either way, and ranges of its scale in pixels, of the pixel in its middle,
// of the thickness of strokes in pixels, of the ink's contrast and of the paper's level.
type deformation struct {
	turn, shear                           float64
	scale, middle, thick, contrast, paper [2]float64
}

// glyphDeformation is that of the glyphs.
var glyphDeformation = deformation{turn: .2, shear: .2, scale: [2]float64{3.6, 6}, middle: [2]float64{5.5, 9.5},
	thick: [2]float64{.6, 1.5}, contrast: [2]float64{.45, 1}, paper: [2]float64{0, .2}}

// draw returns one image of the drawing; 1 is ink and 0 is paper, as in MNIST.
func (g glyph) draw(d deformation, rng *rand.Rand) []byte {
	between := func(low, high float64) float64 { return low + float64((high-low)*rng.Float64()) }
	// A rotation whose half angle has the tangent t. Cosine and sine are quotients,
	// so that the result does not depend on a library function's rounding.
	t := between(-d.turn, d.turn)
	scale, shear := between(d.scale[0], d.scale[1]), between(-d.shear, d.shear)
	cos, sin := (1-float64(t*t))/(1+float64(t*t)), float64(2*t)/(1+float64(t*t))
	middleX, middleY := between(d.middle[0], d.middle[1]), between(d.middle[0], d.middle[1])
	thick, contrast, paper := between(d.thick[0], d.thick[1]), between(d.contrast[0], d.contrast[1]), between(d.paper[0], d.paper[1])
	out := make([]byte, glyphSide*glyphSide)
	for y := range glyphSide {
		for x := range glyphSide {
			// The pixel in the drawing's own coordinates.
			dx, dy := (float64(x)-middleX)/scale, (float64(y)-middleY)/scale
			u, v := float64(cos*dx)+float64(sin*dy), float64(cos*dy)-float64(sin*dx)
			u += float64(shear * v)
			ink := min(max(thick-float64(scale*g.distance(u, v))+.5, 0), 1)
			level := paper + float64(ink*(contrast-float64(paper*contrast)))
			noise := rng.IntN(glyphGrain+1) + rng.IntN(glyphGrain+1) - glyphGrain
			out[y*glyphSide+x] = byte(min(max(int(math.Floor(float64(255*level)+.5))+noise, 0), 255))
		}
	}
	return out
}

// distance returns the distance of a point from the drawing.
func (g glyph) distance(x, y float64) float64 {
	if g.round {
		return math.Abs(math.Sqrt(float64(x*x)+float64(y*y)) - .9)
	}
	best := math.Inf(1)
	for _, s := range g.strokes {
		best = min(best, s.distance(x, y))
	}
	return best
}

// distance returns the distance of a point from the line.
func (s stroke) distance(x, y float64) float64 {
	dx, dy := s.x2-s.x1, s.y2-s.y1
	along := (float64((x-s.x1)*dx) + float64((y-s.y1)*dy)) / (float64(dx*dx) + float64(dy*dy))
	along = min(max(along, 0), 1)
	px, py := x-s.x1-float64(along*dx), y-s.y1-float64(along*dy)
	return math.Sqrt(float64(px*px) + float64(py*py))
}
