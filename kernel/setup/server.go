// The Jupyter server: starting, finding its address, stopping.

package setup

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
	"github.com/lethe-ml/lethe/lib/files"
)

// ServerOptions are the options of Serve.
type ServerOptions struct {
	IP      string // to listen on; empty: 127.0.0.1
	Port    int    // 0: the first free one from 8888
	Browser bool   // open the browser
	Open    string // notebook to open, relative to the folder of the notebooks
}

// Server is a running Jupyter server.
type Server struct {
	URL string // with its token
	Log string // the log file
	*proc.Child
	allAddresses bool // it listens on all addresses
}

const (
	localhost   = "127.0.0.1"      // reachable from this machine only
	startWithin = 60 * time.Second // for Jupyter to answer
	stopWithin  = 15 * time.Second // for Jupyter to end its kernels
)

// Serve starts Jupyter and returns when it answers. Jupyter ends with this program.
func (r *Ready) Serve(ctx context.Context, o ServerOptions) (*Server, error) {
	o.IP = cmp.Or(o.IP, localhost)
	port, err := freePort(o.IP, o.Port)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(r.Home, "kernel", "jupyter")
	if err := os.MkdirAll(filepath.Join(dir, "runtime"), 0o700); err != nil {
		return nil, err
	}
	// The log holds Jupyter's token.
	log, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("server-%d.log", port)), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(r.Python, r.serverArgs(o, port)...)
	cmd.Dir, cmd.Env = r.Notebooks, r.Env
	cmd.Stdout, cmd.Stderr = log, log
	s := &Server{Log: log.Name(), allAddresses: net.ParseIP(o.IP).IsUnspecified()}
	if s.Child, err = proc.Start(cmd); err != nil {
		return nil, fmt.Errorf("the Jupyter server cannot be started: %w", err)
	}
	if s.URL, err = s.await(ctx, filepath.Join(dir, "runtime"), o.Open); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

func (r *Ready) serverArgs(o ServerOptions, port int) []string {
	retries := "50" // another program may take the port in between
	if o.Port != 0 {
		retries = "0"
	}
	args := []string{"-m", r.Lab, "--ip=" + o.IP, "--port=" + strconv.Itoa(port), "--port-retries=" + retries}
	if !o.Browser {
		args = append(args, "--no-browser")
	}
	if os.Getuid() == 0 {
		args = append(args, "--allow-root")
	}
	if o.Open != "" && r.Lab == "jupyterlab" {
		args = append(args, "--LabApp.default_url=/lab/tree/"+o.Open)
	}
	return args
}

// freePort checks the given port, or finds a free one.
func freePort(ip string, fixed int) (int, error) {
	first, last := 8888, 8987
	if fixed != 0 {
		first, last = fixed, fixed
	}
	var err error
	for port := first; port <= last; port++ {
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort(ip, strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	if fixed != 0 {
		return 0, fmt.Errorf("port %d cannot be used (%w): without --port a free one is found", fixed, err)
	}
	return 0, fmt.Errorf("no port from %d to %d is free: %w", first, last, err)
}

// await waits until the server answers and returns its address.
func (s *Server) await(ctx context.Context, runtimeDir, open string) (string, error) {
	late := time.After(startWithin)
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-s.Done:
			return "", fmt.Errorf("the Jupyter server ended at once (%v): %s", s.Err, lastLine(s.Log))
		case <-late:
			return "", fmt.Errorf("the Jupyter server does not answer after %v: see %s", startWithin, s.Log)
		case <-time.After(50 * time.Millisecond):
			if address, ok := s.address(runtimeDir, open); ok {
				return address, nil
			}
		}
	}
}

// address returns the address from the file that a running server writes, if the server
// answers.
func (s *Server) address(runtimeDir, open string) (string, bool) {
	var at struct{ URL, Token string }
	for _, kind := range []string{"jpserver", "nbserver"} {
		b, err := files.Read(filepath.Join(runtimeDir, fmt.Sprintf("%s-%d.json", kind, s.Process.Pid)), maxFile)
		if err == nil && json.Unmarshal(b, &at) == nil && at.URL != "" {
			break
		}
	}
	if at.URL == "" || !serverAnswers(at.URL, at.Token) {
		return "", false
	}
	// A server that listens on all addresses may give a name that only a container knows.
	if u, err := url.Parse(at.URL); err == nil && s.allAddresses {
		u.Host = net.JoinHostPort(localhost, u.Port())
		at.URL = u.String()
	}
	path := "lab"
	if open != "" {
		path += "/tree/" + open
	}
	return strings.TrimSuffix(at.URL, "/") + "/" + path + "?token=" + url.QueryEscape(at.Token), true
}

// serverAnswers reports whether the server at the address accepts the token: other servers
// may run on this machine.
func serverAnswers(address, token string) bool {
	client := http.Client{Timeout: time.Second}
	resp, err := client.Get(strings.TrimSuffix(address, "/") + "/api/status?token=" + url.QueryEscape(token))
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func lastLine(path string) string {
	b, err := files.Read(path, maxFile)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return shorten(lines[len(lines)-1]) + " (all of it is in " + path + ")"
}

// Wait waits until Jupyter ends, or ends it when ctx does.
func (s *Server) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		s.Stop()
		return nil
	case <-s.Done:
		if s.Err != nil {
			return fmt.Errorf("the Jupyter server ended (%w): %s", s.Err, lastLine(s.Log))
		}
		return nil
	}
}

// Stop ends Jupyter and its kernels.
func (s *Server) Stop() { s.Child.Stop(stopWithin) }
