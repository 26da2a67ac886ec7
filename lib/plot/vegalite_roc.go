package plot

// VegaLite implements Interactive. A rate that log axes cannot show is drawn at their start; the
// tooltip has the rate itself.
func (r ROC) VegaLite() ([]byte, error) {
	rows := 0
	for _, s := range r.Curves {
		rows += len(s.FPR)
	}
	return encodeVega(r, rows, func() object {
		names := make([]string, len(r.Curves))
		for i := range r.Curves {
			names[i] = oneLine(r.name(i))
		}
		s := span{r.low(), 1}
		v := vegaLines{
			x: vegaAxis(Axis{Label: "false positive rate", Log: r.Log}, s, true), y: vegaAxis(Axis{Label: "true positive rate", Log: r.Log}, s, true),
			names: names, styles: r.styles(), width: vegaWidth(r),
			xName: "false positive rate", yName: "true positive rate",
		}
		signs := []string{"dashed line: chance"}
		if len(r.Paper) > 0 {
			signs = append(signs, paperSign)
		}
		v.tips = tooltip("series", "curve", "x", v.xName, "y", v.yName)
		if r.Log {
			v.tips = tooltip("series", "curve", "fpr", v.xName, "tpr", v.yName)
		}
		if r.hasChance() {
			signs = append(signs, "yellow band: "+chanceLabel)
		}
		layers := append(r.vegaChance(v), v.layers(false)...)
		paper := v.paper(r.visiblePaper())
		for _, l := range paper { // on the edge of log axes, and whole
			delete(l.(object)["mark"].(object), "clip")
		}
		spec := vegaSpec(r, signs, append(layers, paper...))
		spec["datasets"] = object{pointTable: r.rows(names)}
		return spec
	})
}

// rows returns the corners of all curves, with drawn and true values. Points inside a horizontal
// or vertical piece are left out: the line is the same.
func (r ROC) rows(names []string) list {
	var out list
	for k, s := range r.Curves {
		for i := range s.FPR {
			if s.inside(i) {
				continue
			}
			row := object{"series": names[k], "i": i, "x": max(s.FPR[i], r.low()), "y": max(s.TPR[i], r.low())}
			if r.Log {
				row["fpr"], row["tpr"] = s.FPR[i], s.TPR[i]
			}
			out = append(out, row)
		}
	}
	return out
}

// inside reports whether point i lies between two others on a horizontal or vertical piece of the
// curve.
func (s ROCCurve) inside(i int) bool {
	if i == 0 || i == len(s.FPR)-1 {
		return false
	}
	level := s.TPR[i-1] == s.TPR[i] && s.TPR[i] == s.TPR[i+1]
	upright := s.FPR[i-1] == s.FPR[i] && s.FPR[i] == s.FPR[i+1]
	return level || upright
}

// vegaChance returns the diagonal, over the chance band if there is one.
func (r ROC) vegaChance(v vegaLines) list {
	diagonal := object{
		"data":     data(list{object{"x": r.low(), "y": r.low()}, object{"x": 1, "y": 1}}),
		"mark":     object{"type": "line", "color": hex(nullLine), "strokeWidth": 1.3, "strokeDash": list{5, 3}, "clip": true},
		"encoding": object{"x": field("x", v.x), "y": field("y", v.y)},
	}
	if !r.hasChance() {
		return list{diagonal}
	}
	var rows list
	band := r.chance()
	for i, x := range band.X {
		rows = append(rows, object{"x": x, "low": band.Low[i], "high": band.High[i]})
	}
	return list{object{
		"data":     data(rows),
		"mark":     object{"type": "area", "color": hex(bandFill), "opacity": float64(bandFill.A) / 255, "clip": true},
		"encoding": object{"x": field("x", v.x), "y": field("low", v.y), "y2": object{"field": "high"}},
	}, diagonal}
}
