//go:build cgo && !noxla && (xla || (linux && (amd64 || arm64)))

// Package early protects the environment from go-xla, whose packages change it and read files
// while the program starts, used or not. Go starts packages without dependencies in the order
// of their import paths, so this one starts before go-xla, which needs packages of other
// paths (a test in package engine checks it).
package early

import (
	"os"
	"runtime"
)

const (
	logLevel   = "TF_CPP_MIN_LOG_LEVEL"
	searchPath = "PJRT_PLUGIN_LIBRARY_PATH"
	linkerConf = "/etc/ld.so.conf"
)

var unset []string

func init() {
	if _, there := os.LookupEnv(logLevel); !there {
		unset = append(unset, logLevel) // go-xla will set it
	}
	// go-xla writes an error to standard error where the linker has no list of folders, as in
	// Alpine and NixOS. With a search path it does not look for the list.
	_, err := os.Stat(linkerConf)
	if _, there := os.LookupEnv(searchPath); !there && err != nil && runtime.GOOS == "linux" {
		os.Setenv(searchPath, defaultSearchPath())
		unset = append(unset, searchPath)
	}
}

// defaultSearchPath returns go-xla's folders for plugins, without those of the linker.
func defaultSearchPath() string {
	path := "/usr/local/lib/go-xla:/usr/local/lib/go-xla/nvidia"
	if home, err := os.UserHomeDir(); err == nil {
		path = home + "/.local/lib/go-xla:" + home + "/.local/lib/go-xla/nvidia:" + path
	}
	if dirs := os.Getenv("LD_LIBRARY_PATH"); dirs != "" {
		path += ":" + dirs
	}
	return path
}

// Restore unsets the variables that were not set when the program started, so that child
// processes, such as a Jupyter server with other kernels, do not inherit them.
func Restore() {
	for _, name := range unset {
		os.Unsetenv(name)
	}
}
