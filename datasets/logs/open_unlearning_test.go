package logs

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// openLogOf is a log as open-unlearning writes it, of n questions a set: metric, then agg_value and
// value_by_index. Only forget and retain have paraphrases.
func openLogOf(n int) map[string]map[string]any {
	out := map[string]map[string]any{"forget_quality": {"agg_value": nil}, "model_utility": {"agg_value": 0.6}, "privleak": {"agg_value": -20.5},
		"mia_min_k":           {"forget": map[string]any{"agg_value": 0.1}, "holdout": map[string]any{}, "auc": 0.7, "agg_value": 0.7},
		"extraction_strength": {"agg_value": 0.1, "value_by_index": map[string]any{"0": map[string]any{"score": nil}}}}
	put := func(metric string, q int, value any) {
		if out[metric] == nil {
			out[metric] = map[string]any{"agg_value": 0.5, "value_by_index": map[string]any{}}
		}
		out[metric]["value_by_index"].(map[string]any)[strconv.Itoa(q)] = value
	}
	answer := func(loss float64) map[string]any { return map[string]any{"prob": math.Exp(-loss), "avg_loss": loss} }
	for s, prefix := range []string{"forget", "retain", "ra", "wf"} {
		for q := range n {
			loss := 0.125 * float64(1+q+s)
			wrong := []float64{loss + 1, loss + 2}
			put(prefix+"_Q_A_Prob", q, answer(loss))
			put(prefix+"_Q_A_PERT_Prob", q, map[string]any{"prob": []float64{math.Exp(-wrong[0]), math.Exp(-wrong[1])}, "avg_loss": wrong})
			put(prefix+"_Q_A_ROUGE", q, map[string]any{"rouge1_recall": 0.75, "rougeL_f1": 0.6, "rougeL_recall": 0.5,
				"input": "question", "ground_truth": fmt.Sprint(prefix, " answer ", q), "generation": "an answer"})
			right := loss
			if s < 2 {
				right = loss + 0.25
				put(prefix+"_Q_A_PARA_Prob", q, answer(right))
			}
			put(prefix+"_truth_ratio", q, map[string]any{"score": math.Exp(-loss-1.5) / (math.Exp(-right) + 1e-10)})
		}
	}
	return out
}

func eachOf(log map[string]map[string]any, metric string) map[string]any {
	return log[metric]["value_by_index"].(map[string]any)
}

func TestALogOfOpenUnlearningIsRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "TOFU_EVAL.json"), text(t, openLogOf(12)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "TOFU_EVAL.json"), write(t, "TOFU_EVAL.json.gz", pack(t, text(t, openLogOf(12))))} {
		l, err := ReadOpenUnlearning(path)
		if err != nil {
			t.Fatal(err)
		}
		for s, set := range []TOFUSet{l.Forget, l.Retain, l.Authors, l.Facts} {
			loss, more := 0.125*float64(1+10+s), 0.25
			if s > 1 {
				more = 0 // the true answer itself
			}
			if set.Questions() != 12 || set.True[10] != loss || set.Paraphrase[10] != loss+more || set.Wrong[10][1] != loss+2 || set.ROUGEL[10] != 0.5 ||
				set.ROUGE1[10] != 0.75 || !strings.HasSuffix(set.Texts[10].True, " answer 10") || set.Texts[10].Generated != "an answer" {
				t.Errorf("set %d: %+v", s, set)
			}
		}
	}
}

// Probabilities of models in 16 bits are off by as much as these have digits, and the ratio may be of
// the other published form.
func TestALogOfOpenUnlearningMayBeOf16Bits(t *testing.T) {
	log := openLogOf(2)
	for _, metric := range []string{"ra_Q_A_Prob", "ra_Q_A_PERT_Prob", "ra_Q_A_ROUGE", "ra_truth_ratio", "wf_Q_A_Prob", "wf_Q_A_PERT_Prob", "wf_Q_A_ROUGE", "wf_truth_ratio"} {
		delete(log, metric)
	}
	eachOf(log, "forget_Q_A_Prob")["1"] = map[string]any{"prob": math.Exp(-0.25) * 1.004, "avg_loss": 0.25}
	for q := range 2 {
		c, w := math.Exp(-0.125*float64(1+q)-0.25), math.Exp(-0.125*float64(1+q)-1.5)
		eachOf(log, "forget_truth_ratio")[strconv.Itoa(q)] = map[string]any{"score": c / (c + w + 1e-10)}
	}
	log["forget_Truth_Ratio"] = log["forget_truth_ratio"]
	l, err := parseOpenUnlearning(text(t, log))
	if err != nil || l.Forget.Questions() != 2 || l.Authors.Questions() != 0 || l.Facts.Questions() != 0 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestWhatIsNotUnderstoodInALogOfOpenUnlearningIsRefusedByKey(t *testing.T) {
	bad := openLogOf(3)
	bad["forget_brilliance"] = map[string]any{"agg_value": 1}
	delete(bad, "retain_Q_A_ROUGE")
	delete(eachOf(bad, "ra_Q_A_PERT_Prob"), "1")
	eachOf(bad, "wf_Q_A_Prob")["0"] = map[string]any{"prob": 0.5, "avg_loss": 2}
	eachOf(bad, "wf_Q_A_Prob")["1"] = map[string]any{"prob": 1.5, "avg_loss": -0.4}
	eachOf(bad, "wf_Q_A_PERT_Prob")["2"] = map[string]any{"prob": []float64{0.5}, "avg_loss": []float64{}}
	eachOf(bad, "forget_truth_ratio")["2"] = map[string]any{"score": 7.5}
	eachOf(bad, "forget_Q_A_ROUGE")["1"].(map[string]any)["rougeL_recall"] = 1.5
	_, err := parseOpenUnlearning(text(t, bad))
	refuses(t, err, "forget_brilliance is not known", "retain_Q_A_ROUGE is missing", "ra_Q_A_PERT_Prob: question 1 is missing",
		"wf_Q_A_Prob: question 0 has the probability 0.5, and its loss 2 gives 0.13", "wf_Q_A_Prob: question 1 has a loss of -0.4, below 0",
		"wf_Q_A_PERT_Prob: question 2 has 0 losses and 1 probabilities", "forget_truth_ratio: question 2 has 7.5, its losses give 0.28",
		"forget_Q_A_ROUGE: question 1 has 1.5")
	odd := openLogOf(2)
	eachOf(odd, "forget_Q_A_Prob")["0"] = map[string]any{"prob": 0.5, "avg_loss": 0.69, "loss": 3}
	_, err = parseOpenUnlearning(text(t, odd))
	refuses(t, err, "forget_Q_A_Prob: ", `unknown field "loss"`)
	odd = openLogOf(3)
	eachOf(odd, "forget_Q_A_Prob")["1"], eachOf(odd, "retain_Q_A_ROUGE")["0"] = nil, nil
	_, err = parseOpenUnlearning(text(t, odd))
	refuses(t, err, "forget_Q_A_Prob: question 1 is missing or null", "retain_Q_A_ROUGE: question 0 is missing or null")
	odd = openLogOf(2)
	eachOf(odd, "forget_Q_A_PERT_Prob")["1"] = map[string]any{"prob": 0.5, "avg_loss": 0.69}
	_, err = parseOpenUnlearning(text(t, odd))
	refuses(t, err, "forget_Q_A_PERT_Prob: ", "and a list is expected")
	odd = openLogOf(2)
	odd["forget_Q_A_Prob"] = map[string]any{"agg_value": 0.5}
	_, err = parseOpenUnlearning(text(t, odd))
	refuses(t, err, "forget_Q_A_Prob has no questions")
	_, err = ReadOpenUnlearning(t.TempDir())
	refuses(t, err, "TOFU_EVAL.json")
	for want, b := range map[string]string{
		"it is a summary":                               `{"forget_quality": 0.5, "model_utility": 0.6}`,
		"forget_Q_A_Prob, agg_value is NaN":             `{"forget_Q_A_Prob": {"agg_value": NaN}}`,
		"invalid character 'x'":                         `{"forget_Q_A_Prob": {"agg_value": x}}`,
		"retain_Q_A_Prob is":                            `{}`,
		`forget_Q_A_Prob: line 3: unknown field "loss"`: "{\n\n\"forget_Q_A_Prob\": {\"loss\": 1}}",
	} {
		_, err := ReadOpenUnlearning(write(t, "TOFU_EVAL.json", []byte(b)))
		refuses(t, err, want)
	}
}

// A number that is missing or null is no 0: a loss of 0 is a text that the model knows completely.
func TestAMissingNumberOfOpenUnlearningIsNamed(t *testing.T) {
	for _, c := range []struct {
		metric, want string
		value        any
	}{
		{"forget_Q_A_Prob", "avg_loss is missing or null", map[string]any{"prob": 1.0}},
		{"forget_Q_A_Prob", "avg_loss is missing or null", map[string]any{"prob": 1.0, "avg_loss": nil}},
		{"forget_Q_A_PARA_Prob", "prob is missing or null", map[string]any{"avg_loss": 30}},
		{"retain_Q_A_PARA_Prob", "prob, avg_loss are missing or null", map[string]any{}},
		{"retain_Q_A_PERT_Prob", "avg_loss: element 0 is null", map[string]any{"prob": []any{1.0, 0.5}, "avg_loss": []any{nil, 0.69}}},
		{"retain_Q_A_PERT_Prob", "prob: element 1 is null", map[string]any{"prob": []any{0.5, nil}, "avg_loss": []any{0.69, 30}}},
		{"retain_Q_A_PERT_Prob", "avg_loss is missing or null", map[string]any{"prob": []any{}}},
		{"forget_truth_ratio", "score is missing or null", map[string]any{"score": nil}},
	} {
		bad := openLogOf(3)
		eachOf(bad, c.metric)["1"] = c.value
		path := write(t, "TOFU_EVAL.json", text(t, bad))
		_, err := ReadOpenUnlearning(path)
		refuses(t, err, path+": "+c.metric+": question 1: "+c.want)
	}
	for _, name := range []string{"rouge1_recall", "rougeL_recall", "ground_truth", "generation"} {
		bad := openLogOf(3)
		eachOf(bad, "forget_Q_A_ROUGE")["2"].(map[string]any)[name] = nil
		_, err := parseOpenUnlearning(text(t, bad))
		refuses(t, err, "forget_Q_A_ROUGE: question 2: "+name+" is missing or null")
	}
}

func FuzzOpenUnlearning(f *testing.F) {
	b := text(f, openLogOf(2))
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add([]byte(`{"forget_Q_A_Prob":{"value_by_index":{"0":{"prob":1}}}}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parseOpenUnlearning(b)
		if err != nil {
			return
		}
		for _, s := range []TOFUSet{l.Forget, l.Retain} {
			n := s.Questions()
			if n == 0 || len(s.Paraphrase) != n || len(s.Wrong) != n || len(s.ROUGE1) != n || len(s.ROUGEL) != n || len(s.Texts) != n {
				t.Errorf("%+v", s)
			}
		}
		if _, err := json.Marshal(l); err != nil {
			t.Error(err)
		}
	})
}
