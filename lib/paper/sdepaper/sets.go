package sdepaper

// Drawing of targets and references.

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// layerData is one layer of one model with pools that cache the kernel values of all pairs, for
// every draw, size and method.
type layerData struct {
	activations
	pools map[string]*sde.Pool
}

func newLayerData(a activations) *layerData { return &layerData{a, map[string]*sde.Pool{}} }

// layerData runs a model over all images for a layer.
func (j *judgeRun) layerData(w nn.Params, layer string) (*layerData, error) {
	a, err := j.activations(w, layer)
	return newLayerData(a[layer]), err
}

// origin is the part of the data that images come from.
type origin string

const (
	trainImages origin = "training"
	testImages  origin = "test"
)

// pool is the pool of the training or test images, with activations scaled by a factor.
func (s *layerData) pool(of origin, factor float64) (*sde.Pool, error) {
	name, m := string(of), s.train
	if of == testImages {
		m = s.test
	}
	if factor != 1 {
		name, m = fmt.Sprintf("%s, scaled by %g", of, factor), scaleMatrix(m, factor)
	}
	if p, ok := s.pools[name]; ok {
		return p, nil
	}
	p, err := sde.NewPool(name, &m)
	if err == nil {
		s.pools[name] = p
	}
	return p, err
}

// targets draws subsets of some of the images.
func (s *layerData) targets(of origin, factor float64, among []int, size, subsets int, seed uint64) (sde.Targets, error) {
	pool, err := s.pool(of, factor)
	if err != nil {
		return sde.Targets{}, err
	}
	drawn, err := sde.DrawSubsets(len(among), size, subsets, engine.Root(seed).Stream(engine.StreamTargets))
	for k := range drawn {
		drawn[k] = gatherRows(among, drawn[k])
	}
	return sde.Targets{Pool: pool, Subsets: drawn}, err
}

// drawStep is the distance between the seeds of two draws, more than any scale has models.
const drawStep = 1000

// drawSeed is the seed of a draw's references and targets.
func (j *judgeRun) drawSeed(draw int) int { return j.c.Seed + drawStep*draw }

// judgeSets are the sets of one verdict.
type judgeSets struct {
	targets    sde.KnownTargets
	references sde.References
}

// drawSets draws the sets of the protocol: the in-training reference from the retained images,
// the in-training targets from the other retained images, the out-of-training targets from the
// forgotten images, and the out-of-training reference from the test images.
func (j *judgeRun) drawSets(s *layerData, size, draw int) (c judgeSets, err error) {
	forget, retain := j.c.Forget, j.c.Retain
	if size > len(forget) {
		return c, fmt.Errorf("sets of %d images out of %d forgotten ones", size, len(forget))
	}
	rng := engine.Root(j.drawSeed(draw)).Stream(engine.StreamSDE, uint64(size))
	order := rng.Perm(len(retain))
	reference, rest := gatherRows(retain, order[:size]), gatherRows(retain, order[size:])
	in, out := s.train.Gather(reference), s.test.Gather(rng.Perm(s.test.Rows)[:size])
	c.references = sde.References{In: &in, Out: &out}
	if c.targets.Inside, err = s.targets(trainImages, 1, rest, size, j.Subsets, rng.Uint64()); err != nil {
		return c, err
	}
	c.targets.Outside, err = s.targets(trainImages, 1, forget, size, j.Subsets, rng.Uint64())
	return c, err
}

// drawHeldOutSets draws sets without any training image: four parts of the test images, with
// those of class "in" scaled by a factor.
func (j *judgeRun) drawHeldOutSets(s *layerData, size int, factor float64, draw int) (c judgeSets, err error) {
	rng := engine.Root(j.drawSeed(draw)).Stream(engine.StreamSDEHeldOut, uint64(size))
	order := rng.Perm(s.test.Rows)
	if size > len(order)/4 {
		return c, fmt.Errorf("four sets of %d images out of %d test images", size, len(order))
	}
	half, rest := (len(order)-2*size)/2, order[2*size:]
	in, out := scaleMatrix(s.test.Gather(order[:size]), factor), s.test.Gather(order[size:2*size])
	c.references = sde.References{In: &in, Out: &out}
	if c.targets.Inside, err = s.targets(testImages, factor, rest[:half], size, j.Subsets, rng.Uint64()); err != nil {
		return c, err
	}
	c.targets.Outside, err = s.targets(testImages, 1, rest[half:2*half], size, j.Subsets, rng.Uint64())
	return c, err
}

func gatherRows(rows, at []int) []int {
	out := make([]int, len(at))
	for i, k := range at {
		out[i] = rows[k]
	}
	return out
}

func scaleMatrix(m sde.Matrix, factor float64) sde.Matrix {
	out := array.New[float64](m.Rows, m.Cols)
	for i, v := range m.Data {
		out.Data[i] = v * factor
	}
	return out
}
