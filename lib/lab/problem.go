package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Problem is a prepared data set joined to a network.
type Problem struct {
	*datasets.Prepared
	Arch   model.Architecture
	Runner *model.Runner
	// Augment gives what changes the training records of every epoch, for the seed
	// of what it is used in; nil leaves them alone. It must be plain data: its JSON
	// is part of the names in the store.
	Augment func(seed engine.Root) train.Augmenter

	// content is the hash of data whose own Hash is not known to be that of their
	// content; "" where it is.
	content string
}

// Classes is the number of classes of the data set.
func (p *Problem) Classes() int { return len(p.About.Classes) }

// Records are the given rows of the train part with their labels; they are named
// by these rows.
func (p *Problem) Records(rows []int) unlearn.Data {
	d := p.Train.Gather(rows)
	return unlearn.Data{X: d.X, Y: d.Y, IDs: rows}
}

// dataCache holds the data that a lab has loaded, and its compiled networks, so that
// the cases of a study share them.
type dataCache struct {
	mu      sync.Mutex
	entries map[string]*cacheEntry
	runners map[string]*model.Runner
	hashes  map[*datasets.Prepared]bool // what was loaded
}

// cacheEntry is a data set on the shelf; its lock is held while it is loaded.
type cacheEntry struct {
	mu   sync.Mutex
	data *datasets.Prepared
	// missing says that the files are not on this machine; a list of jobs asks for
	// every cell of a study, and drawing its rows takes time.
	missing error
}

// Problem loads what a setting names, a table or a set of images, and joins its
// network to it. Nothing is loaded or compiled twice.
func (l *Lab) Problem(ctx context.Context, s Setting) (*Problem, error) {
	s = s.withDefaults()
	if s.Pixels && !s.HasImages() {
		return nil, fmt.Errorf("data set %s: has no pixels", s.DataSet)
	}
	data, err := l.load(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("data set %s: %w", s.DataSet, err)
	}
	p, err := l.JoinDerived(data, s.Arch(data.Train.X.Cols, len(data.About.Classes)))
	if err != nil || !s.Augment {
		return p, err
	}
	if !s.HasImages() {
		return nil, fmt.Errorf("data set %s: only images are augmented", s.DataSet)
	}
	p.Augment = func(seed engine.Root) train.Augmenter { return NewAugmenter(data, images.Augmentation{}, seed) }
	return p, nil
}

// Join joins a network to data that somebody has prepared. What is computed of them is
// kept under their content, whatever they say in Hash.
func (l *Lab) Join(data *datasets.Prepared, arch model.Architecture) (*Problem, error) {
	p, err := l.JoinDerived(data, arch)
	if err != nil || l.cache.has(data) {
		return p, err
	}
	if sum := data.Sum(); sum != data.Hash {
		p.content = store.ContentHash([]any{sum, data.Norm, data.About.Shape})
	}
	return p, nil
}

// JoinDerived joins a network to data whose Hash says what they were derived from, and how;
// it is believed.
func (l *Lab) JoinDerived(data *datasets.Prepared, arch model.Architecture) (*Problem, error) {
	r, err := l.runner(arch)
	if err != nil {
		return nil, err
	}
	return &Problem{Prepared: data, Arch: arch, Runner: r}, nil
}

// load prepares a setting's data, the first time that they are asked for.
func (l *Lab) load(ctx context.Context, s Setting) (*datasets.Prepared, error) {
	d := l.cache.entry(s.dataKey())
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.data != nil || d.missing != nil {
		return d.data, d.missing
	}
	var err error
	switch {
	case s.HasImages():
		// The draw is the same for every seed of a model.
		rng := engine.Root(SplitSeed+l.Shift).Stream(engine.StreamSplit, uint64(s.MaxRows), uint64(s.TestRows))
		prepare := images.Prepare
		if s.Pixels {
			prepare = images.Pixels
		}
		d.data, err = prepare(ctx, s.DataSet, s.MaxRows, s.TestRows, rng)
	case s.HasCells():
		d.data, err = prepareCells(ctx, s, uint32(CellsSeed+l.Shift))
	default:
		d.data, err = Prepare(ctx, s.DataSet, s.MaxRows, TestFraction, uint32(SplitSeed+l.Shift))
	}
	if errors.Is(err, datasets.ErrMissing) {
		d.missing = err
	}
	if err == nil && s.Backdoor != nil {
		err = s.Backdoor.plant(d.data, engine.Root(s.ForgetSeed))
	}
	if err != nil {
		d.data = nil
		return nil, err
	}
	l.cache.add(d.data)
	return d.data, nil
}

// dataKey names what a resolved setting loads.
func (s Setting) dataKey() string {
	name := fmt.Sprintf("%s/%d/%d/%+v/%v", s.DataSet, s.MaxRows, s.TestRows, s.Cells, s.Pixels)
	if s.Backdoor != nil {
		name += fmt.Sprintf("/%+v/%d", *s.Backdoor, s.ForgetSeed)
	}
	return name
}

// prepareCells loads a setting's cells and prepares them. A part of them is refused:
// a rare type would be gone.
func prepareCells(ctx context.Context, s Setting, seed uint32) (*datasets.Prepared, error) {
	if s.MaxRows > 0 || s.TestRows > 0 {
		return nil, fmt.Errorf("%d rows and %d test rows are asked for; a set of cells is prepared whole", s.MaxRows, s.TestRows)
	}
	c, err := cells.Load(ctx, s.DataSet)
	if err != nil {
		return nil, err
	}
	return c.Prepared(s.Cells, seed)
}

// add makes loaded data known.
func (s *dataCache) add(data *datasets.Prepared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hashes == nil {
		s.hashes = map[*datasets.Prepared]bool{}
	}
	s.hashes[data] = true
}

// has reports whether data were loaded here.
func (s *dataCache) has(data *datasets.Prepared) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hashes[data]
}

// modelWeights is the place of a data set on the shelf.
func (s *dataCache) entry(key string) *cacheEntry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries == nil {
		s.entries = map[string]*cacheEntry{}
	}
	if s.entries[key] == nil {
		s.entries[key] = &cacheEntry{}
	}
	return s.entries[key]
}

// runner compiles a network, or finds it on the shelf.
func (l *Lab) runner(arch model.Architecture) (*model.Runner, error) {
	key := store.ContentHash(arch) // two networks can have the same name and fields
	l.cache.mu.Lock()
	defer l.cache.mu.Unlock()
	r := l.cache.runners[key]
	if r == nil {
		var err error
		if r, err = model.NewRunner(l.Engine, arch); err != nil {
			return nil, err
		}
		if l.cache.runners == nil {
			l.cache.runners = map[string]*model.Runner{}
		}
		l.cache.runners[key] = r
	}
	return r, nil
}

// Prepare loads a data set, keeps at most maxRows of its rows (0: all), splits
// it by class with the seed and standardises it. The rows kept are a random
// subset, in their order.
func Prepare(ctx context.Context, name string, maxRows int, testFraction float64, seed uint32) (*datasets.Prepared, error) {
	t, err := datasets.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	t = capRows(t, maxRows, seed)
	split, err := datasets.StratifiedSplit(t.Y, testFraction, seed)
	if err != nil {
		return nil, err
	}
	return datasets.Prepare(t, split)
}

func capRows(t *datasets.Table, n int, seed uint32) *datasets.Table {
	if n == 0 || t.X.Rows <= n {
		return t
	}
	rows := engine.Root(seed).Stream(engine.StreamSplit).Perm(t.X.Rows)[:n]
	slices.Sort(rows)
	part := *t
	part.X, part.Y = t.X.Gather(rows), make([]int, n)
	at := map[int]int{}
	for i, r := range rows {
		part.Y[i], at[r] = t.Y[r], i
	}
	part.Planted = nil
	for name, old := range t.Planted {
		if part.Planted == nil {
			part.Planted = map[string][]int{}
		}
		for _, r := range old {
			if i, kept := at[r]; kept {
				part.Planted[name] = append(part.Planted[name], i)
			}
		}
	}
	return &part
}

// ForImages is a Setting's Arch out of a family of networks for images, grey or
// in colour, by the number of their pixels.
func ForImages(f vision.Family) func(features, classes int) model.Architecture {
	return func(features, classes int) model.Architecture {
		channels, side := 1, intSqrt(features)
		if side == 0 {
			channels, side = 3, intSqrt(features/3)
		}
		return f.New(channels, side, classes)
	}
}

// intSqrt is the square root of a square number, 0 of others.
func intSqrt(n int) int {
	for r := 1; r*r <= n; r++ {
		if r*r == n {
			return r
		}
	}
	return 0
}

// ImageNetwork is a family of networks for images by its name.
func ImageNetwork(name string) (vision.Family, error) {
	for _, f := range vision.All() {
		if f.Name == name {
			return f, nil
		}
	}
	return vision.Family{}, fmt.Errorf("no network for images is called %q", name)
}
