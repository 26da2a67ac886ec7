package federated

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/store"
)

// The kill test starts this test binary again as another process; the variable names
// the store in which it is to work.
const childStore = "LETHE_FEDERATED_TEST_STORE"

func TestMain(m *testing.M) {
	dir := os.Getenv(childStore)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := child(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ended is what a run comes to.
type ended struct {
	Weights string
	History []Round
}

// child is the process that is killed. It saves every round and prints first what
// it finds saved, then what it ends in.
func child(dir string) error {
	e, err := enginetest.Open()
	if err != nil {
		return err
	}
	r, err := model.NewRunner(e, small)
	if err != nil {
		return err
	}
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	data := made(200)
	users, err := Dirichlet{Alpha: 1, Least: 1}.Cut(data.y, 6, 2)
	if err != nil {
		return err
	}
	f := Federation{Config: Config{Rounds: 40, Fraction: 0.7, Silent: 0.2, Seed: 5}, Users: users, Work: Plain(data.objective, local),
		Requests: Schedule{{Round: 20, User: 1, Leaves: true}}}
	run, err := s.Do(context.Background(), store.Key{Recipe: "federated"}, func(ctx context.Context, w *store.Work) error {
		h := Hooks{SaveEvery: 1, Save: func(s *State) error { return w.SaveCheckpoint(s.File()) }}
		file, text, ok, err := w.LoadCheckpoint()
		if err != nil {
			return err
		}
		if ok {
			if h.Resume, err = LoadState(file, text, initial()); err != nil {
				return err
			}
			fmt.Printf("resumed after %d rounds\n", h.Resume.Done())
		}
		p, history, err := Run(ctx, r, initial(), f, h)
		if err != nil {
			return err
		}
		return w.WriteJSON("ended.json", ended{p.Hash(), history})
	})
	if err != nil {
		return err
	}
	var out ended
	if err := run.JSON("ended.json", &out); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func process(dir string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childStore+"="+dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	return cmd, &out
}

// Killed again and again a run ends in the same weights and the same history as one
// that was left alone.
func TestARunThatIsKilledEndsInTheSameBits(t *testing.T) {
	quiet, want := process(t.TempDir())
	began := time.Now()
	if err := quiet.Run(); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	rng := rand.New(rand.NewPCG(12, 1))
	dir, resumed := t.TempDir(), 0
	attempt := func(after time.Duration) error {
		cmd, out := process(dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
		err := cmd.Wait()
		text := out.String()
		if first, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(first, "resumed") {
			resumed, text = resumed+1, rest
		}
		if err == nil && text != want.String() {
			t.Errorf("the run that was killed ended in %.300s, another one in %.300s", text, want)
		}
		return err
	}
	for range 6 {
		if attempt(whole/10+time.Duration(rng.Int64N(int64(whole/2)))) == nil {
			dir = t.TempDir() // it got through: the next kills hit a fresh one
		}
	}
	if err := attempt(time.Hour); err != nil {
		t.Error(err)
	}
	if resumed == 0 {
		t.Error("no run was killed between its first round and its last")
	}
}
