// No record of the forget set is in the memory of BlindU's server.

package unlearn

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/privacy"
)

// serverFile is the environment variable that makes this test binary a server, and the file
// with everything that it is sent.
const serverFile = "LETHE_UNLEARN_TEST_SERVER"

func TestMain(m *testing.M) {
	file := os.Getenv(serverFile)
	if file == "" {
		os.Exit(m.Run())
	}
	if err := serve(file); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

// sent is what a server receives.
type sent struct {
	Arch      ib.Bottleneck
	Weights   nn.Params
	Erasure   Erasure
	Auxiliary Data
}

// serve is the server's process: it unlearns, reports, and waits to be stopped with
// everything still in memory.
func serve(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s := sent{Arch: ib.Bottleneck{Compressor: &ib.MLP{}, Approximator: &ib.MLP{}}}
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	e, err := enginetest.Open()
	if err != nil {
		return err
	}
	s.Arch.Compressor, s.Arch.Approximator = *s.Arch.Compressor.(*ib.MLP), *s.Arch.Approximator.(*ib.MLP)
	r, err := model.NewRunner(e, s.Arch)
	if err != nil {
		return err
	}
	trained, err := objectiveOf(s.Auxiliary)
	if err != nil {
		return err
	}
	ask := BlindRequest{Runner: r, Original: s.Weights, Erasure: s.Erasure, Auxiliary: s.Auxiliary, Trained: trained, Seed: 100}
	out, err := BlindU{Epochs: 3}.Serve(context.Background(), ask)
	if err != nil {
		return err
	}
	fmt.Println("unlearned", out.Params.Hash())
	_, _ = io.ReadAll(os.Stdin)
	runtime.KeepAlive(ask)
	runtime.KeepAlive(b)
	return nil
}

// The server runs as a process of its own. Nowhere in its memory is a record of the
// forget set, masked or not; the codes and the auxiliary records are there, so that a
// search finds what is to be found.
func TestNoRecordIsInTheServersMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a process's memory is read through /proc, which is Linux's")
	}
	s := newServer(t)
	r := s.request()
	aux, err := Public.records(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	mask := defaults.Fill(privacy.Masking{})
	ask, err := r.blindRequest(&mask, aux)
	if err != nil {
		t.Fatal(err)
	}
	want, err := BlindU{Epochs: 3}.Serve(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	p := startServer(t, sent{defaults.Fill(s.runner.Arch).(ib.Bottleneck), s.weights, ask.Erasure, aux})
	line, err := p.out.ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "unlearned "+want.Params.Hash() {
		t.Fatalf("the server says %q (%v), in one process it is %s", line, err, want.Params.Hash())
	}
	masked, _, err := mask.Mask(r.Forget.X, r.Forget.IDs, masksOf(r.Seed))
	if err != nil {
		t.Fatal(err)
	}
	found := p.holds(t, map[string]array.Matrix[float32]{"records": r.Forget.X, "masked records": masked, "codes": ask.Erasure.Codes, "auxiliary records": aux.X})
	if found["codes"] == 0 || found["auxiliary records"] == 0 {
		t.Fatalf("the search finds nothing of what the server has: %v", found)
	}
	if found["records"] > 0 || found["masked records"] > 0 {
		t.Errorf("of the forget set are in the server's memory %v", found)
	}
}

// process is a running server.
type process struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

func startServer(t *testing.T, s sent) *process {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sent.json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), serverFile+"="+file), os.Stderr
	stop, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stop.Close()
		_ = cmd.Wait()
	})
	return &process{cmd, bufio.NewReader(out)}
}

// mark is the position in a row where a search begins: the first feature that is not 0.
type mark struct {
	name     string
	row, at  int
	features []float32
}

// holds counts the rows of matrices found in the process's memory, as float32 or float64.
func (p *process) holds(t *testing.T, what map[string]array.Matrix[float32]) map[string]int {
	t.Helper()
	marks := map[float32][]mark{}
	for name, m := range what {
		for i := range m.Rows {
			at := slices.IndexFunc(m.Row(i), func(v float32) bool { return v != 0 })
			marks[m.Row(i)[at]] = append(marks[m.Row(i)[at]], mark{name, i, at, m.Row(i)})
		}
	}
	found := map[string]map[int]bool{}
	look := func(v float32, value func(offset int) (float32, bool)) {
		for _, k := range marks[v] {
			if k.stands(value) {
				if found[k.name] == nil {
					found[k.name] = map[int]bool{}
				}
				found[k.name][k.row] = true
			}
		}
	}
	p.memory(t, func(block []byte) {
		single := func(at int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(block[at:])) }
		double := func(at int) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(block[at:]))) }
		for at := 0; at+8 <= len(block); at += 4 {
			look(single(at), func(k int) (float32, bool) {
				if to := at + 4*k; to >= 0 && to+4 <= len(block) {
					return single(to), true
				}
				return 0, false
			})
			if at%8 == 0 {
				look(double(at), func(k int) (float32, bool) {
					if to := at + 8*k; to >= 0 && to+8 <= len(block) {
						return double(to), true
					}
					return 0, false
				})
			}
		}
	})
	counts := map[string]int{}
	for name, rows := range found {
		counts[name] = len(rows)
	}
	return counts
}

// stands reports whether the row stands where the values around its mark are.
func (k mark) stands(value func(offset int) (float32, bool)) bool {
	for j, want := range k.features {
		if got, is := value(j - k.at); !is || got != want {
			return false
		}
	}
	return true
}

// memory goes through the process's writable memory.
func (p *process) memory(t *testing.T, look func(block []byte)) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	maps, err := os.ReadFile(dir + "maps")
	if err != nil {
		t.Fatal(err)
	}
	memory, err := os.Open(dir + "mem")
	if err != nil {
		t.Skipf("the memory of another process may not be read here: %v", err)
	}
	defer memory.Close()
	for _, line := range strings.Split(string(maps), "\n") {
		var from, to int64
		var rights string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &rights); n == 3 && strings.HasPrefix(rights, "rw") {
			block := make([]byte, to-from)
			n, _ := memory.ReadAt(block, from) // the rest has never been touched
			look(block[:n])
		}
	}
}

func masksOf(seed engine.Root) func(int) *rand.Rand {
	return func(record int) *rand.Rand { return seed.Stream(engine.StreamMask, uint64(record)) }
}
