package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Root is the seed from which all random streams of a run are derived.
type Root int64

// Stream returns a new generator of the named stream. The parts select a sub-stream (an
// epoch, a layer). Streams with different names or parts are independent.
func (r Root) Stream(name string, parts ...uint64) *rand.Rand {
	return rand.New(rand.NewChaCha8(r.key(name, parts)))
}

// Counter returns a 64-bit key of the named stream for counter-based random numbers, which
// have no state to save.
func (r Root) Counter(name string, parts ...uint64) uint64 {
	k := r.key(name, parts)
	return binary.LittleEndian.Uint64(k[:8])
}

func (r Root) key(name string, parts []uint64) [32]byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(r))
	b = append(b, name...)
	b = append(b, 0)
	for _, p := range parts {
		b = binary.LittleEndian.AppendUint64(b, p)
	}
	return sha256.Sum256(b)
}
