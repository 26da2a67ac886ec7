package gen

import "math"

// programs64 returns the functions of float64 and the conversions to and from float32.
func programs64() []*program {
	var all []*program
	wide := func(name string, arrays ...array) *program {
		p := &program{name: name, wide: true, arrays: arrays}
		all = append(all, p)
		return p
	}
	double := func(name string) array { return array{name, "float64"} }
	for _, f := range []struct {
		name string
		of   func(p *program, a, b value) value
	}{
		{"add64", func(p *program, a, b value) value { return p.emit("add", a, b) }},
		{"sub64", func(p *program, a, b value) value { return p.emit("sub", a, b) }},
		{"mul64", func(p *program, a, b value) value { return p.emit("mul", a, b) }},
		{"div64", func(p *program, a, b value) value { return p.emit("div", a, b) }},
		{"max64", largest}, {"min64", smallest},
	} {
		p := wide(f.name, double("dst"), double("a"), double("b"))
		p.store("dst", f.of(p, p.load("a"), p.load("b")))
	}
	for _, f := range []struct {
		name     string
		from, to string
		of       func(p *program, a value) value
	}{
		{"widen", "float32", "float64", func(_ *program, a value) value { return a }},
		{"narrow", "float64", "float32", func(_ *program, a value) value { return a }},
		{"neg64", "float64", "float64", func(p *program, a value) value { return p.emit("xor", a, p.bits(sign)) }},
		{"abs64", "float64", "float64", func(p *program, a value) value { return p.emit("and", a, p.bits(sign-1)) }},
		{"sqrt64", "float64", "float64", func(p *program, a value) value { return p.emit("sqrt", a) }},
		{"exp64", "float64", "float64", exp64}, {"log64", "float64", "float64", log64}, {"log1p64", "float64", "float64", log1p64},
	} {
		p := wide(f.name, array{"dst", f.to}, array{"a", f.from})
		p.store("dst", f.of(p, p.load("a")))
	}
	for _, f := range []struct {
		name string
		of   func(p *program, a, b value) value
	}{{"maxTo", largest}, {"minTo", smallest}} {
		p := wide(f.name, double("dst"), array{"a", "float32"})
		p.store("dst", f.of(p, p.load("dst"), p.load("a")))
	}
	return all
}

// ln 2 in two parts: the product of the first with an integer is exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// exp64 returns e^x as (e^r s) t: x = n ln 2 + r with |r| <= ln 2 / 2, s = 2^h and t = 2^(n-h)
// for h close to n/2, so that neither overflows. e^r is its Taylor series up to r^13 / 13!
// (error 4e-18). x is clipped where e^x is 0 or infinite.
func exp64(p *program, x value) value {
	x = p.emit("min", p.constant(710), p.emit("max", p.constant(-746), x)) // NaN stays: it is the second operand
	n := p.emit("sub", p.emit("fma", x, p.constant(math.Log2E), p.constant(magic)), p.constant(magic))
	r := p.emit("fma", n, p.constant(-ln2Low), p.emit("fma", n, p.constant(-ln2High), x))
	var c []float64
	for k, f := 2, 2.0; k <= 13; k, f = k+1, f*float64(k+1) {
		c = append(c, 1/f)
	}
	rest := p.emit("fma", p.emit("mul", r, r), p.horner(r, c...), r)
	half := p.emit("fma", n, p.constant(0.5), p.constant(magic))
	s := p.power(half)
	t := p.power(p.emit("add", p.emit("sub", n, p.emit("sub", half, p.constant(magic))), p.constant(magic)))
	return p.emit("mul", p.emit("fma", s, rest, s), t)
}

// power returns 2^n for n + magic: n is in the lowest bits; shifted, it is added to the
// exponent of 1.
func (p *program) power(n value) value { return p.emit("addbits", p.shiftLeft(n, 52), p.constant(1)) }

// series64 returns e ln 2 + log(1 + f) + more, as FreeBSD's e_log.c: with s = f / (2 + f),
// log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)).
func series64(p *program, e, f, more value) value {
	s := p.emit("div", f, p.emit("add", f, p.constant(2)))
	z := p.emit("mul", s, s)
	r := p.emit("mul", z, p.horner(z, 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
		2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01))
	half := p.emit("mul", p.emit("mul", f, f), p.constant(0.5))
	inner := p.emit("fma", s, p.emit("add", half, r), p.emit("fma", e, p.constant(ln2Low), more))
	return p.emit("sub", p.emit("mul", e, p.constant(ln2High)), p.emit("sub", p.emit("sub", half, inner), f))
}

func log64(p *program, x value) value {
	const normal = 0x1p-1022 // smaller numbers are subnormal
	lifted := p.choose("lt", x, p.constant(normal), p.emit("mul", x, p.constant(1<<54)), x)
	e, f := splitExponent(p, lifted)
	e = p.emit("sub", e, p.choose("lt", x, p.constant(normal), p.constant(54), p.constant(0)))
	return logSpecials(p, series64(p, e, f, p.constant(0)), x)
}

// log1p64 returns log u for u = 1 + x, plus the rounding error of the sum divided by u. If the
// exponent of u is 0, f is x and there is no error.
func log1p64(p *program, x value) value {
	u := p.emit("add", x, p.constant(1))
	most := p.emit("sub", u, p.constant(1))
	lost := p.emit("add", p.emit("sub", p.constant(1), p.emit("sub", u, most)), p.emit("sub", x, most))
	e, f := splitExponent(p, u)
	f = p.choose("eq", e, p.constant(0), x, f)
	more := p.choose("eq", e, p.constant(0), p.constant(0), p.emit("div", lost, u))
	return copySign(p, logSpecials(p, series64(p, e, f, more), u), x)
}
