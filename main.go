// Command lethe asks whether a model has really forgotten, and shows the
// evidence: it reproduces the tables and figures of machine-unlearning papers
// and measures models that were trained elsewhere. Try: lethe --help
package main

import (
	"os"

	"github.com/lethe-ml/lethe/kernel"
)

func main() { os.Exit(kernel.Main()) }
