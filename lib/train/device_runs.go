// Runs: the steps of an epoch that one graph executes on the device, and their arrays.

package train

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// deviceRun is a sequence of steps of one form: the same players and objectives, and batches
// that are padded to the same sizes.
type deviceRun struct {
	rule    Rule
	updates []runUpdate
	steps   []trainStep
}

// runUpdate is what an update has in common with those of the other steps.
type runUpdate struct {
	player    int
	objective Objective
	terms     []runTerm
}

// runTerm is the form of a batch.
type runTerm struct {
	term   int
	whole  bool // all records of the term, in order
	padded bool // whether a whole term has fewer records than size
	size   int  // records with padding
}

// clone returns a copy for padRuns.
func (r deviceRun) clone() deviceRun {
	r.updates = slices.Clone(r.updates)
	for i := range r.updates {
		r.updates[i].terms = slices.Clone(r.updates[i].terms)
	}
	return r
}

// sameForm reports whether a step has the form of the run.
func (r deviceRun) sameForm(of trainStep, sizes func(update, batch) runTerm) bool {
	if of.rule != r.rule || len(of.updates) != len(r.updates) {
		return false
	}
	for i, t := range of.updates {
		u := r.updates[i]
		if t.player != u.player || &t.objective[0] != &u.objective[0] || len(t.batches) != len(u.terms) {
			return false
		}
		for k, b := range t.batches {
			if sizes(t, b) != u.terms[k] {
				return false
			}
		}
	}
	return true
}

// cutRuns cuts an epoch into runs. Batches of a network that mixes the records of a batch are
// not padded; the others have the size of the largest batch of their term.
func (l *loop) cutRuns(steps []trainStep) (out []deviceRun) {
	form := l.batchForm(steps)
	for _, s := range steps {
		if len(out) == 0 || !out[len(out)-1].sameForm(s, form) {
			run := deviceRun{rule: s.rule}
			for _, t := range s.updates {
				u := runUpdate{player: t.player, objective: t.objective}
				for _, b := range t.batches {
					u.terms = append(u.terms, form(t, b))
				}
				run.updates = append(run.updates, u)
			}
			out = append(out, run)
		}
		last := &out[len(out)-1]
		last.steps = append(last.steps, s)
	}
	return out
}

// batchForm returns the function that gives the form of a batch.
func (l *loop) batchForm(steps []trainStep) func(update, batch) runTerm {
	type place struct {
		objective *Term
		term      int
	}
	largest := map[place]int{}
	for _, s := range steps {
		for _, t := range s.updates {
			for _, b := range t.batches {
				at := place{&t.objective[0], b.term}
				largest[at] = max(largest[at], len(b.rows), 1)
			}
		}
	}
	return func(t update, b batch) runTerm {
		out := runTerm{term: b.term, whole: b.rows == nil && t.objective[b.term].Augment == nil}
		switch {
		case b.rows == nil || l.g.whole:
			out.size = b.size(t.objective)
		case l.plan.Private != nil:
			out.size = roundUp(largest[place{&t.objective[0], b.term}])
		default:
			out.size = largest[place{&t.objective[0], b.term}]
		}
		return out
	}
}

// padRuns gives the runs of lanes, which have one form, the same sizes and lengths.
func padRuns(runs []deviceRun) {
	for i := range runs[0].updates {
		for k := range runs[0].updates[i].terms {
			largest, smallest := 0, runs[0].updates[i].terms[k].size
			for _, r := range runs {
				largest, smallest = max(largest, r.updates[i].terms[k].size), min(smallest, r.updates[i].terms[k].size)
			}
			for _, r := range runs {
				t := &r.updates[i].terms[k]
				t.padded, t.size = t.whole && smallest < largest, largest
			}
		}
	}
}

// roundUp rounds the size of the largest random batch up by at most an eighth, so that most
// epochs have the same form.
func roundUp(n int) int {
	grain := 1
	for grain*16 < n {
		grain *= 2
	}
	return (n + grain - 1) / grain * grain
}

// stepBytes is the memory that the arrays of a run's steps may take on the device.
var stepBytes = 256 << 20 // tests change it

// bytesPerStep returns the memory of the arrays of a step, about.
func (l *loop) bytesPerStep(r deviceRun) int {
	bytes := 1
	for _, u := range r.updates {
		for _, t := range u.terms {
			term := u.objective[t.term]
			if !t.whole {
				bytes += 4 * t.size
			}
			if term.Augment != nil && term.graphAugmenter() == nil {
				bytes += 4 * t.size * term.augmentedWidth()
			}
		}
		for _, t := range l.device.chain {
			for _, dims := range t.Arrays {
				bytes += 4 * product(dims)
			}
		}
	}
	return bytes
}

func product(dims []int) int {
	size := 1
	for _, d := range dims {
		size *= d
	}
	return size
}

// augmentedWidth returns the number of values that an augmenter makes of a record.
func (t Term) augmentedWidth() int {
	c, noisy := t.Augment.(NoiseAugmenter)
	if !noisy {
		return t.X.Cols
	}
	width, inputs := c.Widths(t.X.Cols)
	for _, w := range inputs {
		width += w
	}
	return width
}

// stepArrays are the arrays of the steps of a run, with one entry per step.
type stepArrays struct {
	steps  int
	uneven bool // whether other lanes have other numbers of steps
	flats  map[string]flatArray
}

type flatArray struct {
	flat any
	dims []int
}

// stepArray returns the memory of an array with entries of a shape. It is made on first use.
func stepArray[T int32 | uint64 | float32](a stepArrays, name string, dims ...int) []T {
	if there, ok := a.flats[name]; ok {
		return there.flat.([]T)
	}
	flat := make([]T, a.steps*product(dims))
	a.flats[name] = flatArray{flat, append([]int{a.steps}, dims...)}
	return flat
}

// entry returns the entry of a step.
func entry[T int32 | uint64 | float32](a stepArrays, step int, name string, dims ...int) []T {
	flat := stepArray[T](a, name, dims...)
	size := len(flat) / a.steps
	return flat[step*size : (step+1)*size]
}

// stackArrays returns the arrays of lanes as tensors, in the order of names: those of one lane as
// they are, those of several with a leading axis of the lanes.
func stackArrays(of []stepArrays) (out []*tensors.Tensor) {
	for _, name := range of[0].names() {
		switch of[0].flats[name].flat.(type) {
		case []int32:
			out = append(out, stackArray[int32](of, name))
		case []uint64:
			out = append(out, stackArray[uint64](of, name))
		case []float32:
			out = append(out, stackArray[float32](of, name))
		}
	}
	return out
}

func stackArray[T int32 | uint64 | float32](of []stepArrays, name string) *tensors.Tensor {
	var all []T
	for _, a := range of {
		all = append(all, a.flats[name].flat.([]T)...)
	}
	dims := of[0].flats[name].dims
	if len(of) > 1 {
		dims = append([]int{len(of)}, dims...)
	}
	return tensors.FromFlatDataAndDimensions(all, dims...)
}

// names returns the names of the arrays in order.
func (a stepArrays) names() []string { return slices.Sorted(maps.Keys(a.flats)) }

// The names of arrays: those of an update, of a term of it, and of a transform of its gradient.
func updateName(update int, what string) string { return fmt.Sprintf("u%d.%s", update, what) }

func termName(update, term int, what string) string {
	return fmt.Sprintf("u%d.t%d.%s", update, term, what)
}

func transformName(update, transform int, what string) string {
	return fmt.Sprintf("u%d.f%d.%s", update, transform, what)
}

// active is the name of the array that says which steps are real.
const active = "active"

// fill returns the arrays of steps of a run. counts has the number of updates before the first,
// by player. A lane without steps waits: its arrays are those of a step that is not real.
func (l *loop) fill(r deviceRun, steps []trainStep, capacity int, counts []int, uneven bool) (stepArrays, error) {
	a := stepArrays{capacity, uneven, map[string]flatArray{}}
	counts = slices.Clone(counts)
	if uneven {
		for s := range stepArray[float32](a, active)[:len(steps)] {
			entry[float32](a, s, active)[0] = 1
		}
	}
	if len(steps) == 0 {
		return a, l.fillStep(a, 0, r, r.steps[0], counts)
	}
	for s, step := range steps {
		if err := l.fillStep(a, s, r, step, counts); err != nil {
			return a, err
		}
		for _, t := range step.updates {
			counts[t.player]++
		}
	}
	return a, nil
}

// fillStep writes the entries of a step after so many updates by player.
func (l *loop) fillStep(a stepArrays, s int, r deviceRun, step trainStep, counts []int) error {
	counts = slices.Clone(counts)
	before := sum(counts)
	for i, t := range step.updates {
		at := before // players that update together draw the same numbers
		if r.rule == Alternating {
			at = sum(counts)
		}
		if err := l.fillUpdate(a, s, i, r.updates[i], t, counts[t.player], uint64(at)); err != nil {
			return err
		}
		counts[t.player]++
	}
	return nil
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// fillUpdate writes the entries of an update: taken is the number of its player's updates
// before, at that of all players.
func (l *loop) fillUpdate(a stepArrays, s, i int, u runUpdate, t update, taken int, at uint64) error {
	l.fillRule(entry[float32](a, s, updateName(i, "rule"), l.device.ruleShape(t.player)...), t.player, taken)
	for k, b := range t.batches {
		if err := l.fillBatch(a, s, i, k, u.terms[k], t, b); err != nil {
			return err
		}
		if l.g.random {
			keys := entry[uint64](a, s, termName(i, k, "keys"), len(l.g.draws))
			for layer := range keys {
				keys[layer] = t.seed.Counter(engine.StreamDropout, at, uint64(b.term), uint64(layer))
			}
		}
	}
	step := l.gradientStep(t, int(at))
	for k, f := range l.device.chain {
		arrays := map[string][]float32{}
		for name, dims := range f.Arrays {
			arrays[name] = entry[float32](a, s, transformName(i, k, name), dims...)
		}
		if f.Fill != nil {
			f.Fill(&step, arrays)
		}
	}
	return nil
}

// fillRule writes the parameters of the optimiser's step for the tensors of a player.
func (l *loop) fillRule(dst []float32, player, taken int) {
	o := l.players[player].optimizer.(nn.GraphOptimizer)
	rates := l.rates(player, l.g.epoch)
	for _, i := range l.device.owned[player] {
		dst = dst[copy(dst, o.StepParams(taken+1, rates[i])):]
	}
}

// fillBatch writes the records of a batch and the weights of its losses.
func (l *loop) fillBatch(a stepArrays, s, i, k int, form runTerm, t update, b batch) error {
	term, records := t.objective[b.term], b.size(t.objective)
	if !form.whole || form.padded {
		entry[int32](a, s, termName(i, k, "count"))[0] = int32(records)
	}
	weights := entry[float32](a, s, termName(i, k, "weights"), len(term.Targets))
	divisor := float64(max(1, records))
	if l.plan.Private != nil { // the losses of single records: no mean
		divisor = 1
	}
	for j, g := range term.Targets {
		weights[j] = float32(g.weightAt(l.g.epoch) / divisor)
	}
	if form.whole {
		return nil
	}
	rows := entry[int32](a, s, termName(i, k, "rows"), form.size)
	for j := range records {
		rows[j] = int32(j)
		if b.rows != nil {
			rows[j] = int32(b.rows[j])
		}
	}
	if augmenter := term.graphAugmenter(); augmenter != nil {
		return l.fillMoves(a, s, i, k, form, term, augmenter, rows[:records])
	}
	if term.Augment == nil {
		return nil
	}
	return l.fillAugmented(a, s, i, k, form, term, b)
}

// fillMoves writes how a graph augments records.
func (l *loop) fillMoves(a stepArrays, s, i, k int, form runTerm, term Term, augmenter GraphAugmenter, rows []int32) error {
	for j := range form.size { // padding moves as record 0 does
		row := 0
		if j < len(rows) {
			row = int(rows[j])
		}
		moves, err := augmenter.Moves(l.g.epoch, term.id(row))
		if err != nil {
			return fmt.Errorf("term %q: augmenting record %d in epoch %d: %w", term.Name, term.id(row), l.g.epoch+1, err)
		}
		copy(entry[int32](a, s, termName(i, k, "moves"), form.size, len(moves))[j*len(moves):], moves)
	}
	return nil
}

// fillAugmented writes augmented records, and the inputs of the loss that a NoiseAugmenter makes.
func (l *loop) fillAugmented(a stepArrays, s, i, k int, form runTerm, term Term, b batch) error {
	n := len(b.rows)
	if b.rows == nil {
		n = term.X.Rows
	}
	x, made, err := term.augmented(b.rows, model.Chunk{N: n, Padded: n}, l.g.epoch)
	if err != nil {
		return err
	}
	copy(entry[float32](a, s, termName(i, k, "x"), form.size, x.Cols), x.Data)
	for name, m := range made {
		copy(entry[float32](a, s, termName(i, k, "in."+name), form.size, m.Cols), m.Data)
	}
	return nil
}
