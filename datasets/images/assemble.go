// Conversion of byte images to the parts of an Images, and its hash.

package images

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
)

// assembly converts images of bytes to the parts of an Images and hashes them.
type assembly struct {
	ctx         context.Context
	m           *Images
	pixelOfByte [256]float32 // the pixel for every byte
	white       int
	h           hash.Hash
	header      []byte
}

func newAssembly(ctx context.Context, m *Images) *assembly {
	a := &assembly{ctx: ctx, m: m, white: int(m.White), h: sha256.New()}
	for v := range a.pixelOfByte {
		a.pixelOfByte[v] = float32(float64(v) / m.White)
	}
	a.ints(m.Shape[0], m.Shape[1], m.Shape[2], a.white)
	return a
}

func (a *assembly) ints(values ...int) {
	a.header = a.header[:0]
	for _, v := range values {
		a.header = binary.LittleEndian.AppendUint64(a.header, uint64(int64(v)))
	}
	a.h.Write(a.header) // a hash never returns an error
}

func (a *assembly) sum() string { return hex.EncodeToString(a.h.Sum(nil)) }

// part reads the given rows of a part; nil means all of them.
func (a *assembly) part(p part, rows []int) (datasets.Part, error) {
	n := p.rows
	if rows != nil {
		n = len(rows)
	}
	size := a.m.Shape[0] * a.m.Shape[1] * a.m.Shape[2]
	out := datasets.Part{X: array.New[float32](n, size), Y: make([]int, n), IDs: make([]int, n)}
	if a.m.Coarse != nil {
		out.Extra = map[string][]float64{datasets.Superclass: make([]float64, n)}
	}
	a.ints(n)
	pixels := make([]byte, size)
	for k := range n {
		row := k
		if rows != nil {
			row = rows[k]
		}
		if k%256 == 0 && a.ctx.Err() != nil {
			return datasets.Part{}, a.ctx.Err()
		}
		if row < 0 || row >= p.rows {
			return datasets.Part{}, fmt.Errorf("row %d: there are rows 0 to %d", row, p.rows-1)
		}
		if err := a.image(&out, k, p, row, pixels); err != nil {
			return datasets.Part{}, err
		}
	}
	return out, nil
}

// image reads one image into row k of out.
func (a *assembly) image(out *datasets.Part, k int, p part, row int, pixels []byte) error {
	y, coarse, err := p.read(row, pixels)
	if err != nil {
		return err
	}
	if y < 0 || y >= len(a.m.Classes) {
		return fmt.Errorf("image %d: label %d; the classes are 0 to %d", row, y, len(a.m.Classes)-1)
	}
	if a.m.Coarse != nil {
		if coarse < 0 || coarse >= len(a.m.Coarse) {
			return fmt.Errorf("image %d: coarse label %d; the superclasses are 0 to %d", row, coarse, len(a.m.Coarse)-1)
		}
		out.Extra[datasets.Superclass][k] = float64(coarse)
	}
	out.Y[k], out.IDs[k] = y, row
	to := out.X.Row(k)
	for j, v := range pixels {
		if int(v) > a.white {
			return fmt.Errorf("image %d, pixel %d: the value %d; the brightest is %d", row, j, v, a.white)
		}
		to[j] = a.pixelOfByte[v]
	}
	a.ints(y, coarse)
	a.h.Write(pixels)
	return nil
}
