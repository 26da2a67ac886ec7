package fishing

import (
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/lib/attack/learned"
)

// expectedOrder is the order of variants in a column at scale standard, the largest mean first.
type expectedOrder struct {
	column   string
	value    func(Row) float64
	words    string // takes the variant with the smaller mean, then the other
	variants []string
}

// standardOrders are those of Table 2 at scale standard, which scale quick should reproduce.
func standardOrders() []expectedOrder {
	found := func(r Row) float64 { return r.Attacks[learned.PB().Name].All.AUC.Value }
	loss := func(r Row) float64 { return r.ForgetRecon }
	return []expectedOrder{
		{"AUC, P-B", found, "P-B finds more in %[2]s than in %[1]s", []string{Original, Ten, Thirty, Dampened, Scrubbed, Foster, Retrained}},
		{"AUC, P-B", found, "P-B finds more in %[2]s than in %[1]s", []string{Dampened, Contrasted, Foster}},
		{"recon, forgotten", loss, "the forgotten cells' loss is larger after %[2]s than after %[1]s",
			[]string{Fisher, Retrained, Scrubbed, Dampened, Thirty, Ten, Original}},
	}
}

// orderDifferences says, at scale quick, which neighbours in these orders are exchanged.
func (ev *evidence) orderDifferences() []string {
	if ev.Scale != "quick" {
		return nil
	}
	var out []string
	for _, o := range standardOrders() {
		for i, variant := range o.variants[1:] {
			above := o.variants[i]
			if larger, smaller := ev.mean(above, o.value), ev.mean(variant, o.value); smaller > larger {
				out = append(out, fmt.Sprintf(o.words, above, variant))
			}
		}
	}
	if out == nil {
		return nil
	}
	return []string{"Otherwise than at scale standard " + strings.Join(out, "; ") + ". The methods have the rates of the paper's network, and this one " +
		"is much smaller: the same step is another one."}
}

// mean is the mean of a value over the models of a variant that did not diverge, NaN if there
// are none.
func (ev *evidence) mean(variant string, value func(Row) float64) float64 {
	sum, n := 0.0, 0.0
	for _, r := range ev.variantRows(variant) {
		if r.Diverged == "" {
			sum, n = sum+value(r), n+1
		}
	}
	return sum / n
}
