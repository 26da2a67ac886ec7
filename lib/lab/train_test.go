// Tests of train.go.

package lab

import (
	"testing"
	"time"
)

func TestThePauseBetweenCheckpoints(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		0: 5 * time.Second, 100 * time.Millisecond: 5 * time.Second, 200 * time.Millisecond: 10 * time.Second, time.Second: 50 * time.Second,
	} {
		if got := checkpointPause(took); got != want {
			t.Errorf("after %v: %v, not %v", took, got, want)
		}
	}
}
