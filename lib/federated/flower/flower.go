// Package flower runs a federation over a network with Flower (https://flower.ai,
// PyPI flwr), and the same one in a process. A federation is a folder:
//
//	study.json           what everybody knows: network, local training, rounds, seed
//	initial.safetensors  the weights that it begins with, for the server; its metadata
//	                     says how many records every user has
//	users/3/x.npy, y.npy the records of user 3, which stay with him
//
// Server and users are a Flower app of one Python file (App). Flower carries the
// weights and decides who takes part; a user's work is `lethe federated client`, a
// process that reads weights and writes weights; the server's mean is the one of
// package federated. Its result holds who answered in which round, so that a run in
// one process can be like it: it has the same bits (Study.LocalFederation with
// federated.ReplayParticipation).
//
// # Why a Python client
//
// Flower's messages between server and user (the Fleet API, gRPC) are no published
// interface. The packages hold no .proto files, and what they generate changes: flwr
// 1.8.0 has five calls, 1.13.1 seven, 1.18.0 seven of which two have other names and
// messages, 1.42.0 twelve, of which seven are of the other versions, with signatures
// and chunked objects. A client in Go would need grpc and its own copy of the
// definitions, and fit one version. The Python classes that the app uses (ClientApp,
// NumPyClient, Strategy) are documented, and the Go program needs no network for them.
//
// # What differs from one process
//
// (1) Who takes part is Flower's to say: with a fraction C it draws floor(C K) of the
// K users who are connected, from a generator of its own, and a user who does not
// answer is one whose process failed, whatever the reason: one whose weights are no
// numbers too, which ends a run in one process. A machine that is gone is noticed
// when the round's time is over (limit, in the app's pyproject.toml). (2) All parts must run on the same
// kind of engine (lethe doctor says which): other matrix products round otherwise.
// (3) A user who has never answered has no number at the server, and is not listed
// as silent. (4) A study has no requests (federated.Schedule): who leaves stops their
// node, and who erases records takes them out of their folder.
//
// # What a user can do to the others
//
// The server checks every answer against the study: user, round, number and shapes of
// the arrays, their type, that all elements and the loss are numbers, and that the user
// has no more records than at first. An answer that fails counts as one that did not
// come, and the log names it. A node keeps its user's number as long as it is connected;
// where two nodes first claim the same number, neither counts, because nobody can tell
// which of them lies. Who owns a machine is Flower's to say (its node authentication).
// Weights of the right form that no honest work made are not noticed: federated
// averaging has no defence against them.
package flower

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// The files of a federation's folder.
const (
	studyFile   = "study.json"
	initialFile = "initial.safetensors"
	usersFolder = "users"
)

// Study is what everybody of a federation knows and agrees on.
type Study struct {
	Network    string           `json:"network"` // one of tabular.All
	Features   int              `json:"features"`
	Classes    int              `json:"classes"`
	Users      int              `json:"users"` // 0, 1, ... Users-1
	Federation federated.Config `json:"federation"`
	Local      Local            `json:"local"`
}

// Local is how a user trains in a round: by cross-entropy.
type Local struct {
	Epochs int     `json:"epochs"`
	Batch  int     `json:"batch,omitempty"` // 0: all his records
	Rate   float64 `json:"rate,omitempty"`  // of Adam, 0: 0.001
	Clip   float64 `json:"clip,omitempty"`  // the longest gradient, 0: any
}

// StudyFile is the path of a study's file, given that or the folder that it is in.
func StudyFile(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, studyFile)
	}
	return path
}

// maxStudyBytes bounds what is read of a study.
const maxStudyBytes = 1 << 20

// ReadStudy reads and checks a study; path is its file or its folder.
func ReadStudy(path string) (Study, error) {
	path = StudyFile(path)
	var s Study
	if err := files.ReadJSON(path, maxStudyBytes, &s); err != nil {
		return Study{}, err
	}
	if err := s.check(); err != nil {
		return Study{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// check reports what no federation can be run from.
func (s Study) check() error {
	net, err := s.network()
	if err != nil {
		return err
	}
	switch {
	case s.Users < 1:
		return fmt.Errorf("%d users", s.Users)
	case s.Local.Epochs < 1:
		return fmt.Errorf("%d local epochs", s.Local.Epochs)
	case s.Local.Batch < 0:
		return fmt.Errorf("local batches of %d records", s.Local.Batch)
	case !(s.Local.Rate >= 0) || math.IsInf(s.Local.Rate, 1):
		return fmt.Errorf("a learning rate of %v", s.Local.Rate)
	case !(s.Local.Clip >= 0) || math.IsInf(s.Local.Clip, 1):
		return fmt.Errorf("gradients cut to a length of %v", s.Local.Clip)
	}
	_, err = model.WeightShapes(net)
	return errors.Join(err, s.Federation.Check())
}

func (s Study) network() (model.Architecture, error) {
	var names []string
	for _, f := range tabular.All() {
		if f.Name == s.Network {
			return f.New(s.Features, s.Classes), nil
		}
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("the network %q is none of %q", s.Network, names)
}

// Runner builds the study's network on an engine.
func (s Study) Runner(e *engine.Engine) (*model.Runner, error) {
	net, err := s.network()
	if err != nil {
		return nil, err
	}
	return model.NewRunner(e, net)
}

// Initial draws the weights that the federation begins with.
func (s Study) Initial() (nn.Params, error) {
	net, err := s.network()
	if err != nil {
		return nil, err
	}
	return net.Init(s.Federation.Seed.Stream(engine.StreamInit)), nil
}

// Write makes the folder of a federation: the study, the weights that it begins
// with, and the users' records. It refuses a folder that has a study, or users. The
// study comes last: where it is, everything is.
func (s Study) Write(folder string, users []Shard) error {
	if err := s.check(); err != nil {
		return err
	}
	if len(users) != s.Users {
		return fmt.Errorf("the records of %d users, the study has %d", len(users), s.Users)
	}
	file, room := filepath.Join(folder, studyFile), filepath.Join(folder, usersFolder)
	for _, path := range []string{file, room} {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is there already", path)
		}
	}
	for k, u := range users {
		if err := s.checkShard(u); err != nil {
			return fmt.Errorf("user %d: %w", k, err)
		}
	}
	p, err := s.Initial()
	if err != nil {
		return err
	}
	err = files.WriteFolder(room, func(work string) error {
		for k, u := range users {
			if err := u.write(filepath.Join(work, strconv.Itoa(k))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := writeInitial(filepath.Join(folder, initialFile), p, users); err != nil {
		return err
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return files.WriteFile(file, append(text, '\n'))
}

func userFolder(folder string, user int) string {
	return filepath.Join(folder, usersFolder, strconv.Itoa(user))
}

// task is a user's work on records.
func (s Study) task(objective func(rows []int) (train.Objective, error)) federated.Worker {
	c := train.Config{Epochs: s.Local.Epochs, Batch: s.Local.Batch, Optimizer: nn.Adam{LR: cmp.Or(s.Local.Rate, 1e-3)}}
	plain := federated.LocalTraining(objective, c)
	if s.Local.Clip == 0 {
		return plain
	}
	return func(t federated.UserRound) (federated.Task, error) {
		task, err := plain(t)
		task.Plan.Transforms = []train.GradientTransform{train.ClipNorm{Max: s.Local.Clip}}
		return task, err
	}
}

// LocalFederation is the study in one process: all users' records together.
func (s Study) LocalFederation(users []Shard) (federated.Federation, error) {
	if len(users) != s.Users {
		return federated.Federation{}, fmt.Errorf("the records of %d users, the study has %d", len(users), s.Users)
	}
	f := federated.Federation{Config: s.Federation}
	var all Shard
	for k, u := range users {
		if err := s.checkShard(u); err != nil {
			return f, fmt.Errorf("user %d: %w", k, err)
		}
		f.Users = append(f.Users, federated.User{ID: k, Rows: rowRange(len(all.Y), len(all.Y)+len(u.Y))})
		all.Y = append(all.Y, u.Y...)
		all.X.Rows, all.X.Cols, all.X.Data = all.X.Rows+u.X.Rows, u.X.Cols, append(all.X.Data, u.X.Data...)
	}
	f.Work = s.task(func(rows []int) (train.Objective, error) { return all.objective(rows, s.Classes) })
	return f, nil
}

func rowRange(from, to int) (out []int) {
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}
