// Examples of the package's documentation.

package nb_test

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/nb"
	"github.com/lethe-ml/lethe/lib/report"
)

// The claims of a notebook, with one that does not hold.
func ExampleClaims() {
	nb.Claims(
		nb.Less("forgetting lowers the attack", 0.52, 0.71),
		nb.Within("the oracle is at chance", 0.58, 0.45, 0.55),
	)
	// Output:
	// claim holds: forgetting lowers the attack — 0.52 < 0.71
	// claim FAILS: the oracle is at chance — 0.58 is outside 0.45 to 0.55
}

// An exercise before an answer, with a wrong one and with the right one.
func ExampleExercise() {
	for _, answer := range []float64{0, 0.7, 0.5} {
		nb.Exercise(1, answer, answer == 0.5, "what does a coin score?")
	}
	// Output:
	// exercise 1: not tried yet
	// exercise 1: not yet. Hint: what does a coin score?
	// exercise 1: right
}

// A question with one right answer: its seal, and what a reader sees.
func ExampleAnswer() {
	seal := nb.Seal(1, 0.5, 0.001)
	fmt.Println("in the notebook:", seal)
	for _, answer := range []float64{0, 0.7, 0.5} {
		nb.Answer(1, answer, seal, "what does a coin score?")
	}
	// Output:
	// in the notebook: 0.001/e5b74e90
	// exercise 1: not tried yet
	// exercise 1: not yet. Hint: what does a coin score?
	// exercise 1: right
}

// The first half of eight records.
func ExampleNumbers() {
	fmt.Println(nb.Numbers(8 / 2))
	// Output: [0 1 2 3]
}

// Every third of twelve repetitions.
func ExampleFrequency() {
	fmt.Println(nb.Frequency(12, "draws", func(k int) bool { return k%3 == 0 }))
	// Output: 0.3333 [0.1381, 0.6094] (95% over draws, n = 12)
}

// A table in a terminal.
func ExampleTable() {
	nb.Table(&report.Table{
		Columns: []report.Column{{Name: "method"}, {Name: "accuracy"}},
		Rows:    []report.Row{{Cells: []report.Cell{report.Str("do nothing"), report.Num(0.5, 2)}}},
	})
	// Output:
	// method      accuracy
	// ────────────────────
	// do nothing      0.50
	// ────────────────────
}

// A live output in a terminal prints its last state alone.
func ExampleLive() {
	live := nb.NewLive()
	for epoch := range 3 {
		live.Markdown(fmt.Sprintf("epoch %d", epoch+1))
	}
	live.Done()
	// Output: epoch 3
}

// Without a browser the drawing is made once, with the values in the code.
func ExampleInteract() {
	rate, epochs := 0.1, 5
	nb.Interact(func(ctx context.Context, live *nb.Live) error {
		live.Markdown(fmt.Sprintf("after %d epochs at rate %g", epochs, rate))
		return ctx.Err()
	}, nb.NewSlider("learning rate", &rate, 0.001, 1).Log(), nb.NewSlider("epochs", &epochs, 1, 20))
	// Output:
	// after 5 epochs at rate 0.1
	// Drawn once, for learning rate = 0.1, epochs = 5. Sliders need JupyterLab in a browser; without one, change the values in the code.
}

// Two controls of which the second follows the first: never more is forgotten than half of the
// records. A text and a table follow both. In a terminal they are drawn once.
func ExampleSlider_RangeFrom() {
	records, forgotten := 100, 10
	nb.Interact(func(_ context.Context, live *nb.Live) error {
		t := &report.Table{Columns: report.Columns("forgotten", "kept")}
		t.Add(report.Num(float64(forgotten), 0), report.Num(float64(records-forgotten), 0))
		live.Show(fmt.Sprintf("%d of %d records", forgotten, records), t)
		return nil
	}, nb.NewSlider("records", &records, 20, 500),
		nb.NewSlider("forgotten", &forgotten, 1, 250).RangeFrom(func() (int, int) { return 1, records / 2 }))
	// Output:
	// 10 of 100 records
	// forgotten  kept
	// ───────────────
	//        10    90
	// ───────────────
	// Drawn once, for records = 100, forgotten = 10. Sliders need JupyterLab in a browser; without one, change the values in the code.
}

// The columns that a reader can choose follow the data set.
func ExampleDropdown_OptionsFrom() {
	columns := map[string][]string{"people": {"age", "income"}, "houses": {"price", "year"}}
	set, column, scaled, title := "people", "income", true, "my table"
	nb.Interact(func(_ context.Context, live *nb.Live) error {
		live.Markdown(fmt.Sprintf("%s: the column %s of %s, scaled: %v", title, column, set, scaled))
		return nil
	}, nb.NewDropdown("data set", &set, "people", "houses"),
		nb.NewDropdown("column", &column).OptionsFrom(func() []string { return columns[set] }),
		nb.NewCheckbox("scaled", &scaled), nb.NewTextField("title", &title))
	// Output:
	// my table: the column income of people, scaled: true
	// Drawn once, for data set = people, column = income, scaled = yes, title = "my table". Sliders need JupyterLab in a browser; without one, change the values in the code.
}

// A live output of two parts.
func ExampleLive_Show() {
	live := nb.NewLive()
	for epoch := range 3 {
		live.Show(fmt.Sprintf("epoch %d", epoch+1), fmt.Sprintf("%d to go", 2-epoch))
	}
	live.Done()
	// Output:
	// epoch 3
	// 0 to go
}
