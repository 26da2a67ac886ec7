// Games: training of one network by several players, as in a GAN, and the order of their updates.

package train

import (
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Game is a training of one network by several players, as for a GAN. Each player
// minimises its own objective over its own weights; the objective may depend on all
// weights. The weights of a critic are part of the network. It says whose gradient is next;
// a GradientTransform changes that gradient.
type Game struct {
	Players []Player
	Rule    Rule
	// Steps is the number of steps of an epoch. In a step every player updates its
	// weights. 0: until every player has swept its objective once.
	Steps int
}

// Player is a player of a game. Its gradient has only the derivatives by its own weights,
// also in the plan's Transforms.
type Player struct {
	Name      string
	Owns      []string // name prefixes of its weights; nil: all weights, which alternating players may share
	Objective Objective
	Optimizer nn.Optimizer // nil: that of the Config
	// Updates is the number of optimiser updates in a step; 0: 1. Other numbers than 1
	// need the rule Alternating. An epoch ends when the player that needs the most steps
	// has swept its objective; a player that is done earlier starts over.
	Updates int
}

// Rule is the order in which the players of a game update their weights.
type Rule int

const (
	// Alternating players update one after another, each starting at the weights that
	// the player before left.
	Alternating Rule = iota
	// Simultaneous players compute their gradients at the same weights.
	Simultaneous
	// ExtraGradient is Korpelevich's method (1976): all players make a trial update,
	// compute their gradients there on the same batches and random inputs, and apply them
	// at the weights before the trial. The trial does not change the optimisers. The
	// method converges on bilinear games, on which the other rules cycle.
	ExtraGradient
)

func (g *Game) check(a model.Architecture) error {
	switch {
	case g == nil:
		return nil
	case len(g.Players) == 0:
		return fmt.Errorf("train: the game has no players")
	case g.Rule < Alternating || g.Rule > ExtraGradient:
		return fmt.Errorf("train: the game has the unknown rule %d", g.Rule)
	case g.Steps < 0:
		return fmt.Errorf("train: a game of %d steps per epoch", g.Steps)
	}
	for _, p := range g.Players {
		if p.Updates < 0 || p.Updates > 1 && g.Rule != Alternating {
			return fmt.Errorf("train: player %q makes %d updates per step; more than one needs the rule Alternating", p.Name, p.Updates)
		}
		if err := p.Objective.check(a); err != nil {
			return fmt.Errorf("player %q: %w", p.Name, err)
		}
	}
	return nil
}

func (p Player) owns(name string) bool {
	if p.Owns == nil {
		return true
	}
	for _, prefix := range p.Owns {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// paramGroups returns the parameter group of every player. A weight may have at most one
// owner, except for alternating players that own all weights. A weight without an owner is
// frozen.
func (g *Game) paramGroups(like nn.Params, c Config, rates []float64) ([]paramGroup, error) {
	out := make([]paramGroup, len(g.Players))
	owner := map[string]string{}
	for k, p := range g.Players {
		m := paramGroup{name: p.Name, optimizer: c.Optimizer, rates: make([]float64, len(like))}
		if p.Optimizer != nil {
			m.optimizer = inForce(p.Optimizer)
			if err := m.optimizer.Check(); err != nil {
				return nil, fmt.Errorf("player %q: %w", p.Name, err)
			}
		}
		some, shared := false, p.Owns == nil && g.Rule == Alternating
		for i, v := range like {
			if v.State || !p.owns(v.Name) {
				continue
			}
			if other, taken := owner[v.Name]; taken && !shared {
				return nil, fmt.Errorf("%s belongs to two players, %q and %q", v.Name, other, p.Name)
			}
			if !shared {
				owner[v.Name] = p.Name
			}
			m.rates[i], some = rates[i], true
		}
		if !some {
			return nil, fmt.Errorf("no weight belongs to player %q", p.Name)
		}
		out[k] = m
	}
	return out, nil
}

// steps returns the steps of an epoch. Player 0 uses the random streams of a fit without
// a game, the others have their own.
func (g *Game) steps(c Config, epoch int) []trainStep {
	all, seeds, n := make([][][]batch, len(g.Players)), make([]engine.Root, len(g.Players)), 0
	for k, p := range g.Players {
		drawn := c
		if k > 0 {
			drawn.Seed = engine.Root(c.Seed.Counter(engine.StreamPlayer, uint64(k)))
		}
		all[k], seeds[k] = drawn.epochBatches(p.Objective, epoch), drawn.Seed
		n = max(n, (len(all[k])+p.updates()-1)/p.updates())
	}
	if g.Steps > 0 {
		n = g.Steps
	}
	out := make([]trainStep, n)
	for i := range out {
		out[i].rule = g.Rule
		for k, p := range g.Players {
			for j := range p.updates() {
				at := i*p.updates() + j
				out[i].updates = append(out[i].updates, update{player: k, objective: p.Objective, batches: all[k][at%len(all[k])], seed: seeds[k]})
			}
		}
	}
	return out
}

func (p Player) updates() int { return max(1, p.Updates) }
