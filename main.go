// Command lethe measures whether a machine-learning model has forgotten records: it reproduces the
// tables and figures of machine-unlearning papers and audits models that were trained elsewhere.
// Try: lethe --help
package main

import (
	"os"

	"github.com/lethe-ml/lethe/kernel"
)

func main() { os.Exit(kernel.Main()) }
