//go:build cgo && !noxla && (xla || (linux && (amd64 || arm64)))

// Kept programs: their folder, their keys, and the function that compiles in a plugin's place.

package plugin

// #include "table.h"
import "C"

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/gomlx/go-xla/pjrt"

	"github.com/lethe-ml/lethe/lib/files"
)

// ErrVersion is the error of a plugin whose interface has another major version.
var ErrVersion = errors.New("its PJRT interface has another version than Lethe's")

const (
	maxProgram = 1 << 30 // bytes of one program
	maxFolder  = 4 << 30 // bytes of a folder; the oldest programs are removed beyond that
	ending     = ".xla"
	magic      = "lethe program 1\n"
)

// Plugin is a plugin that is registered with go-xla under its path.
type Plugin struct {
	Version string // of its interface: "0.115"
	slot    C.int
	state   *state
}

// state is what letheCompile needs of a plugin.
type state struct {
	mu     sync.Mutex
	folder string // empty: nothing is kept
	key    string // what the programs depend on besides their text and device
	client unsafe.Pointer
	device Device
	counts Counts
}

var (
	mu     sync.Mutex
	byPath = map[string]*Plugin{}
	states [maxPlugins]*state
)

// Load loads the plugin at an absolute path and registers it with go-xla under this path. Its
// compiled programs are kept in folder, and are loaded from there for the same text, options,
// device and key; if folder is empty, none are. A second Load of a path returns the first
// plugin. The error is about the file: it cannot be loaded, is no plugin, or is ErrVersion.
func Load(path, folder, key string) (*Plugin, error) {
	mu.Lock()
	defer mu.Unlock()
	if p, there := byPath[path]; there {
		return p, nil
	}
	t, err := load(path)
	if err != nil {
		return nil, err
	}
	p := &Plugin{Version: t.version(), state: &state{folder: folder, key: key + "\n" + t.version()}}
	slot := len(byPath)
	if slot >= maxPlugins || !t.serializes() {
		return p, nil // go-xla loads it itself
	}
	states[slot], p.slot = p.state, C.int(slot)
	if err := pjrt.RegisterPreloadedPlugin(path, t.wrapped(slot)); err != nil {
		return nil, err
	}
	byPath[path] = p
	removeOldest(folder, maxFolder)
	return p, nil
}

// Counts returns how many programs were compiled and loaded so far.
func (p *Plugin) Counts() Counts {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	return p.state.counts
}

// Device describes the first device, with the memory in use now. It is empty before the first
// program.
func (p *Plugin) Device() Device {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if p.state.client == nil {
		return Device{}
	}
	return describe(p.slot, p.state.client)
}

// Forget must be called before the client of the plugin is destroyed.
func (p *Plugin) Forget() {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	p.state.client = nil
}

// letheCompile loads a kept program, or compiles it and keeps it. Nothing that goes wrong with
// a file is an error: the program is compiled.
//
//export letheCompile
func letheCompile(slot C.int, args *C.lethe_compile) unsafe.Pointer {
	s := states[slot]
	file := s.file(slot, args)
	if b := readProgram(file); b != nil {
		if args.executable = deserialize(slot, args.client, b); args.executable != nil {
			s.count(Counts{Loaded: 1})
			now := time.Now()
			_ = os.Chtimes(file, now, now) // the oldest are removed
			return nil
		}
	}
	if failed := compileAnew(slot, args); failed != nil {
		return failed
	}
	s.count(Counts{Compiled: 1})
	if file != "" {
		writeProgram(file, serialize(slot, args.executable))
	}
	return nil
}

func (s *state) count(c Counts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Compiled += c.Compiled
	s.counts.Loaded += c.Loaded
}

// file returns the file of a program, "" if programs are not kept. Its name is a hash of all
// that the program depends on.
func (s *state) file(slot C.int, args *C.lethe_compile) string {
	s.mu.Lock()
	if s.client != args.client {
		s.client, s.device = args.client, describe(slot, args.client)
	}
	folder, device := s.folder, s.device
	s.mu.Unlock()
	if folder == "" || args.program == nil {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q\n", s.key, device.Kind, device.Platform)
	for _, part := range [][]byte{
		bytesAt(args.program.format, args.program.format_size), bytesAt(args.options, args.options_size),
		bytesAt(args.program.code, args.program.code_size),
	} {
		fmt.Fprintf(h, "%d\n", len(part))
		h.Write(part)
	}
	return filepath.Join(folder, hex.EncodeToString(h.Sum(nil))+ending)
}

func bytesAt(p *C.char, n C.size_t) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(p)), int(n)) }

// readProgram returns the bytes of a kept program, nil if there is none or the file is damaged.
func readProgram(file string) []byte {
	if file == "" {
		return nil
	}
	b, err := files.Read(file, maxProgram+1024)
	if err != nil {
		return nil
	}
	return unpack(b)
}

// pack returns the content of a program's file: a mark, a hash, the program.
func pack(program []byte) []byte {
	sum := sha256.Sum256(program)
	return slices.Concat([]byte(magic), sum[:], program)
}

// unpack returns the program in a file's content, nil if the file is another or is damaged.
func unpack(b []byte) []byte {
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	if !ok || len(rest) <= sha256.Size {
		return nil
	}
	program := rest[sha256.Size:]
	if sum := sha256.Sum256(program); !bytes.Equal(sum[:], rest[:sha256.Size]) {
		return nil
	}
	return program
}

// writeProgram keeps a program. Without room for it the next process compiles again.
func writeProgram(file string, program []byte) {
	if len(program) == 0 || os.MkdirAll(filepath.Dir(file), 0o755) != nil {
		return
	}
	_ = files.WriteFile(file, pack(program))
}

// removeOldest removes the programs of a folder that were not used for longest, until the
// others have at most limit bytes.
func removeOldest(folder string, limit int64) {
	entries, _ := os.ReadDir(folder)
	var all []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && filepath.Ext(e.Name()) == ending {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b os.FileInfo) int { return cmp.Compare(b.ModTime().UnixNano(), a.ModTime().UnixNano()) })
	for _, info := range all {
		if limit -= info.Size(); limit < 0 {
			_ = os.Remove(filepath.Join(folder, info.Name()))
		}
	}
}
