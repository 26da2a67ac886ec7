package gen

import (
	"math"
	"slices"
)

// programs returns all elementwise functions, which package kernels documents. Coefficients
// are Chebyshev fits made with mpmath 1.3 at 60 digits; "error" is the largest error of the
// fit.
func programs() []*program {
	var all []*program
	for _, f := range []struct {
		name string
		of   func(p *program, a, b value) value
	}{
		{"add", func(p *program, a, b value) value { return p.emit("add", a, b) }},
		{"sub", func(p *program, a, b value) value { return p.emit("sub", a, b) }},
		{"mul", func(p *program, a, b value) value { return p.emit("mul", a, b) }},
		{"div", func(p *program, a, b value) value { return p.emit("div", a, b) }},
		{"max", largest}, {"min", smallest},
	} {
		p := &program{name: f.name, arrays: floats("dst", "a", "b")}
		p.store("dst", f.of(p, p.load("a"), p.load("b")))
		all = append(all, p)
	}
	for _, f := range []struct {
		name string
		wide bool
		of   func(p *program, a value) value
	}{
		{"neg", false, func(p *program, a value) value { return p.emit("xor", a, p.bits(1<<31)) }},
		{"abs", false, func(p *program, a value) value { return p.emit("and", a, p.bits(1<<31-1)) }},
		{"sign", false, signOf},
		{"sqrt", false, func(p *program, a value) value { return p.emit("sqrt", a) }},
		{"rsqrt", true, func(p *program, a value) value { return p.emit("div", p.constant(1), p.emit("sqrt", a)) }},
		{"exp", true, exp}, {"expm1", true, expm1}, {"log", true, log}, {"log1p", true, log1p},
		{"tanh", true, tanh}, {"logistic", true, logistic}, {"erf", true, erf},
		{"sin", true, func(p *program, a value) value { return sine(p, a, false) }},
		{"cos", true, func(p *program, a value) value { return sine(p, a, true) }},
	} {
		p := &program{name: f.name, wide: f.wide, arrays: floats("dst", "a")}
		p.store("dst", f.of(p, p.load("a")))
		all = append(all, p)
	}
	for _, name := range []string{"less", "lessEqual", "equal", "notEqual"} {
		p := &program{name: name, arrays: []array{{"dst", "bool"}, {"a", "float32"}, {"b", "float32"}}}
		relation := map[string]string{"less": "lt", "lessEqual": "le", "equal": "eq", "notEqual": "ne"}[name]
		p.storeRelation("dst", relation, p.load("a"), p.load("b"))
		all = append(all, p)
	}
	steps := []*program{adam("adam", "float64"), adam("adam32", "float32"), sgd("sgd", "float64"), sgd("sgd32", "float32")}
	return slices.Concat(all, programs64(), []*program{selectProgram()}, steps)
}

func floats(names ...string) []array {
	var out []array
	for _, n := range names {
		out = append(out, array{n, "float32"})
	}
	return out
}

// largest applies the instruction in both operand orders, because it returns its second operand
// if both are zero or one is NaN.
func largest(p *program, a, b value) value {
	m := p.emit("and", p.emit("max", a, b), p.emit("max", b, a))
	return p.choose("unordered", a, b, p.emit("add", a, b), m)
}

func smallest(p *program, a, b value) value {
	m := p.emit("or", p.emit("min", a, b), p.emit("min", b, a))
	return p.choose("unordered", a, b, p.emit("add", a, b), m)
}

// signOf returns 1 with the sign of a, and a if that is 0 or NaN.
func signOf(p *program, a value) value {
	one := p.emit("or", p.emit("and", a, p.bits(1<<31)), p.constant(1))
	return p.choose("lt", p.constant(0), p.emit("and", a, p.bits(1<<31-1)), one, a)
}

func selectProgram() *program {
	p := &program{name: "choose", arrays: []array{{"dst", "float32"}, {"mask", "bool"}, {"a", "float32"}, {"b", "float32"}}}
	p.store("dst", p.emit("choose", p.load("mask"), p.load("a"), p.load("b")))
	return p
}

const (
	magic = 3 << 51 // x + magic - magic rounds the float64 x to an integer
	sign  = 1 << 63
)

// expParts returns e^x as scale (1 + rest): x = n ln 2 + r with |r| <= ln 2 / 2, scale = 2^n,
// and rest = e^r - 1 (relative error 1e-11). |x| is clipped to 150, beyond every float32
// result.
func expParts(p *program, x value) (scale, rest value) {
	x = p.emit("min", p.constant(150), p.emit("max", p.constant(-150), x)) // NaN stays: it is the second operand
	n := p.emit("fma", x, p.constant(math.Log2E), p.constant(magic))
	r := p.emit("fma", p.emit("sub", n, p.constant(magic)), p.constant(-math.Ln2), x)
	tail := p.horner(r, 0.5, 0.16666666719028936, 0.04166666671901226, 0.00833329846980059,
		0.001388885403566671, 0.00019899285575896282, 2.4859589834589056e-05)
	rest = p.emit("fma", p.emit("mul", r, r), tail, r)
	// n is in the lowest bits of n + magic; shifted, it is added to the exponent of 1.
	return p.emit("addbits", p.shiftLeft(n, 52), p.constant(1)), rest
}

func exp(p *program, x value) value {
	scale, rest := expParts(p, x)
	return p.emit("fma", scale, rest, scale)
}

// minusOne returns e^x - 1 = scale rest + (scale - 1).
func minusOne(p *program, x value) value {
	scale, rest := expParts(p, x)
	return p.emit("fma", scale, rest, p.emit("sub", scale, p.constant(1)))
}

// copySign gives y the sign of x; they differ only if both are 0.
func copySign(p *program, y, x value) value { return p.emit("or", y, p.emit("and", x, p.bits(sign))) }

func expm1(p *program, x value) value { return copySign(p, minusOne(p, x), x) }

// tanh x = (e^2x - 1) / (e^2x - 1 + 2).
func tanh(p *program, x value) value {
	m := minusOne(p, p.emit("add", x, x))
	return copySign(p, p.emit("div", m, p.emit("add", m, p.constant(2))), x)
}

func logistic(p *program, x value) value {
	e := exp(p, p.emit("xor", x, p.bits(sign)))
	return p.emit("div", p.constant(1), p.emit("add", p.constant(1), e))
}

// splitExponent returns e and f of x = 2^e (1 + f), with 1 + f between sqrt(1/2) and sqrt(2).
func splitExponent(p *program, x value) (e, f value) {
	above := p.emit("subbits", x, p.constant(math.Sqrt2/2))
	power := p.emit("and", above, p.bits(0xfff<<52))
	f = p.emit("sub", p.emit("subbits", x, power), p.constant(1))
	// e is signed: 2,048 is added and it is shifted into the lowest bits of 2^52.
	low := p.right(p.emit("xor", above, p.bits(sign)), 52)
	e = p.emit("sub", p.emit("or", low, p.constant(1<<52)), p.constant(1<<52+2048))
	return e, f
}

// logSeries returns e ln 2 + log(1 + f), by log(1 + f) = 2 artanh s for s = f / (2 + f); error
// 4e-12.
func logSeries(p *program, e, f value) value {
	s := p.emit("div", f, p.emit("add", f, p.constant(2)))
	z := p.emit("mul", s, s)
	tail := p.horner(z, 0.33333333333687726, 0.19999999398424337, 0.1428587731786638, 0.11095697246587528, 0.09681388418373767)
	twice := p.emit("add", s, s)
	return p.emit("fma", e, p.constant(math.Ln2), p.emit("fma", p.emit("mul", twice, z), tail, twice))
}

// logSpecials sets the logarithm of u for 0, negative numbers, infinity and NaN.
func logSpecials(p *program, y, u value) value {
	y = p.choose("lt", u, p.constant(math.Inf(1)), y, u)
	y = p.choose("lt", u, p.constant(0), p.bits(0x7ff8<<48), y)
	return p.choose("eq", u, p.constant(0), p.constant(math.Inf(-1)), y)
}

func log(p *program, x value) value {
	e, f := splitExponent(p, x)
	return logSpecials(p, logSeries(p, e, f), x)
}

// log1p uses f = x if the exponent of 1 + x is 0, because 1 + x - 1 has lost bits.
func log1p(p *program, x value) value {
	u := p.emit("add", x, p.constant(1))
	e, f := splitExponent(p, u)
	f = p.choose("eq", e, p.constant(0), x, f)
	return copySign(p, logSpecials(p, logSeries(p, e, f), u), x)
}

// erf returns x P(x^2) up to |x| = 4, where it is 1 in float32; P in t = x^2/8 - 1, error
// 4e-11.
func erf(p *program, x value) value {
	x = p.emit("min", p.constant(4), p.emit("max", p.constant(-4), x))
	t := p.emit("fma", p.emit("mul", x, x), p.constant(0.125), p.constant(-1))
	return p.emit("mul", x, p.horner(t, 0.35353099561954215, -0.1765762332932892, 0.13167512166462025, -0.10771044414410302,
		0.09020883714494014, -0.07472781257074841, 0.059888903555390775, -0.04576578772582612, 0.03304775025622779,
		-0.02246919993772733, 0.014397091967095183, -0.008622341358686591, 0.0047476391993702015, -0.0025422212206154073,
		0.0014372159312613072, -0.0006622194966461363, 0.0001587696196752785, -7.775892249416875e-05, 9.725663769924159e-05,
		-3.5566795785810666e-05))
}

// sine returns sin x or cos x for |x| below 2^40: x = n pi/2 + r, where n pi/2 is subtracted in
// two parts, the first exactly. n mod 4 selects sin r or cos r and the sign.
func sine(p *program, x value, cosine bool) value {
	n := p.emit("fma", x, p.constant(2/math.Pi), p.constant(magic))
	whole := p.emit("sub", n, p.constant(magic))
	r := p.emit("fma", whole, p.constant(-math.Pi/2), x)
	r = p.emit("fma", whole, p.constant(-6.123233995736766e-17), r)
	z := p.emit("mul", r, r)
	sin := p.emit("mul", r, p.horner(z, 1, -0.16666666666663596, 0.008333333330892811, -0.00019841266737518747,
		2.7555937170259983e-06, -2.480070624050586e-08))
	cos := p.emit("fma", p.emit("mul", z, z), p.horner(z, 0.04166666666666447, -0.001388888888714404, 2.4801585082648883e-05,
		-2.755633125022941e-07, 2.0697074803485915e-09), p.emit("fma", z, p.constant(-0.5), p.constant(1)))
	if cosine {
		n = p.emit("addbits", n, p.bits(1))
	}
	odd := p.emit("or", p.emit("and", n, p.bits(1)), p.constant(1)) // 1, or a little more
	y := p.choose("eq", odd, p.constant(1), sin, cos)
	return p.emit("xor", y, p.shiftLeft(p.emit("and", n, p.bits(2)), 62)) // bit 1 of n is the sign
}

// adam returns a step of Adam with the parameters b1, b2, 1 - b1, 1 - b2, root, eps, rate,
// shrink. kind is the type of the gradient.
func adam(name, kind string) *program {
	p := &program{name: name, arrays: append(floats("w", "m", "v"), array{"grad", kind})}
	b1, b2, c1, c2 := p.param(), p.param(), p.param(), p.param()
	root, eps, rate, shrink := p.param(), p.param(), p.param(), p.param()
	g := p.load("grad")
	m := p.emit("add", p.emit("mul", p.load("m"), b1), p.emit("mul", g, c1))
	v := p.emit("add", p.emit("mul", p.load("v"), b2), p.emit("mul", p.emit("mul", g, c2), g))
	p.store("m", m)
	p.store("v", v)
	below := p.emit("add", p.emit("div", p.emit("sqrt", v), root), eps)
	p.store("w", p.emit("sub", p.emit("mul", p.load("w"), shrink), p.emit("div", p.emit("mul", m, rate), below)))
	return p
}

// sgd returns a step of SGD with the parameters rate, momentum, decay.
func sgd(name, kind string) *program {
	p := &program{name: name, arrays: append(floats("w", "m"), array{"grad", kind})}
	rate, momentum, decay := p.param(), p.param(), p.param()
	w := p.load("w")
	g := p.emit("add", p.load("grad"), p.emit("mul", w, decay))
	m := p.emit("add", p.emit("mul", p.load("m"), momentum), g)
	p.store("m", m)
	p.store("w", p.emit("sub", w, p.emit("mul", m, rate)))
	return p
}
