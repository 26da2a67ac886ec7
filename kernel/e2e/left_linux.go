package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// marked lists the processes that have a variable, "NAME=VALUE", in their
// environment. Those that have ended and only wait for their parent have none.
func marked(mark string) []leftover {
	var out []leftover
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		name, gone := os.ReadFile(filepath.Join(dir, "comm"))
		if err == nil && gone == nil {
			out = append(out, leftover{pid, strings.TrimSpace(string(name))})
		}
	}
	return out
}
