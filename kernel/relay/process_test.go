// Tests of process.go.

package relay

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/kernel/internal/proc"
)

// table is a machine on which gonb (10) builds a cell, runs its program and a
// shell line; 30 belongs to gopls and 40 to somebody else.
var table = []proc.Process{
	{PID: 10, Parent: 1, Group: 10, Name: "gonb"},
	{PID: 20, Parent: 10, Group: 20, Name: "gopls"},
	{PID: 30, Parent: 20, Group: 20, Name: "go"},
	{PID: 11, Parent: 10, Group: 10, Name: "go"},
	{PID: 12, Parent: 11, Group: 10, Name: "compile"},
	{PID: 13, Parent: 10, Group: 10, Name: "gonb_1a2b"},
	{PID: 14, Parent: 13, Group: 10, Name: "helper"},
	{PID: 15, Parent: 10, Group: 10, Name: "bash"},
	{PID: 16, Parent: 15, Group: 10, Name: "sleep"},
	{PID: 17, Parent: 1, Group: 10, Name: "orphan"},
	{PID: 18, Parent: 13, Group: 18, Name: "detached"},
	{PID: 40, Parent: 1, Group: 40, Name: "else"},
}

func numbers(ms []proc.Process) string {
	var out []string
	for _, m := range ms {
		out = append(out, fmt.Sprint(m.PID))
	}
	return strings.Join(out, " ")
}

func TestFamilyIsGonbsGroup(t *testing.T) {
	if got := numbers(groupMembers(table, 10)); got != "11 12 13 14 15 16 17" {
		t.Errorf("family %s", got)
	}
	if got := numbers(groupMembers(nil, 10)); got != "" {
		t.Errorf("without /proc: %s", got)
	}
}

func TestInterruptReachesEverybodyOnce(t *testing.T) {
	// gonb itself passes the interrupt on to 13 and 15.
	if got := numbers(interruptTargets(table, 10, true)); got != "11 12 14 16 17" {
		t.Errorf("first round %s", got)
	}
	// Later, only what gonb starts anew; helpers of a program that is saving its
	// work are left alone.
	if got := numbers(interruptTargets(table, 10, false)); got != "11 12 13 15" {
		t.Errorf("later rounds %s", got)
	}
}

func TestStrangeTreesEnd(t *testing.T) {
	loop := []proc.Process{{PID: 1, Parent: 2, Group: 9}, {PID: 2, Parent: 1, Group: 9}}
	if got := childOfRoot(loop, loop[0], 5); got != nil {
		t.Errorf("a loop has top %v", got)
	}
	if got := numbers(interruptTargets(loop, 9, true)); got != "1 2" {
		t.Errorf("targets %s", got)
	}
}

func TestGoplsIsHiddenAndNothingElse(t *testing.T) {
	dir, plain, folder := t.TempDir(), t.TempDir(), t.TempDir()
	for _, name := range []string{"gopls", "goimports", "gonb"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	path, err := withoutGopls(strings.Join([]string{plain, dir}, string(filepath.ListSeparator)), folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path)
	if _, err := exec.LookPath("goimports"); err != nil {
		t.Error(err)
	}
	if p, err := exec.LookPath("gopls"); err == nil {
		t.Errorf("gopls is still found: %s", p)
	}
	if dirs := filepath.SplitList(path); !slices.Contains(dirs, plain) {
		t.Errorf("PATH %s lost a folder without gopls", path)
	}
}

func TestNotesAreBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	n, err := newLogFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("x", 99) + "\n"
	for range 3 * maxLog / len(line) {
		fmt.Fprint(n, line)
	}
	fmt.Fprint(n, `goexec.go:209] GoNB: jupyter root in "/a", tmp Go code in "/tmp/gonb_12ab"`+"\n")
	n.close()
	for _, name := range []string{file, file + ".old"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > maxLog {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
	}
	if n.gonbFolder() != "/tmp/gonb_12ab" || len(n.lastLines()) > 4096 {
		t.Errorf("folder %q, %d bytes kept", n.gonbFolder(), len(n.lastLines()))
	}
}
