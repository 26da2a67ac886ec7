// The folder that gopls works in: a module with the cells and nothing else.

package gopls

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// cellsModule is the path of the module that gopls sees.
const cellsModule = "cells"

// WorkspaceEnv is what gopls needs in its environment to see the module and no workspace.
const WorkspaceEnv = "GOWORK=off"

// WriteWorkspace writes, into a folder that is there, the files of a module with the same
// imports as a cell of root has: it requires root and all that root requires, at the same
// versions. In a workspace with root gopls would read every package of root, with its tests,
// before it answers: twice the packages that the cells can reach.
func WriteWorkspace(root, folder string) error {
	files, err := workspaceFiles(root)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Warm makes gopls read packages for cells of root, in an empty folder, so that what it keeps
// in its cache is there for the first completion of a kernel.
func Warm(ctx context.Context, program, root, folder string, env, packages []string, notes io.Writer) error {
	if err := WriteWorkspace(root, folder); err != nil {
		return err
	}
	s, err := Start(program, folder, append(env, WorkspaceEnv), notes)
	if err != nil {
		return err
	}
	defer s.Stop()
	if err := s.Open(ctx); err != nil {
		return err
	}
	head := "package main\n\n"
	for _, path := range packages {
		head += "import _ \"" + path + "\"\n"
	}
	if err := s.Set("main.go", head+"\nfunc main() {\n\t_ = 0\n}\n"); err != nil {
		return err
	}
	_, err = s.Complete(ctx, "main.go", Position{Line: strings.Count(head, "\n") + 2, Character: 5})
	return err
}

func workspaceFiles(root string) (map[string]string, error) {
	name := filepath.Join(root, "go.mod")
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	theirs, err := modfile.Parse(name, content, nil)
	if err != nil {
		return nil, err
	}
	if theirs.Module == nil {
		return nil, errors.New(name + " names no module")
	}
	ours := new(modfile.File)
	if err := ours.AddModuleStmt(cellsModule); err != nil {
		return nil, err
	}
	if theirs.Go != nil {
		if err := ours.AddGoStmt(theirs.Go.Version); err != nil {
			return nil, err
		}
	}
	for _, r := range theirs.Require {
		ours.AddNewRequire(r.Mod.Path, r.Mod.Version, true)
	}
	for _, r := range theirs.Replace {
		to := r.New
		if to.Version == "" && !filepath.IsAbs(to.Path) {
			to.Path = filepath.Join(root, to.Path)
		}
		if err := ours.AddReplace(r.Old.Path, r.Old.Version, to.Path, to.Version); err != nil {
			return nil, err
		}
	}
	self := module.Version{Path: theirs.Module.Mod.Path, Version: "v0.0.0"}
	ours.AddNewRequire(self.Path, self.Version, false)
	if err := ours.AddReplace(self.Path, "", root, ""); err != nil {
		return nil, err
	}
	ours.Cleanup()
	gomod, err := ours.Format()
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	// A package needs a file.
	return map[string]string{"go.mod": string(gomod), "go.sum": string(sums), "main.go": "package main\n"}, nil
}
