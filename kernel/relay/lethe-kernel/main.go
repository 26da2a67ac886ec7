// Command lethe-kernel is the program that Jupyter starts as the kernel
// "Lethe (Go)". It runs a pinned gonb as a child process; see package relay.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/lethe-ml/lethe/kernel/relay"
)

func main() {
	var o relay.Options
	flag.StringVar(&o.Gonb, "gonb", "gonb", "path of the gonb program")
	flag.StringVar(&o.GoWork, "go-work", ".", "folder of the module that cells are compiled in")
	flag.BoolVar(&o.NoCompletion, "no-completion", false, "run without gopls")
	flag.StringVar(&o.Log, "log", "", "file for gonb's messages (default: none are kept)")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: lethe-kernel [flags] CONNECTION_FILE")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	o.ConnectionFile = flag.Arg(0)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	o.Interrupts = interrupts
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := relay.Run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "lethe-kernel:", err)
		os.Exit(1)
	}
}
