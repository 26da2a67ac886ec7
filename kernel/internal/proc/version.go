package proc

import (
	"debug/buildinfo"
	"strings"
)

// Version returns the version and path of the module that a Go program was built from, or
// empty strings for other files.
func Version(path string) (version, module string) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "", ""
	}
	for _, dep := range append(info.Deps, &info.Main) {
		if within := info.Path == dep.Path || strings.HasPrefix(info.Path, dep.Path+"/"); within && len(dep.Path) > len(module) {
			version, module = dep.Version, dep.Path
		}
	}
	return version, module
}
