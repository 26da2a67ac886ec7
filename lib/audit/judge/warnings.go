// What is suspicious in a folder although it can be read.

package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/stats"
)

// addWarnings notes what is suspicious: arrays that fit each other and may still be the wrong ones.
func (e *Evidence) addWarnings() {
	e.warnDuplicates()
	e.warnOriginals()
	e.warnAuditedAgain()
	e.doubtReversedLosses()
	e.warnMaskedTokens()
	e.warnGroups()
	e.warnShadows()
	e.warnUnits()
	e.warnOrder()
	e.warnEmbeddings()
	e.warnColumns()
	for _, m := range e.Models {
		if m.Role == Shadow || m.Role == Checkpoint || m.Correct == nil {
			continue
		}
		kept, out := m.ShareCorrect(e.Retain), m.ShareCorrect(e.HeldOut)
		guess := 1 / float64(e.Classes)
		switch {
		case len(e.Retain) >= minForShare && kept < 1.2*guess:
			e.warn("%s is right on %.1f %% of the retained records, and guessing on %.1f %%: are labels and outputs in the same order?",
				m.Name, 100*kept, 100*guess)
			e.doubt(m, "it is right on hardly more of the retained records than guessing")
		case len(e.Retain) >= minForShare && len(e.HeldOut) >= minForShare && out > kept+0.1:
			e.warn("%s is right on %.1f %% of the held-out records and on %.1f %% of the retained ones: are the two sets exchanged?",
				m.Name, 100*out, 100*kept)
		}
	}
	for _, m := range append(append(e.ModelsOf(Unlearned), e.ModelsOf(Original)...), e.ModelsOf(Retrained)...) {
		if m.Correct == nil && e.fitsBetter(m, e.HeldOut, e.Retain) {
			e.warn("%s fits held-out records better than retained ones: are the two sets exchanged%s?", m.Name, probabilitiesToo(m))
		}
		if why := probabilitiesToo(m); m.Role == Unlearned && why != "" && e.fitsBetter(m, e.HeldOut, e.Forget) {
			e.warn("%s fits held-out records better than forgotten ones: were these pushed away%s?", m.Name, why)
		}
		if m.Role == Original && e.fitsBetter(m, e.HeldOut, e.Forget) {
			e.warn("%s fits held-out records better than those to be forgotten: are the two sets exchanged, was it not trained on them, "+
				"are they harder by themselves%s?", m.Name, probabilitiesToo(m))
		}
	}
	for _, m := range e.ModelsOf(Retrained) {
		if e.fitsBetter(m, e.Forget, e.HeldOut) {
			e.warn("%s fits the records to be forgotten better than held-out ones: was it trained on them, are forgotten and retained records "+
				"exchanged, or are they easier by themselves?", m.Name)
		}
	}
	for _, u := range append(e.ModelsOf(Unlearned), e.ModelsOf(Retrained)...) {
		for _, o := range e.ModelsOf(Original) {
			if better := betterFitted(u, o, e.Forget); e.surelyMore(better, e.Forget) {
				e.warn("%s fits %.0f %% of the forget records better than %s does: are the two models exchanged?", u.Name, 100*shareOf(better), o.Name)
			}
		}
	}
}

// probabilitiesToo asks whether losses that are all between 0 and 1, or in percent up to 100, are probabilities of the
// right class, which are large where a loss is small. No loss of a classifier is above 20 for half of the records.
func probabilitiesToo(m *Model) string {
	if m.Outputs != nil || len(m.Losses) == 0 {
		return ""
	}
	within := func(low, high float64) bool {
		return !slices.ContainsFunc(m.Losses, func(v float64) bool { return v < low || v > high })
	}
	if percent := within(0, 100) && median(m.Losses) > 20; !percent && !within(0, 1) {
		return ""
	}
	return ", or are its losses probabilities of the right class (a loss is small where a record is fitted well, a probability is large)"
}

// warnShadows notes shadow models that fit better what they are said not to have been trained on.
func (e *Evidence) warnShadows() {
	reversed := false
	for _, m := range e.ModelsOf(Shadow) {
		var in, out []int
		for i, trained := range m.In {
			if trained {
				in = append(in, i)
			} else {
				out = append(out, i)
			}
		}
		if e.fitsBetter(m, out, in) {
			reversed = true
			e.warn("%s fits records better that are not in its in.npy than those that are: is it the other way round?", m.Name)
		}
	}
	if !reversed {
		e.warnMembership()
		return
	}
	for _, m := range e.ModelsOf(Unlearned) {
		e.doubt(m, "the masks of shadow models that it is compared with may be the wrong way round")
	}
}

// fitsBetter reports whether a model's losses on some records are below those on others, by more than
// chance explains in 997 of 1000 cases.
func (e *Evidence) fitsBetter(m *Model, some, others []int) bool {
	if m.Losses == nil || min(len(some), len(others)) < minForShare {
		return false
	}
	at := func(rows []int) []float64 {
		out := make([]float64, len(rows))
		for k, i := range rows {
			out[k] = -m.Losses[i]
		}
		return out
	}
	auc, err := stats.ClusterAUC(at(some), at(others), e.Clusters(some), e.Clusters(others), 0.997, e.Units())
	return err == nil && auc.Low > 0.5
}

// betterFitted says which records u fits better than o; nil: losses are not known.
func betterFitted(u, o *Model, rows []int) []bool {
	if u.Losses == nil || o.Losses == nil {
		return nil
	}
	out := make([]bool, len(rows))
	for k, i := range rows {
		out[k] = u.Losses[i] < o.Losses[i]
	}
	return out
}

// shareOf is the part of the records that are marked.
func shareOf(marked []bool) float64 {
	n := 0
	for _, m := range marked {
		if m {
			n++
		}
	}
	return float64(n) / float64(max(1, len(marked)))
}

// The levels of surelyMore: three standard errors of a fair coin, in whose place all of a few groups do.
const (
	coinLevel   = 0.00135
	leastGroups = 6
)

// surelyMore reports whether more records are marked than of a fair coin by more than three standard errors,
// 1.5/sqrt(n), and more than half of the records in so many groups that chance does not explain it: an exact count
// over groups, of which there may be few.
func (e *Evidence) surelyMore(marked []bool, rows []int) bool {
	if len(marked) < minForShare || shareOf(marked) <= 0.5+1.5/math.Sqrt(float64(len(marked))) {
		return false
	}
	if !e.grouped() {
		return true
	}
	groups, ups := e.Clusters(rows).Members(), 0
	for _, members := range groups {
		in := make([]bool, len(members))
		for k, at := range members {
			in[k] = marked[at]
		}
		if shareOf(in) > 0.5 {
			ups++
		}
	}
	p, err := stats.SignTest(ups, len(groups)-ups)
	return err == nil && len(groups) >= leastGroups && (p <= coinLevel || ups == len(groups))
}

// minForShare is the number of records below which a share is not used for a warning.
const minForShare = 20

func (e *Evidence) warn(format string, args ...any) {
	e.Notes = append(e.Notes, fmt.Sprintf(format, args...))
}

// warnDuplicates notes arrays of two models with the same bytes. The last checkpoint may be the
// unlearned model, and the first the original.
func (e *Evidence) warnDuplicates() {
	first := map[string]File{}
	for _, f := range e.Files {
		other, known := first[f.SHA256]
		models := strings.Contains(f.Name, "/") && strings.Contains(other.Name, "/")
		if known && models && f.checkpoint == other.checkpoint && !strings.HasSuffix(f.Name, "in.npy") {
			e.warn("%s is byte for byte %s.", f.Name, other.Name)
		}
		if !known {
			first[f.SHA256] = f
		}
	}
}

// warnOriginals notes originals beside the first, which is the one that is compared with.
func (e *Evidence) warnOriginals() {
	if originals := e.ModelsOf(Original); len(originals) > 1 {
		e.warn("there are %d originals: every comparison is with %s, and of the others only the arrays are checked.", len(originals), originals[0].Name)
	}
}

// warnAuditedAgain notes a retrained model that is an unlearned one once more: beside itself no model has a memory. An exact
// retraining may be what is audited, so that the retrained model stays.
func (e *Evidence) warnAuditedAgain() {
	for _, m := range e.ModelsOf(Retrained) {
		for _, u := range e.ModelsOf(Unlearned) {
			if what, same := sameModel(m, u); same {
				e.warn("%s has the %s of %s: beside itself no model has a memory. Was one model saved under both names?", m.Name, what, u.Name)
				e.doubt(u, m.Name+" is the same model")
			}
		}
	}
}

// doubtReversedLosses doubts models whose losses may be log-likelihoods or probabilities, which are large where a loss is small:
// what is remembered would look pushed away.
func (e *Evidence) doubtReversedLosses() {
	for _, m := range e.ModelsOf(Unlearned) {
		if kind := reversedKind(m); kind != "" && !e.showsLosses(m, kind) {
			e.doubt(m, "its losses may be "+kind+", which are large where a loss is small")
		}
	}
}

// reversedKind names what the losses of a model may be in place of losses; "" if their values rule it out.
func reversedKind(m *Model) string {
	switch {
	case len(m.Losses) == 0:
		return ""
	case slices.Max(m.Losses) <= 0 && slices.Min(m.Losses) < 0:
		return "log-likelihoods"
	case probabilitiesToo(m) != "":
		return "probabilities"
	}
	return ""
}

// showsLosses reports whether the numbers of a model are losses for sure, though their values could be of a kind that is not:
// it fits retained records better than held-out ones by them. Where these two do not differ, another model whose values could be of
// that kind may show it, or the original by the forgotten records. Probabilities are told from losses by a difference
// only: where forgotten and held-out records are alike there is nothing to doubt.
func (e *Evidence) showsLosses(m *Model, kind string) bool {
	if e.fitsBetter(m, e.Retain, e.HeldOut) || kind == "probabilities" && !e.fitsBetter(m, e.HeldOut, e.Forget) {
		return true
	}
	if e.fitsBetter(m, e.HeldOut, e.Retain) {
		return false
	}
	return slices.ContainsFunc(e.Models, func(o *Model) bool {
		return o.Role != Shadow && reversedKind(o) == kind &&
			(e.fitsBetter(o, e.Retain, e.HeldOut) || o.Role == Original && e.fitsBetter(o, e.Forget, e.HeldOut))
	})
}

// warnMaskedTokens notes places at which every model gives the true token a log-probability of exactly 0. A cross-entropy has it where
// a token is masked, as a question's, and lenses take it for a certain token.
func (e *Evidence) warnMaskedTokens() {
	var models []*Model
	for _, m := range e.Models {
		if m.Tokens != nil {
			models = append(models, m)
		}
	}
	if len(models) == 0 {
		return
	}
	zero := func(token int) bool {
		return !slices.ContainsFunc(models, func(m *Model) bool { return m.Tokens.LogProb[token] != 0 })
	}
	offset, masked, firsts := models[0].Tokens.Offset, 0, 0
	for token := range models[0].Tokens.LogProb {
		if zero(token) {
			masked++
		}
	}
	for _, start := range offset[:len(offset)-1] {
		if start < len(models[0].Tokens.LogProb) && zero(start) {
			firsts++
		}
	}
	tokens, texts := len(models[0].Tokens.LogProb), len(offset)-1
	if masked > 0 && (float64(masked) >= maskedShare*float64(tokens) || 2*firsts > texts) {
		e.warn("logprob.npy: %d of %d log-probabilities are exactly 0 in all models, %d of them the first of their text: are these places masked? "+
			"Lenses take them for tokens that every model is certain of; leave them out.", masked, tokens, firsts)
	}
}

// maskedShare is the share of tokens from which on zeros in all models are noted: single ones are rounded, as of the end of a text.
const maskedShare = 0.02

// median is the middle of numbers, which are at least one.
func median(x []float64) float64 { return slices.Sorted(slices.Values(x))[len(x)/2] }
