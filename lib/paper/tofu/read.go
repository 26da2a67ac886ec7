package tofu

// The published logs, and what the measures of package language take of them.

import (
	"context"
	"maps"
	"slices"

	"github.com/lethe-ml/lethe/datasets/logs"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// perAuthor is the number of questions that TOFU asks about one author.
const perAuthor = 20

// run is a published log: of a model that was fine-tuned on all people (full), or without a share of
// them (retain90: without 10 %), with a weight decay.
type run struct {
	model, people, decay string
	*logs.TOFU
}

func (r run) label() string { return r.people + " (wd " + r.decay + ")" }

// The people that a model was fine-tuned on.
const (
	full     = "full"
	retain90 = "retain90"
)

// models are the networks, by the name of their logs.
var models = []struct{ name, file string }{{"Phi-1.5", "phi"}, {"Llama-2-7B", "llama2-7b"}}

// runs lists the published logs, of every model the full ones first.
func runs() (out []run) {
	for _, m := range models {
		for _, people := range []string{full, retain90} {
			for _, decay := range []string{"0", "0.01"} {
				out = append(out, run{model: m.name, people: people, decay: decay})
			}
		}
	}
	for _, people := range []string{"retain95", "retain99"} {
		out = append(out, run{model: "Llama-2-7B", people: people, decay: "0"})
	}
	return out
}

// fileName is the name of a run's log.
func (r run) fileName() string {
	for _, m := range models {
		if m.name == r.model {
			return m.file + "_" + r.people + "_wd" + r.decay
		}
	}
	return ""
}

// load reads the logs of all runs; hashes are of their files.
func load(ctx context.Context) (out []run, hashes map[string]string, err error) {
	out, hashes = runs(), map[string]string{}
	ctx, task := progress.Start(ctx, "reading TOFU's logs", len(out))
	defer task.Done()
	for i, r := range out {
		l, hash, err := logs.LoadTOFU(ctx, r.fileName())
		if err != nil {
			return nil, nil, err
		}
		out[i].TOFU, hashes[r.fileName()] = l, hash
		task.Add(1)
	}
	return out, hashes, nil
}

// find returns the run of a model.
func find(all []run, model, people, decay string) run {
	return all[slices.IndexFunc(all, func(r run) bool { return r.model == model && r.people == people && r.decay == decay })]
}

func negated(x []float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] = -out[i]
	}
	return out
}

// questions returns what package language needs of a set: log-probabilities in place of losses.
func questions(s logs.TOFUSet) language.QuestionSet {
	q := language.QuestionSet{True: negated(s.True), Answers: language.Answers{Right: negated(s.Paraphrase)}, ROUGE: s.ROUGEL}
	for _, w := range s.Wrong {
		q.Answers.Wrong = append(q.Answers.Wrong, negated(w))
	}
	return q
}

// selected returns some of a set's questions.
func selected(s language.QuestionSet, idx []int) language.QuestionSet {
	var out language.QuestionSet
	for _, q := range idx {
		out.True, out.ROUGE = append(out.True, s.True[q]), append(out.ROUGE, s.ROUGE[q])
		out.Answers.Right, out.Answers.Wrong = append(out.Answers.Right, s.Answers.Right[q]), append(out.Answers.Wrong, s.Answers.Wrong[q])
	}
	return out
}

// authors returns the author of every question of a forget or retain set.
func authors(s logs.TOFUSet) (stats.Clusters, error) { return logs.Authors(s.Questions(), perAuthor) }

// logRatios returns ln R of the forgotten questions, in the geometric form.
func (r run) logRatios() (language.Ratios, []float64, error) {
	ratios, err := language.TruthRatio{Form: language.Geometric}.Ratios(questions(r.Forget).Answers)
	if err != nil {
		return ratios, nil, err
	}
	log, err := ratios.Log()
	return ratios, log, err
}

// provenance is that of a table of the given files.
func provenance(e *paper.Env, id, scale string, seeds []int, hashes map[string]string) report.Provenance {
	p := e.Provenance(id, scale, Results, seeds, maps.Clone(hashes), nil)
	p.Engine, p.Kernel, p.Device = "", "", "" // no model is run
	return p
}
