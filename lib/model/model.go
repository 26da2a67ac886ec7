// Package model defines what a model is: an [Architecture], a network's declaration, from which
// its weights and its graph follow, and a [Runner], which executes it on plain arrays. Families of
// architectures live in sub-packages.
package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Architecture is a network whose weights are passed in. Its fields, as JSON with their
// defaults filled in ([defaults.Fill]), together with Name identify it in the store. Inside graphs activations are feature-major, [features,
// records]; see package nn.
type Architecture interface {
	// Name is the short name of the family, such as "tabular-mlp".
	Name() string
	// Inputs is the number of features of a record.
	Inputs() int
	// Returns lists the outputs of the network, in a fixed order.
	Returns() []Output
	// Check returns an error for a configuration that cannot be built.
	Check() error
	// Build builds the network on x [Inputs, n]. Its layers take their weights and random inputs
	// from b by name, and so declare them: see InitialWeights, RandomInputs and Forward. It takes
	// the same in training and in inference.
	Build(b *nn.Builder, x *Node) Trace
}

// StateDictNamer is a network whose equivalent PyTorch module names or stores its
// parameters differently.
type StateDictNamer interface {
	// NameStateDict changes the entries of a state_dict from this module's names to
	// PyTorch's.
	NameStateDict(d *nn.StateDict)
}

// StateDict returns the state_dict entries of the equivalent PyTorch module; see
// docs/guide/state-dicts.md for the modules. like are weights of the network.
func StateDict(a Architecture, like nn.Params) nn.StateDict {
	d := nn.NewStateDict(like)
	if t, ok := a.(StateDictNamer); ok {
		t.NameStateDict(&d)
	}
	return d
}

// Output is one named output of a network, with the number of values per record.
type Output struct {
	Name  string
	Width int
}

// Classifier is a network with the single output nn.Logits, one score per class.
type Classifier interface {
	Architecture
	// Classes is the number of classes.
	Classes() int
}

// Shaped is a network whose records have axes, such as images.
type Shaped interface {
	Architecture
	// Axes are the axes of a record in row-major order: Inputs is their product.
	Axes() []int
}

// TokenReader is a network whose records are numbers of tokens.
type TokenReader interface {
	Architecture
	// VocabularySize is the number of tokens that the network has an embedding for.
	VocabularySize() int
}

// ClassifierOutputs returns the outputs of a classifier.
func ClassifierOutputs(classes int) []Output { return []Output{{nn.Logits, classes}} }

// OutputWidths returns the widths of a network's outputs by name.
func OutputWidths(a Architecture) map[string]int {
	out := map[string]int{}
	for _, h := range a.Returns() {
		out[h.Name] = h.Width
	}
	return out
}

// Trace is the result of a forward pass.
type Trace struct {
	Outputs   map[string]*Node // by their names, [width, n] each
	Embedding *Node            // [width, n]: what representation metrics read; for a classifier the input of the last layer
	Layers    []Layer          // every named activation, in order
}

// ClassifierTrace returns the trace of a classifier.
func ClassifierTrace(logits, embedding *Node, layers ...Layer) Trace {
	return Trace{Outputs: map[string]*Node{nn.Logits: logits}, Embedding: embedding, Layers: layers}
}

// Layer is one named activation, [width, n].
type Layer struct {
	Name  string
	Value *Node
}

// Prediction is a model's output in inference as plain arrays, one row per record.
type Prediction struct {
	Outputs   map[string]array.Matrix[float32] // by their names
	Embedding array.Matrix[float32]
	Layers    map[string]array.Matrix[float32] // nil unless asked for
}

// Logits returns a classifier's scores, one column per class; empty for other networks.
func (p *Prediction) Logits() array.Matrix[float32] { return p.Outputs[nn.Logits] }

// Runner executes an architecture on an engine. It compiles each graph once per chunk shape
// and is safe for concurrent use.
type Runner struct {
	Engine   *engine.Engine
	Arch     Architecture
	infer    *Exec
	layers   *Exec
	declared declaration
	programs programs
}

// deviceBatches is the number of times MaxBatch that an engine with separate memory takes at once.
// MaxBatch is chosen for the caches of a processor; a device has gigabytes for activations, and each
// execution there has a fixed cost. (The steps of a training are whole batches; see package train.)
const deviceBatches = 64

// MaxBatch is an architecture that needs fewer rows per execution than the engine's
// default, because the activations of a record are large.
type MaxBatch interface {
	MaxBatch() int
}

// UsesBatchStats is an architecture whose training mixes the records of a batch, as batch
// normalisation does. Its training batches are not cut into chunks, since the statistics
// are those of the whole batch. On the engine's wide backend a batch of n records is one
// execution without padding.
type UsesBatchStats interface {
	UsesBatchStats() bool
}

// HasBatchStats reports whether training mixes the records of a batch.
func HasBatchStats(a Architecture) bool {
	c, ok := a.(UsesBatchStats)
	return ok && c.UsesBatchStats()
}

// NewRunner returns a runner for the architecture with its defaults, which is the runner's Arch.
func NewRunner(e *engine.Engine, arch Architecture) (*Runner, error) {
	if arch == nil {
		return nil, errors.New("model: no architecture (nil) for the runner")
	}
	arch = defaults.Fill(arch)
	d, err := declare(arch, nil)
	if err != nil {
		return nil, err
	}
	if len(arch.Returns()) == 0 {
		return nil, fmt.Errorf("model %s: Returns names no output", arch.Name())
	}
	if c, ok := arch.(MaxBatch); ok {
		rows := c.MaxBatch()
		if e.SeparateMemory() {
			rows *= deviceBatches
		}
		e = e.WithChunkRows(min(rows, e.ChunkRows()))
	}
	r := &Runner{Engine: e, Arch: arch, declared: d}
	if r.infer, err = r.compile(r.outputs); err != nil {
		return nil, err
	}
	r.layers, err = r.compile(func(in []*Node) []*Node {
		tr := r.forward(in)
		out := r.outputNodes(tr, in[len(in)-1])
		for _, l := range tr.Layers {
			out = append(out, l.Value)
		}
		return out
	})
	return r, err
}

func (r *Runner) compile(f func(in []*Node) []*Node) (*Exec, error) {
	exec, err := NewExec(r.Engine.Backend(), f)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", r.Arch.Name(), err)
	}
	return exec.SetMaxCache(-1), nil
}

func (r *Runner) outputs(in []*Node) []*Node { return r.outputNodes(r.forward(in), in[len(in)-1]) }

// outputNodes returns the outputs for the records x in order and, after them, the embedding.
func (r *Runner) outputNodes(tr Trace, x *Node) []*Node {
	if err := checkTrace(r.Arch, tr, x.Shape().Dimensions[1]); err != nil {
		panic(err)
	}
	var out []*Node
	for _, h := range r.Arch.Returns() {
		out = append(out, tr.Outputs[h.Name])
	}
	return append(out, tr.Embedding)
}

// prediction names the results of outputNodes; anything after the embedding is ignored.
func (r *Runner) prediction(out []array.Matrix[float32]) *Prediction {
	p := &Prediction{Outputs: map[string]array.Matrix[float32]{}}
	for i, h := range r.Arch.Returns() {
		p.Outputs[h.Name] = out[i]
	}
	p.Embedding = out[len(r.Arch.Returns())]
	return p
}

// Classes returns the number of classes, or an error for a network that is not a
// classifier.
func (r *Runner) Classes() (int, error) {
	if c, ok := r.Arch.(Classifier); ok {
		return c.Classes(), nil
	}
	return 0, fmt.Errorf("model %s: is not a classifier", r.Arch.Name())
}

func (r *Runner) forward(in []*Node) Trace {
	last := len(in) - 1
	return r.Forward(&nn.Tape{}, in[:last], in[last], nil)
}

// Forward is [Forward] of the runner's architecture.
func (r *Runner) Forward(t *nn.Tape, p []*Node, x *Node, draws []*Node) Trace {
	return r.declared.forward(r.Arch, t, p, x, draws)
}

// RandomInputs lists the random numbers that training needs. The result must not be changed.
func (r *Runner) RandomInputs() []nn.RandomInput { return r.declared.random }

// WeightShapes returns the names and shapes of the weights, without values. The result must
// not be changed.
func (r *Runner) WeightShapes() nn.Params { return r.declared.weights }

// CheckWeights returns an error for weights that do not fit the architecture: it names the
// first tensor whose name or shape differs, or the first element that is not finite.
func (r *Runner) CheckWeights(p nn.Params) error {
	if err := nn.SameShape(p, r.declared.weights); err != nil {
		return fmt.Errorf("the model does not fit %s: %w", r.Arch.Name(), err)
	}
	return p.Check()
}

// Predict runs inference (dropout off) on the rows of x.
func (r *Runner) Predict(p nn.Params, x array.Matrix[float32]) (*Prediction, error) {
	out, err := r.run(r.infer, p, x, nil)
	if err != nil {
		return nil, err
	}
	return r.prediction(out), nil
}

// PredictOutputs is Predict with only the named outputs and the embedding; the others,
// which can take much memory, are left empty.
func (r *Runner) PredictOutputs(p nn.Params, x array.Matrix[float32], names ...string) (*Prediction, error) {
	all := r.Arch.Returns()
	for _, name := range names {
		if !slices.ContainsFunc(all, func(o Output) bool { return o.Name == name }) {
			return nil, fmt.Errorf("model %s: there is no output %q", r.Arch.Name(), name)
		}
	}
	out, err := r.run(r.infer, p, x, func(k int) bool { return k == len(all) || slices.Contains(names, all[k].Name) })
	if err != nil {
		return nil, err
	}
	return r.prediction(out), nil
}

// PredictLayers is Predict with every named layer activation.
func (r *Runner) PredictLayers(p nn.Params, x array.Matrix[float32]) (*Prediction, error) {
	return r.PredictNamed(p, x)
}

// PredictNamed is PredictLayers with only the named layers; the activations of image
// networks take much memory. No name means all layers.
func (r *Runner) PredictNamed(p nn.Params, x array.Matrix[float32], names ...string) (*Prediction, error) {
	known := r.declared.layers
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("model %s: there is no layer %q; there are %s", r.Arch.Name(), name, strings.Join(known, ", "))
		}
	}
	first := len(r.Arch.Returns()) + 1
	out, err := r.run(r.layers, p, x, func(k int) bool {
		return k < first || len(names) == 0 || slices.Contains(names, known[k-first])
	})
	if err != nil {
		return nil, err
	}
	pred := r.prediction(out)
	pred.Layers = map[string]array.Matrix[float32]{}
	for i, name := range known {
		if len(names) == 0 || slices.Contains(names, name) {
			pred.Layers[name] = out[first+i]
		}
	}
	return pred, nil
}

// LayerNames returns the names of the activations, in the order of the network.
func (r *Runner) LayerNames() []string { return slices.Clone(r.declared.layers) }

// Upload copies the weights, in order, to the engine's device as inputs of executions,
// which may share them. p must not be changed before they are freed (Finalize): the engine
// may read the weights in place.
func (r *Runner) Upload(p nn.Params) ([]any, error) { return Upload(r.Engine, p) }

// Upload copies weights, in order, to an engine's device, as Runner.Upload does.
func Upload(e *engine.Engine, p nn.Params) ([]any, error) {
	out := make([]any, len(p))
	for i, v := range p {
		t, err := e.Wrap(v.Data, v.Shape...)
		if err != nil {
			return nil, fmt.Errorf("model: uploading %s: %w", v.Name, err)
		}
		out[i] = t
	}
	return out, nil
}

// Finalize frees tensors at once instead of at the next garbage collection.
func Finalize[T any](ts []T) {
	for _, t := range ts {
		if x, ok := any(t).(*tensors.Tensor); ok && x != nil {
			_ = x.FinalizeAll()
		}
	}
}

// checkInputs returns an error for weights or records that the architecture cannot take.
func (r *Runner) checkInputs(p nn.Params, x array.Matrix[float32]) error {
	if x.Cols != r.Arch.Inputs() {
		return fmt.Errorf("model %s: takes %d features, the data have %d", r.Arch.Name(), r.Arch.Inputs(), x.Cols)
	}
	if err := x.Check("data"); err != nil {
		return fmt.Errorf("model %s: %w", r.Arch.Name(), err)
	}
	if x.Rows == 0 {
		return fmt.Errorf("model %s: no rows to predict", r.Arch.Name())
	}
	if err := r.CheckWeights(p); err != nil {
		return fmt.Errorf("model %s: %w", r.Arch.Name(), err)
	}
	return nil
}

// run executes on chunks of rows and stacks the outputs, one row per record. Outputs for
// which keep returns false are left empty; a nil keep keeps all.
func (r *Runner) run(exec *Exec, p nn.Params, x array.Matrix[float32], keep func(output int) bool) ([]array.Matrix[float32], error) {
	if err := r.checkInputs(p, x); err != nil {
		return nil, err
	}
	weights, err := r.Upload(p)
	if err != nil {
		return nil, err
	}
	defer Finalize(weights)
	chunks := Chunks(x.Rows, r.Engine.ChunkRows())
	parts := make([][]*tensors.Tensor, len(chunks))
	var task *progress.Task
	if len(chunks) > 1 {
		task = progress.Begin("predicting", len(chunks))
		defer task.Done()
	}
	err = r.Engine.Parallel(len(chunks), func(i int) error {
		defer task.Add(1)
		c := chunks[i]
		in, err := FeatureMajor(r.Engine, x, nil, c)
		if err != nil {
			return err
		}
		defer in.FinalizeAll()
		out, err := exec.Call(append(weights[:len(weights):len(weights)], in)...)
		for k := range out {
			if keep != nil && !keep(k) {
				out[k].FinalizeAll()
				out[k] = nil
			}
		}
		parts[i] = out
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("model %s: inference: %w", r.Arch.Name(), engine.Explain(err))
	}
	return stackChunks(parts, chunks, x.Rows)
}

func stackChunks(parts [][]*tensors.Tensor, chunks []Chunk, rows int) ([]array.Matrix[float32], error) {
	out := make([]array.Matrix[float32], len(parts[0]))
	for k := range out {
		if parts[0][k] == nil {
			continue
		}
		width := parts[0][k].Shape().Dimensions[0]
		m := array.New[float32](rows, width)
		for i, c := range chunks {
			err := tensors.ConstFlatData(parts[i][k], func(flat []float32) {
				for j := range width {
					for n := range c.N {
						m.Data[(c.First+n)*width+j] = flat[j*c.Padded+n]
					}
				}
			})
			if err != nil {
				return nil, err
			}
		}
		out[k] = m
	}
	for _, p := range parts {
		Finalize(p)
	}
	return out, nil
}

// Chunk is a range of N records starting at First, padded with empty records to a multiple
// of 32 so that few different shapes have to be compiled.
type Chunk struct{ First, N, Padded int }

// Chunks cuts n records into chunks of at most max.
func Chunks(n, max int) []Chunk {
	var out []Chunk
	for first := 0; first < n; first += max {
		k := min(max, n-first)
		out = append(out, Chunk{First: first, N: k, Padded: min(max, (k+31)/32*32)})
	}
	return out
}

// tileRecords and tileFeatures are the size of the blocks that FeatureMajor transposes: a
// block fits the first-level cache, and the values of a feature fill one cache line.
const tileRecords, tileFeatures = 16, 128

// FeatureMajor copies the chunk's records into a [features, Padded] tensor of an engine;
// rows says which row of x each record is, nil for the identity.
func FeatureMajor(e *engine.Engine, x array.Matrix[float32], rows []int, c Chunk) (*tensors.Tensor, error) {
	return e.FromFunc(func(flat []float32) {
		array.SplitRows(x.Cols, 4*c.N, func(from, to int) { transposeFeatures(flat, x, rows, c, from, to) })
	}, x.Cols, c.Padded)
}

// TransposeInto writes the records of x to dst, feature by feature, [features, padded], with zeros
// for the records that x does not have.
func TransposeInto(dst []float32, x array.Matrix[float32], padded int) {
	c := Chunk{N: x.Rows, Padded: padded}
	array.SplitRows(x.Cols, 4*c.N, func(from, to int) { transposeFeatures(dst, x, nil, c, from, to) })
}

// transposeFeatures writes features from to to-1 of FeatureMajor. Since records are
// scattered in memory, each is read in one piece first.
func transposeFeatures(flat []float32, x array.Matrix[float32], rows []int, c Chunk, from, to int) {
	all := to - from
	for f := from; f < to; f++ {
		clear(flat[f*c.Padded+c.N : (f+1)*c.Padded])
	}
	side := make([]float32, min(tileRecords, c.N)*all)
	for first := 0; first < c.N; first += tileRecords {
		n := min(tileRecords, c.N-first)
		for k := range n {
			i := c.First + first + k
			if rows != nil {
				i = rows[i]
			}
			copy(side[k*all:], x.Row(i)[from:to])
		}
		for f := 0; f < all; f += tileFeatures {
			block := kernels.Matrix[float32]{Data: side[f:], Rows: min(tileFeatures, all-f), Cols: n, RowStride: 1, ColStride: all}
			if err := kernels.Transpose(flat[(from+f)*c.Padded+first:], c.Padded, block); err != nil {
				panic(err) // cannot happen: the sizes are computed above
			}
		}
	}
}
