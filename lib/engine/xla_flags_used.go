// The XLA flags that a plugin was opened with, for a comparison under the same flags.

package engine

import (
	"strings"
	"sync/atomic"
)

// usedXLAFlags are the flags at the last opening of a plugin.
var usedXLAFlags atomic.Value

// XLAFlags returns the XLA flags that the plugin of this process was opened with, its own and
// those of XLA_FLAGS, without those that name a path. It is empty before a plugin is opened.
func XLAFlags() string {
	flags, _ := usedXLAFlags.Load().(string)
	var out []string
	for _, flag := range strings.Fields(flags) {
		if !strings.ContainsAny(flag, `/\`) {
			out = append(out, flag)
		}
	}
	return strings.Join(out, " ")
}
