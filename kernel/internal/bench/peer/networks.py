"""The networks of all PyTorch peers: it is prepended to their scripts, after the common start."""


def networks(torch, columns=14):
    """Return functions that make the networks, by name. The transformer has so many columns."""
    nn, F = torch.nn, torch.nn.functional

    def mlp():
        return nn.Sequential(
            nn.Linear(50, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 2))

    class Block(nn.Module):
        WIDTH, HEADS, HIDDEN = 128, 4, 170

        def __init__(self, first, last):
            super().__init__()
            width, hidden, self.last = self.WIDTH, self.HIDDEN, last
            self.before = nn.Identity() if first else nn.LayerNorm(width)
            self.query, self.key = nn.Linear(width, width), nn.Linear(width, width, bias=False)
            self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
            self.between = nn.LayerNorm(width)
            self.up, self.gate, self.down = nn.Linear(width, hidden), nn.Linear(width, hidden), nn.Linear(hidden, width)
            self.drop = nn.Dropout(0.1)

        def split(self, x):
            return x.unflatten(2, (self.HEADS, self.WIDTH // self.HEADS)).transpose(1, 2)

        def forward(self, h):
            x = self.before(h)
            asking = x
            if self.last:  # only the CLS token is read after it
                asking, h = x[:, -1:], h[:, -1:]
            q, k, v = self.split(self.query(asking)), self.split(self.key(x)), self.split(self.value(x))
            h = h + self.out(F.scaled_dot_product_attention(q, k, v, dropout_p=0.2).transpose(1, 2).flatten(2))
            x = self.between(h)
            return h + self.down(self.drop(torch.relu(self.up(x)) * self.gate(x)))

    class Transformer(nn.Module):
        def __init__(self, features=columns, width=Block.WIDTH, blocks=3):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(features, width) / 10)
            self.bias = nn.Parameter(torch.randn(features, width) / 10)
            self.cls = nn.Parameter(torch.randn(1, width) / 10)
            self.blocks = nn.Sequential(*(Block(k == 0, k == blocks - 1) for k in range(blocks)))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 2)

        def forward(self, x):
            tokens = x[:, :, None] * self.weight + self.bias
            h = self.blocks(torch.cat([tokens, self.cls.expand(len(x), 1, -1)], 1))
            return self.head(torch.relu(self.norm(h[:, 0])))

    def small_cnn():
        layers, channels = [], 1
        for width in (32, 64, 128):
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
            channels = width
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * 3 * 3, 128), nn.ReLU(), nn.Linear(128, 10))

    def all_cnn():
        layers, channels = [], 3
        for width, size, stride in (
            (96, 3, 1), (96, 3, 1), (96, 3, 2), (192, 3, 1), (192, 3, 1), (192, 3, 2), (192, 3, 1), (192, 1, 1),
        ):
            layers += [nn.Conv2d(channels, width, size, stride, size // 2, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
            channels = width
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))

    class Residual(nn.Module):
        def __init__(self, channels, width, stride):
            super().__init__()
            self.inner = nn.Sequential(
                nn.Conv2d(channels, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width),
            )
            self.shortcut = nn.Identity()
            if stride != 1 or channels != width:
                self.shortcut = nn.Sequential(nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width))

        def forward(self, x):
            return torch.relu(self.inner(x) + self.shortcut(x))

    def resnet_18():
        layers, channels = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()], 64
        for width in (64, 128, 256, 512):
            layers += [Residual(channels, width, 1 if width == 64 else 2), Residual(width, width, 1)]
            channels = width
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))

    class Cells(nn.Module):
        GENES, HIDDEN, LATENT = 2000, (1024, 512, 128), 32

        def __init__(self, counts=True):
            super().__init__()
            self.counts = counts  # or a squared error, which has no dispersion
            genes, hidden, latent = self.GENES, self.HIDDEN, self.LATENT
            self.encoder, self.decoder = self.layers(genes, *hidden), self.layers(latent, *hidden[::-1])
            self.mean, self.log_variance = nn.Linear(hidden[-1], latent), nn.Linear(hidden[-1], latent)
            self.proportion, self.dispersion = nn.Linear(hidden[0], genes), nn.Linear(hidden[0], genes)

        def layers(self, *widths):
            layers = []
            for a, b in zip(widths, widths[1:]):
                layers += [nn.Linear(a, b), nn.LayerNorm(b), nn.ReLU(), nn.Dropout(0.1)]
            return nn.Sequential(*layers)

        def forward(self, x):
            h = self.encoder(x)
            mu, s = self.mean(h), self.log_variance(h)
            g = self.decoder(mu + torch.exp(s / 2) * torch.randn_like(mu))
            dispersion = self.dispersion(g) if self.counts else None
            return torch.softmax(self.proportion(g), 1), dispersion, mu, s

    return {
        "mlp": mlp, "ft-transformer": Transformer, "small-cnn": small_cnn, "all-cnn": all_cnn, "resnet-18": resnet_18, "cells": Cells,
    }


def cells_loss(torch, model, x, tiny=1e-8):
    """Return the loss of the network of cells: the negative binomial of counts, or the squared
    error, and the divergence of the latent variables."""
    p, dispersion, mu, s = model(x)
    m = p * x.sum(1, keepdim=True)
    if dispersion is None:
        each = (m - x) ** 2
    else:
        d = torch.exp(dispersion)
        both = torch.log(d + m + tiny)
        each = -(
            d * (torch.log(d + tiny) - both) + x * (torch.log(m + tiny) - both)
            + torch.lgamma(x + d) - torch.lgamma(d) - torch.lgamma(x + 1)
        )
    divergence = (mu**2 + s.exp() - s - 1) / 2
    return (each.sum(1) + divergence.sum(1)).mean()


