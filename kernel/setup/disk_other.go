//go:build !unix

package setup

import "os"

func ownedByUser(os.FileInfo) bool { return false }

func freeDisk(string) (int64, bool) { return 0, false }
