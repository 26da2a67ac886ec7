// Executing several notebooks, with a report for the reader.

package notebook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Batch executes notebooks and prints a report.
type Batch struct {
	Run
	Jobs    int           // notebooks at a time, each on its own kernel; 0: one
	Limit   time.Duration // time limit of a notebook, 0: none
	Base    string        // notebooks below it keep their folders in Out
	Out     string        // folder for executed notebooks and pages
	InPlace bool          // a notebook that ran to its end replaces the original
	Pages   bool          // write a page beside each notebook
	Check   bool          // compare the claims with those of the original
	Stdout  io.Writer
}

// Execute runs the notebooks until a cell fails. Notebooks that already run are finished,
// and no others are started. Every executed notebook is saved. Claims that differ are an
// error at the end.
func (b Batch) Execute(ctx context.Context, paths []string) error {
	targets, err := b.targets(paths)
	if err != nil {
		return err
	}
	began := time.Now()
	errs, differ := b.executeAll(ctx, paths, targets)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if len(paths) > 1 {
		fmt.Fprintf(b.Stdout, "%d notebooks in %.1f s\n", len(paths), time.Since(began).Seconds())
	}
	if differ > 0 {
		return fmt.Errorf("the claims of %d of %d notebooks are not those that are committed", differ, len(paths))
	}
	return nil
}

// executeAll runs the notebooks, Jobs at a time, and returns their errors and the number of
// notebooks whose claims differ.
func (b Batch) executeAll(ctx context.Context, paths, targets []string) (errs []error, differ int) {
	var failed atomic.Bool
	var running sync.WaitGroup
	var result sync.Mutex
	slots := make(chan struct{}, max(1, b.Jobs))
	for i, path := range paths {
		slots <- struct{}{}
		if failed.Load() {
			break
		}
		running.Go(func() {
			defer func() { <-slots }()
			out := b.Stdout
			var kept bytes.Buffer
			own := b
			if b.Jobs > 1 {
				own.Stdout = &kept // the lines of one notebook stay together
			}
			same, err := own.executeOne(ctx, path, targets[i])
			result.Lock()
			defer result.Unlock()
			_, writeErr := kept.WriteTo(out)
			if err = errors.Join(err, writeErr); err != nil {
				failed.Store(true)
				errs = append(errs, fmt.Errorf("%s: %w", path, err))
			} else if !same {
				differ++
			}
		})
	}
	running.Wait()
	return errs, differ
}

// targets returns the file of each executed notebook.
func (b Batch) targets(paths []string) ([]string, error) {
	var targets []string
	from := map[string]string{}
	for _, path := range paths {
		name := filepath.Base(path)
		if inner, ok := relativeTo(b.Base, path); ok {
			name = inner
		}
		target := filepath.Join(b.Out, name)
		if first, taken := from[target]; taken {
			return nil, fmt.Errorf("%s and %s would both be saved as %s", first, path, target)
		}
		from[target] = path
		targets = append(targets, target)
	}
	return targets, nil
}

// relativeTo returns path relative to base, if it lies below it.
func relativeTo(base, path string) (string, bool) {
	if base == "" {
		return "", false
	}
	from, bad := filepath.Abs(base)
	to, worse := filepath.Abs(path)
	inner, err := filepath.Rel(from, to)
	return inner, errors.Join(bad, worse, err) == nil && filepath.IsLocal(inner)
}

// executeOne executes a notebook and reports whether its claims are as committed.
func (b Batch) executeOne(ctx context.Context, path, target string) (same bool, err error) {
	nb, err := ReadFile(path)
	if err != nil {
		return false, errors.New(strings.TrimPrefix(err.Error(), path+": "))
	}
	committed := nb.Claims()
	fmt.Fprintln(b.Stdout, path)
	b.Folder, b.OnCell = filepath.Dir(path), b.printStep
	total, err := b.executeLimited(ctx, nb)
	if total.Cells == 0 && err != nil {
		return false, err
	}
	finished := err == nil
	page := strings.TrimSuffix(target, filepath.Ext(target)) + ".html"
	if b.InPlace && finished {
		target = path
	}
	saved, saveErr := b.save(ctx, nb, target, page, finished)
	if err = errors.Join(err, saveErr); err != nil {
		fmt.Fprintf(b.Stdout, "  stopped after %d of %d cells; %s\n", total.Cells, nb.codeCells(), saved)
		return false, err
	}
	fmt.Fprintf(b.Stdout, "  %d cells in %.1f s, kernel started in %.1f s; %s\n", total.Cells, total.Seconds, total.Start, saved)
	return b.reportClaims(committed, nb.Claims()), nil
}

func (b Batch) executeLimited(ctx context.Context, nb *Notebook) (Total, error) {
	if b.Limit <= 0 {
		return b.Run.Execute(ctx, nb)
	}
	late := fmt.Errorf("the notebook ran longer than %v", b.Limit)
	ctx, stop := context.WithTimeoutCause(ctx, b.Limit, late)
	defer stop()
	total, err := b.Run.Execute(ctx, nb)
	if errors.Is(err, late) && err != late {
		err = fmt.Errorf("%w: %w", late, err)
	}
	return total, err
}

// save writes the notebook, and its page if it ran to its end, and returns a message.
func (b Batch) save(ctx context.Context, nb *Notebook, target, page string, finished bool) (message string, err error) {
	if err := nb.WriteFile(target); err != nil {
		return "not saved", err
	}
	message = "saved " + target
	if !b.Pages || !finished {
		return message, nil
	}
	if err := b.HTML(ctx, target, page); err != nil {
		return message, err
	}
	return message + " and " + page, nil
}

func (nb *Notebook) codeCells() (n int) {
	for _, c := range nb.Cells {
		if c.Kind == Code && strings.TrimSpace(c.Source) != "" {
			n++
		}
	}
	return n
}

const (
	titleWidth = 60 // longest title of a cell in a line
	maxDetail  = 25 // lines that explain a failure
)

// printStep prints a cell's line and, if it failed, the details.
func (b Batch) printStep(s Step) {
	name := []rune(s.Title)
	if len(name) > titleWidth {
		name = append(name[:titleWidth-1], '…')
	}
	fmt.Fprintf(b.Stdout, "  cell %2d %5s %7.2f s  %s\n", s.Cell, fmt.Sprintf("[%d]", s.Count), s.Seconds, string(name))
	if s.Err == nil {
		return
	}
	fmt.Fprintf(b.Stdout, "    %v\n", s.Err)
	var f *Failure
	if !errors.As(s.Err, &f) {
		return
	}
	detail := f.Detail
	if len(detail) > maxDetail {
		detail = append(append([]string{}, detail[:maxDetail]...), fmt.Sprintf("... %d lines more in the saved notebook", len(f.Detail)-maxDetail))
	}
	for _, line := range detail {
		if line != f.Reason {
			fmt.Fprintf(b.Stdout, "    | %s\n", line)
		}
	}
}

// reportClaims prints the claims and reports whether they are as committed.
func (b Batch) reportClaims(committed, now []Claim) bool {
	holds := 0
	for _, c := range now {
		if c.Holds {
			holds++
		} else {
			fmt.Fprintf(b.Stdout, "  cell %d: %s\n", c.Cell, c)
		}
	}
	if len(now) > 0 {
		fmt.Fprintf(b.Stdout, "  claims: %d hold, %d fail\n", holds, len(now)-holds)
	}
	if !b.Check {
		return true
	}
	if len(committed) == 0 || len(now) == 0 {
		fmt.Fprintf(b.Stdout, "  check: %d claims committed, %d now: a notebook needs a claims cell, and its outputs committed\n", len(committed), len(now))
		return false
	}
	diffs := CompareClaims(committed, now)
	for _, d := range diffs {
		fmt.Fprintf(b.Stdout, "  check: %s\n", strings.ReplaceAll(d.String(), "\n", "\n  "))
	}
	if len(diffs) == 0 {
		fmt.Fprintln(b.Stdout, "  check: the same claims as committed")
	}
	return len(diffs) == 0
}
