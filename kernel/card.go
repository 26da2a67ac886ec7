// What lethe doctor says about NVIDIA's cards, and its test of an engine.

package kernel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/engine"
)

// testTime is the time of an engine's test, without opening it and compiling.
const testTime = 4 * time.Second

// testEngine opens an engine, describes what it computes on, and tests it.
func testEngine(ctx context.Context, spec string) []setup.Finding {
	start := time.Now()
	e, err := engine.Open(spec)
	if err != nil {
		return []setup.Finding{{Thing: "engine", State: setup.StateBroken, Detail: err.Error()}}
	}
	defer e.Close()
	out := []setup.Finding{{Thing: "engine", State: setup.StateOK, Detail: fmt.Sprintf("%s, opened in %.1f s", e, time.Since(start).Seconds())}}
	d := e.Info().Device
	for _, part := range [][2]string{{"device", d.Name}, {"driver", d.Driver}, {"plugin", d.Plugin}, {"flags", d.Flags}} {
		if part[1] != "" {
			out = append(out, setup.Finding{Thing: part[0], State: setup.StateOK, Detail: part[1]})
		}
	}
	result, err := e.SelfTest(ctx, testTime)
	if inUse, limit := e.DeviceMemory(); limit > 0 {
		out = append(out, setup.Finding{Thing: "device memory", State: setup.StateOK,
			Detail: fmt.Sprintf("%.1f GB for XLA, %.1f in use", float64(limit)/1e9, float64(inUse)/1e9)})
	}
	f := setup.Finding{Thing: "self-test", State: setup.StateOK, Detail: result.String()}
	switch {
	case err != nil:
		f.State, f.Detail = setup.StateBroken, err.Error()
	case !result.Repeats:
		f.State = setup.StateBroken
	}
	return append(out, f)
}

// cardFindings says for every card what is missing for --engine xla:cuda, or the result of its
// test. Without a card it is one line.
func cardFindings(ctx context.Context, home string) []setup.Finding {
	cards, err := setup.Cards(ctx)
	switch {
	case err != nil:
		return []setup.Finding{{Thing: "card", State: setup.StateNote, Detail: err.Error()}}
	case len(cards) == 0:
		return []setup.Finding{{Thing: "card", State: setup.StateOK, Detail: "no NVIDIA card; nothing needs one"}}
	}
	var out []setup.Finding
	for _, c := range cards {
		out = append(out, setup.Finding{Thing: "card", State: setup.StateOK, Detail: c.String()})
	}
	if missing := missingForCard(cards, home); missing != "" {
		last := &out[len(out)-1]
		last.State, last.Detail = setup.StateNote, last.Detail+"; "+missing
		return out
	}
	return append(out, testElsewhere(ctx, "xla:cuda")...)
}

// missingForCard says what --engine xla:cuda needs on a machine with cards, "" if nothing.
func missingForCard(cards []setup.Card, home string) string {
	switch {
	case !engine.WithXLA:
		return "this program was built without XLA; to use the card, " + engine.HowToBuild()
	case engine.InstalledPlugin(home, "cuda") != "":
		return ""
	case cards[0].DriverTooOld():
		return fmt.Sprintf("CUDA 13 needs driver %d or newer; lethe xla --cuda says more", engine.OldestDriver)
	}
	return "to use it: lethe xla --cuda, then --engine xla:cuda"
}

// program is this program, which testElsewhere starts again.
var program = os.Executable

// testElsewhere tests an engine in another process, because a plugin can end its process.
func testElsewhere(ctx context.Context, spec string) []setup.Finding {
	broken := func(detail string) []setup.Finding {
		return []setup.Finding{{Thing: spec, State: setup.StateBroken, Detail: detail}}
	}
	path, err := program()
	if err != nil {
		return broken(err.Error())
	}
	limited, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(limited, path, "doctor", "--engine", spec, "--json")
	var says strings.Builder
	c.Stderr = &says
	text, err := c.Output()
	var all []setup.Finding
	if json.Unmarshal(text, &all) == nil && len(all) > 0 {
		for i := range all {
			all[i].Thing = strings.Replace(all[i].Thing, "engine", spec, 1)
		}
		return all
	}
	if err == nil {
		err = errors.New("its test printed nothing")
	}
	lines := strings.Split(strings.TrimSpace(says.String()), "\n")
	return broken(fmt.Sprintf("its test failed: %v (%s)", err, lines[len(lines)-1]))
}
