// The summary of a sweep's progress.

package sweep

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Summary is the progress of a sweep, for JSON.
type Summary struct {
	ID     string         `json:"id"`
	Dir    string         `json:"dir"`
	Stages []StageSummary `json:"stages"`
	Failed []Record       `json:"failed"`
	Silent []Record       `json:"silent"`
	Unread []string       `json:"unread"` // damaged records
}

// StageSummary is the progress of a stage.
type StageSummary struct {
	Stage   int     `json:"stage"`
	Jobs    int     `json:"jobs"`
	Done    int     `json:"done"`
	Failed  int     `json:"failed"`
	Shards  int     `json:"shards_left"`
	Cost    int64   `json:"cost_left"`
	Seconds float64 `json:"seconds"` // that the jobs that are done took
}

// Summary returns the progress of the sweep.
func (g *Progress) Summary() Summary {
	out := Summary{ID: g.ID, Dir: g.Dir, Failed: []Record{}, Silent: g.Silent(), Unread: append([]string{}, g.Unread...)}
	for stage := range g.Stages {
		s := StageSummary{Stage: stage, Shards: len(g.MissingShards(stage))}
		for _, j := range g.Jobs {
			if j.Stage == stage {
				g.addJob(&s, j)
			}
		}
		out.Stages = append(out.Stages, s)
	}
	for _, id := range slices.Sorted(maps.Keys(g.Failed)) {
		out.Failed = append(out.Failed, g.Failed[id])
	}
	return out
}

// commandLine returns the shell command for one job, to be run in the sweep's folder.
func (p *Plan) commandLine(job string) string {
	var words []string
	for _, w := range p.command(job) {
		words = append(words, shellWord(w))
	}
	return strings.Join(words, " ")
}

func (g *Progress) addJob(s *StageSummary, j Job) {
	s.Jobs++
	if r, done := g.Done[j.ID]; done {
		s.Done++
		s.Seconds += r.Seconds
		return
	}
	s.Cost += j.Cost
	if _, failed := g.Failed[j.ID]; failed {
		s.Failed++
	}
}

// ListFailed prints the failed jobs, the records that cannot be read, and the attempts
// without a record of their end whose shards have jobs to do.
func (g *Progress) ListFailed(w io.Writer) {
	s := g.Summary()
	for _, r := range s.Failed {
		fmt.Fprintf(w, "failed: %s\n  %s\n  on %s, attempt %s of shard %d, %s\n", r.Job, r.Error, r.Host, r.Attempt, r.Shard, r.Time.Format(time.DateTime))
		if r.Log != "" {
			fmt.Fprintf(w, "  log: %s\n", r.Log)
		}
		if _, err := g.Find(r.Job); err == nil { // never print the record's own command: it is untrusted
			fmt.Fprintf(w, "  again: cd %s && %s\n", shellWord(g.Dir), g.commandLine(r.Job))
		}
	}
	for _, text := range s.Unread {
		fmt.Fprintf(w, "a record cannot be read: %s\n", text)
	}
	for _, r := range s.Silent {
		if !slices.Contains(g.MissingShards(r.Stage), r.Shard) {
			continue
		}
		last := g.Last[attemptID(r)]
		fmt.Fprintf(w, "no record of its end: attempt %s of shard %d, stage %d, on %s, last record at %s; it runs, or has died; log: %s\n", r.Attempt, r.Shard,
			r.Stage, r.Host, last.Time.Format(time.DateTime), filepath.Base(r.Log))
	}
}
