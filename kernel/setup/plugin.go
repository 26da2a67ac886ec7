package setup

import (
	"os"
	"path/filepath"
	"strings"
)

// pjrtPlugin returns a PJRT plugin of XLA, or nothing. It looks where the
// library's engine looks and in the folders of the linker that the environment
// names, without opening what it finds.
func pjrtPlugin() string {
	dirs := filepath.SplitList(os.Getenv("PJRT_PLUGIN_LIBRARY_PATH"))
	if len(dirs) == 0 {
		if home, err := os.UserHomeDir(); err == nil {
			local := filepath.Join(home, ".local", "lib")
			dirs = append(dirs, filepath.Join(local, "go-xla"), filepath.Join(local, "go-xla", "nvidia"), filepath.Join(local, "gomlx", "pjrt"))
		}
		dirs = append(dirs, "/usr/local/lib/go-xla", "/usr/local/lib/go-xla/nvidia", "/usr/local/lib/gomlx/pjrt")
		dirs = append(dirs, filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))...)
		dirs = append(dirs, filepath.SplitList(os.Getenv("DYLD_LIBRARY_PATH"))...)
	}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, pattern := range []string{"pjrt-plugin-*", "pjrt_plugin_*", "pjrt_c_api_*_plugin.*"} {
			found, _ := filepath.Glob(filepath.Join(dir, pattern))
			for _, path := range found {
				if ext := filepath.Ext(path); (ext == ".so" || ext == ".dylib") && !strings.Contains(path, ",") && isFile(path) {
					return path
				}
			}
		}
	}
	return ""
}
