// Tests of audits from logs of language models.

package command

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/cli"
)

// openUnlearningLog writes a log as open-unlearning does, 140 questions a set, of a model whose loss of
// forgotten answers is raised by forgotten.
func openUnlearningLog(t *testing.T, forgotten float64) string {
	t.Helper()
	log := map[string]map[string]map[string]any{}
	answer := func(loss float64) map[string]any { return map[string]any{"prob": math.Exp(-loss), "avg_loss": loss} }
	for _, prefix := range []string{"forget", "retain"} {
		each := map[string]map[string]any{"Q_A_Prob": {}, "Q_A_PARA_Prob": {}, "Q_A_PERT_Prob": {}, "Q_A_ROUGE": {}}
		for q := range 140 {
			// Some questions are harder than others for every model.
			key, loss := fmt.Sprint(q), 0.6+0.2*math.Sin(float64(q*q))+0.1*math.Sin(float64(q*q)+40*forgotten)
			if prefix == "forget" {
				loss += forgotten
			}
			wrong := 1.8 + 0.2*math.Cos(float64(q*q)+0.3*forgotten)
			each["Q_A_Prob"][key], each["Q_A_PARA_Prob"][key] = answer(loss), answer(loss+0.1)
			each["Q_A_PERT_Prob"][key] = map[string]any{"prob": []float64{math.Exp(-wrong), math.Exp(-wrong - 0.1)}, "avg_loss": []float64{wrong, wrong + 0.1}}
			each["Q_A_ROUGE"][key] = map[string]any{"rouge1_recall": 0.5, "rougeL_f1": 0.5, "rougeL_recall": 0.5, "input": "q", "generation": "g",
				"ground_truth": prefix + key}
		}
		for metric, values := range each {
			log[prefix+"_"+metric] = map[string]map[string]any{"value_by_index": values}
		}
	}
	b, err := json.Marshal(log)
	dir := t.TempDir()
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "TOFU_EVAL.json"), b, 0o644))
	return dir
}

func TestAuditReadsOpenUnlearningsLogs(t *testing.T) {
	known, gone, other := openUnlearningLog(t, 0), openUnlearningLog(t, 1), openUnlearningLog(t, 1.01)
	for unlearned, want := range map[string]string{known: "still remembered", openUnlearningLog(t, 1.02): "no memory is seen"} {
		dir := filepath.Join(t.TempDir(), "mine")
		r := lethe(t, "audit", dir, "--open-unlearning", fmt.Sprintf("unlearned=%s,original=%s,retrained-1=%s,retrained-2=%s", unlearned, known, gone, other))
		if r.Code != cli.ExitOK || !strings.Contains(strings.ReplaceAll(r.Out, "\n", " "), want) {
			t.Errorf("exit code %d, %q not in\n%s%s", r.Code, want, r.Out, r.Stderr)
		}
		if _, err := os.Stat(filepath.Join(dir, "unlearned", "answers.npy")); err != nil {
			t.Error(err)
		}
	}
}

func TestAuditRefusesLogsThatItDoesNotUnderstand(t *testing.T) {
	dir, log := filepath.Join(t.TempDir(), "mine"), openUnlearningLog(t, 0)
	summary := filepath.Join(t.TempDir(), "TOFU_SUMMARY.json")
	check(t, os.WriteFile(summary, []byte(`{"forget_quality": 0.5}`), 0o644))
	for _, c := range []struct {
		args  []string
		code  int
		words []string
	}{
		{[]string{dir, "--open-unlearning", "unlearned=" + summary}, cli.ExitFailure, []string{summary, "it is a summary", "TOFU_EVAL.json"}},
		{[]string{dir, "--open-unlearning", "unlearned=" + t.TempDir()}, cli.ExitFailure, []string{"--open-unlearning: unlearned=", "there is no such file"}},
		{[]string{dir, "--open-unlearning", "bogus=" + log}, cli.ExitFailure, []string{`"bogus"`}},
		{[]string{dir, "--open-unlearning", "original=" + log}, cli.ExitFailure, []string{"unlearned=FILE"}},
		{[]string{dir, "--open-unlearning", "unlearned=" + log, "--data", "x.npy"}, cli.ExitUsage, []string{"leave out --onnx"}},
		{[]string{dir, "--open-unlearning", "unlearned=" + log, "--tofu", "unlearned=" + log}, cli.ExitUsage, []string{"two kinds of logs"}},
	} {
		fails(t, lethe(t, append([]string{"audit"}, c.args...)...), c.code, c.words...)
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%v: the folder was written", c.args)
		}
	}
}
