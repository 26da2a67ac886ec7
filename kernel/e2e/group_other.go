//go:build !unix

package e2e

import "os/exec"

func dieWithUs(*exec.Cmd) {}

func askToStop(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func endGroup(*exec.Cmd) {}
