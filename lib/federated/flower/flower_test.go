// Tests of flower.go.

package flower

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

func study() Study {
	return Study{Network: "one-hidden", Features: 3, Classes: 2, Users: 3,
		Federation: federated.Config{Rounds: 3, Seed: 4}, Local: Local{Epochs: 2, Batch: 4, Rate: 0.01, Clip: 0.5}}
}

func newShard(n int) Shard {
	rng := engine.Root(7).Stream("toy")
	s := Shard{X: array.New[float32](n, 3), Y: make([]int, n)}
	for i := range s.Y {
		s.Y[i] = rng.IntN(2)
		for j := range 3 {
			s.X.Row(i)[j] = float32(rng.NormFloat64()) + float32(s.Y[i])
		}
	}
	return s
}

func shards(t *testing.T) []Shard {
	t.Helper()
	users, err := federated.Dirichlet{Alpha: 2, Least: 3}.Split(newShard(40).Y, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	return newShard(40).Split(users)
}

func runner(t *testing.T, s Study) *model.Runner {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	r, err := s.Runner(e)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wantWords(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

// Clients and a server, round by round and through files, give the bits of LocalFederation,
// also where a user does not answer.
func TestClientsMatchTheLocalFederation(t *testing.T) {
	s, folder := study(), t.TempDir()
	if err := s.Write(folder, shards(t)); err != nil {
		t.Fatal(err)
	}
	s, err := ReadStudy(folder)
	if err != nil || !reflect.DeepEqual(s, study()) {
		t.Fatalf("%+v, %v", s, err)
	}
	users, err := s.ReadShards(folder)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.LocalFederation(users)
	if err != nil {
		t.Fatal(err)
	}
	r := runner(t, s)
	for _, mean := range []federated.Mean{federated.ByRecords, federated.Equally} {
		p, _, err := s.ReadWeights(filepath.Join(folder, initialFile))
		if err != nil {
			t.Fatal(err)
		}
		answered := [][]int{{0, 1, 2}, {0, 2}, {1}}
		var history []federated.Round
		for i, present := range answered {
			var sent []federated.Update
			for _, k := range present {
				own, err := ReadShard(userFolder(folder, k))
				if err != nil {
					t.Fatal(err)
				}
				q, answer, err := s.RunClientRound(t.Context(), r, p, own, k, i+1)
				if err != nil || answer.User != k || answer.Records != len(own.Y) || !(answer.Loss > 0) {
					t.Fatalf("%+v, %v", answer, err)
				}
				sent = append(sent, federated.Update{User: k, Records: answer.Records, Params: q})
			}
			if p, err = mean.Average(sent); err != nil {
				t.Fatal(err)
			}
			history = append(history, federated.Round{Round: i + 1, Answered: present})
		}
		f.Mean, f.Participation = mean, federated.ReplayParticipation(history)
		begin, err := s.Initial()
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := federated.Run(t.Context(), r, begin, f, federated.Hooks{})
		if err != nil || got.Hash() != p.Hash() {
			t.Errorf("mean %d: another result than apart (%v)", mean, err)
		}
	}
}

// The clipping norm is part of the study and changes the result.
func TestTheStudysTrainingIsWhatAUserDoes(t *testing.T) {
	own := shards(t)[0]
	hash := func(change func(*Study)) string {
		s := study()
		change(&s)
		p, err := s.Initial()
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := s.RunClientRound(t.Context(), runner(t, s), p, own, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		return out.Hash()
	}
	seen := map[string]bool{hash(func(*Study) {}): true}
	for name, change := range map[string]func(*Study){
		"epochs": func(s *Study) { s.Local.Epochs = 3 },
		"batch":  func(s *Study) { s.Local.Batch = 5 },
		"rate":   func(s *Study) { s.Local.Rate = 0.02 },
		"clip":   func(s *Study) { s.Local.Clip = 0.01 },
		"seed":   func(s *Study) { s.Federation.Seed = 9 },
	} {
		if h := hash(change); seen[h] {
			t.Errorf("%s changes nothing", name)
		} else {
			seen[h] = true
		}
	}
}

func TestWeightsCarryTheRoundsThatTheyCameFrom(t *testing.T) {
	s, path := study(), filepath.Join(t.TempDir(), "w.safetensors")
	p, err := s.Initial()
	if err != nil {
		t.Fatal(err)
	}
	loss := 0.1
	history := []federated.Round{{Round: 1, Answered: []int{0, 2}, Silent: []int{1}, Loss: &loss}}
	if err := WriteWeights(path, p, history); err != nil {
		t.Fatal(err)
	}
	q, h, err := s.ReadWeights(path)
	if err != nil || q.Hash() != p.Hash() || !reflect.DeepEqual(h, history) {
		t.Errorf("%v, %v", h, err)
	}
	bad := p.Clone()
	bad[1].Data[0] = float32(math.NaN())
	file := bad.File("")
	if err := safetensors.Write(path, file); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.ReadWeights(path)
	wantWords(t, err, "w.safetensors", "hidden.bias", "NaN")
	file = p.File("")
	file.Metadata = map[string]string{historyKey: "[{"}
	if err := safetensors.Write(path, file); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.ReadWeights(path)
	wantWords(t, err, "w.safetensors", historyKey)
	for _, c := range []struct {
		history []federated.Round
		words   string
	}{
		{[]federated.Round{{Round: 2}}, "the record of round 1 says that it is of round 2"},
		{[]federated.Round{{Round: 1}, {Round: 2}, {Round: 3}, {Round: 4}}, "4 rounds, the study has 3"},
		{[]federated.Round{{Round: 1, Answered: []int{0, 3}}}, "user 3"},
		{[]federated.Round{{Round: 1, Silent: []int{-1}}}, "user -1"},
	} {
		if err := WriteWeights(path, p, c.history); err != nil {
			t.Fatal(err)
		}
		_, _, err = s.ReadWeights(path)
		wantWords(t, err, "w.safetensors", historyKey, c.words)
	}
	if err := safetensors.Write(path, nn.Params(p[1:]).File("")); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.ReadWeights(path)
	wantWords(t, err, "hidden.weight", "missing")
	other := study()
	other.Features = 5
	if err := WriteWeights(path, p, nil); err != nil {
		t.Fatal(err)
	}
	_, _, err = other.ReadWeights(path)
	wantWords(t, err, "hidden.weight", "[128 3]", "[128 5]")
}

func TestABadStudyIsRefusedByName(t *testing.T) {
	for _, c := range []struct {
		change func(*Study)
		words  []string
	}{
		{func(s *Study) { s.Network = "none" }, []string{"none", "one-hidden"}},
		{func(s *Study) { s.Users = 0 }, []string{"0 users"}},
		{func(s *Study) { s.Features = 0 }, []string{"0 features"}},
		{func(s *Study) { s.Local.Epochs = 0 }, []string{"0 local epochs"}},
		{func(s *Study) { s.Local.Batch = -1 }, []string{"batches of -1"}},
		{func(s *Study) { s.Local.Rate = math.Inf(1) }, []string{"learning rate of +Inf"}},
		{func(s *Study) { s.Local.Clip = -2 }, []string{"the norm -2"}},
		{func(s *Study) { s.Local.Rate = math.NaN() }, []string{"NaN"}},
		{func(s *Study) { s.Federation.Rounds = 0 }, []string{"0 rounds"}},
		{func(s *Study) { s.Federation.Fraction = 2 }, []string{"2"}},
	} {
		s := study()
		c.change(&s)
		wantWords(t, s.Write(t.TempDir(), shards(t)), c.words...)
	}
	folder := t.TempDir()
	for text, word := range map[string]string{"": "it is empty", `{"networc":"x"}`: "networc", `{"users":"three"}`: "users", `{"network":"one-hidden"}`: "0",
		`{"users":3,"users":4}`: "given twice", "{}{}": "after the end"} {
		if err := os.WriteFile(filepath.Join(folder, studyFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadStudy(folder)
		wantWords(t, err, studyFile, word)
	}
	_, err := ReadStudy(filepath.Join(folder, "nowhere"))
	wantWords(t, err, "nowhere")
}

func TestRecordsThatDoNotFitAreRefusedByUser(t *testing.T) {
	s, folder := study(), t.TempDir()
	wide := shards(t)
	wide[1].X = array.New[float32](len(wide[1].Y), 4)
	wantWords(t, s.Write(folder, wide), "user 1", "4 features", "3")
	strange := shards(t)
	strange[2].Y[1] = 2
	_, err := s.LocalFederation(strange)
	wantWords(t, err, "user 2", "record 1", "class 2", "0 to 1")
	none := shards(t)
	none[0] = Shard{X: array.New[float32](0, 3)}
	_, err = s.LocalFederation(none)
	wantWords(t, err, "user 0", "0 records")
	_, err = s.LocalFederation(none[:2])
	wantWords(t, err, "2 users", "3")
	r := runner(t, s)
	for _, c := range [][2]int{{3, 1}, {-1, 1}, {0, 0}, {0, 4}} {
		p, err := s.Initial()
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = s.RunClientRound(t.Context(), r, p, shards(t)[0], c[0], c[1])
		wantWords(t, err, "users 0 to 2", "rounds 1 to 3")
	}
	x, y := filepath.Join(folder, "x.npy"), filepath.Join(folder, "y.npy")
	if err := npy.Write(x, array.New[float32](4, 3)); err != nil {
		t.Fatal(err)
	}
	if err := npy.WriteIndices(y, []int{0, 1, 1}); err != nil {
		t.Fatal(err)
	}
	_, err = ReadShard(folder)
	wantWords(t, err, "x.npy: 4 records", "y.npy: 3 classes")
	nan := array.New[float32](3, 3)
	nan.Row(1)[2] = float32(math.NaN())
	if err := npy.Write(x, nan); err != nil {
		t.Fatal(err)
	}
	_, err = ReadShard(folder)
	wantWords(t, err, "x.npy", "row 1", "NaN")
}

// Every record goes to its user with its own class, in the user's order.
func TestRecordsKeepTheirClasses(t *testing.T) {
	all := Shard{X: array.New[float32](4, 1), Y: []int{3, 0, 2, 1}}
	for i, y := range all.Y {
		all.X.Row(i)[0] = float32(10 * y)
	}
	for k, u := range all.Split([]federated.User{{ID: 0, Rows: []int{2, 0}}, {ID: 1, Rows: []int{3}}, {ID: 2, Rows: []int{1}}}) {
		for i, y := range u.Y {
			if u.X.Row(i)[0] != float32(10*y) || y != [][]int{{2, 3}, {1}, {0}}[k][i] {
				t.Errorf("user %d, record %d: %v of class %d", k, i, u.X.Row(i), y)
			}
		}
	}
	if all.Classes() != 4 {
		t.Errorf("%d classes", all.Classes())
	}
}

func TestAFolderIsNotOverwritten(t *testing.T) {
	folder := t.TempDir()
	if err := study().Write(folder, shards(t)); err != nil {
		t.Fatal(err)
	}
	wantWords(t, study().Write(folder, shards(t)), studyFile, "already")
}

func TestAFolderHasTheStudysUsersOrNone(t *testing.T) {
	s, folder := study(), t.TempDir()
	left := filepath.Join(folder, usersFolder, "0")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	wantWords(t, s.Write(folder, shards(t)), usersFolder, "exists already")
	if err := os.RemoveAll(filepath.Join(folder, usersFolder)); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(folder, shards(t)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(userFolder(folder, 1), userFolder(folder, 7)); err != nil {
		t.Fatal(err)
	}
	_, err := s.ReadShards(folder)
	wantWords(t, err, "user 1")
	if err := os.Mkdir(userFolder(folder, 1), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = s.ReadShards(folder)
	wantWords(t, err, "4 users, the study 3")
}

func TestTheAppNamesItsFolderAndItsVersion(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a \"strange\" folder\n[tool]")
	if err := study().Write(folder, shards(t)); err != nil {
		t.Fatal(err)
	}
	app, err := App(folder)
	if err != nil {
		t.Fatal(err)
	}
	project, err := os.ReadFile(filepath.Join(app, "pyproject.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`a \"strange\" folder\u000A[tool]"`, "flwr==" + Version} {
		if !strings.Contains(string(project), want) {
			t.Errorf("the project does not say %s:\n%s", want, project)
		}
	}
	if text, err := os.ReadFile(filepath.Join(app, "lethe_flower.py")); err != nil || string(text) != appSource {
		t.Error("the app is another", err)
	}
	// The server checks answers against the number of records of each user.
	initial, err := safetensors.Read(filepath.Join(folder, initialFile))
	if err != nil || initial.Metadata[recordsKey] != "[5,24,11]" {
		t.Errorf("%v, %v", initial.Metadata, err)
	}
	for _, records := range []string{"", "[5,24]", "[5,24,0]", "[5,24,1.5]", "{}"} {
		initial.Metadata[recordsKey] = records
		if err := safetensors.Write(filepath.Join(folder, initialFile), initial); err != nil {
			t.Fatal(err)
		}
		_, err = App(folder)
		wantWords(t, err, initialFile, "how many records each of the 3 users has")
	}
	silent := study()
	silent.Federation.Silent = 0.5
	other := t.TempDir()
	if err := silent.Write(other, shards(t)); err != nil {
		t.Fatal(err)
	}
	_, err = App(other)
	wantWords(t, err, studyFile, "0.5", "network")
}
