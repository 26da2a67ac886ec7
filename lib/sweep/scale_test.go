// A simulation of large sweeps, for docs/scale.md.

package sweep

import (
	"container/heap"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/report"
)

// The page on sweeps past what one machine does takes its numbers from the
// simulation below: go test ./lib/sweep -run Page -update writes them anew.
const page = "../../docs/scale.md"

var update = flag.Bool("update", false, "write the simulated numbers into docs/scale.md")

// What was measured, on the machine and the day that the page names.
const (
	secondsPerRecord = 40.0 / 768          // of one core, ResNet-18 at full width in batches of 32, checkpoints included
	startSeconds     = models * 0.75 / 279 // until a worker trains: it lists all jobs, 279 of them in 0.75 s
	runBytes         = 89488069            // a training of ResNet-18: weights at the end and an epoch before it
	runNames         = 5                   // files of a run, and its folder
	workBytes        = 447446320           // of a training that runs: three checkpoints while one is replaced, and the output so far
	checkpointBytes  = 3 * 44743264        // Adam's two moments beside the weights
	memoryGiB        = 1.45                // of a worker
)

// What Slurm and we have set.
const (
	requeueSeconds = 121 // Slurm's default, measured
	wallSeconds    = 24 * 3600
	leadSeconds    = 300
	coresPerNode   = 64
)

// The sweep of the page: CIFAR-10's shadow models, each on half of 50,000 records.
const (
	models        = 10000
	recordsPerJob = 25000
	epochs        = 50
)

// site is a cluster: its failures and repairs are those of one node.
type site struct {
	nodes, cores     int
	failuresPerYear  float64
	repairHours      float64
	shards           int
	jobs             int
	secondsPerJob    float64
	epoch            float64 // seconds: what is interrupted goes on at the last whole one
	spread           float64 // of a job's time, as a share of it
	wall, maxRestart float64
}

// outcome is what became of a sweep.
type outcome struct {
	hours    float64 // from the submission to the last job
	busy     float64 // share of the cores' time that was work that lasted
	failures int     // of nodes that computed
	restarts int     // of tasks, by failures and at the end of their time
	resubmit int     // tasks that had been started again often enough
	lost     float64 // core-hours that were computed twice, or went into starting
}

// event is something that happens.
type event struct {
	at   float64
	what int
	n    int // of a node, slot or task
	run  int // of the slot, when it was planned: an end that a failure has overtaken is void
}

const (
	nodeFails = iota
	nodeReturns
	slotEnds
	taskQueued
)

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(a, b int) bool { return e[a].at < e[b].at }
func (e events) Swap(a, b int)      { e[a], e[b] = e[b], e[a] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// task is a shard: how much of it is left, and how often it was started again.
type task struct {
	total, done float64 // seconds of work, and of whole epochs done
	restarts    float64
}

// slot is a core that a worker may have.
type slot struct {
	task  int // -1: none
	began float64
	run   int
}

// simulation is a sweep in progress.
type simulation struct {
	site
	rng    *rand.Rand
	now    float64
	queue  []int
	tasks  []task
	slots  []slot
	down   []bool
	events events
	left   int
	out    outcome
}

const year = 365.25 * 24 * 3600

// simulate plays a sweep through.
func simulate(s site, seed uint64) outcome {
	m := &simulation{site: s, rng: rand.New(rand.NewPCG(seed, 15)), tasks: make([]task, s.shards), slots: make([]slot, s.nodes*s.cores), down: make([]bool, s.nodes)}
	for j := range s.jobs {
		m.tasks[j%s.shards].total += s.secondsPerJob * (1 + s.spread*(2*m.rng.Float64()-1))
	}
	for t := range m.tasks {
		m.queue = append(m.queue, t)
	}
	m.left = s.shards
	for i := range m.slots {
		m.slots[i].task = -1
	}
	for n := range s.nodes {
		m.failLater(n)
	}
	m.fill()
	for m.left > 0 && len(m.events) > 0 {
		m.step(heap.Pop(&m.events).(event))
	}
	work := s.secondsPerJob * float64(s.jobs)
	m.out.hours = m.now / 3600
	m.out.busy = work / (m.now * float64(len(m.slots)))
	m.out.lost /= 3600
	return m.out
}

func (m *simulation) failLater(node int) {
	if m.failuresPerYear > 0 {
		heap.Push(&m.events, event{at: m.now + m.rng.ExpFloat64()*year/m.failuresPerYear, what: nodeFails, n: node})
	}
}

// fill gives the free cores of living nodes to the tasks that wait.
func (m *simulation) fill() {
	for i := range m.slots {
		if len(m.queue) == 0 {
			return
		}
		if s := &m.slots[i]; s.task < 0 && !m.down[i/m.cores] {
			s.task, s.began, s.run = m.queue[0], m.now, s.run+1
			m.queue = m.queue[1:]
			ends := min(startSeconds+m.tasks[s.task].total-m.tasks[s.task].done, m.wall)
			heap.Push(&m.events, event{at: m.now + ends, what: slotEnds, n: i, run: s.run})
		}
	}
}

func (m *simulation) step(e event) {
	m.now = e.at
	switch e.what {
	case nodeFails:
		m.down[e.n] = true
		hit := false
		for i := e.n * m.cores; i < (e.n+1)*m.cores; i++ {
			if m.slots[i].task >= 0 {
				hit = true
				m.free(i)
			}
		}
		if hit {
			m.out.failures++
		}
		heap.Push(&m.events, event{at: m.now + m.rng.ExpFloat64()*m.repairHours*3600, what: nodeReturns, n: e.n})
	case nodeReturns:
		m.down[e.n] = false
		m.failLater(e.n)
	case slotEnds:
		if m.slots[e.n].run != e.run || m.slots[e.n].task < 0 {
			return
		}
		m.free(e.n)
	case taskQueued:
		m.queue = append(m.queue, e.n)
	}
	m.fill()
}

// free ends what a core does; an epoch that was not finished is lost.
func (m *simulation) free(i int) {
	s := &m.slots[i]
	t := &m.tasks[s.task]
	worked, before := m.now-s.began, t.done
	t.done += max(0, worked-startSeconds)
	finished := t.done > t.total-1e-6
	if !finished {
		t.done = max(before, m.epoch*math.Floor(t.done/m.epoch+1e-9))
	}
	m.out.lost += worked - (t.done - before)
	if finished {
		m.left--
	} else {
		m.out.restarts++
		if t.restarts++; t.restarts > m.maxRestart {
			t.restarts = 0
			m.out.resubmit++
		}
		heap.Push(&m.events, event{at: m.now + requeueSeconds, what: taskQueued, n: s.task})
	}
	s.task = -1
}

// shadowSite is the page's sweep on a site.
func shadowSite(nodes, shards int, failures, repair float64) site {
	return site{
		nodes: nodes, cores: coresPerNode, failuresPerYear: failures, repairHours: repair, shards: shards, jobs: models,
		secondsPerJob: secondsPerRecord * recordsPerJob * epochs, epoch: secondsPerRecord * recordsPerJob, spread: 0.05, wall: wallSeconds - leadSeconds, maxRestart: defaultRestarts,
	}
}

// Without failures and limits a sweep takes what its shards take, a wave at a time.
func TestASimulatedSweepWithoutFailuresIsItsWaves(t *testing.T) {
	for _, c := range []struct {
		nodes, cores, shards, jobs int
		waves                      float64
	}{{1, 1, 1, 1, 1}, {1, 4, 8, 8, 2}, {2, 4, 8, 8, 1}, {2, 4, 9, 9, 2}, {3, 2, 6, 60, 1}} {
		s := site{nodes: c.nodes, cores: c.cores, shards: c.shards, jobs: c.jobs, secondsPerJob: 100, epoch: 10, wall: math.Inf(1), maxRestart: 10}
		got := simulate(s, 1)
		want := c.waves * (startSeconds + 100*float64(c.jobs)/float64(c.shards)) / 3600
		if math.Abs(got.hours-want) > 1e-9 || got.failures+got.restarts+got.resubmit > 0 || math.Abs(got.lost*3600-startSeconds*float64(c.shards)) > 1e-6 {
			t.Errorf("%+v: %+v, want %v hours", c, got, want)
		}
	}
}

// The end of a task's time costs a start and a wait in the queue.
func TestASimulatedTaskIsStartedAgainAtTheEndOfItsTime(t *testing.T) {
	got := simulate(site{nodes: 1, cores: 1, shards: 1, jobs: 1, secondsPerJob: 1000, epoch: 50, wall: 100 + startSeconds, maxRestart: 3}, 1)
	// Ten turns of 100 seconds, of which the fifth and the ninth are submitted again.
	want := (1000 + 10*startSeconds + 9*requeueSeconds) / 3600
	if math.Abs(got.hours-want) > 1e-9 || got.restarts != 9 || got.resubmit != 2 {
		t.Errorf("%+v, want %v hours", got, want)
	}
	// With an epoch of 60 seconds a turn gets one epoch on and loses 40 seconds.
	slow := simulate(site{nodes: 1, cores: 1, shards: 1, jobs: 1, secondsPerJob: 180, epoch: 60, wall: 100 + startSeconds, maxRestart: 9}, 1)
	if slow.restarts != 2 || math.Abs(slow.lost*3600-(2*(40+startSeconds)+startSeconds)) > 1e-6 {
		t.Errorf("%+v", slow)
	}
}

// Failures come at their rate, cost time, and none of the work is lost for good.
func TestSimulatedFailuresComeAtTheirRate(t *testing.T) {
	s := site{nodes: 10, cores: 2, shards: 20, jobs: 20, secondsPerJob: year / 10, epoch: 3600, wall: math.Inf(1), maxRestart: 1e9, failuresPerYear: 100, repairHours: 1}
	n, calm := 0.0, simulate(s, 1)
	for seed := range uint64(20) {
		got := simulate(s, seed)
		n += float64(got.failures)
		if got.hours < calm.hours/2 || got.hours < s.secondsPerJob/3600 {
			t.Errorf("%+v", got)
		}
	}
	// Ten nodes for a little more than a tenth of a year at 100 a year.
	if n /= 20; n < 95 || n > 125 {
		t.Errorf("%v failures", n)
	}
	s.failuresPerYear = 0
	if quiet := simulate(s, 1); quiet.failures > 0 || quiet.hours >= calm.hours {
		t.Errorf("%+v", quiet)
	}
}

// simulated is the page's table.
func simulated() string {
	t := &report.Table{Columns: []report.Column{
		{Name: "nodes"}, {Name: "shards"}, {Name: "failures per node and year"}, {Name: "repair"}, {Name: "days"}, {Name: "cores' time that lasted"},
		{Name: "node failures met"}, {Name: "restarts"}, {Name: "submitted again"}, {Name: "core-hours lost"},
	}}
	for _, nodes := range []int{1, 10, 100} {
		for _, c := range []struct {
			shards           int
			failures, repair float64
		}{{1000, 1, 4}, {10000, 0.1, 1}, {10000, 1, 4}, {10000, 10, 24}} {
			t.Rows = append(t.Rows, simulatedRow(nodes, c.shards, c.failures, c.repair))
		}
	}
	var b strings.Builder
	for _, r := range append([]report.Row{header(t)}, t.Rows...) {
		for _, c := range r.Cells {
			b.WriteString("| " + c.Text + " ")
		}
		b.WriteString("|\n")
		if len(b.String()) > 0 && strings.Count(b.String(), "\n") == 1 {
			b.WriteString(strings.Repeat("|---", len(t.Columns)) + "|\n")
		}
	}
	return b.String()
}

func header(t *report.Table) (r report.Row) {
	for _, c := range t.Columns {
		r.Cells = append(r.Cells, report.Str(c.Name))
	}
	return r
}

// simulatedRow is a mean over twenty sweeps, with the lowest and the highest of the
// days.
func simulatedRow(nodes, shards int, failures, repair float64) report.Row {
	var days, busy, met, restarts, again, lost []float64
	for seed := range uint64(20) {
		o := simulate(shadowSite(nodes, shards, failures, repair), seed)
		days, busy, met = append(days, o.hours/24), append(busy, o.busy), append(met, float64(o.failures))
		restarts, again, lost = append(restarts, float64(o.restarts)), append(again, float64(o.resubmit)), append(lost, o.lost)
	}
	return report.Row{Cells: []report.Cell{
		report.Str(fmt.Sprint(nodes)), report.Str(fmt.Sprint(shards)), report.Str(fmt.Sprint(failures)), report.Str(fmt.Sprintf("%g h", repair)),
		report.Str(fmt.Sprintf("%.2f (%.2f to %.2f)", mean(days), slices.Min(days), slices.Max(days))),
		report.Str(fmt.Sprintf("%.0f %%", 100*mean(busy))), report.Str(fmt.Sprintf("%.1f", mean(met))),
		report.Str(fmt.Sprintf("%.0f", mean(restarts))), report.Str(fmt.Sprintf("%.0f", mean(again))),
		report.Str(fmt.Sprintf("%.0f", mean(lost))),
	}}
}

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}

// sums are the page's numbers that follow from the measured ones.
func sums() string {
	hours := secondsPerRecord * recordsPerJob * epochs / 3600
	const gb = 1e9
	line := func(what, value string) string { return fmt.Sprintf("| %s | %s |\n", what, value) }
	return line("of "+fmt.Sprint(models)+" shadow models", "") + "|---|---|\n" +
		line("one training", fmt.Sprintf("%.1f core-hours", hours)) +
		line("all trainings", fmt.Sprintf("%.0f core-hours, %.1f core-years", hours*models, hours*models*3600/year)) +
		line("runs", fmt.Sprintf("%.0f GB in %d names (files and their folders)", float64(runBytes)*models/gb, runNames*models)) +
		line("the attempts' stores and the collected one", fmt.Sprintf("%.0f GB in %d names", 2*float64(runBytes)*models/gb, 2*runNames*models)) +
		line("of a full node that computes: checkpoints and memory", fmt.Sprintf("%.0f GB and %.0f GiB", coresPerNode*float64(workBytes)/gb, coresPerNode*memoryGiB)) +
		line("10,000 shards: folders of stores that were begun once", fmt.Sprintf("%d, of four folders each", 10000*5)) +
		line("the same in files of journals and logs", fmt.Sprint(2*10000)) +
		line("checkpoints that 100 nodes write, one per worker and epoch", fmt.Sprintf("%.2f GB/s", 100*coresPerNode*checkpointBytes/(secondsPerRecord*recordsPerJob)/gb))
}

// The page shows what the simulation says.
func TestThePageShowsTheSimulation(t *testing.T) {
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(b)
	for name, text := range map[string]string{"simulation": simulated(), "sums": sums()} {
		if want, err = textBetween(want, name, text); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(b) {
		t.Errorf("%s shows other numbers than are simulated: run this test with -update", page)
	}
}

// textBetween replaces what stands between the marks of a name, which are definitions of
// links: Markdown shows nothing of them.
func textBetween(in, name, text string) (string, error) {
	begin, end := "["+name+"]: #\n\n", "\n[end of "+name+"]: #\n"
	head, rest, ok := strings.Cut(in, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("%s has no place for %s", page, name)
	}
	return head + begin + text + end + tail, nil
}
