//go:build unix

// The cells that the tests run as programs.

package nb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing/fstest"
	"time"

	"github.com/lethe-ml/lethe/lib/progress"
)

// testCells are the cells that the tests run in processes of their own.
var testCells = map[string]func(){
	"alternate": func() {
		for i := range alternations {
			fmt.Printf("line %d\n", i)
			Markdown(fmt.Sprintf("shown %d", i))
		}
	},
	"all": func() {
		Table(testTable())
		Figure(testFigure(1))
		Markdown("Some *text*.")
	},
	"picture": func() {
		drawn := Try(testFigure(1).PNG())
		Picture(fstest.MapFS{"loss.png": {Data: drawn}}, "loss.png", "Loss, paper *scale*")
	},
	"bar": func() {
		bar := NewBar(1000, "training")
		fmt.Println("before")
		for range 1000 {
			bar.Add(1)
			time.Sleep(2600 * time.Microsecond)
		}
		bar.Done()
		fmt.Println("after")
	},
	"short bar": func() {
		bar := NewBar(10, "training")
		bar.Add(10)
		bar.Done()
		progress.Begin("evaluation", 0).Done()
	},
	"stopped bar": func() {
		ctx, bar := progress.Start(Context(), "training", 4)
		defer bar.Done()
		bar.Add(1)
		time.Sleep(2500 * time.Millisecond)
		fmt.Println("ready")
		<-ctx.Done()
		Check(ctx.Err())
	},
	"live": func() {
		live := NewLive()
		began := time.Now()
		for i := 1; time.Since(began) < time.Second; i++ {
			live.Figure(testFigure(float64(i)))
			time.Sleep(time.Millisecond)
		}
		live.Figure(testFigure(4242))
		live.Done()
	},
	"fail": func() {
		fmt.Println("before")
		live := NewLive()
		live.Markdown("state one")
		live.Markdown("state two")
		Check(errors.New("the file is gone"))
	},
	"interrupted": func() {
		ctx := Context() // listens before the test is told so
		fmt.Println("ready")
		<-ctx.Done()
		Check(fmt.Errorf("epoch 3 is saved: %w", context.Canceled))
	},
	"turn": func() {
		rate, epochs := 0.1, 5
		Interact(func(ctx context.Context, live *Live) error {
			live.Markdown(fmt.Sprintf("drawn for %v and %d", rate, epochs))
			if epochs == 9 {
				fmt.Println("drawing for", rate, epochs)
				<-Context().Done() // as helpers of a cell do, which are not given ctx
				live.Markdown("the late state of a drawing that nobody wants")
				return ctx.Err()
			}
			return nil
		}, NewSlider("rate", &rate, 0.001, 1).Log(), NewSlider("epochs", &epochs, 1, 10))
		fmt.Println("after", rate, epochs)
	},
	"grid": func() {
		set, column, level := "adult", "age", 2
		Interact(func(_ context.Context, live *Live) error {
			fmt.Println("drawing", set, column, level)
			Markdown("beside the drawing")
			switch level {
			case 4:
				panic("no level four")
			case 5:
				Check(errors.New("no level five"))
			}
			live.Show(testFigure(float64(level)), "**"+column+"** of "+set, testTable())
			return nil
		}, NewDropdown("data set", &set, "adult", "bank"),
			NewDropdown("column", &column).OptionsFrom(func() []string { return testColumns[set] }),
			NewSlider("level", &level, 1, 5))
		fmt.Println("after", set, column, level)
	},
	"undrawable": func() { Figure(testFigure(math.NaN())) },
}

const alternations = 200
