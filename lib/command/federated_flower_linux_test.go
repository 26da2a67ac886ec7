// Tests of federated_flower.go.

package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/federated/flower"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// envFlower names a Python with Flower: the one of a virtual environment, made by
// hand, into which flwr and click<8.2 are installed.
const envFlower = "LETHE_TEST_FLOWER"

// flowerPrograms returns the folder of Flower's programs, or skips the test.
func flowerPrograms(t *testing.T) string {
	t.Helper()
	python := cmp.Or(os.Getenv(envFlower), "python3")
	out, err := exec.Command(python, "-c", "import flwr, os, sys; print(flwr.__version__, os.path.dirname(sys.executable))").Output()
	if err != nil {
		t.Skipf("%s has no flwr (%v); %s may name a Python that has flwr %s", python, err, envFlower, flower.Version)
	}
	version, folder, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if version != flower.Version {
		t.Skipf("%s has flwr %s, the app is for %s", python, version, flower.Version)
	}
	return folder
}

// network is a Flower federation on this machine.
type network struct {
	t       *testing.T
	folder  string // of the federation
	bin     string // of Flower's programs
	ports   []string
	running []*exec.Cmd
}

func (n *network) start(name string, args ...string) *exec.Cmd {
	n.t.Helper()
	log, err := os.OpenFile(filepath.Join(n.folder, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		n.t.Fatal(err)
	}
	defer log.Close()
	c := exec.Command(filepath.Join(n.bin, args[0]), args[1:]...)
	c.Dir, c.Stdout, c.Stderr = n.folder, log, log
	c.Env = append(os.Environ(), "PATH="+n.bin+":"+os.Getenv("PATH"), "FLWR_TELEMETRY_ENABLED=0", "FLWR_HOME="+filepath.Join(n.folder, "flwr"),
		"PYTHONDONTWRITEBYTECODE=1")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.running = append(n.running, c)
	return c
}

// kill ends a process and all that it started.
func kill(c *exec.Cmd) {
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	_ = c.Wait()
}

func (n *network) killAll() {
	for _, c := range n.running {
		if c.ProcessState == nil {
			kill(c)
		}
	}
	n.running = nil
}

// up starts a server and a node for every user, and the run. programs are those
// that the users call for their work.
func (n *network) up(app string, programs []string) (nodes []*exec.Cmd) {
	n.t.Helper()
	n.start("link", "flower-superlink", "--insecure", "--fleet-api-address", n.ports[0], "--serverappio-api-address", n.ports[1],
		"--exec-api-address", n.ports[2], "--simulationio-api-address", n.ports[3])
	n.listens(n.ports[2])
	for k, program := range programs {
		config := fmt.Sprintf("user=%d study=%q shard=%q lethe=%q", k, filepath.Join(n.folder, "study.json"),
			filepath.Join(n.folder, "users", fmt.Sprint(k)), program)
		nodes = append(nodes, n.start(fmt.Sprintf("node%d", k), "flower-supernode", "--insecure", "--superlink", n.ports[0],
			"--clientappio-api-address", n.ports[4+k], "--node-config", config))
	}
	if err := n.start("run", "flwr", "run", app).Wait(); err != nil {
		n.t.Fatalf("flwr run: %v\n%s", err, n.logs())
	}
	return nodes
}

func (n *network) listens(address string) {
	n.t.Helper()
	n.until("the server listens", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// until waits, ten minutes at most.
func (n *network) until(what string, done func() bool) {
	n.t.Helper()
	for range 6000 {
		if done() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	n.t.Fatalf("waited in vain until %s\n%s", what, n.logs())
}

func (n *network) logs() string {
	var out bytes.Buffer
	files, _ := filepath.Glob(filepath.Join(n.folder, "*.log"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		fmt.Fprintf(&out, "== %s\n%s\n", filepath.Base(f), text[max(0, len(text)-3000):])
	}
	return out.String()
}

// rounds are those that the server has kept.
func (n *network) rounds() []federated.Round {
	f, err := safetensors.Read(filepath.Join(n.folder, "weights.safetensors"))
	if err != nil {
		return nil
	}
	var out []federated.Round
	if err := json.Unmarshal([]byte(f.Metadata["lethe.federated"]), &out); err != nil {
		n.t.Fatal(err)
	}
	return out
}

// ports are free ones of this machine, as addresses.
func ports(t *testing.T, k int) (out []string) {
	t.Helper()
	for range k {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		out = append(out, l.Addr().String())
	}
	return out
}

// Five users on this machine and Flower between them: after two rounds everything is
// killed and started again; in the third round the process that works for user 1 is
// killed, in the fifth user 3 with all of its processes, which the server misses before the
// sixth begins. The same rounds in one process give the same weights, bit for bit.
func TestOverFlowerTheWeightsAreThoseOfOneProcess(t *testing.T) {
	bin, lethe := flowerPrograms(t), program(t)
	folder := filepath.Join(t.TempDir(), "study")
	call(t, lethe, append(cutArguments(t), "--users", "5", "--alpha", "1", "--rounds", "6", "--epochs", "2", "--batch", "16", "--out", folder)...)
	call(t, lethe, "federated", "flower", folder)
	n := &network{t: t, folder: folder, bin: bin, ports: ports(t, 9)}
	defer n.killAll()
	app := filepath.Join(folder, "lethe-flower")
	redirect(t, filepath.Join(app, "pyproject.toml"), "127.0.0.1:9093", n.ports[2])
	redirect(t, filepath.Join(app, "pyproject.toml"), "limit = 3600", "limit = 60")

	programs := slices.Repeat([]string{lethe}, 5)
	n.up(app, programs)
	n.until("two rounds are over", func() bool { return len(n.rounds()) >= 2 })
	n.killAll()
	before := len(n.rounds())

	marker := filepath.Join(folder, "at-work")
	programs[1] = script(t, "lethe1",
		fmt.Sprintf(`case "$*" in *"--round 4 "*) %q "$@" & kill -9 $!; wait $!;; *) exec %q "$@";; esac`, lethe, lethe))
	programs[3] = script(t, "lethe3",
		fmt.Sprintf(`case "$*" in *"--round 5 "*) touch %q; sleep 600; exit 1;; *) exec %q "$@";; esac`, marker, lethe))
	nodes := n.up(app, programs)
	n.until("user 3 is at work in round 5", func() bool { _, err := os.Stat(marker); return err == nil })
	kill(nodes[3])
	n.until("six rounds are over", func() bool { return len(n.rounds()) == 6 })

	if before < 2 || before > 3 {
		t.Errorf("%d rounds were kept before the server was killed", before)
	}
	for i, want := range []struct{ answered, silent []int }{
		{answered: []int{0, 1, 2, 3, 4}}, {answered: []int{0, 1, 2, 3, 4}}, {answered: []int{0, 1, 2, 3, 4}},
		{[]int{0, 2, 3, 4}, []int{1}}, {[]int{0, 1, 2, 4}, []int{3}}, {answered: []int{0, 1, 2, 4}},
	} {
		got := n.rounds()[i]
		if got.Round != i+1 || !slices.Equal(got.Answered, want.answered) || !slices.Equal(got.Silent, want.silent) {
			t.Errorf("round %d: %+v, want %+v", i+1, got, want)
		}
	}
	call(t, lethe, "federated", "run", folder, "--like", filepath.Join(folder, "weights.safetensors"))
}

// redirect replaces a text in a file, which stands there.
func redirect(t *testing.T, path, old, with string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(old)) {
		t.Fatalf("%s does not say %q", path, old)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(old), []byte(with)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func script(t *testing.T, name, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// call runs the program.
func call(t *testing.T, lethe string, args ...string) string {
	t.Helper()
	c := exec.Command(lethe, args...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}
