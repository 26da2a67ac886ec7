// The journal of a sweep: records of attempts and jobs, and the progress they add up to.

package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/lib/files"
)

// Kind is the kind of a record.
type Kind string

// The kinds of records.
const (
	Began   Kind = "began"   // an attempt
	Done    Kind = "done"    // a job
	Failed  Kind = "failed"  // a job
	Stopped Kind = "stopped" // an attempt was told to stop and has saved its work
	Ended   Kind = "ended"   // an attempt has nothing more to do
	Damaged Kind = "damaged" // the run in Dir is not what was computed
)

// Record is one line of a journal file. Each attempt has its own file.
type Record struct {
	Kind    Kind      `json:"kind"`
	Time    time.Time `json:"time"`
	Stage   int       `json:"stage"`
	Shard   int       `json:"shard"`
	Attempt string    `json:"attempt"`
	Job     string    `json:"job,omitempty"`
	Run     string    `json:"run,omitempty"` // in the store; "" where there was nothing to keep
	Dir     string    `json:"dir,omitempty"` // of the run, within the sweep
	Seconds float64   `json:"seconds,omitempty"`
	Host    string    `json:"host,omitempty"`
	Log     string    `json:"log,omitempty"` // what the attempt printed
	Error   string    `json:"error,omitempty"`
	Command string    `json:"command,omitempty"` // runs a failed job alone
}

// The folders of a sweep. Failures have their own, for people to look into.
const (
	journalDirName = "journal"
	failedDirName  = "failed"
	storesDirName  = "stores"
	logsDirName    = "logs"

	// beforeDir is the store of runs that were there before the sweep, like one of an attempt at shard 0.
	beforeDir = storesDirName + "/0/before"
)

// appendRecord appends a record to the attempt's file, which no other process writes, and
// forces it to the disk.
func appendRecord(dir string, r Record) error {
	dirName := journalDirName
	if r.Kind == Failed || r.Kind == Damaged {
		dirName = failedDirName
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	folder := filepath.Join(dir, dirName)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	f, err := files.OpenNoFollow(filepath.Join(folder, fmt.Sprintf("%d.%s.jsonl", r.Shard, r.Attempt)), os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// maxJournalBytes bounds the size of one journal file.
const maxJournalBytes = 1 << 30

// readRecords returns the records of the attempts at some shards (nil: all), sorted by
// time. A worker reads only the shards that it needs: ten thousand workers that read ten
// thousand files each would overload a file server.
//
// A line that cannot be read is returned in unread, and its job counts as not done.
func readRecords(dir string, shards map[int]bool) (out []Record, unread []string, err error) {
	for _, dirName := range []string{journalDirName, failedDirName} {
		entries, err := os.ReadDir(filepath.Join(dir, dirName))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		for _, f := range entries {
			number, _, _ := strings.Cut(f.Name(), ".")
			shard, err := strconv.Atoi(number)
			if err != nil || !strings.HasSuffix(f.Name(), ".jsonl") || shards != nil && !shards[shard] {
				continue
			}
			path := filepath.Join(dir, dirName, f.Name())
			b, err := files.Read(path, maxJournalBytes)
			if err != nil {
				unread = append(unread, err.Error())
				continue
			}
			more, damaged := decodeRecords(b)
			for _, err := range damaged {
				unread = append(unread, fmt.Sprintf("%s: %v", path, err))
			}
			out = append(out, more...)
		}
	}
	slices.SortStableFunc(out, func(a, b Record) int { return a.Time.Compare(b.Time) })
	return out, unread, nil
}

// decodeRecords decodes lines of JSON and returns an error for each bad one. A last line
// without an end is still being written, or its writer has died; it is ignored.
func decodeRecords(b []byte) (out []Record, damaged []error) {
	n := 0
	for line := range bytes.Lines(b[:bytes.LastIndexByte(b, '\n')+1]) {
		n++
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			damaged = append(damaged, fmt.Errorf("line %d: %w", n, err))
			continue
		}
		out = append(out, r)
	}
	return out, damaged
}

// Progress is the state of a sweep, according to its records and runs.
type Progress struct {
	*Plan
	Dir string
	// Done are the jobs that are done, each with a record whose run is there.
	Done map[string]Record
	// Failed are jobs that are not done, with their last failure.
	Failed map[string]Record
	// Attempts are the attempts, the first record of each.
	Attempts []Record
	// Last is the last record of each attempt.
	Last map[string]Record
	// Unread are the records that cannot be read, and why.
	Unread []string

	shards map[int]bool // whose records are read, nil: all
}

// ReadProgress reads the plan and the records of the sweep in a folder.
func ReadProgress(dir string) (*Progress, error) {
	g, err := openProgress(dir)
	if err != nil {
		return nil, err
	}
	return g, g.reload()
}

// openProgress reads the plan of a sweep only.
func openProgress(dir string) (*Progress, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	p, err := Read(dir)
	return &Progress{Plan: p, Dir: dir}, err
}

// reload reads the records again.
func (g *Progress) reload() error {
	all, unread, err := readRecords(g.Dir, g.shards)
	if err != nil {
		return err
	}
	g.Done, g.Failed, g.Last, g.Attempts = map[string]Record{}, map[string]Record{}, map[string]Record{}, nil
	g.Unread = unread
	damaged := map[string]bool{}
	for _, r := range all {
		damaged[r.Dir] = damaged[r.Dir] || r.Kind == Damaged
	}
	for _, r := range all {
		switch r.Kind {
		case Began:
			g.Attempts = append(g.Attempts, r)
		case Failed:
			g.Failed[r.Job] = r
		case Done:
			if r.Run == "" || !damaged[r.Dir] && g.runExists(r) {
				g.Done[r.Job] = r
			}
		}
		g.Last[attemptID(r)] = r
	}
	for id := range g.Done {
		delete(g.Failed, id)
	}
	return nil
}

func attemptID(r Record) string { return fmt.Sprintf("%d.%s", r.Shard, r.Attempt) }

// runExists reports whether the run of a record exists; its manifest is written last.
func (g *Progress) runExists(r Record) bool {
	if storeDirOf(r) == "" {
		return false
	}
	info, err := os.Lstat(filepath.Join(g.Dir, filepath.FromSlash(r.Dir), "manifest.json"))
	return err == nil && info.Mode().IsRegular()
}

// MissingShards returns the shards of a stage that have jobs to do, ascending.
func (g *Progress) MissingShards(stage int) []int {
	var out []int
	for _, j := range g.Jobs {
		if _, done := g.Done[j.ID]; j.Stage == stage && !done {
			out = append(out, j.Shard)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// RemainingJobs returns the jobs that are not done.
func (g *Progress) RemainingJobs() []Job {
	return slices.DeleteFunc(slices.Clone(g.Jobs), func(j Job) bool { _, done := g.Done[j.ID]; return done })
}

// Silent returns the attempts without a record of their end: they run, or have died.
func (g *Progress) Silent() []Record {
	return slices.DeleteFunc(slices.Clone(g.Attempts), func(r Record) bool {
		last := g.Last[attemptID(r)].Kind
		return last == Ended || last == Stopped
	})
}
