// Collecting: merging the stores of all attempts into one.

package sweep

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/store"
)

// StoreDirs returns the folders of all stores of the sweep.
func (g *Progress) StoreDirs() ([]string, error) {
	shards, err := files.List(filepath.Join(g.Dir, storesDirName), "", "")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, shard := range shards {
		found, err := files.List(shard, "", "")
		if err != nil {
			return nil, err
		}
		out = append(out, slices.DeleteFunc(found, func(dir string) bool { return !store.Exists(dir) })...)
	}
	return out, nil
}

// Collect merges the runs of all attempts into one store. Damaged runs are left out and
// recorded, so that their jobs count as not done and are submitted again. Two attempts with
// different bytes for a run are an error. The attempts' stores stay as they are.
func (g *Progress) Collect(ctx context.Context, to *store.Store) (store.Merged, error) {
	var all store.Merged
	dirs, err := g.StoreDirs()
	if err != nil {
		return all, err
	}
	for _, dir := range dirs {
		s, err := store.Open(dir)
		if err != nil {
			return all, err
		}
		m, err := to.Merge(ctx, s)
		all.Added, all.Same, all.Bytes = all.Added+m.Added, all.Same+m.Same, all.Bytes+m.Bytes
		all.Refused = append(all.Refused, m.Refused...)
		if err != nil {
			return all, err
		}
	}
	all.Refused = slices.DeleteFunc(all.Refused, func(err error) bool { return wholeElsewhere(to, err) })
	for _, r := range all.Refused {
		if err := g.recordDamaged(r); err != nil {
			return all, err
		}
	}
	return all, g.reload()
}

// damagedRun returns err as the error about a damaged run, or nil.
func damagedRun(err error) *store.RefusedError {
	r := (*store.RefusedError)(nil)
	if errors.As(err, &r) && errors.Is(err, store.ErrDamaged) {
		return r
	}
	return nil
}

// wholeElsewhere reports whether in has an undamaged copy of the run that err says is
// damaged.
func wholeElsewhere(in *store.Store, err error) bool {
	r := damagedRun(err)
	if r == nil {
		return false
	}
	_, ok := in.Has(filepath.Base(r.Dir))
	return ok
}

// recordDamaged records a damaged run.
func (g *Progress) recordDamaged(err error) error {
	r := damagedRun(err)
	if r == nil {
		return nil
	}
	dir, err := filepath.Rel(g.Dir, r.Dir)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	shard, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(dir)))))) // stores/<shard>/<attempt>/runs/ab/<id>
	if err != nil {
		return err
	}
	return appendRecord(g.Dir, Record{
		Kind: Damaged, Shard: shard, Time: time.Now().UTC(), Attempt: "collect-" + randomDigits(), Dir: filepath.ToSlash(dir), Host: host, Error: r.Error(),
	})
}
