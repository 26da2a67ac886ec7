package setup

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

//go:embed probe.py
var probe string

// Cell is how one cell went through the real protocol.
type Cell struct {
	Text  string  `json:"text"`  // what it printed, twice
	Error string  `json:"error"` // why it failed
	Start float64 `json:"start"` // seconds until the kernel answered
	First float64 `json:"first"` // seconds of the cell
	Later float64 `json:"later"` // seconds of the cell when it ran once more
}

// probeSeconds is how long a step of the probe may take.
const probeSeconds = 60

// RunCell starts a kernel as Jupyter does and runs one cell in it, twice.
func (r *Ready) RunCell(ctx context.Context, kernel, code string) (Cell, error) {
	var c Cell
	out, err := task{dir: os.TempDir(), env: r.Env, argv: []string{r.Python, "-c", probe, kernel, code, fmt.Sprint(probeSeconds)}}.output(ctx)
	if err != nil {
		return c, err
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &c); err != nil {
		return c, fmt.Errorf("the kernel's answer is no JSON: %q", out)
	}
	if c.Error != "" {
		return c, errors.New(c.Error)
	}
	return c, nil
}
