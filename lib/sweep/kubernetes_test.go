// Tests of kubernetes.go.

package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func newKubernetes() Kubernetes {
	return Kubernetes{
		Resources: Resources{CPUs: 2, Mem: "4Gi", MaxParallel: 3, MaxRestarts: 4, Env: []string{"LETHE_DATA=/data/sets"}},
		Image:     "debian:12", Claim: "lethe", Mount: "/data", Dir: "/data/t1", Namespace: "lab",
	}
}

// manifest is what the tests look at in one.
type manifest struct {
	Kind     string
	Metadata struct {
		Name, Namespace string
		Labels          map[string]string
	}
	Spec struct {
		CompletionMode                                 string
		Completions, Parallelism, BackoffLimitPerIndex int
		PodFailurePolicy                               struct{ Rules []map[string]any }
		Template                                       struct {
			Spec struct {
				RestartPolicy string
				Containers    []struct {
					Image        string
					Command      []string
					Env          []struct{ Name, Value string }
					VolumeMounts []struct{ MountPath string }
				}
				Volumes []struct{ PersistentVolumeClaim struct{ ClaimName string } }
			}
		}
	}
}

func TestTheManifestIsAnIndexedJobOfAllShards(t *testing.T) {
	dir, p := planGrid(t, small(), 5)
	b, err := newKubernetes().Manifest(readProgress(t, dir), 1)
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	s := m.Spec
	if m.Kind != "Job" || s.CompletionMode != "Indexed" || s.Completions != 5 || s.Parallelism != 3 || s.BackoffLimitPerIndex != 4 {
		t.Errorf("%s", b)
	}
	if !strings.HasPrefix(m.Metadata.Name, "lethe-"+p.ID+"-s1-") || len(m.Metadata.Name) > 57 || m.Metadata.Namespace != "lab" || m.Metadata.Labels["lethe-ml/sweep"] != p.ID {
		t.Errorf("%+v", m.Metadata)
	}
	c := s.Template.Spec.Containers[0]
	if got := strings.Join(c.Command[3:], " "); got != "sh "+p.Program.SHA256+" /data/t1/lethe sweep work /data/t1 --stage 1 --shard $(JOB_COMPLETION_INDEX)/5" {
		t.Errorf("%q", got)
	}
	if !slices.Equal(c.Command[:3], []string{"sh", "-euc", strings.ReplaceAll(startScript("exec"), "$", "$$")}) {
		t.Errorf("%q", c.Command[:3])
	}
	if c.Image != "debian:12" || c.Env[0].Value != "2" || c.Env[1].Value != "/data/sets" || c.VolumeMounts[0].MountPath != "/data" ||
		s.Template.Spec.Volumes[0].PersistentVolumeClaim.ClaimName != "lethe" || s.Template.Spec.RestartPolicy != "Never" {
		t.Errorf("%s", b)
	}
	if again, err := newKubernetes().Manifest(readProgress(t, dir), 1); err != nil || string(again) == string(b) {
		t.Error("a second submission has the name of the first, and a Job is never changed")
	}
}

func TestAStageAtATimeIsApplied(t *testing.T) {
	dir, p := planGrid(t, small(), 2)
	var stdin, call string
	k := newKubernetes()
	k.Command = func(_ context.Context, in, name string, args ...string) (string, error) {
		stdin, call = in, strings.Join(append([]string{name}, args...), " ")
		return "job.batch/x\n", nil
	}
	for stage := range p.Stages {
		got, err := k.Submit(t.Context(), readProgress(t, dir))
		if err != nil || got.Stage != stage || got.Number != "job.batch/x" || call != "kubectl apply --output=name --filename=-" {
			t.Fatalf("%+v, %v, %q", got, err, call)
		}
		if !strings.Contains(stdin, "-s"+string(rune('0'+stage))+"-") {
			t.Errorf("stage %d: %s", stage, stdin)
		}
		for shard := range p.Shards {
			w := newWorker(t, dir, small(), shard, p.Shards)
			w.Stage = stage
			if err := w.Work(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	k.Command = func(context.Context, string, string, ...string) (string, error) { return "", errors.New("Forbidden") }
	broken, _ := planGrid(t, small(), 2)
	if _, err := k.Submit(t.Context(), readProgress(t, broken)); err == nil || !strings.Contains(err.Error(), "Forbidden") {
		t.Errorf("%v", err)
	}
}

// expanded is a word as a pod gets it: Kubernetes puts values in the place of $(NAME),
// and $ in the place of $$ (k8s.io/kubernetes, third_party/forked/golang/expansion).
func expanded(s string) string {
	return strings.NewReplacer("$$", "$", "$(JOB_COMPLETION_INDEX)", "3").Replace(s)
}

// A pod's shell starts the program that was planned, and no other one.
func TestAPodStartsThePlannedProgramOnly(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux starts an open file by its number")
	}
	dir, p := planGrid(t, small(), 5)
	odd := filepath.Join(t.TempDir(), "it's $(HOME) $JOB")
	if err := os.Rename(dir, odd); err != nil {
		t.Fatal(err)
	}
	told := []byte("#!/bin/sh\nprintf '%s\\n' \"$LETHE_DATA\" \"$@\"\n")
	if err := os.WriteFile(filepath.Join(odd, "lethe"), told, 0o755); err != nil {
		t.Fatal(err)
	}
	g := readProgress(t, odd)
	k := newKubernetes()
	k.Mount, k.Dir, k.Env = filepath.Dir(odd), odd, []string{"LETHE_DATA=$(HOME)"}
	start := func() (string, error) {
		b, err := k.Manifest(g, 0)
		if err != nil {
			t.Fatal(err)
		}
		var m manifest
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, w := range m.Spec.Template.Spec.Containers[0].Command {
			words = append(words, expanded(w))
		}
		c := exec.Command(words[0], words[1:]...)
		c.Env = append(os.Environ(), "LETHE_DATA="+expanded(m.Spec.Template.Spec.Containers[0].Env[1].Value))
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := start(); err == nil || !strings.Contains(out, "refused: "+filepath.Join(odd, "lethe")) {
		t.Errorf("another program: %v, %s", err, out)
	}
	var err error
	if g.Program.SHA256, err = hashFile(filepath.Join(odd, "lethe")); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{"$(HOME)", "sweep", "work", odd, "--stage", "0", "--shard", fmt.Sprintf("3/%d", p.Shards), ""}, "\n")
	if out, err := start(); err != nil || out != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}

func TestAManifestThatCannotWorkIsRefused(t *testing.T) {
	dir, _ := planGrid(t, small(), 2)
	for word, change := range map[string]func(*Kubernetes){
		"image": func(k *Kubernetes) { k.Image = "" }, "claim": func(k *Kubernetes) { k.Claim = "" },
		`"/data"`: func(k *Kubernetes) { k.Dir = "/database/t1" }, `"data"`: func(k *Kubernetes) { k.Mount = "data" },
		"time": func(k *Kubernetes) { k.Time = "1:00" }, "a line": func(k *Kubernetes) { k.Namespace = "a\nb" },
		"-2 workers": func(k *Kubernetes) { k.MaxParallel = -2 }, `claim "Data"`: func(k *Kubernetes) { k.Claim = "Data" },
		`namespace "a: b"`: func(k *Kubernetes) { k.Namespace = "a: b" }, "memory": func(k *Kubernetes) { k.Mem = "4G, cpu: 9" },
		"a space": func(k *Kubernetes) { k.Image = "debian 12" }, "no UTF-8": func(k *Kubernetes) { k.Dir += "\xff" },
		"a colon": func(k *Kubernetes) { k.Mount, k.Dir = "/a:b", "/a:b/c" }, "in one line": func(k *Kubernetes) { k.Env = []string{"A=b\u2028"} },
	} {
		k := newKubernetes()
		change(&k)
		if _, err := k.Manifest(readProgress(t, dir), 0); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// Kubernetes' own schemas read the manifest, without a cluster: kubernetes-validate
// of PyPI has them inside. A misspelt field passes unless it is strict.
func TestKubernetesReadsTheManifest(t *testing.T) {
	program := os.Getenv("LETHE_TEST_KUBERNETES_VALIDATE")
	if program == "" {
		program = "kubernetes-validate"
	}
	program, err := exec.LookPath(program)
	if err != nil {
		t.Skip("no kubernetes-validate (pip install kubernetes-validate, or its path in LETHE_TEST_KUBERNETES_VALIDATE)")
	}
	dir, _ := planGrid(t, small(), 5)
	b, err := newKubernetes().Manifest(readProgress(t, dir), 0)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "job.yaml")
	check := func(text string) (string, error) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(program, "--strict", path).CombinedOutput()
		return string(out), err
	}
	if out, err := check(string(b)); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := check(strings.Replace(string(b), "backoffLimitPerIndex", "backofLimitPerIndex", 1)); err == nil {
		t.Errorf("a misspelt field passes: %s", out)
	}
}
