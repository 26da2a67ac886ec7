// Tests of app.go.

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
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/nn"
)

// serving makes the app's server receive one round of answers: argv are the app's folder,
// the federation's folder, and for every answer its user, its records and its file.
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

// sent is an answer as the server receives it.
type sent struct {
	user, records int
	params        nn.Params
	loss          float64
}

// serve passes the answers of a round to the server and returns the number of users drawn
// of ten, the number it waited for, the round, and the rounds left.
func serve(t *testing.T, folder string, answers []sent) ([4]int, error) {
	t.Helper()
	out, err := withFlower(t, serving, filepath.Join(folder, appFolder), folder, answerList(t, answers))
	if err != nil {
		return [4]int{}, err
	}
	var said [4]int
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatal(err)
	}
	return said, nil
}

// answerList writes the weights of answers to files and returns the list that the programs
// of this file take.
func answerList(t *testing.T, answers []sent) string {
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
	return string(text)
}

// withFlower runs a Python program with Flower or, without it, with stand-ins for the
// classes that the app uses (testdata/standin). It skips the test without NumPy. The error
// is the program's standard error.
func withFlower(t *testing.T, text string, args ...string) ([]byte, error) {
	t.Helper()
	python := cmp.Or(os.Getenv("LETHE_TEST_FLOWER"), "python3")
	if out, err := exec.Command(python, "-c", "import numpy").CombinedOutput(); err != nil {
		t.Skipf("%s has no numpy (%v: %s); LETHE_TEST_FLOWER may name a Python that has flwr %s", python, err, out, Version)
	}
	path := os.Getenv("PYTHONPATH")
	if out, err := exec.Command(python, "-c", "import flwr; print(flwr.__version__)").Output(); err != nil {
		standin, err := filepath.Abs(filepath.Join("testdata", "standin"))
		if err != nil {
			t.Fatal(err)
		}
		path = standin + string(os.PathListSeparator) + path
	} else if v := strings.TrimSpace(string(out)); v != Version {
		t.Skipf("%s has flwr %s, the app is for %s", python, v, Version)
	}
	c := exec.Command(python, append([]string{"-c", text}, args...)...)
	c.Env = append(os.Environ(), "PYTHONPATH="+path, "FLWR_TELEMETRY_ENABLED=0", "PYTHONDONTWRITEBYTECODE=1")
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

// three returns answers whose sum in another order, or in float32, has other bits.
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

// The server's mean is package federated's, bit for bit, in any order of the answers, and a
// restarted server resumes.
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
		// The next round, without answers, by a restarted server.
		if said, err = serve(t, folder, nil); err != nil || said != [4]int{2, 3, 2, 1} {
			t.Fatalf("%v, %v", said, err)
		}
		kept, history, err := s.ReadWeights(filepath.Join(folder, "weights.safetensors"))
		if err != nil || kept.Hash() != want.Hash() || len(history) != 2 || len(history[1].Answered) != 0 || history[1].Loss != nil {
			t.Errorf("mean %d: after a round without answers %+v (%v)", mean, history, err)
		}
	}
}

// judging makes the server check rounds of three users, one of whom sends something
// invalid. argv are the app's folder, the federation's folder, and an answer per user as in
// serving. It prints, for every kind of invalid answer, who answered, who was silent, what
// the log says, and whether the mean has the bits of the other two's.
const judging = `
import io, json, logging, struct, sys
sys.path.insert(0, sys.argv[1])
import lethe_flower as app
import numpy as np
from flwr.common import Code, FitRes, Parameters, Status, ndarrays_to_parameters
logged = []
app.log = lambda level, text, *args: logged.append(text % args) if level == logging.WARN else None
class Node:
    def __init__(self, cid): self.cid = cid
class Nodes:
    def wait_for(self, n): pass
    def all(self): return {str(k): Node(str(k)) for k in range(4)}

def honest(user, records, path, loss):
    tensors, _ = app.read(path)
    return FitRes(Status(Code.OK, ""), ndarrays_to_parameters(list(tensors.values())), records, {"user": user, "round": 1, "loss": loss})

def said(**more):
    return lambda a: a.metrics.update(more)
def unsaid(name):
    return lambda a: a.metrics.pop(name)
def records(n):
    return lambda a: setattr(a, "num_examples", n)
def tensors(change):
    def do(a):
        arrays = [np.load(io.BytesIO(t)) for t in a.parameters.tensors]
        a.parameters = ndarrays_to_parameters(change(arrays))
    return do
def matrix(change): # of the first matrix
    def do(arrays):
        k = next(k for k, v in enumerate(arrays) if v.ndim == 2)
        return arrays[:k] + [change(arrays[k].copy())] + arrays[k + 1:]
    return tensors(do)
def put(value, dtype="f4"):
    def do(v):
        v = v.astype(dtype)
        v.flat[3] = value
        return v
    return matrix(do)
def raw(data):
    return lambda a: setattr(a, "parameters", Parameters([data] + a.parameters.tensors[1:], "numpy.ndarray"))
def npy(shape, dtype="<f4", rest=b"", version=b"\x01\x00"):
    text = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (dtype, shape)).encode() + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + rest

bad = {
    "NaN": put(np.nan), "inf": put(np.inf), "-inf": put(-np.inf),
    "float64 that float32 does not hold": put(1e300, "f8"), "float64": put(0, "f8"),
    "float16": put(0, "f2"), "int32": put(0, "i4"), "bool": put(True, "?"), "complex": put(0, "c8"), "big-endian": put(0, ">f4"),
    "shape (1,)": matrix(lambda v: np.ones(1, "f4")), "shape ()": matrix(lambda v: np.float32(1)),
    "transposed": matrix(lambda v: v.T), "flat": matrix(lambda v: v.ravel()), "longer": matrix(lambda v: np.concatenate([v, v])),
    "empty": matrix(lambda v: v[:0]), "another dimension": matrix(lambda v: v[None]),
    "too few": tensors(lambda a: a[:-1]), "too many": tensors(lambda a: a + a[:1]), "none": tensors(lambda a: []),
    "exchanged": tensors(lambda a: a[::-1]),
    "no npy data": raw(b"hello"), "nothing": raw(b""), "pickle": raw(npy("(2,)", "|O", b"cos\nsystem\n(S'true'\ntR.")),
    "a size beyond memory": raw(npy("(1000000000000,)")), "cut off": raw(npy("(128, 3)", rest=b"0000")),
    "another version": raw(npy("(2,)", version=b"\x07\x00")), "deep header": raw(npy("(" * 3000)),
    "no user": unsaid("user"), "user True": said(user=True), "user 1.0": said(user=1.0), "user '1'": said(user="1"),
    "user 3 of three": said(user=3), "user -1": said(user=-1), "user list": said(user=[1]),
    "1e15 records": records(10**15), "-99 records": records(-99), "0 records": records(0), "one record more": records(25),
    "24.0 records": records(24.0), "NaN records": records(float("nan")), "no records": records(None),
    "loss NaN": said(loss=float("nan")), "loss inf": said(loss=float("inf")), "no loss": unsaid("loss"), "loss 1e308": said(loss=1e308),
    "loss text": said(loss="0.1"), "loss bool": said(loss=True), "loss huge": said(loss=10**400), "loss list": said(loss=[0.1]),
    "an old round": said(round=0), "a round to come": said(round=2),
    "failed": lambda a: setattr(a, "status", Status(Code.FIT_NOT_IMPLEMENTED, "")),
    "no metrics": lambda a: setattr(a, "metrics", None), "no parameters": lambda a: setattr(a, "parameters", None),
}

def bits(mean): return b"".join(v.tobytes() for v in mean.current).hex()

good, out = json.loads(sys.argv[3]), {}
weights = app.Path(sys.argv[2]) / "weights.safetensors"
def begin():
    weights.unlink(missing_ok=True)
    mean = app.Mean(sys.argv[2])
    mean.connected = {str(k) for k in range(4)}
    return mean
def step(mean, nodes, change=lambda a: None, who=1, users=(0, 1, 2)):
    answers = [(Node(node), honest(*good[user])) for node, user in zip(nodes, users, strict=True)]
    for node, a in answers: a.metrics["round"] = len(mean.history) + 1
    if who is not None: change(answers[who][1])
    logged.clear()
    mean.drawn = [node for node, _ in answers]
    mean.aggregate_fit(len(mean.history) + 1, answers, [])
    return [mean.history[-1]["answered"], mean.history[-1].get("silent", []), list(logged), bits(mean)]

mean = begin(); out["all"] = step(mean, "012")
mean = begin(); out["two"] = step(mean, "02", users=(0, 2), who=None)
for name, change in bad.items():
    out["bad: " + name] = step(begin(), "012", change)
out["twice"] = step(begin(), "012", said(user=2))
out["twice by a node"] = step(begin(), "022", said(user=1))
mean = begin(); step(mean, "012"); out["owned"] = step(mean, "012", said(user=2))
out["owned, from another node"] = step(mean, "0123", users=(0, 1, 2, 2), who=None)
mean = begin(); step(mean, "012"); mean.connected.remove("1"); out["comes back"] = step(mean, "032", who=None)
mean = begin(); step(mean, "012"); out["late"] = step(mean, "012", put(np.nan))
mean = begin(); before = bits(mean)
answers = [(Node(str(k)), honest(*good[k])) for k in range(3)]
for _, a in answers: put(np.nan)(a)
mean.aggregate_fit(1, answers, []); out["all bad"] = [mean.history[-1]["answered"], [], [], "kept" if bits(mean) == before else "moved"]
out["went on"] = step(mean, "012")
print(json.dumps(out))
`

// judged is the server's result for a round.
type judged struct {
	answered, silent []int
	log              []string
	bits             string
}

func (j *judged) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&j.answered, &j.silent, &j.log, &j.bits})
}

// An invalid answer counts as missing: the log names it and the mean is over the others.
func TestABadAnswerCountsAsNone(t *testing.T) {
	s, folder := served(t, func(*Study) {})
	good := three(t, s)
	slices.SortFunc(good, func(a, b sent) int { return a.user - b.user })
	list := answerList(t, good)
	out, err := withFlower(t, judging, filepath.Join(folder, appFolder), folder, list)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]judged{}
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatal(err)
	}
	all, two := said["all"], said["two"]
	if !slices.Equal(all.answered, []int{0, 1, 2}) || len(all.log) > 0 || !slices.Equal(two.answered, []int{0, 2}) || all.bits == two.bits {
		t.Fatalf("%+v, %+v", all, two)
	}
	bad := 0
	for name, got := range said {
		what, is := strings.CutPrefix(name, "bad: ")
		if !is {
			continue
		}
		bad++
		if !slices.Equal(got.answered, []int{0, 2}) || got.bits != two.bits {
			t.Errorf("%s: users %v are in the mean", what, got.answered)
		}
		if len(got.log) != 1 || !strings.Contains(got.log[0], "round 1, node 1: the answer does not count") || len(got.log[0]) > 300 {
			t.Errorf("%s: the log says %q", what, got.log)
		}
	}
	if bad < 50 {
		t.Errorf("%d bad answers", bad)
	}
	for name, want := range map[string]judged{
		"twice":                    {answered: []int{0}, log: []string{"nodes 1, 2 all say that they are user 2"}},
		"twice by a node":          {answered: []int{0}, log: []string{"same node", "same node"}},
		"owned":                    {answered: []int{0, 2}, silent: []int{1}, log: []string{"it is user 1 and says that it is user 2"}},
		"owned, from another node": {answered: []int{0, 1, 2}, log: []string{"user 2 is node 2"}},
		"comes back":               {answered: []int{0, 1, 2}},
		"late":                     {answered: []int{0, 2}, silent: []int{1}, log: []string{"no numbers"}},
		"went on":                  {answered: []int{0, 1, 2}},
	} {
		got := said[name]
		if !slices.Equal(got.answered, want.answered) || !slices.Equal(got.silent, want.silent) || len(got.log) != len(want.log) {
			t.Errorf("%s: %v answered, %v silent, %q", name, got.answered, got.silent, got.log)
			continue
		}
		for i, words := range want.log {
			if !strings.Contains(got.log[i], words) {
				t.Errorf("%s: %q, want %q", name, got.log[i], words)
			}
		}
	}
	if got := said["all bad"]; len(got.answered) != 0 || got.bits != "kept" {
		t.Errorf("all bad: %v, weights %s", got.answered, got.bits)
	}
}

// using runs the app's user: argv are the app's folder, the study, the study's fingerprint
// from the server ("" for the right one), and the program.
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

// A user calls the program with the server's arguments and sends what it wrote; for another
// study than the server's they do nothing.
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
		t.Error("the user trained all the same")
	}
	out, err := withFlower(t, using, app, file, "", program)
	if want := `[[[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], [0.0, 0.0]], 5, {"user": 1, "round": 2, "loss": 0.25}]`; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
	called, err := os.ReadFile(filepath.Join(folder, "called"))
	for _, want := range []string{"federated client", "--study " + file, "--shard there", "--user 1", "--round 2"} {
		if err != nil || !strings.Contains(string(called), want) {
			t.Errorf("called with %s (%v), want %q", called, err, want)
		}
	}
}
