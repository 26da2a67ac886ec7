// Package denoise trains denoising networks: the loop of package train with
// noise instead of labels. Its state, its hooks and its promise, a resumed
// training is the uninterrupted one bit for bit, are those of package train.
package denoise
