package notebook

import (
	"math"
	"strings"
	"testing"
)

// Widths that MathJax 3 gives these equations in JupyterLab, in em of 18.1 pixels.
func TestTheWidthOfAnEquationIsAboutMathJaxs(t *testing.T) {
	for tex, want := range map[string]float64{
		`M_2^{\text{placebo}} \;=\; \operatorname*{mean}_{x\in P} s\bigl(u(x),o(x)\bigr) - \operatorname*{median}_{x\in D_r} s\bigl(u(x),o(x)\bigr),\qquad P\subset D_r \text{ drawn at random} \tag{2}`: 670,
		`d_k = \frac{\mathbb{E}_\pi[H(\text{same}_k)] - \mathbb{E}_\pi[H(\text{across}_k)]}{\overline{\mathbb{E}_\pi[H(\text{across})]}}, \qquad \text{null: } d_k \text{ symmetric about } 0. \tag{3}`:  553,
		`\mathbb{E}_\pi H_\pi = \frac{\operatorname{tr}K_c\operatorname{tr}L_c}{(n-1)^2}\left(\frac1n+\frac{1}{n(n-1)}\right) = \frac{\operatorname{tr}K_c\,\operatorname{tr}L_c}{(n-1)^3}. \tag{3}`:     417,
		`F_{dk} = 4\,\sigma_d\,\nu_k,\qquad \sigma_d=\mathrm{E}[e_d^2],\quad \nu_k=\mathrm{E}[h_k^2] \quad\Longrightarrow\quad \cos(F,F') = \cos(\sigma,\sigma')\cdot\cos(\nu,\nu') \tag{3}`:             671,
		`L_{\text{keep}} = \text{cross-entropy} + \beta\,\text{divergence, on auxiliary records} \qquad L_{\text{forget}} = I(Z_e;Z_a) - \text{cross-entropy of the erased codes} \tag{1}`:               907,
		`\underbrace{\sum_g (L\,p_g - x_g)^2}_{\text{reconstruction}} \;+\; \beta\,\underbrace{\tfrac12\sum_k\left(\mu_k^2+e^{s_k}-s_k-1\right)}_{\text{divergence (KL)}} \tag{1}`:                       361,
		`\mathbb{E}_\pi[H] \;=\; \frac{\operatorname{tr} K_c\,\operatorname{tr} L_c}{(n-1)^3} \;=\; \frac{(\text{spread of half 1})\,(\text{spread of half 2})}{n-1}. \tag{2}`:                           490,
	} {
		want /= 18.1
		if got := equationWidth(tex); math.Abs(math.Log(got/want)) > math.Log(1.2) {
			t.Errorf("%.1f em, MathJax has %.1f: %s", got, want, tex)
		}
	}
}

func TestAnEquationOfManyLinesIsAsWideAsItsWidest(t *testing.T) {
	one, two := equationWidth("a = b"), equationWidth(`\begin{aligned} a &= b \\ a &= b \end{aligned}`)
	if one <= 0 || math.Abs(one-two) > 1e-9 {
		t.Errorf("%v and %v", one, two)
	}
}

func TestAWideEquationIsAProblem(t *testing.T) {
	nb := good(t)
	nb.Cells[0].Source += "\n\n$$ a = " + strings.Repeat("b + ", 60) + "c \\tag{1} $$"
	got := lint(t, nb)
	if len(got) != 1 || !strings.Contains(got[0].String(), `cell 1: the equation "a = b + b`) || !strings.Contains(got[0].String(), "make two equations of it") {
		t.Errorf("%v", got)
	}
}

func FuzzEquationWidth(f *testing.F) {
	f.Add(`\frac{a}{b}_{c} \text{x`)
	f.Add(`\`)
	f.Add(`}{^_\tag`)
	f.Fuzz(func(t *testing.T, tex string) {
		if w := equationWidth(tex); math.IsNaN(w) || math.IsInf(w, 0) {
			t.Errorf("%q is %v wide", tex, w)
		}
	})
}
