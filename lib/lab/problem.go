// Loading data and compiling networks.

package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Problem is a prepared data set together with a network.
type Problem struct {
	*datasets.Prepared
	Arch   model.Architecture
	Runner *model.Runner
	// Augment returns the augmenter of training records for a seed; nil: no augmentation.
	// The augmenter must be plain data, since its JSON is part of store keys.
	Augment func(seed engine.Root) train.Augmenter

	// content is the hash of the data's content where Hash is not known to be that;
	// otherwise "".
	content string
}

// DataHash is the hash that results on the data stand under: of the data's content where their Hash
// says something else.
func (p *Problem) DataHash() string { return cmp.Or(p.content, p.Hash) }

// Classes returns the number of classes of the data set.
func (p *Problem) Classes() int { return len(p.About.Classes) }

// Predict returns the network's prediction for records, without the scores of a language model, which
// fill the memory: where tokens are hidden they are of no use otherwise, and Model.Tokens has what the
// next tokens say.
func (p *Problem) Predict(weights nn.Params, x array.Matrix[float32]) (*model.Prediction, error) {
	var names []string
	all := p.Arch.Returns()
	for _, o := range all {
		if o.Name != loss.MaskedLogits && o.Name != loss.NextLogits {
			names = append(names, o.Name)
		}
	}
	if len(names) == len(all) {
		return p.Runner.Predict(weights, x)
	}
	return p.Runner.PredictOutputs(weights, x, names...)
}

// Records returns the given rows of the train part with their labels; their IDs are the row
// numbers.
func (p *Problem) Records(rows []int) unlearn.Data {
	d := p.Train.Gather(rows)
	return unlearn.Data{X: d.X, Y: d.Y, IDs: rows}
}

// dataCache holds a lab's loaded data and compiled networks, which its cases share.
type dataCache struct {
	mu      sync.Mutex
	entries map[string]*cacheEntry
	runners map[string]*model.Runner
	hashes  map[*datasets.Prepared]bool // data that were loaded here
}

// cacheEntry is one data set; its lock is held while the data are loaded.
type cacheEntry struct {
	mu   sync.Mutex
	data *datasets.Prepared
	// missing says that the files are not on this machine. It is kept because a list of
	// jobs asks for every cell of a study, and drawing the rows takes time.
	missing error
}

// Problem loads the data of a setting and joins its network to them. Nothing is loaded or
// compiled twice.
func (l *Lab) Problem(ctx context.Context, s Setting) (*Problem, error) {
	s = s.withDefaults()
	p, err := l.problem(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("data set %s: %w", s.DataSet(), err)
	}
	return p, nil
}

// problem is Problem for a setting with defaults.
func (l *Lab) problem(ctx context.Context, s Setting) (*Problem, error) {
	if err := s.checkInherited(); err != nil {
		return nil, err
	}
	if err := checkData(s.Data); err != nil {
		return nil, err
	}
	data, err := l.load(ctx, s)
	if err != nil {
		return nil, err
	}
	arch, err := s.fittedTo(data)
	if err != nil {
		return nil, err
	}
	if err := checkPretrained(arch); err != nil {
		return nil, err
	}
	join := l.Join // data of another module are identified by their content
	if _, keyed := s.Data.(KeyedData); byName(s.Data) || keyed && isOfThisModule(s.Data) {
		join = l.JoinDerived
	}
	p, err := join(data, arch)
	if err != nil {
		return nil, err
	}
	if err := p.checkNetwork(); err != nil {
		return nil, err
	}
	if g, is := s.Goal.(AugmentingGoal); is {
		if s.Augment {
			return nil, fmt.Errorf("the goal %s changes the records itself; they cannot be augmented too", g.Name())
		}
		p.Augment, err = g.Augmenter(p)
		return p, err
	}
	if !s.Augment {
		return p, nil
	}
	if !s.HasImages() {
		return nil, errors.New("only images are augmented")
	}
	p.Augment = func(seed engine.Root) train.Augmenter { return NewAugmenter(data, images.Augmentation{}, seed) }
	return p, nil
}

// checkNetwork returns an error for a network of the user's own whose answer for a record depends on
// other records. It is checked once, on the first records, with initial weights.
func (p *Problem) checkNetwork() error {
	if isOfPackages(p.Arch, "lib/model/") {
		return nil
	}
	_, err := p.Runner.Compiled("records are independent", func() (any, error) {
		weights := model.InitialWeights(p.Arch, engine.Root(0).Stream(engine.StreamInit))
		return true, p.Runner.CheckRecords(weights, p.Train.X)
	})
	return err
}

// fittedTo returns the setting's network for data that were read. The vocabulary is that of the
// description, so that the network is the one that the coordinates name.
func (s Setting) fittedTo(data *datasets.Prepared) (model.Architecture, error) {
	info, err := s.Data.Info()
	if err != nil {
		return nil, err
	}
	arch, err := s.fit(model.Sizes{Features: data.Train.X.Cols, Classes: len(data.About.Classes), Shape: data.About.Shape,
		Vocabulary: info.Vocabulary})
	if err != nil {
		return nil, err
	}
	if _, is := arch.(model.TokenReader); is && data.About.Vocabulary == nil {
		return nil, fmt.Errorf("%s reads texts, numbers of tokens, and the data have no vocabulary", arch.Name())
	}
	if err := checkTokens(arch, data.About.Vocabulary); err != nil {
		return nil, err
	}
	if err := model.CheckVocabulary(arch, len(data.About.Vocabulary)); err != nil {
		if t, is := s.Data.(Texts); is && t.VocabularyFile != "" {
			err = fmt.Errorf("%s: %w", t.VocabularyFile, err)
		}
		return nil, err
	}
	return arch, nil
}

// checkPretrained checks the weights that a network begins with. A missing file is missing data.
func checkPretrained(arch model.Architecture) error {
	_, err := model.CheckPretrained(arch)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", datasets.ErrMissing, err)
	}
	return err
}

// Join joins a network, with its defaults, to data that the caller prepared. Results are stored under the
// content of the data, whatever their Hash says.
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

// JoinDerived is Join for data whose Hash says what they were derived from and how; the
// hash is trusted.
func (l *Lab) JoinDerived(data *datasets.Prepared, arch model.Architecture) (*Problem, error) {
	r, err := l.runner(arch)
	if err != nil {
		return nil, err
	}
	return &Problem{Prepared: data, Arch: r.Arch, Runner: r}, nil
}

// load prepares the data of a setting on first use. Records that the forget set names are
// in the train part, if the data can be split so.
func (l *Lab) load(ctx context.Context, s Setting) (*datasets.Prepared, error) {
	key, err := dataKey(s.Data)
	if err != nil {
		return nil, err
	}
	plants, changed := s.Forget.(planter)
	if changed {
		key += fmt.Sprintf("/%T%+v", plants, plants)
	}
	data, err := l.cached(key, byName(s.Data), func() (*datasets.Prepared, error) {
		data, err := l.prepare(s.Data, func() (*datasets.Prepared, error) { return s.Data.Prepare(ctx, l.Shift) })
		if err == nil && changed {
			err = plants.plant(data)
		}
		return data, err
	})
	keeping, can := s.Data.(KeepingData)
	named, is := s.Forget.(NamedForgetSet)
	if err != nil || !can || !is {
		return data, err
	}
	if where, is := named.(Where); is {
		documents, err := unusedDocuments(where, data)
		if err != nil {
			return nil, err
		}
		if len(documents) > 0 {
			return l.loadDocuments(ctx, s, key, where, documents)
		}
	}
	keep, err := namedTestRecords(named, data)
	if err != nil || len(keep) == 0 {
		return data, err
	}
	if len(keep) == data.Test.X.Rows {
		ids, err := named.IDs(data)
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: the forget set names every record that would be held out; some records must stay that no model is trained on",
			describe(named, len(ids)))
	}
	return l.cached(key+"/keeping/"+hashInts(keep), byName(s.Data), func() (*datasets.Prepared, error) {
		return l.prepare(s.Data, func() (*datasets.Prepared, error) { return keeping.PrepareKeeping(ctx, l.Shift, keep) })
	})
}

// loadDocuments prepares the data with documents that a condition names and a sample leaves out.
func (l *Lab) loadDocuments(ctx context.Context, s Setting, key string, where Where, documents []int) (*datasets.Prepared, error) {
	sampled, can := s.Data.(DocumentData)
	if !can {
		return nil, fmt.Errorf("%s: some of these %d documents are not among those that are used; use all", describe(where, len(documents)), len(documents))
	}
	return l.cached(key+"/documents/"+hashInts(documents), byName(s.Data), func() (*datasets.Prepared, error) {
		data, err := l.prepare(s.Data, func() (*datasets.Prepared, error) { return sampled.PrepareDocuments(ctx, l.Shift, documents) })
		if err != nil {
			err = fmt.Errorf("%s: %w", describe(where, len(documents)), err)
		}
		return data, err
	})
}

// unusedDocuments returns the numbers of all documents that a condition names, if some of them are not among those
// that are used: else a part of a person would be forgotten, without a word.
func unusedDocuments(f Where, p *datasets.Prepared) ([]int, error) {
	if p.About.Whole == nil {
		return nil, nil
	}
	all := datasets.Prepared{About: datasets.About{Name: p.About.Name, Columns: p.About.Whole, Numbering: p.About.Numbering}}
	wanted, err := f.IDs(&all)
	if err != nil {
		return nil, err
	}
	used := map[float64]bool{}
	for _, n := range p.About.Columns[0].Numbers {
		used[n] = true
	}
	var numbers []int
	unused := false
	for _, i := range wanted {
		n := p.About.Whole[0].Numbers[i]
		numbers, unused = append(numbers, int(n)), unused || !used[n]
	}
	if !unused {
		return nil, nil
	}
	return numbers, nil
}

// namedTestRecords returns the IDs of the records of the test part that a forget set names.
func namedTestRecords(f NamedForgetSet, p *datasets.Prepared) (out []int, err error) {
	ids, err := f.IDs(p)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if slices.Contains(p.Test.IDs, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// cached returns the data of a key, prepared on first use. Missing files are remembered.
// The hash of trusted data is known to identify them.
func (l *Lab) cached(key string, trusted bool, prepare func() (*datasets.Prepared, error)) (*datasets.Prepared, error) {
	d := l.cache.entry(key)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.data != nil || d.missing != nil {
		return d.data, d.missing
	}
	data, err := prepare()
	if errors.Is(err, datasets.ErrMissing) {
		d.missing = err
	}
	if err != nil {
		return nil, err
	}
	d.data = data
	if trusted {
		l.cache.add(data)
	}
	return data, nil
}

// prepare prepares data and checks what comes from another module.
func (l *Lab) prepare(d Data, prepare func() (*datasets.Prepared, error)) (*datasets.Prepared, error) {
	p, err := prepare()
	if err != nil || byName(d) {
		return p, err
	}
	info, err := d.Info()
	if err != nil {
		return nil, err
	}
	return p, checkPrepared(p, info)
}

// add registers loaded data.
func (s *dataCache) add(data *datasets.Prepared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hashes == nil {
		s.hashes = map[*datasets.Prepared]bool{}
	}
	s.hashes[data] = true
}

// has reports whether the data were loaded here.
func (s *dataCache) has(data *datasets.Prepared) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hashes[data]
}

// entry returns the entry of a data set.
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

// runner returns the compiled network, from the cache if it is there.
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

// Prepare loads a data set, keeps at most maxRows rows (0: all), splits it by class with
// the seed and standardises it. The rows kept are a random subset in their original order.
func Prepare(ctx context.Context, name string, maxRows int, testFraction float64, seed uint32) (*datasets.Prepared, error) {
	return prepareKeeping(ctx, name, maxRows, testFraction, seed, nil)
}

// prepareKeeping is Prepare with some rows in the train part.
func prepareKeeping(ctx context.Context, name string, maxRows int, testFraction float64, seed uint32, keep []int) (*datasets.Prepared, error) {
	t, err := datasets.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	t = capRows(t, maxRows, seed)
	split, err := datasets.StratifiedSplit(t.Y, testFraction, seed)
	if err != nil {
		return nil, err
	}
	return datasets.Prepare(t, split.KeepInTrain(keep))
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
	part.Columns = datasets.GatherColumns(t.Columns, rows)
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
