// lethe bench sde: the time of SDE's protocol.

package bench

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/verify/sde"

	"github.com/spf13/cobra"
)

// sdeSize is a size of SDE's protocol: records per set and activations per record.
type sdeSize struct{ records, dim int }

func (s sdeSize) String() string { return fmt.Sprintf("%dx%d", s.records, s.dim) }

// sdeGoals are the goals for sdeSubsets subsets of a pool of sdePool records.
var sdeGoals = map[sdeSize][]goal{
	{1000, 512}:  {{Of: goalMedian, AtMost: 5}, {Of: goalRatio, AtMost: 0.1}},
	{2000, 8192}: {{Of: goalMedian, AtMost: 60}},
}

// sdeMeanGoal is the goal for the exact mean of kernel matrices that are already
// computed.
var sdeMeanGoal = goal{Of: goalMedian, AtMost: 1e-3}

const (
	sdePool    = 5000
	sdeSubsets = 100
)

// sdeRun is a comparison of SDE's protocol.
type sdeRun struct {
	comparison
	sizes       []string
	parsed      []sdeSize
	pool        int
	subsets     int
	peerSubsets int
	peerType    string
}

func newSDE() *cobra.Command {
	var s sdeRun
	c := &cobra.Command{
		Use:   "sde",
		Short: "Time SDE's protocol, beside a straightforward PyTorch program if installed",
		Long: `Time the out-of-training rate by SDE: subsets of a pool of records are compared with
two references, with 200 permutations each. Activations are independent normal
numbers, which take the same time as real ones; inference is not counted.

Further rows time
- the closed form for all subsets, which uses the exact mean and standard deviation
  instead of permutations;
- one subset by either method on one core, with the kernel values of the pool already
  known (as in pools of up to 8,192 records): gathering them, centring, and the draws
  or the exact moments;
- the closed form alone: the exact mean, and mean and standard deviation, of a subset
  whose two kernel matrices are computed and not yet centred. The mean takes one pass
  over half of each; the standard deviation centres both.

With --peer PYTHON a straightforward PyTorch program computes the same subsets with
the same number of threads: kernel matrices of every subset, 200 permutations by
indexing, histograms. It computes --peer-subsets of them, and its time is scaled up,
as its row states. Lethe computes in float64; --peer-type is PyTorch's type. Both
sides alternate. Activations are passed in a temporary file of 300 MB at the
default sizes.`,
		Example: "  lethe bench sde --peer python3\n  lethe bench sde --sizes 1000x512 --rounds 5 --peer python3 --peer-type float32 --json",
	}
	s.commonFlags(c, 3)
	c.Flags().StringSliceVar(&s.sizes, "sizes", []string{"1000x512", "2000x8192"}, "records per set x activations per record, separated by commas")
	c.Flags().IntVar(&s.pool, "pool", sdePool, "records that subsets are drawn from")
	c.Flags().IntVar(&s.subsets, "subsets", sdeSubsets, "subsets")
	c.Flags().IntVar(&s.peerSubsets, "peer-subsets", 5, "subsets that the peer computes")
	c.Flags().StringVar(&s.peerType, "peer-type", "float64", "type of the peer's numbers: float64 or float32")
	asJSON := cli.JSONFlag(c)
	c.Args = s.parse
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := os.MkdirTemp("", "lethe-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		tasks, err := s.tasks(cmd.Context(), dir)
		if err != nil {
			return err
		}
		title := fmt.Sprintf("SDE on %d subsets of %d records, %d permutations; %d threads, %d repetitions each", s.subsets, s.pool, sde.PaperPermutations,
			s.threads, s.rounds)
		return s.report(cmd, *asJSON, title, tasks)
	}
	return c
}

// parse checks the command line.
func (s *sdeRun) parse(cmd *cobra.Command, args []string) error {
	if err := s.check(cmd, args, limit{"pool", s.pool, 4}, limit{"subsets", s.subsets, 1}, limit{"peer-subsets", s.peerSubsets, 1},
		limit{"sizes", len(s.sizes), 1}); err != nil {
		return err
	}
	if err := cli.OneOf("peer-type", s.peerType, "float64", "float32"); err != nil {
		return err
	}
	s.parsed = nil
	for _, text := range s.sizes {
		a, b, _ := strings.Cut(text, "x")
		n, err := positiveInts(a, b)
		switch {
		case err != nil:
			return cli.Usagef("--sizes %s: expected RECORDSxACTIVATIONS, for instance 1000x512", text)
		case slices.Contains(s.parsed, sdeSize{n[0], n[1]}):
			return cli.Usagef("--sizes %s: given twice", text)
		case n[0] < 4 || n[0] > s.pool:
			return cli.Usagef("--sizes %s: %d records, expected 4 to %d, the records of the pool", text, n[0], s.pool)
		}
		s.parsed = append(s.parsed, sdeSize{n[0], n[1]})
	}
	return nil
}

// Parts of the protocol that are timed.
const (
	allSubsets = "all"
	oneSubset  = "one"
	exactMean  = "mean"
	exactBoth  = "moments"
)

// tasks writes the data of every size and returns the tasks.
func (s *sdeRun) tasks(ctx context.Context, dir string) ([]task, error) {
	judged := min(s.peerSubsets, s.subsets)
	var out []task
	for _, size := range s.parsed {
		folder, err := s.prepare(ctx, dir, size)
		if err != nil {
			return nil, err
		}
		args := []string{folder, strconv.Itoa(size.records), strconv.Itoa(size.dim), strconv.Itoa(s.subsets), strconv.Itoa(judged)}
		letheArgs := func(method sde.Method, protocol string) []string {
			return append(append([]string{"sde"}, args...), method.Name(), protocol)
		}
		full := task{name: size.String() + ", sde", repeat: 1, letheArgs: letheArgs(sde.SDE{}, allSubsets),
			script: "sde.py", args: append(args[:len(args):len(args)], s.peerType, strconv.Itoa(s.threads)),
			value: fmt.Sprintf("mean divergence of %d subsets from the out-of-training reference, with other permutations", judged)}
		mean := task{name: size.String() + ", exact mean, kernels given", repeat: 200, letheArgs: letheArgs(sde.ClosedForm{}, exactMean)}
		if goals, ok := sdeGoals[size]; ok && s.pool == sdePool && s.subsets == sdeSubsets {
			full.goals, mean.goals = goals, []goal{sdeMeanGoal}
		}
		const targets = 5
		out = append(out, full,
			task{name: size.String() + ", closed form", repeat: 1, letheArgs: letheArgs(sde.ClosedForm{}, allSubsets)},
			task{name: size.String() + ", sde, one subset", repeat: targets, letheArgs: letheArgs(sde.SDE{}, oneSubset)},
			task{name: size.String() + ", closed form, one subset", repeat: targets, letheArgs: letheArgs(sde.ClosedForm{}, oneSubset)},
			mean,
			task{name: size.String() + ", exact mean and sd, kernels given", repeat: 4 * targets, letheArgs: letheArgs(sde.ClosedForm{}, exactBoth)})
	}
	return out, nil
}
