// Package plugin loads a PJRT plugin for go-xla and keeps its compiled programs in a folder,
// so that another process loads them instead of compiling again.
//
// go-xla has no call for serialised executables. This package passes it the plugin's table of
// functions with one function replaced: PJRT_Client_Compile looks into the folder first. In a
// program without XLA the package has only its types.
package plugin

// Device describes a device of a plugin. What the plugin does not tell is empty.
type Device struct {
	Kind     string // name of the card: "NVIDIA H100 80GB HBM3"
	Platform string // version of the plugin's platform
	InUse    int64  // bytes in use
	Memory   int64  // bytes that the plugin may use
}

// Counts are numbers of programs in this process.
type Counts struct {
	Compiled int // compiled by the plugin
	Loaded   int // loaded from the folder
}
