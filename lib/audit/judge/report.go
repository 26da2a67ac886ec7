package judge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/audit"
)

// Report is an audit: what every judgement says of every unlearned model.
type Report struct {
	Evidence *Evidence
	Verdicts []Verdict
	Undone   []Undone
	// Exposures are the single records behind the verdicts of judgements that score them,
	// by the unlearned models and those that they are compared with.
	Exposures []Exposure
	// Trajectory is what the checkpoints say; nil where there are none.
	Trajectory *Trajectory
}

// Undone is a judgement that was not made.
type Undone struct {
	Judgement Judgement
	Layer     string
	Why       string // what would be needed, or what kept it from being made
}

// Name is the judgement's, with the layer.
func (u Undone) Name() string { return Verdict{Judgement: u.Judgement, Layer: u.Layer}.Name() }

// Report makes every judgement that the evidence permits, and says of every other one
// what it would need.
func (e *Evidence) Report(ctx context.Context) (*Report, error) { return e.ReportBy(ctx, All()...) }

// ReportBy is Report by judgements of the caller's choice.
func (e *Evidence) ReportBy(ctx context.Context, judgements ...Judgement) (*Report, error) {
	r := &Report{Evidence: e}
	for _, j := range judgements {
		layers := []string{""}
		if slices.Contains(j.Needs().Arrays, Embedding) {
			layers = e.layers()
		}
		for _, layer := range layers {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r.judge(j, layer)
		}
	}
	var err error
	if r.Trajectory, err = e.Trajectory(ctx); err != nil {
		return nil, err
	}
	r.followPath()
	return r, nil
}

// followPath gives the unlearned model the verdict that the end of a trajectory has by the
// same judgement, which knows of the steps before: one model has one verdict.
func (r *Report) followPath() {
	if r.Trajectory == nil {
		return
	}
	for _, c := range r.Trajectory.Courses {
		last := c.Steps[len(c.Steps)-1]
		k := slices.IndexFunc(r.Verdicts, func(v Verdict) bool { return v.Layer == "" && v.Judgement.Name() == c.Judgement.Name() })
		if last != nil && k >= 0 {
			r.Verdicts[k].Call, r.Verdicts[k].Why = last.Call, last.Why
		}
	}
}

// layers are the embedding, as "", and every activation of an unlearned model.
func (e *Evidence) layers() []string {
	out := []string{""}
	for _, m := range e.Of(Unlearned) {
		for name := range m.layers {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	if len(out) > 1 && !slices.ContainsFunc(e.Of(Unlearned), func(m *Model) bool { return m.embedding != nil }) {
		return out[1:]
	}
	return out
}

// judge makes one judgement at one layer.
func (r *Report) judge(j Judgement, layer string) {
	e := r.Evidence.at(layer)
	if lacks := e.lacks(j.Needs(), layer); len(lacks) > 0 {
		r.Undone = append(r.Undone, Undone{j, layer, "needs " + strings.Join(lacks, "; ")})
		return
	}
	e = e.having(j.Needs().Arrays)
	scores := map[string]*Scores{}
	read := func(role Role) (out []audit.Reading, err error) {
		for k, m := range e.Of(role) {
			if k > 0 && j.Needs().Peers > 1 || len(e.Peers(m)) < j.Needs().Peers {
				continue
			}
			reading, s, err := e.read(j, m)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
			out, scores[m.Name] = append(out, *reading), s
		}
		return out, nil
	}
	unlearned, err := read(Unlearned)
	original, err1 := read(Original)
	retrained, err2 := read(Retrained)
	if err := cmp.Or(err, err1, err2); err != nil {
		r.Undone = append(r.Undone, Undone{j, layer, "could not be made: " + err.Error()})
		return
	}
	for _, u := range unlearned {
		v := Verdict{Judgement: j, Layer: layer, Reading: u, Retrained: retrained}
		if len(original) > 0 {
			v.Original = &original[0]
		}
		v.place()
		r.Verdicts = append(r.Verdicts, v)
		if err := r.expose(e, v, scores); err != nil {
			r.Undone = append(r.Undone, Undone{j, layer, "the records could not be told apart: " + err.Error()})
		}
	}
}

// expose measures how far single records stand out, by the model of a verdict and by
// those that it is compared with.
func (r *Report) expose(e *Evidence, v Verdict, scores map[string]*Scores) error {
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
			return x.Model == name && x.Reversed == reversed && x.Judgement.Name() == v.Judgement.Name()
		})
		if scores[name] == nil || known {
			continue
		}
		x, err := exposure(v.Judgement, e.Models[k], scores[name], reversed, r.questions())
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.Exposures = append(r.Exposures, *x)
	}
	return nil
}

// questions is how often it is asked whether records stand out.
func (r *Report) questions() int {
	n := 0
	for _, j := range All() {
		if _, ok := j.(Scorer); ok {
			n++
		}
	}
	return n * len(FalseRates) * max(1, len(r.Evidence.Of(Unlearned)))
}

// read makes a judgement of a model; the scores are nil of one that has none. What is made
// of outputs is no evidence where the model says the same of many records.
func (e *Evidence) read(j Judgement, m *Model) (*audit.Reading, *Scores, error) {
	r, s, err := e.judge(j, m)
	if few := e.few(j.Needs()); err != nil && few.Call != "" {
		return audit.Without(j.Name(), m.Name, few), nil, nil
	}
	if err == nil && r.NoEvidence.Call == "" && slices.ContainsFunc(j.Needs().Arrays, ofOutputs) {
		r.NoEvidence = e.collapsed(m)
	}
	return r, s, err
}

// judge makes a judgement of a model, and its scores, if it has any, no more than once.
func (e *Evidence) judge(j Judgement, m *Model) (*audit.Reading, *Scores, error) {
	scorer, ok := j.(Scorer)
	if !ok {
		r, err := j.Judge(e, m)
		return r, nil, err
	}
	s, err := scorer.Scores(e, m)
	if err != nil {
		return nil, nil, err
	}
	r, err := s.read(j, m)
	return r, s, err
}

// few is the reason of sets that are too small, if one is that a judgement needs.
func (e *Evidence) few(n Needs) audit.Reason {
	for _, s := range append([]Set{Forget}, n.Sets...) {
		if why := audit.Fewer(len(e.rows(s)), s.words()+" records"); why.Call != "" {
			return why
		}
	}
	return audit.Reason{}
}

// ofOutputs reports whether an array is what a model answers, or made of that.
func ofOutputs(a Array) bool { return a == Losses || a == Outputs || a == Labelled }

// collapsed is the reason against the outputs of a model, and nothing where it has none.
func (e *Evidence) collapsed(m *Model) audit.Reason {
	if m.keys == nil {
		return audit.Reason{}
	}
	others := e.HeldOut
	if len(others) == 0 {
		others = e.Retain
	}
	return audit.Collapsed("outputs", m.keys, e.Forget, others)
}

// at is the evidence with a named activation in the embedding's place.
func (e *Evidence) at(layer string) *Evidence {
	if layer == "" {
		return e
	}
	out := *e
	out.Models = nil
	for _, m := range e.Models {
		one := *m
		one.embedding = m.layers[layer]
		out.Models = append(out.Models, &one)
	}
	return &out
}

// having is the evidence of the models alone that have the arrays.
func (e *Evidence) having(arrays []Array) *Evidence {
	out := *e
	out.Models = slices.DeleteFunc(slices.Clone(e.Models), func(m *Model) bool { return !m.has(arrays, e) })
	return &out
}

// has reports whether a model has all the arrays.
func (m *Model) has(arrays []Array, e *Evidence) bool {
	return !slices.ContainsFunc(arrays, func(a Array) bool { return !m.hasOne(a, e) })
}

func (m *Model) hasOne(a Array, e *Evidence) bool {
	switch a {
	case Losses:
		return m.Losses != nil
	case Outputs:
		return m.outputs != nil
	case Labelled:
		return m.outputs != nil && e.Labels != nil
	case Embedding:
		return m.embedding != nil
	}
	return false
}

// lacks says what is missing for a judgement, in the words of the folder.
func (e *Evidence) lacks(n Needs, layer string) []string {
	var out []string
	for _, s := range n.Sets {
		if len(map[Set][]int{Forget: e.Forget, Retain: e.Retain, HeldOut: e.HeldOut}[s]) == 0 {
			out = append(out, sets[s])
		}
	}
	for _, a := range n.Arrays {
		if e.counted(Unlearned, []Array{a}) == 0 {
			out = append(out, a.words(layer)+" of the unlearned model")
		}
	}
	for _, c := range []struct {
		role Role
		need int
	}{{Unlearned, n.Peers}, {Original, n.Original}, {Retrained, n.Retrained}, {Shadow, n.Shadows}} {
		have := e.counted(c.role, n.Arrays)
		if have >= c.need {
			continue
		}
		what := make([]string, len(n.Arrays))
		for i, a := range n.Arrays {
			what[i] = a.words(layer)
		}
		out = append(out, fmt.Sprintf("%s with %s (there %s)", number(c.need, string(c.role)+" model"), strings.Join(what, " and "), are(have)))
	}
	return out
}

func (e *Evidence) counted(r Role, arrays []Array) int {
	n := 0
	for _, m := range e.Of(r) {
		if m.has(arrays, e) {
			n++
		}
	}
	return n
}

var sets = map[Set]string{
	Forget:  "forget.npy: rows of what was to be forgotten",
	Retain:  "retain.npy: rows of retained records",
	HeldOut: "heldout.npy: rows of records that no model was trained on",
}

// words says where an array comes from.
func (a Array) words(layer string) string {
	switch {
	case a == Losses:
		return "outputs.npy (and labels.npy), or losses.npy"
	case a == Outputs:
		return "outputs.npy"
	case a == Labelled:
		return "outputs.npy (and labels.npy)"
	case layer != "":
		return "activations/" + layer + ".npy"
	}
	return "embedding.npy"
}

// String names all needs in the words of the folder.
func (n Needs) String() string {
	parts := make([]string, 0, len(n.Arrays)+len(n.Sets))
	for _, a := range n.Arrays {
		parts = append(parts, a.words(""))
	}
	for _, s := range n.Sets {
		file, _, _ := strings.Cut(sets[s], ":")
		parts = append(parts, file)
	}
	for _, c := range []struct {
		need int
		what string
	}{{n.Peers, "unlearned model"}, {n.Original, "original model"}, {n.Retrained, "retrained model"}, {n.Shadows, "shadow model"}} {
		if c.need > 0 {
			parts = append(parts, number(c.need, c.what))
		}
	}
	return strings.Join(parts, "; ")
}

func number(n int, what string) string {
	if n == 1 && strings.HasPrefix(what, "o") {
		return "an " + what
	}
	if n == 1 {
		return "a " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func are(n int) string {
	switch n {
	case 0:
		return "is none"
	case 1:
		return "is one"
	}
	return fmt.Sprintf("are %d", n)
}

// reportFolder is where a report of a folder is written, and is no model.
const reportFolder = "report"
