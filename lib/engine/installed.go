// Where lethe xla puts plugins, and where the engine finds them by name.

package engine

import (
	"os"
	"path/filepath"
	"slices"
)

// PluginFile returns the name of a plugin's file: "pjrt_c_api_cuda_plugin.so" for "cuda".
func PluginFile(name string) string { return "pjrt_c_api_" + name + "_plugin.so" }

// PluginFolder returns the folder of plugins in the program's home. Each plugin has a folder
// xla-... there, and beside it a file of the same name that ends in .json once it is complete.
func PluginFolder(home string) string { return filepath.Join(home, "kernel") }

// InstalledPlugin returns the plugin of a name that lethe xla has installed last, or "".
func InstalledPlugin(home, name string) string {
	found, _ := filepath.Glob(filepath.Join(PluginFolder(home), "xla-*", PluginFile(name)))
	type plugin struct {
		path string
		made int64
	}
	var all []plugin
	for _, path := range found {
		stamp, err := os.Stat(filepath.Dir(path) + ".json")
		file, missing := os.Stat(path) // of the file that a link leads to
		if err == nil && missing == nil && file.Mode().IsRegular() {
			all = append(all, plugin{path, stamp.ModTime().UnixNano()})
		}
	}
	if len(all) == 0 {
		return ""
	}
	return slices.MaxFunc(all, func(a, b plugin) int { return int(max(-1, min(1, a.made-b.made))) }).path
}
