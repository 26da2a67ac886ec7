// Inspection of a machine without changing it, for lethe doctor.

package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/proc"

	"golang.org/x/mod/modfile"
)

// Finding is the state of one thing that Inspect has checked.
type Finding struct {
	Thing  string `json:"thing"`
	State  string `json:"state"` // StateOK, StateNote or StateBroken
	Detail string `json:"detail"`
}

// StateOK, StateNote and StateBroken are the states of a finding.
const (
	StateOK     = "ok"
	StateNote   = "note"   // works, but could be better
	StateBroken = "broken" // must be repaired; the detail says how
)

// Inspect checks the machine without changing it. Later checks depend on earlier ones and
// are left out after a broken one; Ready is nil then.
func Inspect(ctx context.Context, o Options) ([]Finding, *Ready, error) {
	o.Out = nil
	m, err := newMachine(o)
	if err != nil {
		return nil, nil, err
	}
	m.inspectOnly = true
	var out []Finding
	for _, part := range []struct {
		thing  string
		look   func(context.Context) error
		detail func() string
	}{
		{"library", m.locate, m.describeLocation},
		{"Go", m.findGo, func() string {
			return fmt.Sprintf("%s, the library needs %s", m.tool.env.GOVERSION, goVersionOf(m.location.root))
		}},
		{"kernel tools", m.buildTools, func() string {
			all, _ := m.toolVersions()
			return strings.Join(all, ", ")
		}},
		{"Python", m.makePython, m.describePython},
		{"kernel program", m.buildRelay, func() string { return filepath.Dir(m.relay()) }},
		{"build cache", m.warm, func() string { return m.tool.env.GOCACHE }},
		{"kernelspecs", m.writeSpecs, m.describeSpecs},
		{"Jupyter settings", m.configure, func() string { return m.jupyter("config") }},
	} {
		err := part.look(ctx)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err != nil {
			return append(out, Finding{part.thing, StateBroken, err.Error()}), nil, nil
		}
		f := Finding{part.thing, StateOK, part.detail()}
		if m.stale {
			f.State, f.Detail = StateNote, f.Detail+"; made from other sources than the present ones: lethe lab makes it again"
		}
		m.stale = false
		out = append(out, f)
	}
	if _, wrong := m.toolVersions(); len(wrong) > 0 {
		out = append(out, Finding{"pinned versions", StateBroken, strings.Join(wrong, ", ") + ": lethe clean --all, then lethe lab"})
	}
	return out, m.ready(), nil
}

func (m *machine) describeLocation() string {
	if m.location.clone {
		return "the clone in " + m.location.root
	}
	return "version " + m.location.version + ", as installed"
}

// toolVersions returns the versions that the linker wrote into the programs, and those that
// differ from the pinned ones.
func (m *machine) toolVersions() (all, wrong []string) {
	paths := []string{gonbPath, goimportsPath, goplsPath}
	if m.options.NoCompletion {
		paths = paths[:2]
	}
	pinned := pinnedVersions()
	for _, path := range paths {
		name := filepath.Base(path)
		version, mod := proc.Version(filepath.Join(m.tools, "bin", name))
		if version != pinned[mod] || version == "" {
			version = cmp.Or(version, "of unknown version")
			wrong = append(wrong, name+" is "+version)
		}
		all = append(all, name+" "+version)
	}
	return all, wrong
}

func pinnedVersions() map[string]string {
	out := map[string]string{}
	f, err := modfile.Parse("tools.mod", []byte(toolsMod), nil)
	if err != nil {
		return out
	}
	for _, r := range f.Require {
		out[r.Mod.Path] = r.Mod.Version
	}
	return out
}

func (m *machine) describePython() string {
	if m.py.borrowedFrom != "" {
		return m.py.borrowedFrom
	}
	var out []string
	for _, name := range []string{"jupyterlab", "nbclient", "nbconvert"} {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(m.py.path)), "lib", "python3*", "site-packages", name+"-*.dist-info"))
		if len(found) == 1 {
			out = append(out, name+" "+strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0]), name+"-"), ".dist-info"))
		}
	}
	return strings.Join(out, ", ") + " in " + m.py.path
}

func (m *machine) describeSpecs() string {
	var names []string
	for _, kernel := range m.kernels() {
		names = append(names, displayName(kernel))
	}
	return strings.Join(names, " and ") + " in " + filepath.Join(m.spec, "kernels")
}

// Sizes of what notebooks need.
const (
	enoughMemory = 1500e6
	enoughDisk   = 2e9
)

// FreeSpace reports free memory and disk space.
func FreeSpace(home string) []Finding {
	var out []Finding
	if bytes, ok := freeMemory(); ok {
		f := Finding{"memory", StateOK, fmt.Sprintf("%.1f GB free", float64(bytes)/1e9)}
		if bytes < enoughMemory {
			f.State, f.Detail = StateNote, f.Detail+"; completion alone can take 0.6 GB for each notebook: "+EnvCompletion+"=off does without"
		}
		out = append(out, f)
	}
	for _, dir := range []string{nearestExisting(home), os.TempDir()} {
		bytes, ok := freeDisk(dir)
		if !ok {
			continue
		}
		f := Finding{"disk", StateOK, fmt.Sprintf("%.1f GB free in %s", float64(bytes)/1e9, dir)}
		if bytes < enoughDisk {
			f.State, f.Detail = StateNote, f.Detail+"; setting up needs about 2 GB"
		}
		out = append(out, f)
	}
	return out
}

// nearestExisting returns the folder, or its nearest parent that exists.
func nearestExisting(dir string) string {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// freeMemory returns the available memory on Linux.
func freeMemory() (int64, bool) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(b)) {
		var kB int64
		if _, err := fmt.Sscanf(line, "MemAvailable: %d kB", &kB); err == nil {
			return kB * 1024, true
		}
	}
	return 0, false
}
