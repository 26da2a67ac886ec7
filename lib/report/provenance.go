// Provenance of a table: what is needed to compute it again.

package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Provenance is what another person needs to compute a table again, and to see whether two tables
// come from the same inputs. It holds no clock, date or path, so the same command gives the same
// bytes.
type Provenance struct {
	Scale          string            `json:"scale"`
	Seeds          []int64           `json:"seeds"`
	Engine         string            `json:"engine"`
	Kernel         string            `json:"kernel"`           // the matrix product in use: AVX-512, AVX2, scalar
	Device         string            `json:"device,omitempty"` // card, driver, plugin and flags of XLA; not part of keys
	ResultsVersion string            `json:"results_version"`
	Data           map[string]string `json:"data"` // data set -> SHA-256
	Command        string            `json:"command"`
	Runs           int               `json:"runs"`
	RunsHash       string            `json:"runs_hash"` // hash over the identifiers of all runs behind the table
}

// SeedList returns the seeds in their order, runs of three and more shortened: "0-9, 101".
func (p Provenance) SeedList() string {
	var parts []string
	for i := 0; i < len(p.Seeds); {
		j := i + 1
		for j < len(p.Seeds) && p.Seeds[j] == p.Seeds[j-1]+1 {
			j++
		}
		switch {
		case j-i >= 3:
			parts = append(parts, fmt.Sprintf("%d-%d", p.Seeds[i], p.Seeds[j-1]))
		default:
			for _, s := range p.Seeds[i:j] {
				parts = append(parts, fmt.Sprint(s))
			}
		}
		i = j
	}
	return strings.Join(parts, ", ")
}

// DataHash returns one SHA-256, in hexadecimal, over the names and hashes of all data sets; it is
// empty without data.
func (p Provenance) DataHash() string {
	if len(p.Data) == 0 {
		return ""
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(p.Data)) {
		fmt.Fprintf(h, "%q %q\n", name, p.Data[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Line returns the short form for the line under a figure. Unknown parts are left out.
func (p Provenance) Line() string {
	var parts []string
	add := func(format, value string) {
		if value != "" {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add("scale %s", p.Scale)
	add("seeds %s", p.SeedList())
	add("data %s", shortHash(p.DataHash()))
	add("engine %s", p.engine())
	add("results %s", p.ResultsVersion)
	add("runs %s", shortHash(p.RunsHash))
	return strings.Join(parts, " \u00b7 ")
}

// items returns every known part, in printing order.
func (p Provenance) items() [][2]string {
	var out [][2]string
	add := func(name, value string) {
		if value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	add("scale", p.Scale)
	add("seeds", p.SeedList())
	add("engine", p.engine())
	add("device", p.Device)
	add("results version", p.ResultsVersion)
	if p.Runs > 0 || p.RunsHash != "" {
		add("runs", strings.TrimSpace(fmt.Sprintf("%d, %s", p.Runs, p.RunsHash)))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Data)) {
		add("data "+name, p.Data[name])
	}
	add("again", p.Command)
	return out
}

func (p Provenance) engine() string {
	if p.Engine != "" && p.Kernel != "" {
		return p.Engine + ", " + p.Kernel
	}
	return p.Engine + p.Kernel
}

// shortHash returns the first twelve characters of a hash.
func shortHash(hash string) string {
	hash = strings.TrimPrefix(hash, "sha256:")
	if len(hash) > 12 {
		return hash[:12]
	}
	return hash
}
