//go:build !unix

package nb

import "errors"

var errJobs = errors.New("jobs need a Unix system, or the Linux inside Windows")

func (j *job) start(string) (bool, error) { return false, errJobs }
func (j *job) running() bool              { return false }
func (j *job) interrupt() error           { return errJobs }
