package ib

// All lists the halves that a bottleneck can be made of, in their default settings.
func All() []Half { return []Half{MLP{}, ResNet{}, ViT{}} }
