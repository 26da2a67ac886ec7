// Jupyter's connection files.

package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// connection is the content of a Jupyter connection file: the addresses of the five
// sockets, and the key that signs messages.
type connection struct {
	Transport   string `json:"transport"`
	IP          string `json:"ip"`
	ShellPort   int    `json:"shell_port"`
	ControlPort int    `json:"control_port"`
	StdinPort   int    `json:"stdin_port"`
	IOPubPort   int    `json:"iopub_port"`
	HBPort      int    `json:"hb_port"`
	Scheme      string `json:"signature_scheme"`
	Key         string `json:"key"`
}

// maxConnectionFile is far above the size of a connection file.
const maxConnectionFile = 1 << 16

// readConnection reads a connection file. Errors name the file and the field.
func readConnection(file string) (*connection, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("connection file: %w", err)
	}
	if info.Size() > maxConnectionFile {
		return nil, fmt.Errorf("connection file %s: %d bytes, at most %d expected", file, info.Size(), maxConnectionFile)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("connection file: %w", err)
	}
	c, err := parseConnection(data)
	if err != nil {
		return nil, fmt.Errorf("connection file %s: %w", file, err)
	}
	return c, nil
}

func parseConnection(data []byte) (*connection, error) {
	var c connection
	if err := json.Unmarshal(data, &c); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return nil, fmt.Errorf("field %q holds a %s", kind.Field, kind.Value)
		}
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	if c.Transport != "tcp" && c.Transport != "ipc" {
		return nil, fmt.Errorf("field %q is %q; tcp and ipc are known", "transport", c.Transport)
	}
	if c.IP == "" {
		return nil, fmt.Errorf("field %q is empty", "ip")
	}
	if c.Scheme != "" && c.Scheme != "hmac-sha256" {
		return nil, fmt.Errorf("field %q is %q; hmac-sha256 is known", "signature_scheme", c.Scheme)
	}
	for _, p := range []struct {
		field string
		port  int
	}{
		{"shell_port", c.ShellPort}, {"control_port", c.ControlPort}, {"stdin_port", c.StdinPort},
		{"iopub_port", c.IOPubPort}, {"hb_port", c.HBPort},
	} {
		if p.port < 1 || p.port > 65535 {
			return nil, fmt.Errorf("field %q is %d; 1 to 65535 expected", p.field, p.port)
		}
	}
	return &c, nil
}

// address returns the endpoint of one socket.
func (c *connection) address(port int) string {
	if c.Transport == "ipc" {
		return fmt.Sprintf("ipc://%s-%d", c.IP, port)
	}
	return "tcp://" + net.JoinHostPort(c.IP, strconv.Itoa(port))
}

// privateConnection returns a connection inside a folder that only this user can enter:
// Unix sockets, so that no other program can take a port, and a new key.
func privateConnection(folder string) *connection {
	return &connection{
		Transport: "ipc", IP: filepath.Join(folder, "s"),
		ShellPort: 1, ControlPort: 2, StdinPort: 3, IOPubPort: 4, HBPort: 5,
		Scheme: "hmac-sha256", Key: newID() + newID() + newID(),
	}
}

// write writes the connection to a file that only this user can read.
func (c *connection) write(file string) error {
	return os.WriteFile(file, encode(c), 0o600)
}
