// Dates and times in ISO 8601, as days.

package datasets

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// secondsPerDay is without leap seconds, as in Unix time.
const secondsPerDay = 24 * 60 * 60

// Days returns the days from 1970-01-01 to a moment, both in UTC, with a fraction for the time.
func Days(t time.Time) float64 {
	seconds := t.Unix()
	day := math.Floor(float64(seconds) / secondsPerDay)
	rest := float64(seconds-int64(day)*secondsPerDay) + float64(float64(t.Nanosecond())/1e9)
	return day + float64(rest/secondsPerDay)
}

// FormatDays prints a number of days as an ISO 8601 date, with the time if there is one.
func FormatDays(days float64) string {
	day := math.Floor(days)
	seconds := math.Round((days-day)*secondsPerDay*1e3) / 1e3
	t := time.Unix(int64(day)*secondsPerDay, 0).UTC()
	if seconds == 0 {
		return t.Format(time.DateOnly)
	}
	return t.Add(time.Duration(seconds * 1e9)).Format("2006-01-02T15:04:05.999")
}

// ParseDate reads a date such as 2021-04-03, or a date and a time such as 2021-04-03T15:04:05 or
// 2021-04-03 15:04, with fractions of a second and an offset (Z, +02:00) if there are any. A time
// without an offset is in UTC. The result is in days; see Days.
//
// Other ways to write a date are refused: 03/04/2021 is a day in March or in April.
func ParseDate(text string) (days float64, err error) {
	t, err := parseDay(text)
	if err == nil && len(text) > len(time.DateOnly) {
		t, err = parseTime(t, text[len(time.DateOnly):])
	}
	if err != nil {
		return 0, fmt.Errorf("%q is not a date such as 2021-04-03 or 2021-04-03T15:04:05: %w", clip(text), err)
	}
	return Days(t), nil
}

var errNoDay = errors.New("it does not begin with year-month-day")

// parseDay reads the first ten bytes. time.Parse would accept no less, and is slower.
func parseDay(text string) (time.Time, error) {
	if len(text) < len(time.DateOnly) || text[4] != '-' || text[7] != '-' {
		return time.Time{}, errNoDay
	}
	year, a := digits(text[0:4])
	month, b := digits(text[5:7])
	day, c := digits(text[8:10])
	if !a || !b || !c {
		return time.Time{}, errNoDay
	}
	t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if t.Year() != year || t.Month() != time.Month(month) || t.Day() != day {
		return time.Time{}, errors.New("there is no such day")
	}
	return t, nil
}

func digits(text string) (int, bool) {
	n := 0
	for _, b := range []byte(text) {
		if b < '0' || b > '9' {
			return 0, false
		}
		n = 10*n + int(b-'0')
	}
	return n, true
}

// timeLayouts are the forms of a time after the day. Go reads fractions after the seconds of any
// of them.
var timeLayouts = []string{"15:04:05", "15:04:05Z07:00", "15:04:05Z0700", "15:04", "15:04Z07:00"}

// parseTime reads what follows the ten bytes of a day: T or a blank, and a time.
func parseTime(day time.Time, text string) (time.Time, error) {
	if text[0] != 'T' && text[0] != ' ' || len(text) < len("T15:04") || text[3] != ':' {
		return day, fmt.Errorf("%q after the day is no time", clip(text))
	}
	for _, layout := range timeLayouts {
		t, err := time.Parse(layout, text[1:])
		if err != nil {
			continue
		}
		_, offset := t.Zone()
		seconds := t.Hour()*60*60 + t.Minute()*60 + t.Second() - offset
		return day.Add(time.Duration(seconds)*time.Second + time.Duration(t.Nanosecond())), nil
	}
	return day, fmt.Errorf("%q after the day is no time", clip(text))
}

// parsePeriod reads a date for a condition as a half-open interval of days: a year (2021), a month
// (2021-04), a day, or one moment, whose end is its start.
func parsePeriod(text string) (from, to float64, err error) {
	if year, ok := digits(text); ok && len(text) == len("2006") {
		start := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		return Days(start), Days(start.AddDate(1, 0, 0)), nil
	}
	if start, err := parseDay(text + "-01"); err == nil && len(text) == len("2006-01") {
		return Days(start), Days(start.AddDate(0, 1, 0)), nil
	}
	if from, err = ParseDate(text); err != nil {
		return 0, 0, err
	}
	if strings.LastIndexAny(text, "+-") > len(time.DateOnly) {
		return 0, 0, fmt.Errorf("%q has an offset from UTC: leave it out, times of a table are compared as they are written there", clip(text))
	}
	if len(text) == len(time.DateOnly) {
		return from, from + 1, nil
	}
	return from, from, nil
}
