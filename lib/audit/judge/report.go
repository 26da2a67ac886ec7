// The audit itself: every lens that the evidence permits reads every model, and
// the others are skipped with a reason.

package judge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Report is an audit: the verdicts of all lenses on every unlearned model.
type Report struct {
	Evidence *Evidence
	Verdicts []Verdict
	Skipped  []Skipped
	// Inputs is what the inputs of the records say, without any model.
	Inputs *InputChecks
	// Quantised are the verdicts on quantised copies of the unlearned model.
	Quantised []QuantisedVerdict
	// Costs are what unlearning cost, by lenses that read no memory.
	Costs []Cost
	// Exposures are the single records behind the verdicts of lenses that score them, for the
	// unlearned models and those that they are compared with.
	Exposures []Exposure
	// Trajectory holds the readings of the checkpoints; nil where there are none.
	Trajectory *Trajectory
}

// Skipped is a lens that was not used, and why.
type Skipped struct {
	Lens  Lens
	Layer string
	Why   string // what would be needed, or what kept it from being made
}

// Name is the lens's name, with the layer.
func (u Skipped) Name() string { return Verdict{Lens: u.Lens, Layer: u.Layer}.Name() }

// Report reads through every lens that the evidence permits, and says what the others would need.
func (e *Evidence) Report(ctx context.Context) (*Report, error) { return e.ReportBy(ctx) }

// ReportBy is Report with lenses of the caller's choice; none: all.
func (e *Evidence) ReportBy(ctx context.Context, lenses ...Lens) (*Report, error) {
	if len(lenses) == 0 {
		lenses = e.Lenses()
	}
	r := &Report{Evidence: e, Inputs: e.checkInputs()}
	ctx, task := progress.Start(ctx, "auditing", len(lenses)+1)
	defer task.Done()
	for _, j := range lenses {
		layers := []string{""}
		if slices.Contains(j.Info().Needs.Arrays, audit.EmbeddingArray) {
			layers = e.layers()
		}
		for _, layer := range layers {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			part := progress.Begin(j.Name(), 0)
			r.applyLens(j, layer)
			part.Done()
		}
		task.Add(1)
	}
	var err error
	if r.Trajectory, err = e.trajectory(ctx, r.Inputs); err != nil {
		return nil, err
	}
	r.adoptTrajectoryVerdicts()
	r.markWeak()
	return r, nil
}

// adoptTrajectoryVerdicts gives the unlearned model the verdict of the last step of a trajectory
// for the same lens, which uses the steps before: a model has one verdict per lens.
func (r *Report) adoptTrajectoryVerdicts() {
	if r.Trajectory == nil {
		return
	}
	for _, c := range r.Trajectory.Curves {
		last := c.Steps[len(c.Steps)-1]
		k := slices.IndexFunc(r.Verdicts, func(v Verdict) bool { return v.Layer == "" && v.Lens.Name() == c.Lens.Name() })
		if last != nil && k >= 0 {
			r.Verdicts[k].Call, r.Verdicts[k].Why = last.Call, last.Why
		}
	}
}

// layers returns the embedding, as "", and every activation of an unlearned model.
func (e *Evidence) layers() []string {
	out := []string{""}
	for _, m := range e.ModelsOf(Unlearned) {
		for name := range m.Layers {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	if len(out) > 1 && !slices.ContainsFunc(e.ModelsOf(Unlearned), func(m *Model) bool { return m.Embedding != nil }) {
		return out[1:]
	}
	return out
}

// applyLens reads all models through one lens at one layer.
func (r *Report) applyLens(j Lens, layer string) {
	e := r.Evidence.atLayer(layer)
	if lacks := e.missing(j.Info().Needs, layer); len(lacks) > 0 {
		r.Skipped = append(r.Skipped, Skipped{j, layer, "needs " + strings.Join(lacks, "; ")})
		return
	}
	e = e.withArrays(j.Info().Needs.Arrays)
	scores := map[string]*audit.Scores{}
	read := func(role Role) (out []audit.Reading, err error) {
		for k, m := range e.ModelsOf(role) {
			if k > 0 && j.Info().Needs.Peers > 1 || len(e.Peers(m)) < j.Info().Needs.Peers {
				continue
			}
			reading, err := e.readLens(j, m)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
			out, scores[m.Name] = append(out, *reading), reading.Scores
		}
		return out, nil
	}
	unlearned, err := read(Unlearned)
	original, err1 := read(Original)
	retrained, err2 := read(Retrained)
	quantised, failed := read(Quantised)
	if err := cmp.Or(err, err1, err2); err != nil {
		r.Skipped = append(r.Skipped, Skipped{j, layer, "failed: " + err.Error()})
		return
	}
	if failed != nil {
		r.Skipped = append(r.Skipped, Skipped{j, layer, "failed: " + failed.Error()})
	}
	for _, u := range unlearned {
		v := Verdict{Lens: j, Layer: layer, Reading: u, Retrained: retrained, Blind: r.Inputs.difference(), Gone: e.classesGone()}
		if len(original) > 0 {
			v.Original = &original[0]
		}
		if j.Info().Cost {
			r.Costs = append(r.Costs, newCost(v))
			continue
		}
		v.place()
		r.Verdicts = append(r.Verdicts, v)
		r.placeQuantised(v, quantised)
		if err := r.measureExposure(e, v, scores); err != nil {
			r.Skipped = append(r.Skipped, Skipped{j, layer, "single records could not be compared: " + err.Error()})
		}
	}
}

// measureExposure measures how far single records stand out, for the model of a verdict and those
// that it is compared with.
func (r *Report) measureExposure(e *Evidence, v Verdict, scores map[string]*audit.Scores) error {
	names := []string{v.Reading.Model}
	if v.Original != nil {
		names = append(names, v.Original.Model)
	}
	for _, o := range v.Retrained {
		names = append(names, o.Model)
	}
	reversed := v.Call == audit.Beyond
	for _, name := range names {
		k := slices.IndexFunc(e.Models, func(m *Model) bool { return m.Name == name })
		known := slices.ContainsFunc(r.Exposures, func(x Exposure) bool {
			return x.Model == name && x.Reversed == reversed && x.Lens.Name() == v.Lens.Name()
		})
		if scores[name] == nil || known {
			continue
		}
		x, err := newExposure(e, v.Lens, e.Models[k], scores[name], reversed, r.comparisons())
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.Exposures = append(r.Exposures, *x)
	}
	for k := range r.Exposures {
		if x := &r.Exposures[k]; x.Model == v.Reading.Model && x.Reversed == reversed && x.Lens.Name() == v.Lens.Name() {
			return r.explain(x)
		}
	}
	return nil
}

// comparisons is the number of bounds in a report that hold jointly.
func (r *Report) comparisons() int {
	n := 0
	for _, j := range r.Evidence.Lenses() {
		if j.Info().PerRecord {
			n++
		}
	}
	return n * len(FalsePositiveRates) * max(1, len(r.Evidence.ModelsOf(Unlearned)))
}

// readLens reads a model through a lens. A reading from outputs is no evidence where the model gives
// many records the same outputs. That of a retrained model says whether its losses find the sets drawn alike.
func (e *Evidence) readLens(j Lens, m *Model) (*audit.Reading, error) {
	r, err := e.ReadBy(j, m)
	if few := e.tooFewReason(j.Info().Needs); err != nil && few.Call != "" {
		return audit.NoReading(j.Name(), m.Name, few), nil
	}
	if err == nil && r.NoEvidence.Call == "" && slices.ContainsFunc(j.Info().Needs.Arrays, fromOutputs) {
		r.NoEvidence = e.collapsedOutputs(m)
	}
	if err == nil && m.Role == Retrained && !j.Info().Cost {
		r.DrawnAlike = e.DrawnAlike(m)
	}
	return r, err
}

// tooFewReason returns the reason against sets that are too small, if the lens needs one.
func (e *Evidence) tooFewReason(n audit.Needs) audit.Reason {
	for _, s := range append([]audit.Set{Forget}, n.Sets...) {
		if why := audit.TooFewRecords(len(e.Rows(s)), s.Adjective()+" records"); why.Call != "" {
			return why
		}
	}
	return audit.Reason{}
}

// fromOutputs reports whether an array is a model's output or computed from it.
func fromOutputs(a audit.Array) bool {
	return a == audit.LossArray || a == audit.OutputArray || a == audit.LabelledArray || a == audit.TokenArray
}

// collapsedOutputs returns the reason against the outputs of a model; empty where it has none.
func (e *Evidence) collapsedOutputs(m *Model) audit.Reason {
	if m.OutputKeys == nil {
		return audit.Reason{}
	}
	others := e.HeldOut
	if len(others) == 0 {
		others = e.Retain
	}
	return audit.Collapsed("outputs", m.OutputKeys, e.Forget, others)
}

// atLayer returns the evidence with a named activation in place of the embedding.
func (e *Evidence) atLayer(layer string) *Evidence {
	if layer == "" {
		return e
	}
	out := *e
	out.Models = nil
	for _, m := range e.Models {
		one := *m
		one.Embedding = m.Layers[layer]
		out.Models = append(out.Models, &one)
	}
	return &out
}

// withArrays returns the evidence with only those models that have the arrays.
func (e *Evidence) withArrays(arrays []audit.Array) *Evidence {
	out := *e
	out.Models = slices.DeleteFunc(slices.Clone(e.Models), func(m *Model) bool { return !m.Has(arrays, &e.Evidence) })
	return &out
}

// folderArrays are of no model: their files lie in the folder itself.
var folderArrays = []audit.Array{audit.LabelArray, audit.SpaceArray, audit.CompressedArray}

// missing names the files that a lens lacks.
func (e *Evidence) missing(n audit.Needs, layer string) []string {
	var out []string
	if n.Case && e.Case == nil {
		out = append(out, "weights and data: a model of the laboratory")
	}
	for _, s := range n.Sets {
		if len(e.Rows(s)) == 0 {
			out = append(out, setFiles[s])
		}
	}
	for _, a := range n.Arrays {
		if e.countModels(Unlearned, []audit.Array{a}) > 0 {
			continue
		}
		what := fileText(a, layer)
		if !slices.Contains(folderArrays, a) {
			what += " of the unlearned model"
		}
		out = append(out, what)
	}
	arrays := slices.DeleteFunc(slices.Clone(n.Arrays), func(a audit.Array) bool { return slices.Contains(folderArrays, a) })
	for _, c := range []struct {
		role Role
		need int
	}{{Unlearned, n.Peers}, {Original, n.Original}, {Retrained, n.Retrained}, {Shadow, n.Shadows}, {ReferenceModel, n.Reference}} {
		have := e.countModels(c.role, arrays)
		if have >= c.need {
			continue
		}
		what := make([]string, len(arrays))
		for i, a := range arrays {
			what[i] = fileText(a, layer)
		}
		out = append(out, fmt.Sprintf("%s with %s (there %s)", plural(c.need, string(c.role)+" model"), strings.Join(what, " and "), countText(have)))
	}
	return out
}

func (e *Evidence) countModels(r Role, arrays []audit.Array) int {
	n := 0
	for _, m := range e.ModelsOf(r) {
		if m.Has(arrays, &e.Evidence) {
			n++
		}
	}
	return n
}

var setFiles = map[audit.Set]string{
	Forget:  "forget.npy: rows of what was to be forgotten",
	Retain:  "retain.npy: rows of retained records",
	HeldOut: "heldout.npy: rows of records that no model was trained on",
}

// fileText names the file of an array.
func fileText(a audit.Array, layer string) string {
	switch {
	case a == audit.LossArray:
		return "outputs.npy (and labels.npy), losses.npy or logprob.npy"
	case textFiles[a] != "":
		return textFiles[a]
	case a == audit.OutputArray:
		return "outputs.npy"
	case a == audit.LabelledArray:
		return "outputs.npy (and labels.npy)"
	case a == audit.LabelArray:
		return "labels.npy"
	case a == audit.SpaceArray:
		return "inputs.npy, or embedding.npy of a retrained model or the original"
	case layer != "":
		return "activations/" + layer + ".npy"
	}
	return "embedding.npy"
}

// textFiles are the files of the arrays of language models.
var textFiles = map[audit.Array]string{
	audit.TokenArray: "logprob.npy (and offset.npy)", audit.MomentArray: "logprob_mean.npy and logprob_deviation.npy",
	audit.CorrectArray: "correct.npy", audit.PrefixedArray: "logprob_prefixed.npy", audit.CompressedArray: "zlib.npy",
	audit.AnswerArray: "answers.npy", audit.PatchedArray: "patched.npy",
}

// FilesFor names all that a lens needs as files of the folder.
func FilesFor(n audit.Needs) string {
	parts := make([]string, 0, len(n.Arrays)+len(n.Sets))
	for _, a := range n.Arrays {
		parts = append(parts, fileText(a, ""))
	}
	for _, s := range n.Sets {
		file, _, _ := strings.Cut(setFiles[s], ":")
		parts = append(parts, file)
	}
	for _, c := range []struct {
		need int
		what string
	}{{n.Peers, "unlearned model"}, {n.Original, "original model"}, {n.Retrained, "retrained model"}, {n.Shadows, "shadow model"},
		{n.Reference, "reference model"}} {
		if c.need > 0 {
			parts = append(parts, plural(c.need, c.what))
		}
	}
	if n.Verdict > n.Retrained {
		parts = append(parts, "for a verdict "+plural(n.Verdict, "retrained model"))
	}
	return strings.Join(parts, "; ")
}

func plural(n int, what string) string {
	if n == 1 && strings.HasPrefix(what, "o") {
		return "an " + what
	}
	if n == 1 {
		return "a " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func countText(n int) string {
	switch n {
	case 0:
		return "is none"
	case 1:
		return "is one"
	}
	return fmt.Sprintf("are %d", n)
}

// reportFolder is the folder that a report is written to; it is not a model.
const reportFolder = "report"
