// TOFU's evaluation logs.

package logs

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// TOFU is an evaluation log of one model as the TOFU benchmark publishes them (locuslab/tofu,
// eval_results of its data set): four sets of questions.
type TOFU struct {
	Forget  TOFUSet // eval_log_forget.json, about the people who were to be forgotten
	Retain  TOFUSet // eval_log.json, about people who stay
	Authors TOFUSet // eval_real_author_wo_options.json
	Facts   TOFUSet // eval_real_world_wo_options.json
	Path    string  // of the file that it was read from
}

// TOFUSet holds a set's questions in their order. Losses are means per token, of natural logarithms,
// over all tokens of the answer and the end of the text: minus the mean log-probability.
type TOFUSet struct {
	True       []float64   // loss of the true answer (avg_gt_loss)
	Tokens     []int       // of the true answer, with the end of the text (num_token_gt); nil: not known
	Paraphrase []float64   // of the true answer in other words (avg_paraphrased_loss); in Authors and Facts of the true answer itself
	Wrong      [][]float64 // of the wrong answers (average_perturb_loss): five, or three
	ROUGE1     []float64   // recall of the model's answer, with stemming
	ROUGEL     []float64
	Texts      []TOFUText
}

// TOFUText is a question, what the model answered, and the true answer (generated_text).
type TOFUText struct{ Question, Generated, True string }

// Questions is the number of questions.
func (s TOFUSet) Questions() int { return len(s.True) }

// tofuFile is the file: every value is a map from the question's number to a number, a list or texts.
type tofuFile struct {
	Retain  *tofuTable `json:"eval_log.json"`
	Forget  *tofuTable `json:"eval_log_forget.json"`
	Authors *tofuTable `json:"eval_real_author_wo_options.json"`
	Facts   *tofuTable `json:"eval_real_world_wo_options.json"`
}

// tofuTable holds pointers, so that null, which encoding/json would read as 0, is found.
type tofuTable struct {
	AvgTrue       map[string]*float64    `json:"avg_gt_loss"`
	True          map[string]*float64    `json:"gt_loss"`
	TrueTokens    map[string]*int        `json:"num_token_gt"`
	AvgParaphrase map[string]*float64    `json:"avg_paraphrased_loss"`
	Paraphrase    map[string]*float64    `json:"paraphrased_loss"`
	ParaTokens    map[string]*int        `json:"num_token_paraphrased"`
	AvgWrong      map[string]*[]*float64 `json:"average_perturb_loss"`
	Wrong         map[string]*[]*float64 `json:"perturb_loss"`
	WrongTokens   map[string]*[]*int     `json:"num_token_perturb"`
	TruthRatio    map[string]*float64    `json:"truth_ratio"`
	ROUGE1        map[string]*float64    `json:"rouge1_recall"`
	ROUGEL        map[string]*float64    `json:"rougeL_recall"`
	Generated     map[string]*[]*string  `json:"generated_text"`
	Normalised    map[string]*float64    `json:"normalized_gt_loss"` // of real authors and facts only; not used
}

// ReadTOFU reads a log. It checks that questions are numbered from 0 without a gap under every key,
// that losses are not below 0, that a mean is its sum over its number of tokens, that the truth
// ratio is exp(paraphrase - mean of wrong) of the losses, and that recalls are in [0, 1]. All that is
// wrong is one list; unknown keys are refused.
func ReadTOFU(path string) (*TOFU, error) {
	b, err := readText(path)
	if err != nil {
		return nil, err
	}
	out, err := parseTOFU(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out.Path = path
	return out, nil
}

// parseTOFU reads the JSON text of a log.
func parseTOFU(b []byte) (*TOFU, error) {
	var f tofuFile
	if err := decode(b, &f); err != nil {
		return nil, err
	}
	return f.sets()
}

func (f tofuFile) sets() (*TOFU, error) {
	out, list := &TOFU{}, []error(nil)
	for _, s := range []struct {
		name string
		from *tofuTable
		to   *TOFUSet
	}{
		{"eval_log_forget.json", f.Forget, &out.Forget}, {"eval_log.json", f.Retain, &out.Retain},
		{"eval_real_author_wo_options.json", f.Authors, &out.Authors}, {"eval_real_world_wo_options.json", f.Facts, &out.Facts},
	} {
		if s.from == nil {
			list = append(list, fmt.Errorf("%s is missing", s.name))
			continue
		}
		for _, err := range s.from.read(s.to) {
			list = append(list, fmt.Errorf("%s: %w", s.name, err))
		}
	}
	if err := errors.Join(list...); err != nil {
		return nil, err
	}
	return out, nil
}

// read fills a set and returns all that is wrong.
func (t *tofuTable) read(to *TOFUSet) (list []error) {
	n := len(t.AvgTrue)
	if n == 0 {
		return []error{errors.New("avg_gt_loss has no questions")}
	}
	sums := tofuSums{
		column(&list, "gt_loss", t.True, n), column(&list, "num_token_gt", t.TrueTokens, n),
		column(&list, "paraphrased_loss", t.Paraphrase, n), column(&list, "num_token_paraphrased", t.ParaTokens, n),
		listColumn(&list, "perturb_loss", t.Wrong, n), listColumn(&list, "num_token_perturb", t.WrongTokens, n),
		column(&list, "truth_ratio", t.TruthRatio, n),
	}
	to.True, to.Paraphrase = column(&list, "avg_gt_loss", t.AvgTrue, n), column(&list, "avg_paraphrased_loss", t.AvgParaphrase, n)
	to.Tokens = sums.trueTokens
	to.Wrong = listColumn(&list, "average_perturb_loss", t.AvgWrong, n)
	to.ROUGE1, to.ROUGEL = column(&list, "rouge1_recall", t.ROUGE1, n), column(&list, "rougeL_recall", t.ROUGEL, n)
	texts := listColumn(&list, "generated_text", t.Generated, n)
	if len(list) > 0 {
		return list
	}
	for q := range n {
		if len(texts[q]) != 3 {
			list = append(list, fmt.Errorf("generated_text: question %d has %d texts, want question, answer and true answer", q, len(texts[q])))
		} else {
			to.Texts = append(to.Texts, TOFUText{texts[q][0], texts[q][1], texts[q][2]})
		}
		list = append(list, sums.check(q, to)...)
	}
	return list
}

// tofuSums are the numbers that the others are computed from, and the truth ratio.
type tofuSums struct {
	trueSum    []float64
	trueTokens []int
	paraSum    []float64
	paraTokens []int
	wrongSum   [][]float64
	wrongCount [][]int
	ratio      []float64
}

// check compares a question's numbers with those that they are computed from.
func (s tofuSums) check(q int, of *TOFUSet) (list []error) {
	list = append(list, checkMean("avg_gt_loss", q, of.True[q], s.trueSum[q], s.trueTokens[q])...)
	list = append(list, checkMean("avg_paraphrased_loss", q, of.Paraphrase[q], s.paraSum[q], s.paraTokens[q])...)
	list = append(list, checkWrong(q, of.Wrong[q], s.wrongSum[q], s.wrongCount[q])...)
	list = append(list, checkRatio(q, s.ratio[q], of.Paraphrase[q], of.Wrong[q])...)
	list = append(list, checkRecall("rouge1_recall", q, of.ROUGE1[q])...)
	return append(list, checkRecall("rougeL_recall", q, of.ROUGEL[q])...)
}

// column returns the values of questions 0 ... n-1, and adds to the list what is missing or null: one line
// for neighbouring questions, so that the list is not longer than the file.
func column[T any](list *[]error, key string, values map[string]*T, n int) []T {
	if values == nil {
		*list = append(*list, fmt.Errorf("%s is missing", key))
		return nil
	}
	if len(values) != n {
		*list = append(*list, fmt.Errorf("%s has %d questions, the first key of the set %d", key, len(values), n))
	}
	out := make([]T, n)
	first := -1 // of the questions that are missing up to here; -1: none
	for q := range n {
		v := values[strconv.Itoa(q)]
		if v != nil {
			out[q] = *v
		}
		switch {
		case v == nil && first < 0:
			first = q
		case v != nil && first >= 0:
			*list = append(*list, missing(key, first, q-1))
			first = -1
		}
	}
	if first >= 0 {
		*list = append(*list, missing(key, first, n-1))
	}
	return out
}

// listColumn is column for lists, of which no element may be null.
func listColumn[T any](list *[]error, key string, values map[string]*[]*T, n int) [][]T {
	out := make([][]T, n)
	for q, given := range column(list, key, values, n) {
		all, err := elements(given)
		if err != nil {
			*list = append(*list, fmt.Errorf("%s: question %d: %w", key, q, err))
		}
		out[q] = all
	}
	return out
}

// elements returns the elements of a list, and an error that names the first that is null.
func elements[T any](given []*T) ([]T, error) {
	out := make([]T, len(given))
	for k, v := range given {
		if v == nil {
			return nil, fmt.Errorf("element %d is null", k)
		}
		out[k] = *v
	}
	return out, nil
}

func missing(key string, first, last int) error {
	if first == last {
		return fmt.Errorf("%s: question %d is missing or null", key, first)
	}
	return fmt.Errorf("%s: questions %d to %d are missing or null", key, first, last)
}

// float32Error is how far sums and quotients of 32-bit numbers are off, relative to the value.
const float32Error = 1e-4

func checkMean(key string, q int, mean, sum float64, tokens int) []error {
	switch {
	case tokens < 1:
		return []error{fmt.Errorf("%s: question %d has %d tokens", key, q, tokens)}
	case mean < 0:
		return []error{fmt.Errorf("%s: question %d has a loss of %v, below 0", key, q, mean)}
	case !closeTo(mean*float64(tokens), sum):
		return []error{fmt.Errorf("%s: question %d has a mean loss of %v, and a sum of %v over %d tokens", key, q, mean, sum, tokens)}
	}
	return nil
}

func checkWrong(q int, means, sums []float64, tokens []int) (list []error) {
	if len(means) == 0 || len(means) != len(sums) || len(means) != len(tokens) {
		return []error{fmt.Errorf("average_perturb_loss: question %d has %d wrong answers, perturb_loss %d, num_token_perturb %d",
			q, len(means), len(sums), len(tokens))}
	}
	for k, m := range means {
		for _, err := range checkMean("average_perturb_loss", q, m, sums[k], tokens[k]) {
			list = append(list, fmt.Errorf("%w (wrong answer %d)", err, k))
		}
	}
	return list
}

func checkRatio(q int, ratio, paraphrase float64, wrong []float64) []error {
	sum := 0.0
	for _, w := range wrong {
		sum += w
	}
	want := math.Exp(paraphrase - sum/float64(len(wrong)))
	if len(wrong) > 0 && !closeTo(ratio, want) {
		return []error{fmt.Errorf("truth_ratio: question %d has %v, its losses give %v", q, ratio, want)}
	}
	return nil
}

func checkRecall(key string, q int, v float64) []error {
	if v < 0 || v > 1 {
		return []error{fmt.Errorf("%s: question %d has %v, want 0 to 1", key, q, v)}
	}
	return nil
}

// near compares a value with one computed from 32-bit numbers.
func closeTo(a, b float64) bool {
	return math.Abs(a-b) <= float32Error*max(math.Abs(a), math.Abs(b), 1e-3)
}
