package paper

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/lib/engine"
)

// Machine is where times were measured, and when. It stands beside every time.
type Machine struct {
	Processor string
	Threads   int // that computed
	Cores     int // that the machine has
	Engine    string
	Date      string  // 2006-01-02
	Load      float64 // processes that wanted to run in the minute before, 0: unknown
}

// ThisMachine is the one that the program runs on, as it is now.
func ThisMachine(e *engine.Engine) Machine {
	info := e.Info()
	return Machine{
		Processor: Processor(), Threads: e.Cores(), Cores: runtime.NumCPU(), Engine: info.Kind + ", " + info.Kernel,
		Date: time.Now().Format(time.DateOnly), Load: Load(),
	}
}

// String says where and when, for the line under a figure.
func (m Machine) String() string {
	cores := plural(m.Cores, "core")
	if m.Threads != m.Cores {
		cores = fmt.Sprintf("%d of %s", m.Threads, cores)
	}
	return fmt.Sprintf("measured on %s with %s, engine %s, %s", m.Processor, cores, m.Engine, m.Date)
}

// Describe are sentences that a reader of its times needs.
func (m Machine) Describe() string {
	said := m.String()
	said = strings.ToUpper(said[:1]) + said[1:] + "; another machine gives other times."
	if m.Load > 0 {
		said += fmt.Sprintf(" In the minute before, %.1f processes wanted to run there.", m.Load)
	}
	return said
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Processor is what this machine's processor calls itself, and the system with the
// architecture where it does not say.
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

// Load is the number of processes that wanted to run in the last minute, 0 where the
// system does not say.
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
