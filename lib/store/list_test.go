// Tests of list.go.

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// populated returns a store with two finished runs, one unfinished, one
// damaged, and one that was set aside.
func populated(t *testing.T) *Store {
	t.Helper()
	s := open(t)
	s.OnWarning = func(string) {}
	for _, recipe := range []string{"b", "a", "damaged", "aside"} {
		run := do(t, s, Key{Recipe: recipe}, writeSmall)
		if recipe == "damaged" || recipe == "aside" {
			if err := flipFirst(filepath.Join(run.Dir, manifestName)); err != nil {
				t.Fatal(err)
			}
		}
	}
	do(t, s, Key{Recipe: "aside"}, writeSmall)
	_, err := s.Do(t.Context(), Key{Recipe: "unfinished"}, func(_ context.Context, w *Work) error {
		return errors.Join(w.SaveCheckpoint(smallFile(1), 1), errStop)
	})
	if !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	return s
}

func TestListNamesEverythingInTheStore(t *testing.T) {
	s := populated(t)
	entries, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		state  State
		recipe string
		files  int
	}{{Damaged, "", 4}, {Finished, "a", 4}, {Finished, "aside", 4}, {Finished, "b", 4}, {Quarantined, "", 4}, {Unfinished, "unfinished", 2}}
	if len(entries) != len(want) {
		t.Fatalf("found %+v", entries)
	}
	var total int64
	for i, e := range entries {
		if e.State != want[i].state || e.Key.Recipe != want[i].recipe || e.Files != want[i].files || e.Bytes <= 0 {
			t.Errorf("entry %d: found %+v, expected %+v", i, e, want[i])
		}
		if age := time.Since(e.Created); age < -time.Minute || age > time.Hour {
			t.Errorf("entry %d: created %v", i, e.Created)
		}
		if (e.State == Damaged) != strings.Contains(e.Problem, manifestName) {
			t.Errorf("entry %d: problem %q", i, e.Problem)
		}
		total += e.Bytes
	}
	if size, err := s.Size(); err != nil || size != total {
		t.Errorf("size: found %d, %v, expected %d", size, err, total)
	}
}

func TestPruneRemovesWhatIsAskedAndNothingElse(t *testing.T) {
	for _, state := range []State{Finished, Unfinished, Damaged, Quarantined} {
		s := populated(t)
		before, err := s.List()
		if err != nil {
			t.Fatal(err)
		}
		dropped, err := s.Prune(func(e Entry) bool { return e.State == state })
		if err != nil || len(dropped) == 0 {
			t.Fatal(dropped, err)
		}
		after, err := s.List()
		if err != nil || len(after) != len(before)-len(dropped) {
			t.Errorf("%s: %d entries before, %d dropped, %d after, %v", state, len(before), len(dropped), len(after), err)
		}
		for _, e := range after {
			if e.State == state {
				t.Errorf("%s: left %+v", state, e)
			}
		}
	}
}

func TestPrunedRunIsComputedAgain(t *testing.T) {
	s := open(t)
	do(t, s, Key{Recipe: "x"}, writeSmall)
	if _, err := s.Prune(func(Entry) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if files := readTree(t, s.Dir()); len(files) > 0 {
		t.Errorf("files left: %v", files)
	}
	calls := 0
	do(t, s, Key{Recipe: "x"}, func(ctx context.Context, w *Work) error {
		calls++
		return writeSmall(ctx, w)
	})
	if calls != 1 {
		t.Errorf("computed %d times", calls)
	}
}

func TestPruneLeavesWhatIsBeingComputed(t *testing.T) {
	s := open(t)
	run := do(t, s, Key{Recipe: "x"}, func(ctx context.Context, w *Work) error {
		dropped, err := s.Prune(func(Entry) bool { return true })
		if err != nil || len(dropped) > 0 {
			t.Errorf("dropped %+v, %v", dropped, err)
		}
		return writeSmall(ctx, w)
	})
	checkSmall(t, run)
}

func TestVerifyRefusesWhatIsNoRun(t *testing.T) {
	s := open(t)
	for _, id := range []string{"", "ab", strings.Repeat("G", 64), strings.Repeat("AB", 32), "../" + strings.Repeat("a", 61)} {
		if err := s.Verify(id); err == nil || !strings.Contains(err.Error(), "64 hexadecimal digits") {
			t.Errorf("%q: %v", id, err)
		}
	}
	if err := s.Verify(strings.Repeat("a", 64)); err == nil || !strings.Contains(err.Error(), "no finished run") {
		t.Error(err)
	}
}

func TestListWorksInAFolderWithPatternCharacters(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "a[b]*c"))
	if err != nil {
		t.Skip("this file system does not have such names")
	}
	do(t, s, Key{Recipe: "x"}, writeSmall)
	if entries, err := s.List(); err != nil || len(entries) != 1 {
		t.Errorf("found %+v, %v", entries, err)
	}
	if err := os.RemoveAll(s.Dir()); err != nil {
		t.Error(err)
	}
}
