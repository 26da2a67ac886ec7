package train

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
)

// swept is a term of n records; ids may be nil.
func swept(n int, ids []int) Term { return Term{X: array.New[float32](n, 1), IDs: ids} }

func TestAnEpochCoversEveryRecordOnce(t *testing.T) {
	for _, order := range []Order{Shuffled, Paired, Fixed} {
		for _, n := range []int{1, 2, 31, 32, 33, 100} {
			c := Config{Batch: 32, Order: order, Seed: 3}
			for epoch := range 4 {
				seen := make([]int, n)
				steps := c.epochBatches(Objective{swept(n, nil)}, epoch)
				if want := (n + 31) / 32; len(steps) != want {
					t.Fatalf("%d records: %d steps, want %d", n, len(steps), want)
				}
				for _, batches := range steps {
					for _, i := range batches[0].rows {
						seen[i]++
					}
				}
				for i, k := range seen {
					if k != 1 {
						t.Fatalf("order %d, %d records: record %d was met %d times", order, n, i, k)
					}
				}
			}
		}
	}
}

// Without its last batch an epoch has the full ones of the same order, whichever
// records are left: other ones each time. A term of less than a batch keeps it.
func TestAnEpochWithoutItsLastBatchHasFullOnes(t *testing.T) {
	for _, order := range []Order{Shuffled, Paired, ShuffledSingle} {
		for n, want := range map[int]int{1: 1, 31: 1, 32: 1, 33: 1, 63: 1, 64: 2, 100: 3} {
			all := Config{Batch: 32, Order: order, Seed: 3}
			full := all
			full.DropLast = true
			o := Objective{swept(n, nil)}
			left := map[int]bool{}
			for epoch := range 30 {
				steps := full.epochBatches(o, epoch)
				if len(steps) != want || full.StepsPerEpoch(o) != want {
					t.Fatalf("%d records: %d steps, want %d", n, len(steps), want)
				}
				met := map[int]bool{}
				for s, there := range all.epochBatches(o, epoch)[:want] {
					if !slices.Equal(steps[s][0].rows, there[0].rows) {
						t.Fatalf("order %d, %d records, epoch %d: step %d has other records", order, n, epoch, s)
					}
					for _, i := range there[0].rows {
						met[i] = true
					}
				}
				if n >= 32 && len(met) != 32*want {
					t.Fatalf("%d records: an epoch meets %d", n, len(met))
				}
				for i := range n {
					if !met[i] {
						left[i] = true
					}
				}
			}
			if n == 33 && len(left) < 10 {
				t.Errorf("order %d: in 30 epochs %d records were the ones left out", order, len(left))
			}
		}
	}
	if all := (Config{Batch: math.MaxInt}).epochBatches(Objective{swept(5, nil)}, 0); len(all) != 1 || len(all[0][0].rows) != 5 {
		t.Errorf("the largest batch of all: %v", all)
	}
	// The longest term decides, and a shorter one starts over.
	two := Config{Batch: 4, DropLast: true}.epochBatches(Objective{swept(11, nil), swept(3, nil)}, 0)
	if len(two) != 2 || len(two[1][0].rows) != 4 || len(two[1][1].rows) != 3 {
		t.Errorf("11 and 3 records in full batches of 4: %v", two)
	}
	for _, c := range []Config{{DropLast: true}, {DropLast: true, Batch: 4, Order: Fixed}} {
		if err := c.WithDefaults().check(); err == nil || !strings.Contains(err.Error(), "drop_last") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A sampled term gives a batch to every step and does not make an epoch longer; which records it gives
// differs from epoch to epoch, and one that is shorter than the epoch starts over.
func TestASampledTermDoesNotDecideTheEpoch(t *testing.T) {
	many, few := swept(30, nil), swept(3, nil)
	many.Sampled, few.Sampled = true, true
	c, met := Config{Batch: 4, Seed: 1}, map[int]bool{}
	for epoch := range 3 {
		steps := c.epochBatches(Objective{swept(10, nil), many, few}, epoch)
		if len(steps) != 3 || c.StepsPerEpoch(Objective{swept(10, nil), many, few}) != 3 {
			t.Fatalf("%d steps, want the 3 of 10 records in batches of 4", len(steps))
		}
		here := map[int]bool{}
		for _, s := range steps {
			if len(s) != 3 || len(s[1].rows) != 4 || len(s[2].rows) != 3 {
				t.Fatalf("a step has %v", s)
			}
			for _, i := range s[1].rows {
				here[i], met[i] = true, true
			}
		}
		if len(here) != 12 {
			t.Errorf("epoch %d takes %d different records, want 12", epoch, len(here))
		}
	}
	if len(met) <= 12 {
		t.Error("every epoch takes the same records")
	}
	if n := c.StepsPerEpoch(Objective{many}); n != 1 {
		t.Errorf("of sampled terms alone an epoch has %d steps", n)
	}
}

func TestEpochsAndSeedsAndTermsDrawDifferentOrders(t *testing.T) {
	for _, order := range []Order{Shuffled, Paired} {
		met := map[string]string{}
		for seed := engine.Root(0); seed < 3; seed++ {
			for term := range 3 {
				for epoch := range 3 {
					perm := fmt.Sprint(order.permutation(seed, term, epoch, 40, nil))
					here := fmt.Sprintf("seed %d, term %d, epoch %d", seed, term, epoch)
					if there, twice := met[perm]; twice {
						t.Errorf("order %d: %s and %s are equal", order, here, there)
					}
					met[perm] = here
				}
			}
		}
	}
}

// The original trains on 100 records, the oracle on those that are not
// forgotten: what they share must come in the same order in both.
func TestPairedOrderKeepsTheRelativeOrderOfSharedRecords(t *testing.T) {
	for trial := range 20 {
		seed := engine.Root(trial)
		ids := seed.Stream("ids").Perm(1000)[:100]
		var kept []int
		for k, id := range ids {
			if k%7 != trial%7 {
				kept = append(kept, id)
			}
		}
		for epoch := range 3 {
			original := idsInOrder(ids, Paired.permutation(seed, 0, epoch, len(ids), ids))
			oracle := idsInOrder(kept, Paired.permutation(seed, 0, epoch, len(kept), kept))
			original = slices.DeleteFunc(original, func(id int) bool { return !slices.Contains(kept, id) })
			if !slices.Equal(original, oracle) {
				t.Fatalf("trial %d, epoch %d: original meets %v, oracle %v", trial, epoch, original, oracle)
			}
		}
	}
}

func TestShuffledOrderIsNotPaired(t *testing.T) {
	all := Shuffled.permutation(1, 0, 0, 100, nil)
	all = slices.DeleteFunc(all, func(i int) bool { return i >= 90 })
	if slices.Equal(all, Shuffled.permutation(1, 0, 0, 90, nil)) {
		t.Error("two sets of different size share an order: this is the paired design")
	}
}

func idsInOrder(ids, perm []int) []int {
	out := make([]int, len(perm))
	for k, i := range perm {
		out[k] = ids[i]
	}
	return out
}

// In position 0 every one of 10 records should come equally often: chi-squared
// with 9 degrees of freedom is below 27.9 in 999 of 1000 cases.
func TestOrdersAreUniform(t *testing.T) {
	const draws = 4000
	for _, order := range []Order{Shuffled, Paired} {
		var first, last [10]float64
		for epoch := range draws {
			perm := order.permutation(5, 0, epoch, 10, nil)
			first[perm[0]]++
			last[perm[9]]++
		}
		for _, counts := range [][10]float64{first, last} {
			var chi2 float64
			for _, k := range counts {
				chi2 += math.Pow(k-draws/10, 2) / (draws / 10)
			}
			if chi2 > 27.9 {
				t.Errorf("order %d: chi-squared %.1f of counts %v", order, chi2, counts)
			}
		}
	}
}

func TestWholeTermsEnterEveryStepAndShortTermsStartOver(t *testing.T) {
	whole := swept(50, nil) // longer than the swept ones, and yet it adds no step
	whole.Whole = true
	o := Objective{swept(10, nil), whole, swept(3, nil)}
	steps := Config{Batch: 2, Seed: 1}.epochBatches(o, 0)
	if len(steps) != 5 {
		t.Fatalf("%d steps, the longest swept term has 5", len(steps))
	}
	for s, batches := range steps {
		if got := []int{batches[0].size(o), batches[1].size(o), batches[2].size(o)}; !slices.Equal(got, []int{2, 50, 2 - s%2}) {
			t.Errorf("step %d: batches of %v records", s, got)
		}
	}
	if !slices.Equal(steps[0][2].rows, steps[2][2].rows) {
		t.Error("the short term does not start over with its own order")
	}
}

func TestAFullBatchIsOneStepOfEverything(t *testing.T) {
	o := Objective{swept(10, nil), swept(3, nil)}
	steps := Config{}.epochBatches(o, 7)
	if len(steps) != 1 || steps[0][0].size(o) != 10 || steps[0][1].size(o) != 3 {
		t.Errorf("steps %v", steps)
	}
}

// batchesOf are the batches of an epoch of n records under a configuration.
func batchesOf(c Config, n, epoch int) [][]int {
	var out [][]int
	for _, batches := range c.epochBatches(Objective{swept(n, nil)}, epoch) {
		out = append(out, batches[0].rows)
	}
	return out
}

func TestFixedBatchesHoldTheSameRecordsInEveryEpochInAnotherOrder(t *testing.T) {
	c := Config{Batch: 8, Order: Fixed, Seed: 4}
	const n = 100 // 12 full batches and one of 4
	want, err := c.Membership(0, n)
	if err != nil {
		t.Fatal(err)
	}
	seen := make([]int, n)
	for _, b := range want {
		for _, i := range b {
			seen[i]++
		}
	}
	if i := slices.IndexFunc(seen, func(k int) bool { return k != 1 }); i >= 0 || len(want) != 13 || len(want[12]) != 4 {
		t.Fatalf("membership %v: record %d is in %d batches", want, i, seen[max(i, 0)])
	}
	orders, shortAt := map[string]bool{}, map[int]bool{}
	for epoch := range 30 {
		got := batchesOf(c, n, epoch)
		var order []int
		for at, b := range got {
			k := slices.IndexFunc(want, func(w []int) bool { return slices.Equal(w, b) })
			if k < 0 {
				t.Fatalf("epoch %d: batch %v is not of the membership", epoch, b)
			}
			order = append(order, k)
			if k == 12 {
				shortAt[at] = true
			}
		}
		orders[fmt.Sprint(order)] = true
		if slices.Sort(order); !slices.Equal(order, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) {
			t.Fatalf("epoch %d meets the batches %v", epoch, order)
		}
	}
	if len(orders) < 25 || len(shortAt) < 5 {
		t.Errorf("30 epochs have %d orders, the short batch comes at %d places", len(orders), len(shortAt))
	}
}

func TestMembershipChangesWithSeedAndTermOnly(t *testing.T) {
	of := func(seed engine.Root, term int) string {
		m, err := Config{Batch: 8, Order: Fixed, Seed: seed}.Membership(term, 50)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(m)
	}
	first := of(1, 0)
	if again := of(1, 0); first != again {
		t.Error("the same seed draws another membership")
	}
	if first == of(2, 0) || first == of(1, 1) {
		t.Error("another seed or term draws the same membership")
	}
}

func TestMembershipRefusesWhatHasNone(t *testing.T) {
	for _, c := range []Config{{Batch: 8}, {Batch: 8, Order: Paired}, {Order: Fixed}} {
		if m, err := c.Membership(0, 10); err == nil {
			t.Errorf("%+v has the membership %v", c, m)
		}
	}
	if _, err := (Config{Batch: 8, Order: Fixed}).Membership(0, 0); err == nil {
		t.Error("no records have a membership")
	}
}

// Two records share one of 25 batches of 4 in 3 of 99 cases.
func TestFixedMembershipIsUniform(t *testing.T) {
	const draws = 4000
	together := 0
	for seed := range draws {
		m, err := Config{Batch: 4, Order: Fixed, Seed: engine.Root(seed)}.Membership(0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range m {
			if slices.Contains(b, 17) && slices.Contains(b, 18) {
				together++
			}
		}
	}
	mean := draws * 3.0 / 99
	if z := (float64(together) - mean) / math.Sqrt(mean*(1-3.0/99)); math.Abs(z) > 3.3 {
		t.Errorf("two records share a batch in %d of %d draws, expected %.0f", together, draws, mean)
	}
}

// The order of a lone term is that of a stream without a term: stored denoisers
// depend on it.
func TestTheOrderShuffledSingle(t *testing.T) {
	o := Objective{{X: array.New[float32](20, 1)}}
	steps := Config{Order: ShuffledSingle, Batch: 7, Seed: 5}.epochBatches(o, 3)
	want := engine.Root(5).Stream(engine.StreamBatch, 3).Perm(20)
	var got []int
	for _, s := range steps {
		got = append(got, s[0].rows...)
	}
	if !slices.Equal(got, want) || len(steps) != 3 {
		t.Errorf("%d steps in the order %v, want %v", len(steps), got, want)
	}
}
