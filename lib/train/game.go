package train

import (
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/internal/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Game is what several players do with one network: each moves the weights that
// are its own, down its own objective, which may depend on everybody's weights.
// The weights of a critic are part of the network that it criticises.
type Game struct {
	Players []Player
	Rule    Rule
	// Steps is how many there are in an epoch, which begins with freshly drawn
	// batches; 0: until everybody is through with his objective.
	Steps int
}

// Player is one of a game. His gradient is by his own weights alone, also where a
// surgeon measures it.
type Player struct {
	Name      string
	Owns      []string // prefixes of the names of its weights; nil: all weights, which alternating players may share
	Objective Objective
	Optimizer nn.Optimizer // nil: that of the Config
	// Updates is how many steps it takes in a round, 0: 1. Other numbers than 1 need
	// the rule Alternating. A round ends when everybody has had his turn; an epoch
	// when the player with the most rounds has swept his objective, and a player
	// who is through before starts over.
	Updates int
}

// Rule is the order in which players move.
type Rule int

const (
	// Alternating players move one after another, each from where the one before
	// left the network.
	Alternating Rule = iota
	// Simultaneous players take their gradients at the same weights.
	Simultaneous
	// ExtraGradient is Korpelevich's method (1976): all players step ahead, take
	// their gradients there, on the same batches and draws, and move by them from
	// where they were. Looking ahead leaves no trace in the optimisers. On a
	// bilinear game it converges where the other rules circle.
	ExtraGradient
)

func (g *Game) check(a model.Architecture) error {
	switch {
	case g == nil:
		return nil
	case len(g.Players) == 0:
		return fmt.Errorf("train: a game without players")
	case g.Rule < Alternating || g.Rule > ExtraGradient:
		return fmt.Errorf("train: the game's rule %d is none", g.Rule)
	case g.Steps < 0:
		return fmt.Errorf("train: a game of %d rounds an epoch", g.Steps)
	}
	for _, p := range g.Players {
		if p.Updates < 0 || p.Updates > 1 && g.Rule != Alternating {
			return fmt.Errorf("train: player %q takes %d steps a round; more than one needs alternating players", p.Name, p.Updates)
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

// paramGroups gives every player the rates of its weights. A weight may have at most
// one owner, beside alternating players who move all weights; one without an owner
// stays as it is.
func (g *Game) paramGroups(like nn.Params, c Config, rates []float64) ([]paramGroup, error) {
	out := make([]paramGroup, len(g.Players))
	owner := map[string]string{}
	for k, p := range g.Players {
		m := paramGroup{name: p.Name, optimizer: c.Optimizer, rates: make([]float64, len(like))}
		if p.Optimizer != nil {
			m.optimizer = defaults.Of(p.Optimizer, p.Optimizer.WithDefaults())
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
				return nil, fmt.Errorf("%s belongs to the players %q and %q", v.Name, other, p.Name)
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

// steps are those of an epoch. Player 0 draws as a plain fit does, the others
// from streams of their own.
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
