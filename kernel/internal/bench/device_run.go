// The run of lethe bench device: its processes, and their epochs in turn.

package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/progress"
)

// Variables of the sides. TF32 is off for every side. Compiled programs that an earlier process
// kept would hide what compiling costs.
const (
	envNoTF32     = "NVIDIA_TF32_OVERRIDE=0"
	envNoPrograms = "LETHE_XLA_PROGRAMS=off"
	envXLAFlags   = "XLA_FLAGS="
)

// epochSide is one way to train of a process.
type epochSide struct {
	program string // Lethe, PyTorch or JAX
	worker  *worker
	number  int // of the way
	times   epochTimes
}

// run measures one network after the other.
func (v *deviceBench) run(ctx context.Context) ([]deviceResult, error) {
	if v.peer != "" {
		if _, err := exec.LookPath(v.peer); err != nil {
			return nil, fmt.Errorf("--peer: %w", err)
		}
	}
	var out []deviceResult
	for _, name := range v.networks {
		network, err := deviceNetworkNamed(name)
		if err != nil {
			return nil, err
		}
		if v.batch > 0 {
			network.batch = v.batch
		}
		r, err := v.measure(ctx, network)
		var refused refusedError
		if errors.As(err, &refused) {
			return nil, refused
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// measure measures a network.
func (v *deviceBench) measure(ctx context.Context, network deviceNetwork) (deviceResult, error) {
	r := deviceResult{Network: network.name, Batch: network.batch, Steps: v.steps}
	size := []string{network.name, strconv.Itoa(network.batch), strconv.Itoa(v.steps)}
	lethe, err := v.startDevice(ctx, size)
	if err != nil {
		return r, err
	}
	defer lethe.kill()
	r.Weights, r.Device, r.Flags = lethe.weights, lethe.ready.Device, lethe.ready.Flags
	_, r.Engine, _ = strings.Cut(lethe.what, ", ")
	sides := waysOf(letheTitle, lethe, true)
	if v.peer != "" {
		peers, notes, err := v.startPeers(ctx, size, lethe)
		for _, p := range peers {
			defer p.worker.kill()
		}
		if err != nil {
			return r, err
		}
		sides, r.Notes = append(sides, peers...), notes
	}
	if err := v.alternateEpochs(network.name, sides); err != nil {
		return r, err
	}
	for i := range sides {
		if err := sides[i].finish(); err != nil {
			return r, err
		}
	}
	r.addTimes(sides)
	r.compare(network.goals)
	return r, nil
}

// addTimes adds the times of the sides.
func (r *deviceResult) addTimes(sides []epochSide) {
	for _, s := range sides {
		switch s.program {
		case letheTitle:
			r.Lethe = s.times
		case jaxTitle:
			r.JAX = &s.times
		default:
			r.PyTorch = append(r.PyTorch, s.times)
		}
	}
}

// startDevice starts Lethe's side.
func (v *deviceBench) startDevice(ctx context.Context, size []string) (*worker, error) {
	args := append([]string{"device"}, size...)
	if v.asDevice {
		args = append(args, "--as-device")
	}
	w, err := v.startLethe(ctx, args, envNoPrograms)
	var log noAnswerError
	if errors.As(err, &log) {
		return nil, refusedError(strings.TrimPrefix(lastLine(string(log)), "lethe: "))
	}
	if err != nil {
		return nil, err
	}
	if w.ready.Refused != "" {
		w.kill()
		return nil, refusedError(w.ready.Refused)
	}
	return w, nil
}

// refusedError says why Lethe's side does not start, whatever the network.
type refusedError string

func (e refusedError) Error() string { return string(e) }

// startPeers starts PyTorch, with its fastest and with its deterministic algorithms, and JAX. It
// notes what does not start. It is an error if a peer has another network.
func (v *deviceBench) startPeers(ctx context.Context, size []string, lethe *worker) (sides []epochSide, notes []string, err error) {
	keep := func(title string, deterministic bool, start func() (*worker, []string, error)) {
		if err != nil || v.missing[title] {
			return
		}
		w, said, failed := start()
		notes = append(notes, said...)
		switch {
		case failed != nil:
			notes = append(notes, fmt.Sprintf("%s did not start: %v.", title, failed))
		case w.missing != "":
			w.kill()
			v.noteMissing(title)
		case w.weights != lethe.weights:
			w.kill()
			err = fmt.Errorf("%d weights here and %d in %s: these are different networks", lethe.weights, w.weights, w.what)
		default:
			sides = append(sides, waysOf(title, w, deterministic)...)
		}
	}
	modes := []string{"fastest", "deterministic"}
	if !v.deterministic {
		modes = modes[:1]
	}
	for _, mode := range modes {
		keep(torchTitle, mode == "deterministic", func() (*worker, []string, error) {
			args := slices.Concat(size, []string{strconv.Itoa(v.threads), mode, strings.Join(v.ways, ",")})
			w, err := v.startPeer(ctx, "device_torch.py", args, envNoTF32)
			return w, nil, err
		})
	}
	keep(jaxTitle, true, func() (*worker, []string, error) { return v.startJAX(ctx, size, lethe.ready.Flags) })
	return sides, notes, err
}

// unknownFlags finds what XLA says before it ends at flags that it does not know.
var unknownFlags = regexp.MustCompile(`Unknown flags? in XLA_FLAGS:(.*)`)

// startJAX starts JAX with the XLA flags of Lethe's side. Flags that its XLA does not know are left
// out and noted.
func (v *deviceBench) startJAX(ctx context.Context, size []string, flags string) (w *worker, notes []string, err error) {
	start := func() (*worker, error) {
		return v.startPeer(ctx, "device_jax.py", size, envNoTF32, envXLAFlags+flags)
	}
	w, err = start()
	var log noAnswerError
	if !errors.As(err, &log) {
		return w, nil, err
	}
	found := unknownFlags.FindStringSubmatch(string(log))
	if found == nil {
		return nil, nil, err
	}
	known, unknown := splitFlags(flags, found[1])
	if len(unknown) == 0 {
		return nil, nil, err
	}
	flags = strings.Join(known, " ")
	w, err = start()
	return w, []string{fmt.Sprintf("JAX's XLA does not know %s and runs without.", strings.Join(unknown, " "))}, err
}

// splitFlags splits flags into those that a message does not name and those that it names.
func splitFlags(flags, message string) (known, unknown []string) {
	named := strings.Fields(message)
	for _, flag := range strings.Fields(flags) {
		if slices.Contains(named, flag) {
			unknown = append(unknown, flag)
		} else {
			known = append(known, flag)
		}
	}
	return known, unknown
}

// waysOf returns the ways to train of a process.
func waysOf(program string, w *worker, deterministic bool) (out []epochSide) {
	for i, way := range w.ready.Ways {
		out = append(out, epochSide{program: program, worker: w, number: i, times: epochTimes{What: w.what, Device: w.ready.Device,
			Way: way.Name, Deterministic: deterministic, First: way.First, Failed: way.Failed}})
	}
	return out
}

// alternateEpochs runs the repetitions. A peer that fails is left out from there on; an error of
// Lethe's side, the first, ends the run.
func (v *deviceBench) alternateEpochs(name string, sides []epochSide) error {
	task := progress.Begin(name, v.rounds)
	defer task.Done()
	for range v.rounds {
		for i := range sides {
			err := sides[i].runEpochs(v.epochs)
			if err != nil && i == 0 {
				return err
			}
			if err != nil {
				failProcess(sides, sides[i].worker, err)
			}
		}
		task.Add(1)
	}
	return nil
}

// failProcess marks all ways of a process that has failed.
func failProcess(sides []epochSide, w *worker, err error) {
	for i := range sides {
		if sides[i].worker == w && sides[i].times.Failed == "" {
			sides[i].times.Failed = err.Error()
		}
	}
}

// runEpochs requests n timed epochs.
func (s *epochSide) runEpochs(n int) error {
	if s.times.Failed != "" {
		return nil
	}
	if _, err := fmt.Fprintln(s.worker.in, s.number, n); err != nil {
		return fmt.Errorf("%w: %s", err, lastLine(s.worker.log.String()))
	}
	a, err := s.worker.read()
	if err != nil {
		return err
	}
	if len(a.Epochs) != n {
		return fmt.Errorf("%s: %d epochs, %d requested", s.worker.what, len(a.Epochs), n)
	}
	s.times.Seconds, s.times.Loss = append(s.times.Seconds, a.Epochs...), a.Value
	return nil
}

// finish computes the median of a way and ends its process.
func (s *epochSide) finish() (err error) {
	_ = s.worker.in.Close()
	if s.times.Failed == "" {
		s.times.Median, err = median(s.times.Seconds)
	}
	return err
}
