// Tests of runs.go.

package command

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/cli/clitest"
	"github.com/lethe-ml/lethe/lib/store"
)

// filledStore holds three finished runs, one of them damaged, and one that was
// interrupted.
func filledStore(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	write := func(_ context.Context, w *store.Work) error { return w.WriteJSON("rows.json", []int{1, 2, 3}) }
	for _, recipe := range []string{"train", "unlearn", "broken"} {
		run, err := s.Do(context.Background(), store.Key{Recipe: recipe}, write)
		if err != nil {
			t.Fatal(err)
		}
		if recipe == "broken" {
			if err := os.WriteFile(filepath.Join(run.Dir, "rows.json"), []byte("[1,2,4]"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	stopped := errors.New("stopped")
	_, err = s.Do(context.Background(), store.Key{Recipe: "stopped"}, func(_ context.Context, w *store.Work) error {
		return errors.Join(w.SaveCheckpoint(nil, []byte("{}")), stopped)
	})
	if !errors.Is(err, stopped) {
		t.Fatal(err)
	}
	return dir
}

func TestLookingAtAStoreDoesNotMakeOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	for _, args := range [][]string{{"runs"}, {"runs", "list"}, {"runs", "verify"}, {"runs", "prune", "--all", "--yes"}} {
		t.Setenv("LETHE_STORE", dir)
		if r := lethe(t, args...); r.Code != cli.ExitOK || !strings.Contains(r.Stderr, "no store in "+dir+" yet") {
			t.Errorf("%v: %+v", args, r)
		}
		fails(t, lethe(t, append(args, "--store", dir+"x")...), cli.ExitFailure, "no store in "+dir+"x")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder was made")
	}
}

func TestRunsListsShowsAndVerifies(t *testing.T) {
	dir := filledStore(t)
	all := clitest.Decoded[[]runJSON](t, lethe(t, "runs", "list", "--store", dir, "--json"))
	if len(all) != 4 {
		t.Fatalf("%d entries: %+v", len(all), all)
	}
	var train string
	for _, r := range all {
		if r.Recipe == "train" {
			train = r.ID
		}
		if r.Bytes <= 0 || r.Files < 1 {
			t.Errorf("%+v", r)
		}
	}
	if r := lethe(t, "runs", "--store", dir); r.Code != cli.ExitOK || !strings.Contains(r.Out, "4 entries") {
		t.Errorf("%+v", r)
	}
	if r := lethe(t, "runs", "show", train[:8], "--store", dir); r.Code != cli.ExitOK || !strings.Contains(r.Out, train) || !strings.Contains(r.Out, "rows.json") {
		t.Errorf("%+v", r)
	}
	fails(t, lethe(t, "runs", "show", "zz", "--store", dir), cli.ExitFailure, `"zz"`)
	if r := lethe(t, "runs", "verify", train[:8], "--store", dir); r.Code != cli.ExitOK || !strings.Contains(r.Out, "1 runs checked, 0 damaged") {
		t.Errorf("%+v", r)
	}
	if r := lethe(t, "runs", "verify", "--store", dir); r.Code != cli.ExitFailure || !strings.Contains(r.Out, "rows.json") || !strings.Contains(r.Stderr, "1 of 3") {
		t.Errorf("%+v", r)
	}
}

func TestPruneAsksAndDeletesOnlyWhatWasChosen(t *testing.T) {
	dir := filledStore(t)
	left := func() (recipes []string) {
		for _, r := range clitest.Decoded[[]runJSON](t, lethe(t, "runs", "list", "--store", dir, "--json")) {
			recipes = append(recipes, r.Recipe)
		}
		return recipes
	}
	prune := func(answer string, args ...string) clitest.Result {
		return clitest.Run(t.Context(), Root(), answer, append([]string{"runs", "prune", "--store", dir}, args...)...)
	}
	if r := prune("", "--recipe", "train", "--dry-run"); r.Code != cli.ExitOK || len(left()) != 4 || !strings.Contains(r.Out, "nothing was deleted") {
		t.Errorf("dry run: %+v, left %v", r, left())
	}
	if r := prune("n\n", "--recipe", "train"); r.Code != cli.ExitFailure || len(left()) != 4 {
		t.Errorf("answered n: %+v, left %v", r, left())
	}
	if r := prune("", "--older-than", "1h", "--all", "--yes"); r.Code != cli.ExitUsage || len(left()) != 4 {
		t.Errorf("all of them and not all of them: exit %d, %d left", r.Code, len(left()))
	}
	if r := prune("", "--older-than", "-5h", "--yes"); r.Code != cli.ExitUsage || len(left()) != 4 {
		t.Errorf("runs of the future: exit %d, %d left", r.Code, len(left()))
	}
	if r := lethe(t, "runs", "verify", "--store", dir, "--key", ""); r.Code != cli.ExitUsage {
		t.Errorf("a key without a name: exit %d, %s", r.Code, r.Stderr)
	}
	if r := prune("", "--older-than", "1h", "--yes"); r.Code != cli.ExitOK || len(left()) != 4 {
		t.Errorf("nothing is older than an hour: %+v", r)
	}
	if r := prune("y\n", "--recipe", "train"); r.Code != cli.ExitOK || strings.Join(left(), " ") != "broken unlearn stopped" {
		t.Errorf("answered y: %+v, left %v", r, left())
	}
	if r := prune("", "--unfinished", "--yes"); r.Code != cli.ExitOK || strings.Join(left(), " ") != "broken unlearn" {
		t.Errorf("unfinished: %+v, left %v", r, left())
	}
	if r := prune("", "--all", "--yes"); r.Code != cli.ExitOK || len(left()) != 0 {
		t.Errorf("all: %+v, left %v", r, left())
	}
}

// TestSignedStoreShowsWhatTheSignerHasNotSeen changes a store behind the
// signer's back: a run more, a run less.
func TestSignedStoreShowsWhatTheSignerHasNotSeen(t *testing.T) {
	dir, key, public := filledStore(t), filepath.Join(t.TempDir(), "key.pem"), filepath.Join(t.TempDir(), "public.pem")
	half, whole, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	wholeDER, err := x509.MarshalPKCS8PrivateKey(whole)
	if err != nil {
		t.Fatal(err)
	}
	halfDER, err := x509.MarshalPKIXPublicKey(half)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: wholeDER}), 0o600),
		os.WriteFile(public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: halfDER}), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	verify := []string{"runs", "verify", "--store", dir, "--key"}
	fails(t, lethe(t, append(verify, public)...), cli.ExitFailure, "is not signed")
	fails(t, lethe(t, "runs", "sign", "--store", dir, "--key", key), cli.ExitFailure, "nothing is signed")
	fails(t, lethe(t, "runs", "sign", "--store", dir, "--key", public), cli.ExitFailure, public)
	fails(t, lethe(t, "runs", "sign", "--store", dir, "--key", dir), cli.ExitFailure, dir)
	if r := lethe(t, "runs", "prune", "--store", dir, "--recipe", "broken", "--yes"); r.Code != cli.ExitOK {
		t.Fatalf("%+v", r)
	}
	if r := lethe(t, "runs", "sign", "--store", dir, "--key", key); r.Code != cli.ExitOK || !strings.Contains(r.Out, "2 runs signed") {
		t.Fatalf("%+v", r)
	}
	for _, file := range []string{key, public} {
		if r := lethe(t, append(verify, file)...); r.Code != cli.ExitOK || !strings.Contains(r.Out, "2 runs checked, 0 not as signed") {
			t.Errorf("%+v", r)
		}
	}
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Do(t.Context(), store.Key{Recipe: "more"}, func(_ context.Context, w *store.Work) error { return w.WriteJSON("x", 1) }); err != nil {
		t.Fatal(err)
	}
	if r := lethe(t, "runs", "prune", "--store", dir, "--recipe", "train", "--yes"); r.Code != cli.ExitOK {
		t.Fatalf("%+v", r)
	}
	r := lethe(t, append(verify, public)...)
	if r.Code != cli.ExitFailure || !strings.Contains(r.Stderr, "2 of 3") || !strings.Contains(r.Out, "no finished run") || !strings.Contains(r.Out, "not in the signed list") {
		t.Errorf("%+v", r)
	}
}
