package ib

// All lists the networks that a bottleneck can be made of, in their default settings.
func All() []SubNetwork { return []SubNetwork{MLP{}, ResNet{}, ViT{}} }
