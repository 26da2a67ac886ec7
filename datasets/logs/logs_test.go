package logs

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/lib/files"
)

var setNames = []string{"eval_log.json", "eval_log_forget.json", "eval_real_author_wo_options.json", "eval_real_world_wo_options.json"}

// log is a log in the published format with n questions a set, made without a generator.
func log(n int) map[string]map[string]map[string]any {
	out := map[string]map[string]map[string]any{}
	for s, name := range setNames {
		set := map[string]map[string]any{}
		put := func(key string, q int, v any) {
			if set[key] == nil {
				set[key] = map[string]any{}
			}
			set[key][strconv.Itoa(q)] = v
		}
		for q := range n {
			loss := 0.25 * float64(1+q+s)
			wrong := []float64{loss + 1, loss + 2}
			put("avg_gt_loss", q, loss/2)
			put("gt_loss", q, loss*2)
			put("num_token_gt", q, 4)
			put("avg_paraphrased_loss", q, loss)
			put("paraphrased_loss", q, loss*3)
			put("num_token_paraphrased", q, 3)
			put("average_perturb_loss", q, wrong)
			put("perturb_loss", q, []float64{wrong[0] * 5, wrong[1] * 6})
			put("num_token_perturb", q, []int{5, 6})
			put("truth_ratio", q, math.Exp(loss-(wrong[0]+wrong[1])/2))
			put("rouge1_recall", q, 0.75)
			put("rougeL_recall", q, 0.5)
			put("generated_text", q, []string{fmt.Sprint("question ", q), "an answer", "the answer"})
			if s > 1 {
				put("normalized_gt_loss", q, 1.5)
			}
		}
		out[name] = set
	}
	return out
}

func text(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func pack(t testing.TB, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func write(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func refuses(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not mention %q", err, p)
		}
	}
}

func TestALogIsReadPlainAndPacked(t *testing.T) {
	b := text(t, log(12)) // ten and above: in the order of numbers, not of text
	for _, path := range []string{write(t, "log.json", b), write(t, "log.json.gz", pack(t, b))} {
		l, err := ReadTOFU(path)
		if err != nil {
			t.Fatal(err)
		}
		if l.Path != path {
			t.Errorf("read from %q", l.Path)
		}
		for s, set := range []TOFUSet{l.Retain, l.Forget, l.Authors, l.Facts} {
			if set.Questions() != 12 || set.ROUGE1[3] != 0.75 || set.ROUGEL[3] != 0.5 || set.Texts[11] != (TOFUText{"question 11", "an answer", "the answer"}) {
				t.Errorf("set %d: %+v", s, set)
			}
			if loss := 0.25 * float64(11+s); set.True[10] != loss/2 || set.Paraphrase[10] != loss || set.Wrong[10][1] != loss+2 {
				t.Errorf("set %d: question 10 has %v, %v, %v", s, set.True[10], set.Paraphrase[10], set.Wrong[10])
			}
		}
	}
}

func TestWhatIsWrongInALogIsListedByFileSetKeyAndQuestion(t *testing.T) {
	bad := log(3)
	forget := bad["eval_log_forget.json"]
	delete(forget["gt_loss"], "1")
	forget["rougeL_recall"]["7"] = 0.5
	delete(bad["eval_log.json"], "truth_ratio")
	facts := bad["eval_real_world_wo_options.json"]
	facts["avg_gt_loss"]["0"], facts["truth_ratio"]["1"], facts["rouge1_recall"]["2"] = 0.9, 3.5, 1.5
	facts["perturb_loss"]["2"], facts["generated_text"]["1"] = []float64{1}, []string{"one"}
	facts["num_token_paraphrased"]["0"] = 0
	delete(bad, "eval_real_author_wo_options.json")
	path := write(t, "bad.json", text(t, bad))
	_, err := ReadTOFU(path)
	refuses(t, err, path,
		"eval_log_forget.json: gt_loss has 2 questions, the first key of the set 3", "eval_log_forget.json: gt_loss: question 1 is missing",
		"eval_log_forget.json: rougeL_recall has 4 questions, the first key of the set 3", "eval_log.json: truth_ratio is missing",
		"eval_real_author_wo_options.json is missing",
		"avg_gt_loss: question 0 has a mean loss of 0.9, and a sum of 2 over 4 tokens", "avg_paraphrased_loss: question 0 has 0 tokens",
		"generated_text: question 1 has 1 texts", "truth_ratio: question 1 has 3.5", "rouge1_recall: question 2 has 1.5",
		"average_perturb_loss: question 2 has 2 wrong answers, perturb_loss 1, num_token_perturb 2")
	bad = log(2)
	bad["eval_log.json"]["truth_ratio"]["1"] = 3.5
	bad["eval_log.json"]["average_perturb_loss"]["0"] = []float64{-1, 2}
	_, err = ReadTOFU(write(t, "bad.json", text(t, bad)))
	refuses(t, err, "eval_log.json: truth_ratio: question 1 has 3.5, its losses give 0.22", "question 0 has a loss of -1, below 0 (wrong answer 0)")
}

// A key without its questions is one line, however many are missing.
func TestMissingQuestionsMakeALineOfNeighbours(t *testing.T) {
	bad := log(2000)
	losses := bad["eval_log.json"]["gt_loss"]
	for q := range 2000 {
		if q != 3 && q != 5 {
			delete(losses, strconv.Itoa(q))
		}
	}
	_, err := parseTOFU(text(t, bad))
	want := "eval_log.json: gt_loss has 2 questions, the first key of the set 2000\neval_log.json: gt_loss: questions 0 to 2 are missing or null\n" +
		"eval_log.json: gt_loss: question 4 is missing or null\neval_log.json: gt_loss: questions 6 to 1999 are missing or null"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// Null is no number: read as 0 it would be a loss of 0 where the sum beside it is null too, or a recall of 0.
func TestNullInALogIsNamed(t *testing.T) {
	for key := range log(1)["eval_log.json"] {
		bad := log(3)
		for _, one := range []string{key, "avg_gt_loss", "gt_loss", "avg_paraphrased_loss", "paraphrased_loss"} {
			bad["eval_log.json"][one]["1"] = nil
		}
		_, err := parseTOFU(text(t, bad))
		refuses(t, err, "eval_log.json: "+key+": question 1 is missing or null")
	}
	for key, v := range map[string]any{"average_perturb_loss": []any{1.25, nil}, "perturb_loss": []any{nil, 13.5}, "num_token_perturb": []any{5, nil},
		"generated_text": []any{"question", nil, "answer"}} {
		bad := log(3)
		bad["eval_log_forget.json"][key]["2"] = v
		_, err := parseTOFU(text(t, bad))
		refuses(t, err, "eval_log_forget.json: "+key+": question 2: element ", " is null")
	}
}

func TestSameQuestionsAreToldFromOthers(t *testing.T) {
	read := func(b []byte) TOFUSet {
		l, err := parseTOFU(b)
		if err != nil {
			t.Fatal(err)
		}
		return l.Forget
	}
	a, other := read(text(t, log(3))), log(3)
	answers := other["eval_log_forget.json"]["generated_text"]
	answers["0"] = []string{"[INST] question 0 [/INST]", "another answer", "theanswer "}
	b := read(text(t, other))
	if err := errors.Join(SameQuestions(a, a), SameQuestions(a, b), SameQuestions(b, a)); err != nil {
		t.Error(err)
	}
	answers["2"] = []string{"question 2", "an answer", "the Answer"}
	refuses(t, SameQuestions(a, read(text(t, other))), `question 2 has the true answer "the answer", and "the Answer" in the other set`)
	refuses(t, SameQuestions(a, read(text(t, log(2)))), "3 questions, and 2 in the other set")
}

func TestFilesThatAreNoLogsAreRefused(t *testing.T) {
	good := string(text(t, log(1)))
	for want, b := range map[string][]byte{
		"unknown field":                        []byte(strings.Replace(good, `"rouge1_recall"`, `"rouge2_recall"`, 1)),
		"is given twice":                       []byte(strings.Replace(good, `"avg_gt_loss"`, `"gt_loss"`, 1)),
		"line 1: invalid character":            []byte(strings.Replace(good, "0.75", "nan", 1)),
		"there is text after the end":          []byte(good + "{}"),
		"avg_gt_loss has no questions":         []byte(`{"eval_log.json":{}}`),
		"is a list, and an object is expected": []byte(`{"eval_log.json":[1]}`),
	} {
		path := write(t, "x.json", b)
		_, err := ReadTOFU(path)
		refuses(t, err, path, want)
	}
	_, err := ReadTOFU(write(t, "x.json.gz", []byte(good)))
	refuses(t, err, "not a gzip file")
	_, err = ReadTOFU(write(t, "x.json.gz", pack(t, bytes.Repeat([]byte(" "), 16<<20))))
	if !errors.Is(err, files.ErrBomb) {
		t.Errorf("a bomb: %v", err)
	}
	if _, err = ReadTOFU(filepath.Join(t.TempDir(), "none.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	_, err = ReadTOFU(t.TempDir())
	refuses(t, err, "folder")
}

func TestAuthorsAreWhole(t *testing.T) {
	g, err := Authors(6, 3)
	if err != nil || fmt.Sprint(g) != "[0 0 0 1 1 1]" {
		t.Errorf("%v, %v", g, err)
	}
	for _, n := range [][2]int{{7, 3}, {0, 3}, {6, 0}} {
		_, err := Authors(n[0], n[1])
		refuses(t, err, "are not whole authors")
	}
}

// study is a table of a reference and two models.
func study() map[string]any {
	var rows []map[string]any
	for i, method := range []string{"full", "npo", "npo"} {
		row := map[string]any{"model": fmt.Sprint(method, i), "epoch": "ep5", "method": method, "alpha": nil, "lr": 1e-5, "is_reference": i == 0}
		for k, key := range strings.Fields(`uds logit_lens one_minus_es one_minus_em one_minus_paraprob one_minus_truth s_loss s_zlib s_mink s_minkpp
			privacy_mia privacy mem overall utility_rel utility model_utility fluency retain_q_prob retain_q_rouge retain_truth_ratio
			ra_q_prob ra_q_rouge ra_truth_ratio wf_q_prob wf_q_rouge wf_truth_ratio`) {
			row[key] = float64(k+30*i) / 100
		}
		rows = append(rows, row)
	}
	return map[string]any{"models": rows, "method_counts": map[string]int{"npo": 2}, "full_utility": map[string]float64{"ep5": 0.7}}
}

func TestAStudyIsRead(t *testing.T) {
	s, err := ReadDepthStudy(write(t, "s.json.gz", pack(t, text(t, study()))))
	if err != nil {
		t.Fatal(err)
	}
	m := s.Models[1]
	if m.Name != "npo1" || m.Alpha != nil || *m.Rate != 1e-5 || m.Reference || !s.Models[0].Reference || m.UDS != 0.30 || m.FactsTruth != 0.56 || s.FullUtility["ep5"] != 0.7 {
		t.Errorf("%+v", m)
	}
}

func TestAStudyThatIsWrongIsListed(t *testing.T) {
	bad := study()
	rows := bad["models"].([]map[string]any)
	rows[1]["model"], rows[2]["fluency"] = "full0", 1.5
	delete(rows[0], "uds")
	rows[0]["s_zlib"] = nil
	rows[2]["method"] = "rmu"
	_, err := ReadDepthStudy(write(t, "s.json", text(t, bad)))
	refuses(t, err, `model 1 is called "full0"`, `model "full0": uds is missing`, `model "full0": s_zlib is missing`, `model "npo2": fluency is 1.5`, "method_counts is map[npo:2]")
	_, err = ReadDepthStudy(write(t, "s.json", []byte(`{"models":[],"method_counts":{},"full_utility":{}}`)))
	refuses(t, err, "there are no models")
	rows[0]["surprise"] = 1
	_, err = ReadDepthStudy(write(t, "s.json", text(t, bad)))
	refuses(t, err, "unknown field")
}

func TestPublishedLogsAreRead(t *testing.T) {
	dir := filepath.Join(datatest.Dir(t), "tofu_logs")
	paths, err := files.List(dir, "", ".json.gz")
	if err != nil || len(paths) == 0 {
		t.Skipf("no published logs in %s: %v", dir, err)
	}
	logs := 0
	for _, path := range paths {
		if strings.HasPrefix(filepath.Base(path), "uds_") {
			s, err := ReadDepthStudy(path)
			if err != nil || len(s.Models) != 152 || len(s.MethodCounts) != 8 {
				t.Errorf("%v", err)
			}
			continue
		}
		logs++
		l, err := ReadTOFU(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if l.Retain.Questions() != 300 || l.Authors.Questions() != 100 || l.Facts.Questions() != 117 || len(l.Forget.Wrong[0]) != 5 || len(l.Facts.Wrong[0]) != 3 {
			t.Errorf("%s: %d, %d and %d questions", path, l.Retain.Questions(), l.Authors.Questions(), l.Facts.Questions())
		}
	}
	if logs < 4 {
		t.Errorf("%d logs of %d files", logs, len(paths))
	}
}

func FuzzTOFU(f *testing.F) {
	b := text(f, log(2))
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add([]byte(`{"eval_log.json":{"avg_gt_loss":{"0":1}}}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parseTOFU(b)
		if err != nil {
			return
		}
		for _, s := range []TOFUSet{l.Retain, l.Forget, l.Authors, l.Facts} {
			n := s.Questions()
			if n == 0 || len(s.Paraphrase) != n || len(s.Wrong) != n || len(s.ROUGE1) != n || len(s.ROUGEL) != n || len(s.Texts) != n {
				t.Errorf("%+v", s)
			}
			for q := range n {
				if !(s.True[q] >= 0 && s.Paraphrase[q] >= 0 && s.ROUGEL[q] >= 0 && s.ROUGEL[q] <= 1) || len(s.Wrong[q]) == 0 {
					t.Errorf("question %d of %+v", q, s)
				}
			}
		}
	})
}
