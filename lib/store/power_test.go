// Power cuts: a simulated disk that loses what was not synced.

package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lethe-ml/lethe/lib/store/internal/disk"
)

// errPowerCut is what every operation says after the cut.
var errPowerCut = errors.New("the power is off")

// A forgetful disk remembers what POSIX promises after a power cut and no more:
// the content of a file as of its last Sync, and the names in a folder as of
// the folder's. Everything else may or may not have reached the platter.
type forgetful struct {
	disk.OS // what the running program sees

	mu    sync.Mutex
	top   string // the path of root
	root  *node
	names []renaming // all changes of names, in their order
	left  int        // operations until the cut
	off   bool
}

var _ disk.FS = (*forgetful)(nil)

// node is a file or a folder, whatever its names are.
type node struct {
	children    map[string]*node // nil for a file
	synced, now []byte           // of a file
}

// renaming is a change of names that a journalling disk makes as one: a new
// name, a removed one, or both in a rename.
type renaming struct {
	edits []edit
	safe  bool
}

// edit puts child under a name of a folder; nil removes the name.
type edit struct {
	folder *node
	name   string
	child  *node
}

func newForgetful(top string, left int) *forgetful {
	d := &forgetful{top: top, root: &node{children: map[string]*node{}}, left: left}
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == top {
			return err
		}
		n := &node{}
		if entry.IsDir() {
			n.children = map[string]*node{}
		} else if n.now, err = os.ReadFile(path); err != nil {
			return err
		}
		n.synced = n.now
		d.change(d.edit(path, n))
		return nil
	})
	if err != nil {
		panic(err)
	}
	for i := range d.names {
		d.names[i].safe = true
	}
	return d
}

// find returns the node at a path, and the folder and name that hold it.
func (d *forgetful) find(path string) (n, folder *node, name string) {
	rel, err := filepath.Rel(d.top, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		panic("outside of the disk: " + path)
	}
	n = d.root
	if rel == "." {
		return n, nil, ""
	}
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		folder, name = n, part
		if folder == nil {
			return nil, nil, ""
		}
		n = folder.children[part]
	}
	return n, folder, name
}

func (d *forgetful) edit(path string, child *node) edit {
	_, folder, name := d.find(path)
	return edit{folder, name, child}
}

// change makes edits now, as one change of names.
func (d *forgetful) change(edits ...edit) {
	for _, e := range edits {
		e.apply(e.folder.children)
	}
	d.names = append(d.names, renaming{edits: edits})
}

func (e edit) apply(children map[string]*node) {
	if e.child == nil {
		delete(children, e.name)
		return
	}
	children[e.name] = e.child
}

// do is one operation: on the folder that the program sees, then on the model.
// The one that the cut comes during is begun, and nobody hears of its end.
func (d *forgetful) do(real func() error, model func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return errPowerCut
	}
	d.left--
	d.off = d.left == 0
	if err := real(); err != nil {
		return err
	}
	model()
	if d.off {
		return errPowerCut
	}
	return nil
}

func (d *forgetful) Write(path string, b []byte) error {
	return d.do(func() error { return d.OS.Write(path, b) }, func() { d.file(path).now = slices.Clone(b) })
}

// file returns the file at a path, and makes it where there is none.
func (d *forgetful) file(path string) *node {
	n, _, _ := d.find(path)
	if n == nil {
		n = &node{}
		d.change(d.edit(path, n))
	}
	return n
}

func (d *forgetful) Append(path string) (io.WriteCloser, error) {
	var f io.WriteCloser
	err := d.do(func() (err error) { f, err = d.OS.Append(path); return err }, func() { d.file(path) })
	if err != nil && f != nil {
		return nil, errors.Join(err, f.Close())
	}
	return forgetfulFile{d, path, f}, err
}

type forgetfulFile struct {
	disk *forgetful
	path string
	io.WriteCloser
}

func (f forgetfulFile) Write(b []byte) (int, error) {
	err := f.disk.do(func() error { _, err := f.WriteCloser.Write(b); return err }, func() {
		n := f.disk.file(f.path)
		n.now = slices.Concat(n.now, b)
	})
	return len(b), err
}

func (d *forgetful) Mkdir(path string) error {
	return d.do(func() error { return d.OS.Mkdir(path) }, func() {
		d.change(d.edit(path, &node{children: map[string]*node{}}))
	})
}

func (d *forgetful) Rename(from, to string) error {
	return d.do(func() error { return d.OS.Rename(from, to) }, func() {
		n, _, _ := d.find(from)
		d.change(d.edit(from, nil), d.edit(to, n))
	})
}

// Remove is also what forgets a lock, which the store makes behind our back.
func (d *forgetful) Remove(path string) error {
	return d.do(func() error { return d.OS.Remove(path) }, func() { d.change(d.edit(path, nil)) })
}

func (d *forgetful) RemoveAll(path string) error {
	return d.do(func() error { return d.OS.RemoveAll(path) }, func() {
		n, _, _ := d.find(path)
		if n != nil {
			d.removeAll(path, n)
		}
	})
}

// removeAll removes name by name, from below: a cut leaves any part.
func (d *forgetful) removeAll(path string, n *node) {
	for _, name := range slices.Sorted(maps.Keys(n.children)) {
		d.removeAll(filepath.Join(path, name), n.children[name])
	}
	d.change(d.edit(path, nil))
}

func (d *forgetful) Truncate(path string, size int64) error {
	return d.do(func() error { return d.OS.Truncate(path, size) }, func() {
		n := d.file(path)
		n.now = slices.Clone(n.now[:size])
	})
}

func (d *forgetful) Sync(paths ...string) error {
	for _, path := range paths {
		if err := d.do(func() error { return nil }, func() { d.syncOne(path) }); err != nil {
			return err
		}
	}
	return nil
}

func (d *forgetful) syncOne(path string) {
	if filepath.Dir(d.top) == path {
		return // above the disk
	}
	n, _, _ := d.find(path)
	if d.off {
		return // the cut came before the disk was done
	}
	n.synced = n.now
	for i, r := range d.names {
		d.names[i].safe = r.safe || slices.ContainsFunc(r.edits, func(e edit) bool { return e.folder == n })
	}
}

// survivors writes to dir what a cut may leave: of the changes of names those
// that were synced and, as a journal would, the others up to a random moment;
// of each file the synced content, the newest, or a part of it.
func (d *forgetful) survivors(rng *rand.Rand, dir string) error {
	moment := []int{0, len(d.names), rng.IntN(len(d.names) + 1)}[rng.IntN(3)]
	children := map[*node]map[string]*node{}
	for i, r := range d.names {
		if i >= moment && !r.safe {
			continue
		}
		for _, e := range r.edits {
			if children[e.folder] == nil {
				children[e.folder] = map[string]*node{}
			}
			e.apply(children[e.folder])
		}
	}
	var put func(dir string, n *node) error
	put = func(path string, n *node) error {
		if n.children == nil {
			return os.WriteFile(path, n.survivor(rng), 0o644)
		}
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(children[n])) {
			if err := put(filepath.Join(path, name), children[n][name]); err != nil {
				return err
			}
		}
		return nil
	}
	return put(dir, d.root)
}

func (n *node) survivor(rng *rand.Rand) []byte {
	switch rng.IntN(4) {
	case 0:
		return n.now
	case 1: // the length has reached the disk, the content has not
		return append(slices.Clone(n.synced), make([]byte, max(0, len(n.now)-len(n.synced)))...)
	case 2:
		if len(n.now) > len(n.synced) && slices.Equal(n.now[:len(n.synced)], n.synced) {
			return n.now[:len(n.synced)+rng.IntN(len(n.now)-len(n.synced))]
		}
	}
	return n.synced
}

// ledger is what the program was told is safe.
type ledger struct {
	finished map[string]bool
	step     map[string]int // of the newest saved checkpoint
}

// poweredSweep is sweep with every promise of the store written into the ledger.
func poweredSweep(s *Store, l *ledger, t *testing.T) error {
	for seed := range int64(3) {
		key := Key{Recipe: "train", Seeds: map[string]int64{"init": seed}}
		id, err := key.ID()
		if err != nil {
			return err
		}
		run, err := s.Do(context.Background(), key, func(_ context.Context, w *Work) error {
			if l.finished[id] {
				t.Error("a finished run is computed again")
			}
			return promisedToy(w, seed, l, id, t)
		})
		if err != nil {
			return err
		}
		l.finished[run.ID] = true
	}
	return nil
}

// promisedToy counts to seven, with a line for each step and a checkpoint after
// every other.
func promisedToy(w *Work, seed int64, l *ledger, id string, t *testing.T) error {
	step := 0
	f, _, ok, err := w.LoadCheckpoint()
	if err != nil {
		return err
	}
	if ok {
		numbers, err := f.Tensors[0].Int64s()
		if err != nil {
			return err
		}
		step = int(numbers[0])
	}
	if step < l.step[id] {
		t.Errorf("resumed at step %d, but %d was saved", step, l.step[id])
	}
	for ; step < 7; step++ {
		if step%2 == 0 && step > 0 {
			if err := w.SaveCheckpoint(smallFile(step), nil); err != nil {
				return err
			}
			l.step[id] = max(step, l.step[id])
		}
		if err := w.AppendLine("sub/log.jsonl", []int64{seed, int64(step)}); err != nil {
			return err
		}
		if step == 1 {
			if err := w.WriteJSON("early.json", seed); err != nil {
				return err
			}
		}
	}
	return w.WriteTensors("weights.safetensors", smallFile(step+int(seed)))
}

// TestPowerCutTwoHundredTimesLosesNothingThatWasFinished cuts the power at
// random operations of a sweep. Nothing that the store has said is finished or
// saved may be lost, nothing may be found damaged, because everything is synced
// before it is named, and the end is that of an undisturbed sweep.
func TestPowerCutTwoHundredTimesLosesNothingThatWasFinished(t *testing.T) {
	want := open(t)
	if err := poweredSweep(want, newLedger(), t); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2026, 14))
	top, l, sweeps := t.TempDir(), newLedger(), 0
	for cuts := 0; cuts < 200 && !t.Failed(); {
		d := newForgetful(top, 1+rng.IntN(70))
		err := sweepOn(t, d, l)
		if err == nil && !d.off {
			compareTrees(t, want.Dir(), filepath.Join(top, "store"))
			top, l, sweeps = t.TempDir(), newLedger(), sweeps+1
			continue
		}
		if err != nil && !errors.Is(err, errPowerCut) {
			t.Fatal(err)
		}
		cuts++
		top = t.TempDir()
		if err := d.survivors(rng, top); err != nil {
			t.Fatal(err)
		}
		checkPromises(t, filepath.Join(top, "store"), l)
	}
	t.Logf("200 cuts, %d sweeps finished in between", sweeps)
}

func newLedger() *ledger { return &ledger{finished: map[string]bool{}, step: map[string]int{}} }

func sweepOn(t *testing.T, d *forgetful, l *ledger) error {
	s, err := openOnDisk(d, filepath.Join(d.top, "store"))
	if err != nil {
		return err
	}
	s.OnWarning = func(text string) {
		if !d.off { // a lock that cannot be released any more is no news
			t.Errorf("warning: %s", text)
		}
	}
	return poweredSweep(s, l, t)
}

// checkPromises reads what was said to be finished.
func checkPromises(t *testing.T, dir string, l *ledger) {
	t.Helper()
	s := &Store{dir: dir, fs: noDisk{}, busy: map[string]chan struct{}{}}
	for id := range l.finished {
		if err := s.Verify(id); err != nil {
			t.Errorf("lost after it was finished: %v", err)
		}
	}
	entries, err := s.List()
	if err != nil {
		t.Error(err)
	}
	for _, e := range entries {
		if e.State == Damaged {
			t.Errorf("damaged: %s", e.Problem)
		}
	}
}

// noDisk is for a store that only reads: a write would be a nil dereference.
type noDisk struct{ disk.FS }
