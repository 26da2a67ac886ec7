// NVIDIA's cards and driver on this machine, as nvidia-smi tells them.

package setup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
	"github.com/lethe-ml/lethe/lib/engine"
)

// Card is one card of NVIDIA.
type Card struct {
	Name   string
	Memory int64 // bytes
	Free   int64 // bytes
	Driver string
}

// String returns the card in one line.
func (c Card) String() string {
	return fmt.Sprintf("%s, %.1f of %.1f GB free, driver %s", c.Name, float64(c.Free)/1e9, float64(c.Memory)/1e9, c.Driver)
}

// DriverTooOld reports whether the card's driver is older than CUDA 13 needs. A version that is
// not understood is not.
func (c Card) DriverTooOld() bool { return engine.DriverTooOld(c.Driver) }

// cardQuery is what nvidia-smi is asked for.
var cardQuery = []string{"--query-gpu=name,memory.total,memory.free,driver_version", "--format=csv,noheader,nounits"}

// Cards returns NVIDIA's cards, none where there is no nvidia-smi. The error says why nvidia-smi
// fails, as it does after an update of the driver without a restart.
func Cards(ctx context.Context) ([]Card, error) {
	path, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := proc.Task{Dir: os.TempDir(), Env: os.Environ(), Argv: append([]string{path}, cardQuery...)}.Output(limited)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("nvidia-smi fails: %s; after an update of the driver, restart the machine", shorten(err.Error()))
	}
	return parseCards(out)
}

// parseCards reads nvidia-smi's lines: name, total and free memory in MiB, driver. A card that
// does not tell its memory, such as a shared one, has none.
func parseCards(text string) ([]Card, error) {
	var out []Card
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		parts := strings.Split(line, ",")
		if len(parts) < 4 {
			return nil, fmt.Errorf("nvidia-smi says %q, expected a name, two numbers and a version", shorten(line))
		}
		n := len(parts) // a name may have a comma
		c := Card{Name: strings.TrimSpace(strings.Join(parts[:n-3], ",")), Driver: strings.TrimSpace(parts[n-1])}
		c.Memory, c.Free = mebibytes(parts[n-3]), mebibytes(parts[n-2])
		out = append(out, c)
	}
	return out, nil
}

// mebibytes returns a number of MiB in bytes, 0 for what is no number, as "[N/A]".
func mebibytes(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return n << 20
}

// deviceFiles matches the files of NVIDIA's driver, one for each card.
var deviceFiles = "/dev/nvidia[0-9]*"

// hasCard reports whether there is a card, without running a program where its file is there.
func hasCard(ctx context.Context) bool {
	if found, _ := filepath.Glob(deviceFiles); len(found) > 0 {
		return true
	}
	cards, err := Cards(ctx)
	return err == nil && len(cards) > 0
}
