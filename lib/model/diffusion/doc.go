// Package diffusion has a small denoising network and what makes a diffusion model of it,
// after "Elucidating the Design Space of Diffusion-Based Generative Models" (EDM, Karras et
// al., NeurIPS 2022):
//
//	UNet           the network F
//	Precondition   the denoiser D around it              EDM section 5, table 1
//	Denoiser       F with its weights: Denoise
//	Sampler        images from noise by Heun's method    EDM algorithm 1
//
// Images are rows of pixels between -1 and 1. A noise level sigma is the standard deviation
// of the normal noise added to every pixel.
package diffusion
