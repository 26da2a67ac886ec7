package attack

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/stats"
)

// clusteredLosses are losses of which the held-out ones are in clusters of a size.
func clusteredLosses(size int) Losses {
	l := Losses{Retained: losses(60, 1, 2, 0), Forgotten: losses(40, 2, 2, 0), HeldOut: losses(70, 3, 2, 0.3)}
	for i := range l.HeldOut {
		l.HeldOutClusters = append(l.HeldOutClusters, i%(70/size))
	}
	return l
}

// No cluster of held-out records is on both sides of the split.
func TestClustersAreNotParted(t *testing.T) {
	l := clusteredLosses(10)
	d := LossThreshold{}.drawSplit(l)
	both := append(slices.Clone(d.learn), d.judge...)
	slices.Sort(both)
	for i, k := range both {
		if i != k {
			t.Fatalf("record %d is missing or there twice", i)
		}
	}
	side := map[int]bool{}
	for _, i := range d.learn {
		side[l.HeldOutClusters[i]] = true
	}
	for _, i := range d.judge {
		if side[l.HeldOutClusters[i]] {
			t.Errorf("record %d of cluster %d is judged, and its cluster is known", i, l.HeldOutClusters[i])
		}
	}
	if len(d.learn) != 40 || len(d.judge) != 30 {
		t.Errorf("%d to learn from and %d to judge", len(d.learn), len(d.judge))
	}
	l.HeldOutClusters = nil
	if d := (LossThreshold{}).drawSplit(l); len(d.learn) != 35 {
		t.Errorf("%d records without clusters to learn from", len(d.learn))
	}
}

func TestClustersOfOneRecordAreThePapersSplit(t *testing.T) {
	l := clusteredLosses(1)
	own, err := LossThreshold{}.Run(l)
	if err != nil {
		t.Fatal(err)
	}
	l.HeldOutClusters = nil
	plain, err := LossThreshold{}.Run(l)
	if err != nil || own.BalancedAccuracy.Value != plain.BalancedAccuracy.Value || own.Threshold != plain.Threshold {
		t.Errorf("%v, %v, %v", own.BalancedAccuracy, plain.BalancedAccuracy, err)
	}
}

func TestASingleClusterCannotBeHalved(t *testing.T) {
	l := clusteredLosses(70)
	if _, err := (LossThreshold{}).Run(l); err == nil || !strings.Contains(err.Error(), "one cluster, which cannot be halved") {
		t.Errorf("%v", err)
	}
	l.HeldOutClusters = stats.Clusters{1, 2}
	if _, err := (LossThreshold{}).Run(l); err == nil || !strings.Contains(err.Error(), "2 clusters of 70 held-out records") {
		t.Errorf("%v", err)
	}
}
