package judge

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/logs"
	"github.com/lethe-ml/lethe/lib/audit"
)

// tofuLog draws the log of a model; one that knows the forgotten questions fits their answers better.
func tofuLog(seed uint64, knows bool) *logs.TOFU {
	rng := rand.New(rand.NewPCG(seed, 0))
	set := func(name string, n int, knows bool) (s logs.TOFUSet) {
		for q := range n {
			right := 1.5 * math.Exp(0.3*rng.NormFloat64())
			if knows {
				right /= 4
			}
			s.True, s.Paraphrase = append(s.True, right), append(s.Paraphrase, right+0.2)
			wrong := make([]float64, 3+q%3)
			for k := range wrong {
				wrong[k] = 1.5 * math.Exp(0.3*rng.NormFloat64())
			}
			s.Wrong = append(s.Wrong, wrong)
			s.Texts = append(s.Texts, logs.TOFUText{Question: fmt.Sprint(name, q), True: fmt.Sprint("answer ", name, q)})
		}
		return s
	}
	return &logs.TOFU{Forget: set("f", 160, knows), Retain: set("r", 80, true)}
}

func TestTOFUsLogsAreAFolder(t *testing.T) {
	for knows, want := range map[bool]audit.Call{true: audit.Remembered, false: audit.Forgotten} {
		dir := filepath.Join(t.TempDir(), "tofu")
		written, err := WriteTOFU(dir, map[string]*logs.TOFU{
			"unlearned": tofuLog(1, knows), "original": tofuLog(2, true), "retrained-1": tofuLog(3, false), "retrained-2": tofuLog(4, false),
		})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if len(written) != 3+3*4 || len(e.Files) != len(written)+1 || e.CountGroups(e.Forget) != 8 || e.CountGroups(e.Retain) != 4 || e.GroupUnit != "author" {
			t.Errorf("%v written, %d read, %d and %d authors", written, len(e.Files), e.CountGroups(e.Forget), e.CountGroups(e.Retain))
		}
		r, err := e.Report(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		read := map[string]audit.Call{}
		for _, v := range r.Verdicts {
			read[v.Name()] = v.Call
		}
		for _, name := range []string{"probability", "truth ratio", "paired truth ratio"} {
			if read[name] != want {
				t.Errorf("the model knows %t: %s says %q, want %s", knows, name, read[name], want)
			}
		}
	}
}

func TestTOFUsLogsOfOtherQuestionsAreRefused(t *testing.T) {
	mine, other := tofuLog(1, true), tofuLog(2, false)
	other.Forget.Texts[7].True = "somebody else"
	short := tofuLog(3, false)
	short.Forget.True, short.Forget.Paraphrase, short.Forget.Wrong, short.Forget.Texts =
		short.Forget.True[:150], short.Forget.Paraphrase[:150], short.Forget.Wrong[:150], short.Forget.Texts[:150]
	tokens, wrong := tofuLog(4, false), tofuLog(5, false)
	mine.Forget.Tokens, tokens.Forget.Tokens = make([]int, mine.Forget.Questions()), make([]int, mine.Forget.Questions())
	tokens.Forget.Tokens[3] = 2
	wrong.Retain.Wrong[9] = wrong.Retain.Wrong[9][1:]
	named := *short
	named.Path = "/logs/short.json"
	taken := t.TempDir()
	must(t, os.WriteFile(filepath.Join(taken, "audit.json"), []byte("{}"), 0o600))
	for want, models := range map[string]map[string]*logs.TOFU{
		"forget set of unlearned and retrained-1": {"unlearned": mine, "retrained-1": other},
		"forget set of unlearned and retrained-1: the true answer to question 3 has 0 tokens, and 2 in the other set": {"unlearned": mine, "retrained-1": tokens},
		"retain set of unlearned and retrained-2: question 9 has":                                                     {"unlearned": mine, "retrained-2": wrong},
		"unlearned=FILE":                                           {"original": mine},
		"forget set of unlearned: 150 questions":                   {"unlearned": short},
		"forget set of unlearned=/logs/short.json: 150 questions":  {"unlearned": &named},
		"forget set of unlearned=/logs/short.json and retrained-1": {"unlearned": &named, "retrained-1": other},
		"holds files already":                                      {"unlearned": mine},
	} {
		dir := filepath.Join(t.TempDir(), "x")
		if want == "holds files already" {
			dir = taken
		}
		if _, err := WriteTOFU(dir, models); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
		if entries, _ := os.ReadDir(dir); len(entries) > 0 && dir != taken {
			t.Errorf("%s: %v is left", want, entries)
		}
	}
}

// A folder that is there and holds no log is told from a file that is not there.
func TestALogThatIsNotThereIsNamed(t *testing.T) {
	empty := t.TempDir()
	_, err := ReadOpenUnlearning(map[string]string{"unlearned": empty, "original": filepath.Join(empty, "x.json")})
	if err == nil || !strings.Contains(err.Error(), "unlearned="+empty+": there is no such file as TOFU_EVAL.json in this folder") ||
		!strings.Contains(err.Error()+"\n", "original="+filepath.Join(empty, "x.json")+": there is no such file\n") {
		t.Error(err)
	}
}
