// Evaluation logs of open-unlearning.

package logs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

// openFile is the name that open-unlearning gives to its log of the TOFU benchmark.
const openFile = "TOFU_EVAL.json"

// unusedOpen are metrics of open-unlearning that are known and hold nothing that is read here: numbers
// of other metrics, scores of attacks without the losses behind them, and classifiers' scores.
var unusedOpen = []string{"forget_quality", "model_utility", "privleak", "extraction_strength", "exact_memorization", "forget_Q_A_gibberish",
	"forget_Q_A_PARA_ROUGE", "forget_Q_A_PERT_ROUGE", "mia_min_k", "mia_min_k_plus_plus", "mia_loss", "mia_zlib", "mia_gradnorm", "mia_reference",
	"ra_Q_A_Prob_normalised", "wf_Q_A_Prob_normalised"}

// openMetric is a metric of the log: a value, and for most one per question, by its number.
type openMetric[T any] struct {
	Value json.RawMessage `json:"agg_value"`
	Each  map[string]*T   `json:"value_by_index"` // nil: null, as the program writes where it failed
}

// openAnswer holds the probability per token of an answer, and its loss. Pointers tell what is missing or null from 0.
type openAnswer struct {
	Prob *float64 `json:"prob"`
	Loss *float64 `json:"avg_loss"`
}

func (v openAnswer) missing() []string {
	return missingOf(given{"prob", v.Prob != nil}, given{"avg_loss", v.Loss != nil})
}

// openWrong is openAnswer of wrong answers.
type openWrong struct {
	Prob []*float64 `json:"prob"`
	Loss []*float64 `json:"avg_loss"`
}

func (v openWrong) missing() []string {
	return missingOf(given{"prob", v.Prob != nil}, given{"avg_loss", v.Loss != nil})
}

// openRecall holds the recalls of an answer, and texts. The F-measure and the question are not used.
type openRecall struct {
	ROUGE1    *float64 `json:"rouge1_recall"`
	ROUGEL    *float64 `json:"rougeL_recall"`
	FMeasure  *float64 `json:"rougeL_f1"`
	Question  string   `json:"input"`
	True      *string  `json:"ground_truth"`
	Generated *string  `json:"generation"`
}

func (v openRecall) missing() []string {
	return missingOf(given{"rouge1_recall", v.ROUGE1 != nil}, given{"rougeL_recall", v.ROUGEL != nil}, given{"ground_truth", v.True != nil},
		given{"generation", v.Generated != nil})
}

type openScore struct {
	Score *float64 `json:"score"`
}

func (v openScore) missing() []string { return missingOf(given{"score", v.Score != nil}) }

// openValue is what a metric says of a question.
type openValue interface {
	missing() []string // the names of the numbers and texts that are missing or null
}

// given says whether a number or text of a question is there.
type given struct {
	name  string
	there bool
}

func missingOf(list ...given) (names []string) {
	for _, one := range list {
		if !one.there {
			names = append(names, one.name)
		}
	}
	return names
}

// ReadOpenUnlearning reads the log that open-unlearning (locuslab/open-unlearning, read at commit
// d3d7cf9e) writes of the TOFU benchmark: a folder with TOFU_EVAL.json, or that file, plain or as .gz.
// Losses are means per token over the whole answer and the end of the text, as in TOFU's own logs. The
// sets about real authors and facts are read where the log has them, and have no questions otherwise.
//
// It checks that questions are numbered from 0 without a gap, that losses are not below 0 and are those
// of the probabilities, that truth ratios, of either published form, are those of the losses, and that
// recalls are in [0, 1]. All that is wrong is one list, by key and question. Unknown keys are refused,
// and so is a summary, which has no questions.
func ReadOpenUnlearning(path string) (*TOFU, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, openFile)
	}
	b, err := readText(path)
	if err != nil {
		return nil, err
	}
	out, err := parseOpenUnlearning(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out.Path = path
	return out, nil
}

// openLog is the log: its metrics as text, and what is wrong with them.
type openLog struct {
	text     []byte
	metrics  map[string]json.RawMessage
	problems []error
}

// parseOpenUnlearning reads the JSON text of a log.
func parseOpenUnlearning(b []byte) (*TOFU, error) {
	l := openLog{text: b}
	if err := decode(b, &l.metrics); err != nil {
		return nil, err
	}
	if l.isSummary() {
		return nil, fmt.Errorf("it is a summary, which has one number per metric and no questions: name %s", openFile)
	}
	for _, key := range slices.Sorted(maps.Keys(l.metrics)) {
		if !knownOpen(key) {
			l.problems = append(l.problems, fmt.Errorf("%s is not known: it is no metric of open-unlearning's TOFU evaluation", key))
		}
	}
	var out TOFU
	l.set("forget", "forget_Q_A_PARA_Prob", &out.Forget)
	l.set("retain", "retain_Q_A_PARA_Prob", &out.Retain)
	if l.has("ra") {
		l.set("ra", "ra_Q_A_Prob", &out.Authors)
	}
	if l.has("wf") {
		l.set("wf", "wf_Q_A_Prob", &out.Facts)
	}
	if err := errors.Join(l.problems...); err != nil {
		return nil, err
	}
	return &out, nil
}

// isSummary reports whether every metric is a number.
func (l *openLog) isSummary() bool {
	for _, value := range l.metrics {
		var v float64
		if json.Unmarshal(value, &v) != nil {
			return false
		}
	}
	return len(l.metrics) > 0
}

// usedOpen are the metrics of a set that are read.
var usedOpen = []string{"Q_A_Prob", "Q_A_PARA_Prob", "Q_A_PERT_Prob", "Q_A_ROUGE", "Truth_Ratio", "truth_ratio"}

func knownOpen(key string) bool {
	prefix, metric, _ := strings.Cut(key, "_")
	return slices.Contains(unusedOpen, key) || slices.Contains([]string{"forget", "retain", "ra", "wf"}, prefix) && slices.Contains(usedOpen, metric)
}

// has reports whether the log has a metric of a set from which the set is read.
func (l *openLog) has(prefix string) bool {
	for _, metric := range usedOpen[:4] {
		if _, ok := l.metrics[prefix+"_"+metric]; ok {
			return true
		}
	}
	return false
}

// set reads a set whose metrics have a prefix. rightKey is the key of the right answers in other words, or
// of the true ones where there are none.
func (l *openLog) set(prefix, rightKey string, to *TOFUSet) {
	key := func(metric string) string { return prefix + "_" + metric }
	answers := openAnswers(l, key("Q_A_Prob"), 0)
	n := len(answers)
	if n == 0 {
		return
	}
	paraphrases := openAnswers(l, rightKey, n)
	wrong := openColumn[openWrong](l, key("Q_A_PERT_Prob"), n)
	texts := openColumn[openRecall](l, key("Q_A_ROUGE"), n)
	if len(paraphrases) != n || len(wrong) != n || len(texts) != n {
		return
	}
	for q := range n {
		recall := texts[q]
		l.checkLoss(key("Q_A_Prob"), q, answers[q].Loss, answers[q].Prob)
		l.checkLoss(rightKey, q, paraphrases[q].Loss, paraphrases[q].Prob)
		l.problems = append(append(l.problems, checkRecall(key("Q_A_ROUGE"), q, *recall.ROUGE1)...), checkRecall(key("Q_A_ROUGE"), q, *recall.ROUGEL)...)
		to.True, to.Paraphrase = append(to.True, answers[q].Loss), append(to.Paraphrase, paraphrases[q].Loss)
		to.Wrong = append(to.Wrong, l.wrongLosses(key("Q_A_PERT_Prob"), q, wrong[q]))
		to.ROUGE1, to.ROUGEL = append(to.ROUGE1, *recall.ROUGE1), append(to.ROUGEL, *recall.ROUGEL)
		to.Texts = append(to.Texts, TOFUText{Question: recall.Question, Generated: *recall.Generated, True: *recall.True})
	}
	for _, metric := range usedOpen[4:] {
		l.checkRatios(key(metric), *to)
	}
}

// answerNumbers are the numbers of an openAnswer.
type answerNumbers struct{ Prob, Loss float64 }

// openAnswers is openColumn of answers.
func openAnswers(l *openLog, key string, n int) (out []answerNumbers) {
	for _, v := range openColumn[openAnswer](l, key, n) {
		out = append(out, answerNumbers{*v.Prob, *v.Loss})
	}
	return out
}

// openColumn returns a metric's values of questions 0 ... n-1, as many as it has where n is 0, and none
// if something is wrong with it.
func openColumn[T openValue](l *openLog, key string, n int) []T {
	fail := func(err error) []T {
		l.problems = append(l.problems, err)
		return nil
	}
	raw, ok := l.metrics[key]
	if !ok {
		return fail(fmt.Errorf("%s is missing", key))
	}
	var m openMetric[T]
	if err := files.DecodeStrict(raw, &m); err != nil {
		err = files.DecodeStrict(l.inPlace(raw), &m) // with the line of the file
		return fail(fmt.Errorf("%s: %w", key, err))
	}
	if len(m.Each) == 0 {
		return fail(fmt.Errorf("%s has no questions", key))
	}
	if n == 0 {
		n = len(m.Each)
	}
	var list []error
	out := column(&list, key, m.Each, n)
	for q, v := range out {
		if names := v.missing(); m.Each[strconv.Itoa(q)] != nil && len(names) > 0 {
			list = append(list, fmt.Errorf("%s: question %d: %s missing or null", key, q, isOrAre(names)))
		}
	}
	if len(list) > 0 {
		return fail(errors.Join(list...))
	}
	return out
}

// inPlace returns a value of the log behind as many line ends as stand before it.
func (l *openLog) inPlace(raw []byte) []byte {
	before := l.text[:max(0, bytes.Index(l.text, raw))]
	return append(bytes.Repeat([]byte("\n"), bytes.Count(before, []byte("\n"))), raw...)
}

// isOrAre joins names and a verb.
func isOrAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}

// bfloat16Error is how far a probability is off that was computed in 16 bits, relative to it.
const bfloat16Error = 0.01

func (l *openLog) checkLoss(key string, q int, loss, probability float64) {
	switch want := math.Exp(-loss); {
	case loss < 0:
		l.problems = append(l.problems, fmt.Errorf("%s: question %d has a loss of %v, below 0", key, q, loss))
	case math.Abs(probability-want) > bfloat16Error*max(want, 1e-3):
		l.problems = append(l.problems, fmt.Errorf("%s: question %d has the probability %v, and its loss %v gives %v", key, q, probability, loss, want))
	}
}

// wrongLosses returns the losses of a question's wrong answers, checked.
func (l *openLog) wrongLosses(key string, q int, w openWrong) []float64 {
	losses, err := elements(w.Loss)
	probabilities, err2 := elements(w.Prob)
	switch {
	case err != nil:
		l.problems = append(l.problems, fmt.Errorf("%s: question %d: avg_loss: %w", key, q, err))
	case err2 != nil:
		l.problems = append(l.problems, fmt.Errorf("%s: question %d: prob: %w", key, q, err2))
	case len(losses) == 0 || len(losses) != len(probabilities):
		l.problems = append(l.problems, fmt.Errorf("%s: question %d has %d losses and %d probabilities of wrong answers", key, q, len(losses),
			len(probabilities)))
	default:
		for k, loss := range losses {
			l.checkLoss(fmt.Sprintf("%s, wrong answer %d", key, k), q, loss, probabilities[k])
		}
	}
	return losses
}

// checkRatios compares the truth ratios with the losses, where the log has them: w/(c + 1e-10) or
// c/(c + w + 1e-10).
func (l *openLog) checkRatios(key string, s TOFUSet) {
	if _, ok := l.metrics[key]; !ok {
		return
	}
	for q, ratio := range openColumn[openScore](l, key, s.Questions()) {
		if len(s.Wrong[q]) == 0 {
			continue // said already
		}
		mean := 0.0
		for _, loss := range s.Wrong[q] {
			mean += loss / float64(len(s.Wrong[q]))
		}
		c, w := math.Exp(-s.Paraphrase[q]), math.Exp(-mean)
		if published, knowledge := w/(c+1e-10), c/(c+w+1e-10); !closeTo(*ratio.Score, published) && !closeTo(*ratio.Score, knowledge) {
			l.problems = append(l.problems, fmt.Errorf("%s: question %d has %v, its losses give %v", key, q, *ratio.Score, published))
		}
	}
}
