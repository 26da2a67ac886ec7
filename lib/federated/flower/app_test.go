package flower

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/nn"
)

// serving lets the app's server see one round of answers: argv are the app's folder,
// that of the federation, and for every answer its user, its records and its file.
const serving = `
import json, sys
sys.path.insert(0, sys.argv[1])
import lethe_flower as app
from flwr.common import Code, FitRes, Status, ndarrays_to_parameters
class Node:
    def __init__(self, cid): self.cid = cid
class Nodes:
    def wait_for(self, n): self.waited = n
    def all(self): return {str(k): Node(str(k)) for k in range(10)}
mean, nodes = app.Mean(sys.argv[2]), Nodes()
drawn = mean.configure_fit(1, mean.initialize_parameters(nodes), nodes)
results = []
for k, (user, records, path, loss) in enumerate(json.loads(sys.argv[3])):
    tensors, _ = app.read(path)
    answer = FitRes(Status(Code.OK, ""), ndarrays_to_parameters(list(tensors.values())), records, {"user": user, "loss": loss})
    results.append((Node(str(k)), answer))
mean.aggregate_fit(1, results, [])
print(json.dumps([len(drawn), nodes.waited, drawn[0][1].config["round"], mean.rounds()]))
`

// sent is an answer as it reaches the server.
type sent struct {
	user, records int
	params        nn.Params
	loss          float64
}

// serve hands the server the answers of a round and returns what it says: how many
// users it drew of ten, for how many it waited, the round, the rounds left.
func serve(t *testing.T, folder string, answers []sent) ([4]int, error) {
	t.Helper()
	list := [][]any{}
	for k, a := range answers {
		path := filepath.Join(t.TempDir(), "answer")
		if err := WriteWeights(path, a.params, nil); err != nil {
			t.Fatal(k, err)
		}
		list = append(list, []any{a.user, a.records, path, a.loss})
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	out, err := withFlower(t, serving, filepath.Join(folder, appFolder), folder, string(text))
	if err != nil {
		return [4]int{}, err
	}
	var said [4]int
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatal(err)
	}
	return said, nil
}

// withFlower runs a Python program, or skips the test where there is no Flower. The
// error is what it wrote to standard error.
func withFlower(t *testing.T, text string, args ...string) ([]byte, error) {
	t.Helper()
	python := cmp.Or(os.Getenv("LETHE_TEST_FLOWER"), "python3")
	if out, err := exec.Command(python, "-c", "import flwr; print(flwr.__version__)").Output(); err != nil {
		t.Skipf("%s has no flwr (%v); LETHE_TEST_FLOWER may name a Python that has flwr %s", python, err, Version)
	} else if v := strings.TrimSpace(string(out)); v != Version {
		t.Skipf("%s has flwr %s, the app is for %s", python, v, Version)
	}
	c := exec.Command(python, append([]string{"-c", text}, args...)...)
	c.Env = append(os.Environ(), "FLWR_TELEMETRY_ENABLED=0", "PYTHONDONTWRITEBYTECODE=1")
	out, err := c.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		err = errors.New(string(failed.Stderr))
	}
	return out, err
}

func served(t *testing.T, change func(*Study)) (Study, string) {
	t.Helper()
	s, folder := study(), t.TempDir()
	change(&s)
	if err := s.Write(folder, shards(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := App(folder); err != nil {
		t.Fatal(err)
	}
	return s, folder
}

// three are answers whose sum in another order, or in float32, has other bits.
func three(t *testing.T, s Study) []sent {
	t.Helper()
	var out []sent
	for k, scale := range []float32{1e6, -0.3, 1e-3} {
		p, err := s.Initial()
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range p {
			for j := range v.Data {
				v.Data[j] = scale*v.Data[j] + scale/7
			}
		}
		// By records 3 (7 2^60) + 10 + 7 (-3 2^60) is 0 in this order, and 10 in the other.
		p[0].Data[0] = []float32{-3 << 60, 7 << 60, 1}[k]
		out = append(out, sent{[]int{2, 0, 1}[k], []int{7, 3, 10}[k], p, 0.1 * float64(k+1)})
	}
	return out
}

// The server's mean is package federated's, bit for bit, in whatever order the
// answers come, and it goes on where it was.
func TestTheServersMeanIsThatOfTheLibrary(t *testing.T) {
	for _, mean := range []federated.Mean{federated.ByRecords, federated.Equally} {
		s, folder := served(t, func(s *Study) { s.Federation.Mean, s.Federation.Fraction = mean, 0.29 })
		answers := three(t, s)
		said, err := serve(t, folder, answers)
		if err != nil || said != [4]int{2, 3, 1, 2} {
			t.Fatalf("%v, %v", said, err)
		}
		want, err := mean.Average([]federated.Update{{User: 0, Records: 3, Params: answers[1].params},
			{User: 1, Records: 10, Params: answers[2].params}, {User: 2, Records: 7, Params: answers[0].params}})
		if err != nil {
			t.Fatal(err)
		}
		got, history, err := s.ReadWeights(filepath.Join(folder, "weights.safetensors"))
		if err != nil || got.Hash() != want.Hash() {
			t.Errorf("mean %d: another mean (%v)", mean, err)
		}
		loss := (3*0.2 + 10*0.3 + 7*0.1) / 20
		if mean == federated.Equally {
			loss = 0.2
		}
		if len(history) != 1 || !reflect.DeepEqual(history[0].Answered, []int{0, 1, 2}) || math.Abs(*history[0].Loss-loss) > 1e-12 {
			t.Errorf("mean %d: %+v, loss %v, want %v", mean, history, *history[0].Loss, loss)
		}
		// The next round, to which nobody answers, by a server that was started again.
		if said, err = serve(t, folder, nil); err != nil || said != [4]int{2, 3, 2, 1} {
			t.Fatalf("%v, %v", said, err)
		}
		kept, history, err := s.ReadWeights(filepath.Join(folder, "weights.safetensors"))
		if err != nil || kept.Hash() != want.Hash() || len(history) != 2 || len(history[1].Answered) != 0 || history[1].Loss != nil {
			t.Errorf("mean %d: after a round without answers %+v (%v)", mean, history, err)
		}
	}
}

func TestTheServerRefusesWhatIsNoAnswerByUserAndRound(t *testing.T) {
	s, folder := served(t, func(*Study) {})
	twice := three(t, s)
	twice[1].user = 2
	_, err := serve(t, folder, twice)
	wantWords(t, err, "two nodes say that they are user 2")
	nan := three(t, s)
	nan[2].params[1].Data[0] = float32(math.NaN())
	_, err = serve(t, folder, nan)
	wantWords(t, err, "round 1, user 1", "no numbers")
	if _, err := os.Stat(filepath.Join(folder, "weights.safetensors")); err == nil {
		t.Error("weights were kept")
	}
}

// using lets the app's user work: argv are the app's folder, the study, the study's
// fingerprint as the server says it ("" for the right one), and the program.
const using = `
import json, sys
sys.path.insert(0, sys.argv[1])
import lethe_flower as app
import numpy as np
user = app.User({"user": 1, "study": sys.argv[2], "shard": "there", "lethe": sys.argv[4]})
said = sys.argv[3] or app.fingerprint(sys.argv[2])
arrays, records, metrics = user.fit([np.ones((2, 3), "f4"), np.zeros(2, "f4")], {"round": 2, "study": said, "tensors": '["b", "a"]'})
print(json.dumps([[a.tolist() for a in arrays], records, metrics]))
`

// A user calls the program with what the server says, and sends what it wrote; with
// another study than the server's he does nothing.
func TestAUserWorksByTheServersStudyOnly(t *testing.T) {
	_, folder := served(t, func(*Study) {})
	app, file, program := filepath.Join(folder, appFolder), filepath.Join(folder, studyFile), filepath.Join(folder, "lethe")
	body := "#!/bin/sh\necho \"$*\" > " + filepath.Join(folder, "called") + "\ncp \"${12}\" \"${14}\"\n" +
		`echo '{"user":1,"records":5,"loss":0.25}'` + "\n"
	if err := os.WriteFile(program, []byte(body), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := withFlower(t, using, app, file, "0123", program)
	wantWords(t, err, "user 1", "another study")
	if _, err := os.Stat(filepath.Join(folder, "called")); err == nil {
		t.Error("he worked all the same")
	}
	out, err := withFlower(t, using, app, file, "", program)
	if want := `[[[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], [0.0, 0.0]], 5, {"user": 1, "loss": 0.25}]`; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
	called, err := os.ReadFile(filepath.Join(folder, "called"))
	for _, want := range []string{"federated client", "--study " + file, "--shard there", "--user 1", "--round 2"} {
		if err != nil || !strings.Contains(string(called), want) {
			t.Errorf("called with %s (%v), want %q", called, err, want)
		}
	}
}
