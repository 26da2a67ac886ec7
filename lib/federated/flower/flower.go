// Package flower runs a federation over a network with Flower (https://flower.ai, PyPI
// flwr), or the same federation in one process. A federation is a folder:
//
//	study.json           what all users know: network, local training, rounds, seed
//	initial.safetensors  the initial weights, for the server; the metadata say how many
//	                     records every user has
//	users/3/x.npy, y.npy the records of user 3, which stay with them
//
// Server and users are a Flower app of one Python file (App). Flower transports the weights
// and decides who takes part. A user's work is `lethe federated client`, a process that
// reads and writes weights; the server's mean is that of package federated. The result says
// who answered in which round, so that a run in one process can repeat it with the same
// bits (Study.LocalFederation with federated.ReplayParticipation).
//
// # Why a Python client
//
// Flower's messages between server and user (the Fleet API, over gRPC) are not a published
// interface: the packages hold no .proto files, and the messages differ between versions. A
// client in Go would need gRPC and a copy of the definitions, and would fit one version.
// The Python classes that the app uses (ClientApp, NumPyClient, Strategy) are documented,
// and the Go program needs no network access.
//
// # Differences from a run in one process
//
// (1) Flower decides who takes part: with a fraction C it draws floor(C K) of the K
// connected users from a generator of its own. A user who does not answer is one whose
// process failed for any reason, including non-finite weights, which end a run in one
// process. A machine that is gone is noticed when the round's time is over (limit, in the
// app's pyproject.toml). (2) All machines must use the same kind of engine (lethe doctor
// says which), since other matrix products round differently. (3) A user who has never
// answered has no ID at the server and is not listed as silent. (4) A study has no requests
// (federated.Schedule): a user who leaves stops their node, and a user who erases records
// removes them from their folder.
//
// # Security
//
// The server checks every answer against the study: user, round, number, shapes and type of
// the arrays, that all elements and the loss are finite, and that the user has no more
// records than at the start. An answer that fails a check counts as missing, and the log
// names it. A node keeps its user's ID while it is connected. Where two nodes first claim
// the same ID neither counts, because the server cannot tell which one is right. Who owns a
// machine is up to Flower's node authentication. Well-formed weights from a dishonest user
// are not detected: federated averaging has no defence against them.
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

// Study is what all members of a federation know and agree on.
type Study struct {
	Network    string           `json:"network"` // one of tabular.All
	Features   int              `json:"features"`
	Classes    int              `json:"classes"`
	Users      int              `json:"users"` // number of users, with IDs 0, 1, ... Users-1
	Federation federated.Config `json:"federation"`
	Local      Local            `json:"local"`
}

// Local says how a user trains in a round, with the cross-entropy.
type Local struct {
	Epochs int     `json:"epochs"`
	Batch  int     `json:"batch,omitempty"` // 0: all of the user's records
	Rate   float64 `json:"rate,omitempty"`  // of Adam, 0: 0.001
	Clip   float64 `json:"clip,omitempty"`  // maximum gradient norm, 0: no limit
}

// StudyFile returns the path of a study's file, given the file or its folder.
func StudyFile(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, studyFile)
	}
	return path
}

// maxStudyBytes limits the size of a study's file.
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

// check returns an error for a study that cannot be run.
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
		return fmt.Errorf("gradients clipped to the norm %v", s.Local.Clip)
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
	return nil, fmt.Errorf("the network %q is not one of %q", s.Network, names)
}

// Runner builds the study's network on an engine.
func (s Study) Runner(e *engine.Engine) (*model.Runner, error) {
	net, err := s.network()
	if err != nil {
		return nil, err
	}
	return model.NewRunner(e, net)
}

// Initial draws the initial weights of the federation.
func (s Study) Initial() (nn.Params, error) {
	net, err := s.network()
	if err != nil {
		return nil, err
	}
	return model.InitialWeights(net, s.Federation.Seed.Stream(engine.StreamInit)), nil
}

// Write writes the folder of a federation: the study, the initial weights and the users'
// records. It refuses a folder that already has a study or users. The study is written
// last, so that a folder with a study is complete.
func (s Study) Write(folder string, users []Shard) error {
	if err := s.check(); err != nil {
		return err
	}
	if len(users) != s.Users {
		return fmt.Errorf("the records of %d users, the study has %d", len(users), s.Users)
	}
	file, usersDir := filepath.Join(folder, studyFile), filepath.Join(folder, usersFolder)
	for _, path := range []string{file, usersDir} {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s exists already", path)
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
	err = files.WriteFolder(usersDir, func(work string) error {
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

// task returns the Worker of a user on their records.
func (s Study) task(objective func(rows []int) (train.Objective, error)) federated.Worker {
	c := train.Config{Epochs: s.Local.Epochs, Batch: s.Local.Batch, Optimizer: nn.Adam{LR: cmp.Or(s.Local.Rate, 1e-3)}}
	plain := federated.LocalTraining(objective, c)
	if s.Local.Clip == 0 {
		return plain
	}
	return func(t federated.UserRound) (federated.Task, error) {
		task, err := plain(t)
		task.Plan.Transforms = train.Chain{train.ClipNorm{Max: s.Local.Clip}}
		return task, err
	}
}

// LocalFederation returns the study as a federation in one process, with the records of all
// users.
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
