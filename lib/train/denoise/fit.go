package denoise

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// Config is how a denoiser is trained. Sigma of every record is exp(Mean +
// Spread z) with z standard normal, drawn anew in every epoch. The loss is EDM's
// (Karras et al. 2022, equation 8, table 1),
//
//	mean over records and pixels of (sigma^2 + s^2)/(sigma s)^2 (D(y + sigma n, sigma) - y)^2,
//
// whose weight makes it the plain squared error of the network; see
// diffusion.Precondition. At the start, where the network is 0, it is about 1.
//
// Differences from EDM's training for CIFAR-10: batches of 64 instead of 512; the rate falls along half a cosine, instead of a warm-up and a
// moving average of the weights; no augmentation. The mean over pixels in place
// of their sum changes nothing that Adam sees.
type Config struct {
	Epochs    int                    `json:"epochs,omitempty"` // 0: 50
	Batch     int                    `json:"batch,omitempty"`  // 0: 64
	Optimizer nn.Adam                `json:"optimizer"`        // the zero value: EDM's, Adam at 1e-3
	Constant  bool                   `json:"constant,omitempty"`
	Mean      *float64               `json:"p_mean,omitempty"` // of ln sigma, nil: EDM's -1.2
	Spread    float64                `json:"p_std,omitempty"`  // of ln sigma, 0: EDM's 1.2
	Condition diffusion.Precondition `json:"condition"`
	Seed      engine.Root            `json:"seed"` // of batch order and noise
}

// WithDefaults returns the configuration with zeros replaced by their meaning.
func (c Config) WithDefaults() Config {
	if c.Epochs == 0 {
		c.Epochs = 50
	}
	if c.Batch == 0 {
		c.Batch = 64
	}
	if c.Mean == nil {
		m := -1.2
		c.Mean = &m
	}
	if c.Spread == 0 {
		c.Spread = 1.2
	}
	c.Optimizer = c.Optimizer.WithDefaults()
	return c
}

func (c Config) check() error {
	if c.Epochs < 0 || c.Batch < 1 {
		return fmt.Errorf("denoise: %d epochs of batches of %d", c.Epochs, c.Batch)
	}
	if !(c.Spread > 0) || math.IsInf(c.Spread, 0) || math.IsNaN(*c.Mean) || math.IsInf(*c.Mean, 0) {
		return fmt.Errorf("denoise: ln sigma with mean %v and standard deviation %v", *c.Mean, c.Spread)
	}
	return c.Condition.Check()
}

// rate is the factor of the learning rate in an epoch.
func (c Config) rate(epoch int) float64 {
	if c.Constant {
		return 1
	}
	return (1 + math.Cos(math.Pi*float64(epoch)/float64(c.Epochs))) / 2
}

// Fit trains from the weights p, which it leaves alone, on images that are rows
// of pixels between -1 and 1, and returns the new weights and one record per
// epoch. The noise of a record follows from seed, epoch and row.
//
// When ctx ends, Fit stops within one step, calls Hooks.Save with the last whole
// epoch, and returns the context's error.
func Fit(ctx context.Context, r *model.Runner, p nn.Params, images array.Matrix[float32], c Config, h train.Hooks) (nn.Params, []train.Epoch, error) {
	c = c.WithDefaults()
	if err := admit(r, p, images, c); err != nil {
		return nil, nil, err
	}
	l, err := newLoss(r)
	if err != nil {
		return nil, nil, err
	}
	s := h.Resume
	if s == nil {
		s = &train.State{Params: p.Clone(), Adam: nn.NewAdamState(p)}
	} else if err := r.CheckWeights(s.Params); err != nil {
		return nil, nil, fmt.Errorf("denoise: the saved state: %w", err)
	}
	for s.Done < c.Epochs {
		next, err := epoch(ctx, l, s, images, c)
		if err != nil {
			return nil, nil, interrupted(ctx, err, s, h)
		}
		s = next
		if h.Progress != nil {
			h.Progress(s.History[len(s.History)-1])
		}
		if h.Save != nil && h.SaveEvery > 0 && s.Done%h.SaveEvery == 0 {
			if err := h.Save(s); err != nil {
				return nil, nil, fmt.Errorf("denoise: saving after epoch %d: %w", s.Done, err)
			}
		}
	}
	return s.Params, s.History, nil
}

func admit(r *model.Runner, p nn.Params, images array.Matrix[float32], c Config) error {
	if err := c.check(); err != nil {
		return err
	}
	if err := r.CheckWeights(p); err != nil {
		return fmt.Errorf("denoise: %w", err)
	}
	if images.Rows == 0 {
		return errors.New("denoise: there are no images")
	}
	if images.Cols+1 != r.Arch.Inputs() || images.Cols != r.Arch.Classes() {
		return fmt.Errorf("denoise: images of %d values; the network takes %d and returns %d", images.Cols, r.Arch.Inputs()-1, r.Arch.Classes())
	}
	if err := images.Check("images"); err != nil {
		return fmt.Errorf("denoise: %w", err)
	}
	return nil
}

func interrupted(ctx context.Context, err error, s *train.State, h train.Hooks) error {
	if ctx.Err() == nil || h.Save == nil {
		return err
	}
	if saveErr := h.Save(s); saveErr != nil {
		return fmt.Errorf("denoise: stopped (%w) and could not save: %v", err, saveErr)
	}
	return fmt.Errorf("denoise: stopped; %d epochs are saved: %w", s.Done, err)
}

// epoch works on a copy, so that an interrupted epoch leaves the last whole one.
func epoch(ctx context.Context, l *loss, s *train.State, images array.Matrix[float32], c Config) (*train.State, error) {
	next := &train.State{
		Params: s.Params.Clone(), Adam: s.Adam.Clone(), Done: s.Done + 1,
		History: s.History[:len(s.History):len(s.History)],
	}
	order := c.Seed.Stream(engine.StreamBatch, uint64(s.Done)).Perm(images.Rows)
	adam := c.Optimizer
	adam.LR *= c.rate(s.Done)
	var total float64
	for first := 0; first < len(order); first += c.Batch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows := order[first:min(first+c.Batch, len(order))]
		got, err := l.at(next.Params, c.noisy(images, rows, s.Done))
		if err != nil {
			return nil, err
		}
		if err := adam.Step(next.Params, got.grads, next.Adam); err != nil {
			return nil, fmt.Errorf("denoise: epoch %d: %w", next.Done, err)
		}
		total += got.loss * float64(len(rows))
	}
	next.History = append(next.History, train.Epoch{Epoch: next.Done, Steps: next.Adam.T, Loss: total / float64(len(order))})
	return next, nil
}

// batch is what the network gets, and what it should return.
type batch struct{ in, target array.Matrix[float32] }

// noisy puts noise on the rows of a batch.
func (c Config) noisy(images array.Matrix[float32], rows []int, epoch int) batch {
	b := batch{array.New[float32](len(rows), images.Cols+1), array.New[float32](len(rows), images.Cols)}
	x := make([]float32, images.Cols)
	for k, row := range rows {
		rng, y := c.Seed.Stream(engine.StreamNoise, uint64(epoch), uint64(row)), images.Row(row)
		sigma := math.Exp(*c.Mean + float64(c.Spread*rng.NormFloat64()))
		for j, v := range y {
			x[j] = float32(float64(v) + float64(sigma*rng.NormFloat64()))
		}
		s := c.Condition.At(sigma)
		s.Fill(b.in.Row(k), x)
		s.Target(b.target.Row(k), x, y)
	}
	return b
}
