// Completion and documentation while a user types, by gopls.

package relay

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
	"unicode"

	"github.com/lethe-ml/lethe/kernel/internal/gopls"
)

// helper answers completion and inspection requests. It asks gopls itself, because gonb
// connects to it only after twelve seconds and does not answer while a cell runs.
type helper struct {
	server *gopls.Server // nil if there is none
	notes  io.Writer

	asking sync.Mutex // one request at a time, the first when the server is ready

	mu    sync.Mutex
	scope scope
}

// helpWithin is the time limit of an answer. The first one waits until gopls has read the
// library.
const helpWithin = 30 * time.Second

// notebookEnv is the variable in which Jupyter gives a kernel the notebook's file.
const notebookEnv = "JPY_SESSION_NAME"

// newHelper starts gopls in a folder with the same imports as cells have in the module of root.
// Without gopls, all answers are empty.
func newHelper(ctx context.Context, root, folder string, notes io.Writer) *helper {
	h := &helper{notes: notes}
	file, err := exec.LookPath("gopls")
	if err != nil {
		return h
	}
	// The notebook's declarations are useful before it has run. Jupyter gives its name.
	for _, code := range notebookCode(os.Getenv(notebookEnv)) {
		h.scope.learn(code)
	}
	if h.server, err = startServer(file, root, filepath.Join(folder, "cells"), notes); err != nil {
		fmt.Fprintf(notes, "lethe-kernel: no completion: %v\n", err)
		return h
	}
	h.asking.Lock()
	go func() {
		defer h.asking.Unlock()
		h.warm(ctx)
	}()
	return h
}

func startServer(program, root, folder string, notes io.Writer) (*gopls.Server, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	if err := gopls.WriteWorkspace(root, folder); err != nil {
		return nil, err
	}
	return gopls.Start(program, folder, append(os.Environ(), gopls.WorkspaceEnv), notes)
}

// warm makes gopls read the notebook's imports before the first request.
func (h *helper) warm(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, 4*helpWithin)
	defer stop()
	err := h.server.Open(ctx)
	if err == nil {
		_, err = h.complete(ctx, query{Code: "%%\n_ = 0", Cursor: 8})
	}
	h.report(err)
}

// report logs an error; a user who types cannot act on it.
func (h *helper) report(err error) {
	if err != nil {
		fmt.Fprintf(h.notes, "lethe-kernel: the language server: %v\n", err)
	}
}

// learn adds the declarations of a cell that has run.
func (h *helper) learn(code string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.scope.learn(code)
}

// query is the content of a complete_request or an inspect_request.
type query struct {
	Code   string `json:"code"`
	Cursor int    `json:"cursor_pos"`
}

// helpReply is the reply to such a request.
type helpReply struct {
	request *message
	kind    string
	content map[string]any
}

// answer answers one of the two.
func (h *helper) answer(ctx context.Context, msg *message) helpReply {
	h.asking.Lock()
	defer h.asking.Unlock()
	ctx, stop := context.WithTimeout(ctx, helpWithin)
	defer stop()
	var q query
	msg.read(&q)
	if msg.head.Type == "complete_request" {
		content, err := h.complete(ctx, q)
		h.report(err)
		return helpReply{msg, "complete_reply", content}
	}
	content, err := h.inspect(ctx, q)
	h.report(err)
	return helpReply{msg, "inspect_reply", content}
}

// write passes the cell, and what the other cells declare, to gopls, and returns the
// position of the cursor.
func (h *helper) write(q query) (at gopls.Position, err error) {
	h.mu.Lock()
	cell, above, others := h.scope.files(q.Code)
	h.mu.Unlock()
	at = cursorPosition(q.Code, q.Cursor)
	at.Line += above
	if err := h.server.Set("others.go", others); err != nil {
		return at, err
	}
	return at, h.server.Set("main.go", cell)
}

func (h *helper) complete(ctx context.Context, q query) (map[string]any, error) {
	out := map[string]any{"status": "ok", "matches": []string{}, "cursor_start": q.Cursor, "cursor_end": q.Cursor, "metadata": map[string]any{}}
	if h.server == nil || !isGo(q.Code) {
		return out, nil
	}
	at, err := h.write(q)
	if err != nil {
		return out, err
	}
	items, err := h.server.Complete(ctx, "main.go", at)
	if err != nil || len(items) == 0 || items[0].Edit == nil {
		return out, err
	}
	// Jupyter replaces the same part of the line for all matches.
	first := items[0].Edit.Range
	start, end := q.Cursor-(at.Character-first.Start.Character), q.Cursor+(first.End.Character-at.Character)
	matches, typed := []string{}, []map[string]any{}
	for _, item := range items {
		if item.Edit == nil || item.Edit.Range != first {
			continue
		}
		matches = append(matches, item.Edit.Text)
		typed = append(typed, map[string]any{
			"start": start, "end": end, "text": item.Edit.Text, "type": item.Kind.String(), "signature": item.Detail,
		})
	}
	out["matches"], out["cursor_start"], out["cursor_end"] = matches, start, end
	out["metadata"] = map[string]any{"_jupyter_types_experimental": typed}
	return out, nil
}

func (h *helper) inspect(ctx context.Context, q query) (map[string]any, error) {
	out := map[string]any{"status": "ok", "found": false, "data": map[string]any{}, "metadata": map[string]any{}}
	if h.server == nil || !isGo(q.Code) {
		return out, nil
	}
	at, err := h.write(q)
	if err != nil {
		return out, err
	}
	ask := h.server.Signature
	if cursorOnName(q.Code, q.Cursor) {
		ask = h.server.Hover
	}
	text, err := ask(ctx, "main.go", at)
	if text != "" {
		out["found"], out["data"] = true, map[string]any{"text/markdown": text, "text/plain": text}
	}
	return out, err
}

// cursorOnName reports whether a cursor stands in a name or at its end.
func cursorOnName(code string, cursor int) bool {
	all := []rune(code)
	for _, i := range []int{cursor - 1, cursor} {
		if i >= 0 && i < len(all) && (all[i] == '_' || unicode.IsLetter(all[i]) || unicode.IsDigit(all[i])) {
			return true
		}
	}
	return false
}

// stop ends gopls.
func (h *helper) stop() {
	if h.server != nil {
		h.server.Stop()
	}
}
