package sdepaper

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Sets are the four sets of one verdict in one layer of a model: both references, and the
// first target of either kind, an image per row.
type Sets struct {
	Retained, Test      *sde.Matrix // references: in and out of training
	InTraining, Removed *sde.Matrix // targets: retained and forgotten images
}

// Sets draws the sets of the protocol with |S| = size, like table 1.
func (c *Case) Sets(n *Network, layer string, size int) (*Sets, error) {
	drawn, s, err := c.drawSets(n, layer, size)
	if err != nil {
		return nil, err
	}
	inside, removed := s.train.Gather(drawn.targets.Inside.Subsets[0]), s.train.Gather(drawn.targets.Outside.Subsets[0])
	return &Sets{Retained: drawn.references.In, Test: drawn.references.Out, InTraining: &inside, Removed: &removed}, nil
}

// Judge runs the controlled protocol on one model: a method judges subsets of retained images
// and of forgotten ones, which a retrained model never saw. For seed s after 80 per cent of the
// epochs it gives the numbers behind table 1.
func (c *Case) Judge(n *Network, m sde.Method, layer string, size int, b sde.Bandwidth) (*sde.ControlledResult, error) {
	drawn, _, err := c.drawSets(n, layer, size)
	if err != nil {
		return nil, err
	}
	return sde.Controlled(m, drawn.targets, drawn.references, c.options(b))
}

// Verdict judges one set of activations against the references of Sets.
func (c *Case) Verdict(target *sde.Matrix, s *Sets, b sde.Bandwidth) (*sde.Result, error) {
	return sde.Judge(target, sde.References{In: s.Retained, Out: s.Test}, c.options(b))
}

func (c *Case) options(b sde.Bandwidth) sde.Options {
	return sde.Options{Bandwidth: b, Seed: uint64(c.run.drawSeed(c.Draw))}
}

// judgeRun is the run with the study as it is now, which a notebook may have changed.
func (c *Case) judgeRun() *judgeRun {
	j := *c.run
	j.Study = c.Study
	return &j
}

func (c *Case) drawSets(n *Network, layer string, size int) (judgeSets, *layerData, error) {
	if most := min(len(c.Forget), len(c.Retain)/2, c.HeldOut); size < 4 || size > most {
		return judgeSets{}, nil, fmt.Errorf("|S| = %d is not within 4 ... %d, what the forgotten images allow", size, most)
	}
	s, err := n.layerData(c, layer)
	if err != nil {
		return judgeSets{}, nil, err
	}
	drawn, err := c.judgeRun().drawSets(s, size, c.Draw)
	return drawn, s, err
}
