// The processes of a benchmark, as their parent sees them.

package bench

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/paper/blindu"
)

//go:embed peer/*.py
var peerScripts embed.FS

// peerDevice is the environment variable that tells PyTorch where to compute.
const peerDevice = "LETHE_PEER_DEVICE"

// worker is one side of a benchmark: a child process that works on request and answers in JSON
// lines.
type worker struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	log     *bytes.Buffer
	what    string // description with version
	missing string // Python package that the peer lacks
	weights int    // of the network, 0 if there is none
	ready   answer // the first
	seconds []float64
	value   float64
}

// longestAnswer is the greatest number of bytes of an answer, which has a number per epoch.
const longestAnswer = 16 << 20

// answer is a line of output of a worker.
type answer struct {
	Ready   string          `json:"ready"`
	Missing string          `json:"missing"`
	Seconds float64         `json:"seconds"`
	Value   float64         `json:"value"`
	Weights int             `json:"weights"`
	Taken   *blindu.RunCost `json:"taken,omitempty"` // by a method that was timed
	epochsAnswer
}

// startLethe starts Lethe's side. env has variables beside those of this process.
func (b *comparison) startLethe(ctx context.Context, args []string, env ...string) (*worker, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, append([]string{"bench", "worker", "--engine", cmp.Or(b.engine, "lethe")}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	return b.start(cmd)
}

// startPeer runs a built-in script in the given Python. The script is passed on the command line,
// so that standard input is free. env has variables beside those of this process.
func (b *comparison) startPeer(ctx context.Context, script string, args []string, env ...string) (*worker, error) {
	var code []byte
	for _, name := range []string{"common.py", "networks.py", script} {
		part, err := peerScripts.ReadFile("peer/" + name)
		if err != nil {
			return nil, err
		}
		code = append(code, part...)
	}
	cmd := exec.CommandContext(ctx, b.peer, append([]string{"-c", string(code)}, args...)...)
	cmd.Env = append(append(os.Environ(), peerDevice+"="+cmp.Or(b.device, "cpu")), env...)
	return b.start(cmd)
}

// start starts a worker and waits until it has warmed up.
func (b *comparison) start(cmd *exec.Cmd) (*worker, error) {
	n := strconv.Itoa(b.threads)
	cmd.Env = append(cmd.Environ(), "GOMAXPROCS="+n, "OMP_NUM_THREADS="+n, "OPENBLAS_NUM_THREADS="+n, "MKL_NUM_THREADS="+n)
	w := &worker{cmd: cmd, log: &bytes.Buffer{}}
	cmd.Stderr = w.log
	var err error
	if w.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewScanner(out)
	w.out.Buffer(nil, longestAnswer)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	a, err := w.read()
	if err != nil {
		w.kill()
		return nil, err
	}
	w.ready, w.what, w.missing, w.weights = a, a.Ready, a.Missing, a.Weights
	return w, nil
}

func (w *worker) read() (answer, error) {
	var a answer
	if !w.out.Scan() {
		// Its error output is complete only after the process has ended.
		_ = w.in.Close()
		_ = w.cmd.Wait()
		return a, errors.Join(w.out.Err(), noAnswerError(w.log.String()))
	}
	if err := json.Unmarshal(w.out.Bytes(), &a); err != nil {
		return a, fmt.Errorf("unexpected answer %q: %w", w.out.Text(), err)
	}
	return a, nil
}

// runUnits requests n units of work and stores the time of one.
func (w *worker) runUnits(n int) error {
	if _, err := fmt.Fprintln(w.in, n); err != nil {
		return fmt.Errorf("%w: %s", err, lastLine(w.log.String()))
	}
	a, err := w.read()
	if err != nil {
		return err
	}
	w.seconds, w.value = append(w.seconds, a.Seconds), a.Value
	return nil
}

// finish ends the process and returns its results.
func (w *worker) finish() (side, error) {
	w.in.Close()
	if err := w.cmd.Wait(); err != nil {
		return side{}, fmt.Errorf("%w: %s", err, lastLine(w.log.String()))
	}
	m, err := median(w.seconds)
	return side{What: w.what, Median: m, Seconds: w.seconds, PeakBytes: peakBytes(w.cmd.ProcessState), Value: w.value, Weights: w.weights}, err
}

// kill ends a process that is still running.
func (w *worker) kill() {
	if w.cmd.ProcessState == nil {
		_ = w.cmd.Process.Kill()
		_ = w.cmd.Wait()
	}
}

// noAnswerError is the error output of a process that ended without an answer.
type noAnswerError string

func (e noAnswerError) Error() string {
	return "the process gave no answer: " + lastLine(string(e))
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
