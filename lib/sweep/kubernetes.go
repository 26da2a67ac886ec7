// Submitting a sweep to Kubernetes.

package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Kubernetes submits a sweep to a Kubernetes cluster, one stage at a time, as an Indexed
// Job. Its pods see the sweep's folder on a volume.
type Kubernetes struct {
	Resources
	Image     string // with sh and sha256sum, and a C library if the program needs one
	Claim     string // the PersistentVolumeClaim that holds the sweep
	Mount     string // where the volume is mounted in a pod
	Dir       string // the sweep's folder there
	Namespace string
	// Command runs kubectl, nil: the one in PATH.
	Command func(ctx context.Context, stdin, name string, args ...string) (string, error)
}

// object is a piece of a manifest.
type object = map[string]any

// NextStage returns the first stage that has something to do, or -1. A stage can be applied
// when the one before it is complete: an Indexed Job cannot wait for another.
func (g *Progress) NextStage() int {
	for stage := range g.Stages {
		if len(g.MissingShards(stage)) > 0 {
			return stage
		}
	}
	return -1
}

// Manifest returns the Job of a stage as JSON, which kubectl accepts like YAML. Every index
// is a shard; shards without remaining jobs end at once. A pod that loses its node does not
// count as a failure. A pod whose jobs failed is not tried again, because they would fail
// again; a pod that was killed is.
func (k Kubernetes) Manifest(g *Progress, stage int) ([]byte, error) {
	if err := k.check(g); err != nil {
		return nil, err
	}
	env := []object{{"name": "GOMAXPROCS", "value": strconv.Itoa(max(1, k.CPUs))}}
	for _, e := range k.Env {
		n, v, _ := strings.Cut(e, "=")
		env = append(env, object{"name": n, "value": escapeDollar(v)})
	}
	requests := object{"cpu": strconv.Itoa(max(1, k.CPUs))}
	resources := object{"requests": requests}
	if k.Mem != "" {
		requests["memory"], resources["limits"] = k.Mem, object{"memory": k.Mem}
	}
	container := object{
		"name": "lethe", "image": k.Image, "env": env, "resources": resources,
		"command": []string{"sh", "-euc", escapeDollar(startScript("exec")), "sh", g.Program.SHA256, escapeDollar(path.Join(k.Dir, g.Program.Name)),
			"sweep", "work", escapeDollar(k.Dir), "--stage", strconv.Itoa(stage), "--shard", fmt.Sprintf("$(JOB_COMPLETION_INDEX)/%d", g.Shards)},
		"volumeMounts": []object{{"name": "sweep", "mountPath": k.Mount}},
	}
	parallel := g.Shards
	if k.MaxParallel > 0 {
		parallel = min(parallel, k.MaxParallel)
	}
	labels := object{"app.kubernetes.io/name": "lethe", "lethe-ml/sweep": g.ID}
	meta := object{"name": g.jobName(stage) + "-" + randomDigits()[:4], "labels": labels} // a Job cannot be changed

	if k.Namespace != "" {
		meta["namespace"] = k.Namespace
	}
	return json.MarshalIndent(object{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": meta,
		"spec": object{
			"completionMode": "Indexed", "completions": g.Shards, "parallelism": parallel, "backoffLimitPerIndex": k.restarts(),
			"podFailurePolicy": object{"rules": []object{
				{"action": "Ignore", "onPodConditions": []object{{"type": "DisruptionTarget", "status": "True"}}},
				{"action": "FailIndex", "onExitCodes": object{"containerName": "lethe", "operator": "In", "values": []int{1, 2}}},
			}},
			"template": object{
				"metadata": object{"labels": labels},
				"spec": object{
					"restartPolicy": "Never", "terminationGracePeriodSeconds": 120, "containers": []object{container},
					"volumes": []object{{"name": "sweep", "persistentVolumeClaim": object{"claimName": k.Claim}}},
				},
			},
		},
	}, "", "  ")
}

// escapeDollar escapes a text in which Kubernetes would replace $(NAME).
func escapeDollar(s string) string { return strings.ReplaceAll(s, "$", "$$") }

var (
	// objectPattern is the name of an object, quantityPattern an amount of memory.
	objectPattern   = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	quantityPattern = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(m|k|[KMGTPE]i|[MGTPE])?$`)
)

func (k Kubernetes) check(g *Progress) error {
	switch {
	case k.Image == "":
		return errors.New("no image for the pods")
	case k.Claim == "":
		return errors.New("no volume claim that holds the sweep")
	case !path.IsAbs(k.Mount) || !strings.HasPrefix(path.Clean(k.Dir)+"/", path.Clean(k.Mount)+"/"):
		return fmt.Errorf("the sweep's folder %q in a pod does not lie below the mount %q", k.Dir, k.Mount)
	case k.Time != "":
		return errors.New("a Job has no time per pod; leave the time out")
	case g.Shards > 100000:
		return fmt.Errorf("%d shards: an Indexed Job has at most 100000", g.Shards)
	}
	if err := k.Resources.check(k.Image, k.Claim, k.Mount, k.Dir, k.Namespace); err != nil {
		return err
	}
	switch {
	case !objectPattern.MatchString(k.Claim) || k.Namespace != "" && !objectPattern.MatchString(k.Namespace):
		return fmt.Errorf("the volume claim %q in the namespace %q: names hold small letters, digits, dots and dashes", k.Claim, k.Namespace)
	case k.Mem != "" && !quantityPattern.MatchString(k.Mem):
		return fmt.Errorf("memory %q: Kubernetes reads 4Gi or 500Mi", k.Mem)
	case strings.ContainsFunc(k.Image, unicode.IsSpace):
		return fmt.Errorf("the image %q holds a space", k.Image)
	case strings.Contains(k.Mount, ":"):
		return fmt.Errorf("the mount %q holds a colon", k.Mount)
	}
	return nil
}

// Submit applies the first stage that has something to do.
func (k Kubernetes) Submit(ctx context.Context, g *Progress) (Submitted, error) {
	stage := g.NextStage()
	b, err := k.Manifest(g, stage)
	if err != nil {
		return Submitted{}, err
	}
	run := k.Command
	if run == nil {
		run = runCommand
	}
	out, err := run(ctx, string(b), "kubectl", "apply", "--output=name", "--filename=-")
	if err != nil {
		return Submitted{}, err
	}
	sub := Submitted{Time: time.Now().UTC(), System: "kubernetes", Stage: stage, Number: strings.TrimSpace(out), Tasks: formatRanges(g.MissingShards(stage))}
	return sub, recordSubmission(g.Dir, sub)
}
