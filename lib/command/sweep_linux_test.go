// Tests of sweep.go.

package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/sweep"
)

// workersOf are the processes of this machine that work on a sweep, with their shards.
func workersOf(dir string) map[int]string {
	out := map[int]string{}
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		b, err := os.ReadFile(path)
		words := strings.Split(string(b), "\x00")
		if err != nil || len(words) < 4 || words[0] != filepath.Join(dir, "lethe") || words[2] != "work" {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			shard, _, _ := strings.Cut(words[slices.Index(words, "--shard")+1], "/")
			out[pid] = shard
		}
	}
	return out
}

// A table of a paper on this machine: one worker is killed in the middle, the runs
// are those of the table made in one go, and the table afterwards adds none.
func TestALocalSweepOfATableGivesTheBytesOfTheTable(t *testing.T) {
	lethe := program(t)
	dir, g := planOf(t, lethe, "sde/toy", "--shards", "3")
	if g.Recipes[0] != "sde/toy" || g.Scale != "quick" || g.Stages != 1 && g.Stages != 2 || len(g.Data) == 0 || g.Engine.Identity == "" {
		t.Fatalf("%+v", g.Plan)
	}
	local := exec.Command(lethe, "sweep", "submit", dir, "--on", "local", "--max-parallel", "2")
	local.Env = append(os.Environ(), cleanEnvironment(t)...)
	var said bytes.Buffer
	local.Stderr = &said
	if err := local.Start(); err != nil {
		t.Fatal(err)
	}
	killed := killAWorker(t, dir)
	if err := local.Wait(); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	if !killed {
		t.Error("no worker was killed")
	}
	store, alone := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "alone")
	run(t, lethe, "sweep", "collect", dir, "--store", store)
	table := run(t, lethe, "table", "sde", "toy", "--store", alone)
	sameStores(t, store, alone)
	if again := run(t, lethe, "table", "sde", "toy", "--store", store); again != table {
		t.Error("the table of the sweep is another one")
	}
	sameStores(t, store, alone)
	status := run(t, lethe, "sweep", "status", dir, "--json")
	var s sweep.Summary
	if err := json.Unmarshal([]byte(status), &s); err != nil || s.Stages[0].Done != s.Stages[0].Jobs || s.Stages[0].Seconds <= 0 || len(s.Silent) != 1 {
		t.Errorf("%s, %v", status, err)
	}
}

// killAWorker kills the first worker of a sweep that is in the middle of a job, and
// reports whether there was one.
func killAWorker(t *testing.T, dir string) bool {
	t.Helper()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		for pid, shard := range workersOf(dir) {
			begun, err := filepath.Glob(filepath.Join(dir, "stores", shard, "*", "work", "*"))
			if err != nil {
				t.Fatal(err)
			}
			if p, err := os.FindProcess(pid); err == nil && len(begun) > 0 { // in the middle of a job
				return p.Kill() == nil
			}
		}
	}
	return false
}

// slurm is a real Slurm of two nodes on this machine.
type slurm struct {
	t      *testing.T
	dir    string
	env    []string
	daemon map[string]*exec.Cmd
}

// startSlurm brings one up, or skips the test: it needs root, Slurm's daemons and
// munge, and to be asked for, because it starts daemons.
func startSlurm(t *testing.T) *slurm {
	t.Helper()
	if os.Getenv("LETHE_TEST_SLURM") == "" {
		t.Skip("starts a Slurm of two nodes: set LETHE_TEST_SLURM=1 (Debian: apt-get install slurm-wlm slurm-wlm-basic-plugins munge)")
	}
	if os.Getuid() != 0 {
		t.Skip("slurmd must be root")
	}
	for _, name := range []string{"munged", "munge", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("there is no " + name)
		}
	}
	dir, err := os.MkdirTemp("", "lethe-slurm-") // short: a Unix socket's path has 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	s := &slurm{t: t, dir: dir, daemon: map[string]*exec.Cmd{}}
	t.Cleanup(s.down)
	s.configure()
	s.start("munged", "--foreground", "--key-file="+s.path("munge/key"), "--socket="+s.path("munge.socket"), "--pid-file="+s.path("munged.pid"),
		"--log-file="+s.path("munged.log"), "--seed-file="+s.path("munge/seed"))
	s.wait("munge", func() bool {
		return exec.Command("munge", "-n", "-S", s.path("munge.socket"), "-o", "/dev/null").Run() == nil
	})
	s.start("slurmctld", "-D", "-f", s.path("slurm.conf"))
	s.wait("slurmctld", func() bool { return strings.Contains(s.ask("scontrol", "ping"), "is UP") })
	for _, node := range []string{"node1", "node2"} {
		s.startNode(node)
	}
	s.wait("the nodes", func() bool { return strings.Count(s.ask("sinfo", "-h", "-N", "-o", "%T"), "idle") == 2 })
	return s
}

func (s *slurm) path(name string) string { return filepath.Join(s.dir, name) }

// configure writes the key and the configuration: no systemd, no cgroups, no
// accounting, and long times, because a busy machine is no dead one.
func (s *slurm) configure() {
	host, err := os.Hostname()
	if err != nil {
		s.t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	port := 30000 + os.Getpid()%20000
	conf := fmt.Sprintf(`ClusterName=lethetest
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=%[2]d
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=%[5]s/munge.socket,cred_expire=5
StateSaveLocation=%[5]s/ctld
SlurmdSpoolDir=%[5]s/spool.%%n
SlurmctldPidFile=%[5]s/ctld.pid
SlurmdPidFile=%[5]s/%%n.pid
SlurmctldLogFile=%[5]s/ctld.log
SlurmdLogFile=%[5]s/%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SwitchType=switch/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SlurmdTimeout=120
MessageTimeout=30
KillWait=5
JobRequeue=1
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MaxArraySize=4
NodeName=node1 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[3]d CPUs=2 RealMemory=2000
NodeName=node2 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[4]d CPUs=2 RealMemory=2000
PartitionName=main Nodes=node[1-2] Default=YES MaxTime=60 DefaultTime=60 State=UP
`, host, port, port+1, port+2, s.dir)
	key := make([]byte, 1024)
	for i := range key {
		key[i] = byte(i * 7)
	}
	for name, b := range map[string][]byte{"slurm.conf": []byte(conf), "munge/key": key} {
		if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o700); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(s.path(name), b, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := os.MkdirAll(s.path("ctld"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Chmod(s.dir, 0o755); err != nil { // munged's socket is everybody's
		s.t.Fatal(err)
	}
	s.env = append(append(os.Environ(), "SLURM_CONF="+s.path("slurm.conf")), cleanEnvironment(s.t)...)
}

// start starts a daemon.
func (s *slurm) start(name string, args ...string) { s.startAs(name, name, args...) }

func (s *slurm) startNode(node string) {
	s.startAs(node, "slurmd", "-D", "-N", node, "-f", s.path("slurm.conf"))
}

func (s *slurm) startAs(as, name string, args ...string) {
	s.t.Helper()
	c := exec.Command(name, args...)
	c.Env, c.SysProcAttr = s.env, &syscall.SysProcAttr{Setsid: true} // kill tells processes by their session
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.daemon[as] = c
}

// ask runs one of Slurm's programs.
func (s *slurm) ask(name string, args ...string) string {
	c := exec.Command(name, args...)
	c.Env = s.env
	out, _ := c.CombinedOutput()
	return string(out)
}

func (s *slurm) wait(what string, ready func() bool) {
	s.t.Helper()
	for until := time.Now().Add(time.Minute); !ready(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			log, _ := os.ReadFile(s.path("ctld.log"))
			s.t.Fatalf("%s did not come up: %s", what, log)
		}
	}
}

// kill cuts a node's power: its daemon, its steps, which are no children of it and
// are known by the log that they hold open, and its jobs. The controller is told, so
// that it need not find out.
func (s *slurm) kill(node string) {
	s.t.Helper()
	steps := map[string]bool{}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && to == s.path(node+".log") {
			steps[strings.Split(fd, "/")[2]] = true
		}
	}
	sessions := map[string]bool{}
	for pid := range steps {
		sessions[field(pid, 3)] = true
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var jobs []string
	for _, path := range stats {
		if pid := strings.Split(path, "/")[2]; !steps[pid] && sessions[field(pid, 3)] && pid != strconv.Itoa(os.Getpid()) && field(pid, 3) != field("self", 3) {
			jobs = append(jobs, pid)
		}
	}
	_ = s.daemon[node].Process.Kill()
	for pid := range steps { // before the jobs: a step that sees its job die reports a failure
		end(pid)
	}
	for _, pid := range jobs {
		end(pid)
	}
	_ = s.daemon[node].Wait()
	s.ask("scontrol", "update", "nodename="+node, "state=down", "reason=killed")
}

// field is a number of /proc's line on a process, counted behind its name: 1 is the
// parent, 3 the session.
func field(pid string, n int) string {
	b, _ := os.ReadFile("/proc/" + pid + "/stat")
	_, rest, _ := strings.Cut(string(b), ") ")
	if words := strings.Fields(rest); len(words) > n {
		return words[n]
	}
	return ""
}

func end(pid string) {
	if n, err := strconv.Atoi(pid); err == nil {
		if p, err := os.FindProcess(n); err == nil {
			_ = p.Kill()
		}
	}
}

func (s *slurm) down() {
	s.ask("scancel", "--user=root")
	for _, node := range []string{"node1", "node2"} {
		if s.daemon[node] != nil {
			s.kill(node)
		}
	}
	for _, name := range []string{"slurmctld", "munged"} {
		if c := s.daemon[name]; c != nil {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	}
	_ = os.RemoveAll(s.dir)
}

// RULER's Table 1 on a Slurm of two nodes, more shards than an array may have tasks,
// one node killed in the middle: the same bytes as of the table made in one go.
func TestASlurmSweepWithANodeKilledGivesTheBytesOfTheTable(t *testing.T) {
	lethe := program(t)
	s := startSlurm(t)
	dir := s.path("sweep") // a name that Slurm's scripts hold
	s.run(lethe, "sweep", "plan", "ruler/table1", "--shards", "9", "--out", dir)
	handed := s.run(lethe, "sweep", "submit", dir, "--on", "slurm", "--time", "20", "--lead", "60", "--mem", "500M")
	if n := strings.Count(handed, "stage 0: job"); n != 3 {
		t.Errorf("%d arrays of nine shards, at most four each: %s", n, handed)
	}
	s.wait("a worker", func() bool {
		done := s.readProgress(dir)
		return len(done.Done) > 20 && strings.Contains(s.ask("squeue", "-h", "-t", "R", "-w", "node1"), "main")
	})
	s.kill("node1")
	hit := s.readProgress(dir)
	t.Logf("node1 was killed when %d of %d jobs were done", len(hit.Done), len(hit.Jobs))
	if out, err := exec.Command(lethe, "sweep", "submit", dir, "--on", "local", "--print").CombinedOutput(); err == nil {
		t.Errorf("%s", out)
	}
	s.startNode("node1")
	s.wait("node1", func() bool {
		s.ask("scontrol", "update", "nodename=node1", "state=resume")
		return !strings.Contains(s.ask("sinfo", "-h", "-n", "node1", "-o", "%T"), "down")
	})
	began := time.Now()
	for s.ask("squeue", "-h") != "" {
		if time.Since(began) > 4*time.Minute {
			t.Fatalf("still in the queue: %s", s.ask("squeue"))
		}
		time.Sleep(500 * time.Millisecond)
	}
	g := s.readProgress(dir)
	if len(g.RemainingJobs()) > 0 { // a requeued task of the first stage does not hold up the second
		t.Logf("%d jobs are left, submitting again", len(g.RemainingJobs()))
		s.run(lethe, "sweep", "submit", dir, "--on", "slurm", "--time", "20")
		s.wait("the rest", func() bool { return s.ask("squeue", "-h") == "" })
		g = s.readProgress(dir)
	}
	restarted := 0
	for _, a := range g.Attempts {
		if !strings.HasPrefix(a.Attempt, "000-") && a.Stage == 0 {
			restarted++
		}
	}
	t.Logf("%d attempts, %d of them further ones at a shard of the first stage, %d without a last word", len(g.Attempts), restarted, len(g.Silent()))
	if len(g.RemainingJobs()) > 0 || restarted == 0 || len(g.Silent()) == 0 {
		t.Errorf("%d jobs are left, %d attempts were further ones, %d are silent: %s", len(g.RemainingJobs()), restarted, len(g.Silent()), s.run(lethe, "sweep", "status", dir))
	}
	store, alone := s.path("store"), s.path("alone")
	t.Log(strings.TrimSpace(s.run(lethe, "sweep", "collect", dir, "--store", store)))
	s.run(lethe, "table", "ruler", "1", "--store", alone)
	sameStores(t, store, alone)
}

func (s *slurm) readProgress(dir string) *sweep.Progress {
	s.t.Helper()
	g, err := sweep.ReadProgress(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	return g
}

// run runs the program where it finds this Slurm.
func (s *slurm) run(program string, args ...string) string {
	s.t.Helper()
	ctx, stop := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer stop()
	c := exec.CommandContext(ctx, program, args...)
	c.Env = s.env
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
