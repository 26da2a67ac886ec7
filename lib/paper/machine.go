package paper

// The machine that times were measured on.

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/report"
)

// Machine is the machine and date of a time measurement. It is shown beside every time.
type Machine struct {
	Processor string
	Threads   int // used for computing
	Cores     int // of the machine
	Engine    string
	Date      string  // 2006-01-02
	Load      float64 // load average of the minute before, 0: unknown
}

// ThisMachine is the machine that the program runs on, in its present state.
func ThisMachine(e *engine.Engine) Machine {
	info := e.Info()
	return Machine{
		Processor: Processor(), Threads: e.Cores(), Cores: runtime.NumCPU(), Engine: info.Kind + ", " + info.Kernel,
		Date: time.Now().Format(time.DateOnly), Load: Load(),
	}
}

// String names machine and date, for the line under a figure.
func (m Machine) String() string {
	cores := report.Plural(m.Cores, "core")
	if m.Threads != m.Cores {
		cores = fmt.Sprintf("%d of %s", m.Threads, cores)
	}
	return fmt.Sprintf("measured on %s with %s, engine %s, %s", m.Processor, cores, m.Engine, m.Date)
}

// Describe returns sentences on the machine for readers of its times.
func (m Machine) Describe() string {
	text := m.String()
	text = strings.ToUpper(text[:1]) + text[1:] + "; another machine gives other times."
	if m.Load > 0 {
		text += fmt.Sprintf(" In the minute before, %.1f processes wanted to run there.", m.Load)
	}
	return text
}

// Processor is the name of this machine's processor, or the system and architecture if the name
// is not available.
func Processor() string { return processor("/proc/cpuinfo") }

func processor(file string) string {
	b, err := os.ReadFile(file)
	if err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOOS + "/" + runtime.GOARCH
}

// Load is the load average of the last minute, 0 if the system does not tell.
func Load() float64 { return load("/proc/loadavg") }

func load(file string) float64 {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(b), " ")
	v, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return v
}
