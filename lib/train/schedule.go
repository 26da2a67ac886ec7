package train

import (
	"fmt"
	"math"
)

// Schedule changes the learning rate from epoch to epoch. In epoch e = 0, 1, ... of E it
// is the optimiser's rate times
//
//	cosine:  (1 + cos(pi e / E)) / 2
//	steps:   Gamma^k, where k is the number of Milestones that are at most e
//
// These are torch.optim.lr_scheduler.CosineAnnealingLR with T_max = E and eta_min = 0, and
// MultiStepLR, each stepped once per epoch.
type Schedule struct {
	Kind       string  `json:"kind"` // "cosine" or "steps"
	Milestones []int   `json:"milestones,omitempty"`
	Gamma      float64 `json:"gamma,omitempty"` // 0: PyTorch's 0.1
}

// Cosine returns a schedule whose learning rate falls along half a cosine.
func Cosine() *Schedule { return &Schedule{Kind: "cosine"} }

// Steps returns a schedule that multiplies the learning rate by 0.1 at each milestone epoch.
func Steps(milestones ...int) *Schedule { return &Schedule{Kind: "steps", Milestones: milestones} }

func (s *Schedule) check() error {
	switch {
	case s == nil:
		return nil
	case s.Kind != "cosine" && s.Kind != "steps":
		return fmt.Errorf("train: the schedule %q is neither cosine nor steps", s.Kind)
	case s.Kind == "cosine" && (len(s.Milestones) > 0 || s.Gamma != 0):
		return fmt.Errorf("train: a cosine schedule takes no milestones and no gamma")
	case s.Gamma < 0 || math.IsNaN(s.Gamma) || math.IsInf(s.Gamma, 1):
		return fmt.Errorf("train: the schedule's gamma is %v", s.Gamma)
	}
	for i, m := range s.Milestones {
		if m < 0 || i > 0 && m < s.Milestones[i-1] {
			return fmt.Errorf("train: the schedule's milestones %v do not rise from 0", s.Milestones)
		}
	}
	return nil
}

// Factor returns the factor of the learning rate in an epoch (0, 1, ...); 1 for a nil
// schedule.
func (s *Schedule) Factor(epoch, epochs int) float64 {
	switch {
	case s == nil:
		return 1
	case s.Kind == "cosine":
		return (1 + math.Cos(math.Pi*float64(epoch)/float64(epochs))) / 2
	}
	gamma := s.Gamma
	if gamma == 0 {
		gamma = 0.1
	}
	f := 1.0
	for _, m := range s.Milestones {
		if m <= epoch {
			f *= gamma
		}
	}
	return f
}
