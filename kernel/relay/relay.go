// Package relay is the Jupyter kernel of Lethe: a process between Jupyter and a pinned
// GoNB that passes messages on and adds what GoNB lacks. Run All stops at the first
// error, an interrupt reaches the compiler and the children of shell lines, errors name
// the cell and the line, every request is answered, and nothing keeps running at the
// end.
//
// It has three layers: message.go and connection.go read and write messages, machine.go
// and cell.go decide what to do, and relay.go, sockets.go and process.go do it.
package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
	"github.com/lethe-ml/lethe/lib/nb/detach"
)

// Options say what to run and where.
type Options struct {
	Gonb           string // path of the gonb program
	GoWork         string // folder of the module that cells are compiled in
	ConnectionFile string // written by Jupyter
	NoCompletion   bool   // run without gopls, which needs some hundred megabytes
	Log            string // file for gonb's own messages, "" for none

	// Interrupts, if it is not nil, is another way to interrupt the cell.
	Interrupts <-chan os.Signal
}

// errDied is returned when gonb has ended by itself.
var errDied = errors.New("gonb has ended")

// startLimit is the time that gonb has to open its sockets and to answer.
const startLimit = time.Minute

// Run relays messages until a client asks for shutdown or ctx ends, and then returns nil.
// When gonb ends by itself, Run tells the clients and returns an error.
func Run(ctx context.Context, o Options) error {
	conn, err := readConnection(o.ConnectionFile)
	if err != nil {
		return err
	}
	log, err := newLogFile(o.Log)
	if err != nil {
		return fmt.Errorf("the log: %w", err)
	}
	defer log.close()
	open, closeAll := context.WithCancel(context.Background())
	defer closeAll()
	jupyter, err := bind(open, conn, log)
	if err != nil {
		return err
	}
	defer jupyter.close()
	folder, err := os.MkdirTemp("", "lethe-kernel-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	r := &relay{jupyter: jupyter, log: log, arrivals: make(chan received, 64), helper: &helper{}, helpReplies: make(chan helpReply), programs: &programServer{}}
	defer func() {
		if r.gonb != nil {
			r.gonb.close()
		}
	}()
	if err := r.launch(ctx, open, o, folder); err != nil {
		return err
	}
	jupyter.listen(open, r.arrivals)
	return r.loop(ctx, o.Interrupts)
}

type relay struct {
	jupyter, gonb *peer
	process       *process
	machine       machine
	helper        *helper
	helpReplies   chan helpReply
	programs      *programServer
	log           *logFile
	arrivals      chan received
	stopInterrupt context.CancelFunc // ends the repeated interrupts
}

func (r *relay) launch(ctx, open context.Context, o Options, folder string) error {
	root, err := filepath.Abs(o.GoWork)
	if err != nil {
		return err
	}
	conn := privateConnection(folder)
	// GoNB reads the kernel's identity from the name of the file.
	file := filepath.Join(folder, filepath.Base(o.ConnectionFile))
	if err := conn.write(file); err != nil {
		return err
	}
	defer func() { _ = os.Remove(file) }()
	cmd := exec.Command(o.Gonb, "--kernel", file, "-raw_error", "-go_work="+root)
	cmd.Stdout, cmd.Stderr = r.log, r.log
	path, err := withoutGopls(os.Getenv("PATH"), folder) // the helper has its own
	if err != nil {
		return err
	}
	socket := filepath.Join(folder, "p")
	if r.programs, err = listenForPrograms(socket, r.log); err != nil {
		return err
	}
	cmd.Env = append(os.Environ(), "PATH="+path, detach.EnvSocket+"="+socket)
	if headless() {
		if cmd.Env, err = withoutInput(cmd.Env, folder); err != nil {
			return err
		}
	}
	if r.process, err = startProcess(cmd); err != nil {
		r.programs.stop()
		return fmt.Errorf("gonb does not start: %w", err)
	}
	starting, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	go func() {
		select {
		case <-r.process.Done:
			cancel()
		case <-starting.Done():
		}
	}()
	info, err := r.handshake(starting, open, conn)
	if err != nil {
		r.stop()
		return fmt.Errorf("gonb does not answer (%w); its last output:\n%s", err, r.log.lastLines())
	}
	if headless() {
		if err := programsWithoutInput(r.log.gonbFolder()); err != nil {
			r.stop()
			return err
		}
	}
	version, _ := proc.Version(o.Gonb)
	r.machine.info = kernelInfo(info, cmp.Or(version, "(unknown version)"))
	r.machine.sources = sources{root: root, main: func() string { return readProgram(r.log.gonbFolder()) }}
	r.machine.adds, r.machine.browser = r.log.gonbFolder() != "", !headless()
	if file := os.Getenv(notebookEnv); file != "" {
		r.machine.past.notebook = func() []string { return notebookCode(file) }
	}
	if !o.NoCompletion {
		r.helper = newHelper(open, root, folder, r.log)
	}
	return nil
}

// handshake connects to gonb and sends kernel_info_request until both the reply and
// something on iopub have come. After that no output can be lost.
func (r *relay) handshake(starting, open context.Context, conn *connection) (map[string]any, error) {
	life, cut := context.WithCancel(open)
	keep := context.AfterFunc(starting, cut)
	side, err := dial(life, conn, r.log)
	if err != nil {
		cut()
		return nil, err
	}
	if !keep() {
		cut()
		return nil, starting.Err()
	}
	r.gonb = side
	side.listen(life, r.arrivals)
	var info map[string]any
	gotIOPub := false
	again := time.NewTicker(askEvery)
	defer again.Stop()
	side.send(gonbShell, infoRequest())
	for info == nil || !gotIOPub {
		select {
		case <-starting.Done():
			return nil, starting.Err()
		case <-again.C:
			if info != nil {
				side.send(gonbShell, infoRequest())
			}
		case a := <-r.arrivals:
			msg, err := parse(a.frames, side.key)
			if err != nil {
				continue
			}
			gotIOPub = gotIOPub || a.from == gonbIOPub
			if msg.head.Type == "kernel_info_reply" {
				info = msg.fields()
			}
		}
	}
	side.send(gonbShell, noAutoGetRequest())
	return info, nil
}

const askEvery = 50 * time.Millisecond

// handshakeSession is the session of the relay's own requests, whose replies are not passed
// on.
const handshakeSession = "lethe-kernel"

func infoRequest() *message { return newRequest("kernel_info_request", map[string]any{}) }

// noAutoGetRequest switches "go get" off in every cell: modules are pinned and the network
// is off, so that it would only cost time.
func noAutoGetRequest() *message {
	return newRequest("execute_request", map[string]any{
		"code": "%noautoget", "silent": true, "store_history": false, "allow_stdin": false,
		"user_expressions": map[string]any{}, "stop_on_error": false,
	})
}

func newRequest(kind string, content map[string]any) *message {
	empty := &message{head: header{Session: handshakeSession}, rawHead: []byte("{}")}
	return empty.newReply(kind, content)
}

func (r *relay) loop(ctx context.Context, interrupts <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			r.stop()
			r.jupyter.flush(flushLimit)
			return nil
		case <-interrupts:
			r.do(ctx, r.machine.onInterrupt())
		case h := <-r.helpReplies:
			r.do(ctx, r.machine.onHelpReply(h))
		case e := <-r.programs.events:
			r.do(ctx, r.machine.fromProgram(e))
		case <-r.process.Done:
			r.do(ctx, r.machine.gonbDied(r.process.reason()))
			r.stop()
			r.jupyter.flush(flushLimit)
			return fmt.Errorf("%w: %s; its last output:\n%s", errDied, r.process.reason(), r.log.lastLines())
		case a := <-r.arrivals:
			if r.do(ctx, r.decide(a)) {
				r.jupyter.flush(flushLimit)
				return nil
			}
		}
	}
}

// decide parses a message and passes it to the machine. Unreadable or wrongly signed
// messages are dropped.
func (r *relay) decide(a received) []step {
	from := r.jupyter
	if a.from >= gonbShell {
		from = r.gonb
	}
	msg, err := parse(a.frames, from.key)
	if err != nil {
		fmt.Fprintf(r.log, "lethe-kernel: message dropped: %v\n", err)
		return nil
	}
	switch {
	case from == r.jupyter:
		return r.machine.fromJupyter(a.from, msg)
	case msg.parent.Session == handshakeSession:
		return nil
	}
	return r.machine.fromGonb(a.from, msg)
}

// do carries out the steps. It reports whether gonb was stopped on request.
func (r *relay) do(ctx context.Context, steps []step) (stopped bool) {
	for _, s := range steps {
		switch s.to {
		case doInterrupt:
			r.endInterrupt()
			interrupting, cancel := context.WithCancel(ctx)
			r.stopInterrupt = cancel
			go r.process.interrupt(interrupting, r.machine.detachedPIDs())
		case doFinishCell:
			r.endInterrupt()
		case doShutdown:
			r.stop()
			stopped = true
		case doAddFiles:
			if err := addFiles(r.log.gonbFolder(), s.files); err != nil {
				fmt.Fprintf(r.log, "lethe-kernel: %v\n", err)
			}
		case doTell:
			r.programs.tell(s.program.connection, s.tell)
		case doEndProgram:
			r.programs.end(s.program.connection, s.program.pid)
		case doLearn:
			var q query
			s.msg.read(&q)
			r.helper.learn(q.Code)
		case doHelp:
			go func() {
				select {
				case r.helpReplies <- r.helper.answer(ctx, s.msg):
				case <-ctx.Done():
				}
			}()
		case jupyterShell, jupyterControl, jupyterStdin, jupyterIOPub:
			r.jupyter.send(s.to, s.msg)
		default:
			r.gonb.send(s.to, s.msg)
		}
	}
	return stopped
}

// addFiles writes files beside the cells' programs, and removes those without content.
func addFiles(folder string, files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(folder, name)
		if content != "" {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				return err
			}
		} else if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// endInterrupt ends what an interrupt has started.
func (r *relay) endInterrupt() {
	if r.stopInterrupt != nil {
		r.stopInterrupt()
		r.stopInterrupt = nil
	}
}

func (r *relay) stop() {
	r.endInterrupt()
	r.programs.stop()
	r.helper.stop()
	r.process.stop(r.log.gonbFolder())
}

const flushLimit = time.Second
