// Download of one file over HTTP, with resume and a stall timeout.

package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// download appends the bytes behind a URL to the part file. want is the published size, 0 if
// unknown; more than limit bytes are refused. resumed reports whether earlier bytes were reused.
func (d *downloader) download(ctx context.Context, root *os.Root, part, url string, want, limit int64) (resumed bool, err error) {
	have, err := size(root, part)
	if err != nil {
		return false, err
	}
	if want > 0 && have >= want {
		return true, nil // complete or too long; the hash decides
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	response, err := d.request(ctx, url, have)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	from, done, err := resumePoint(response, have)
	if err != nil || done {
		return true, err
	}
	file, err := root.OpenFile(part, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return false, &finalError{err}
	}
	total := want
	if total == 0 && response.ContentLength > 0 {
		total = from + response.ContentLength
	}
	w := &stallWriter{cancel: cancel, stall: d.stall, done: from, report: func(n int64) { d.progress.bytes(n, total) }}
	err = errors.Join(write(ctx, file, from, limit, response.Body, w), file.Close())
	if err != nil {
		return from > 0, err
	}
	if w.done < want {
		return from > 0, fmt.Errorf("the answer ended after %d of %d bytes", w.done, want)
	}
	return from > 0, nil
}

// request sends the request for the URL, from byte `from` on.
func (d *downloader) request(ctx context.Context, url string, from int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, &finalError{err}
	}
	request.Header.Set("Accept-Encoding", "identity") // offsets count the file's own bytes
	request.Header.Set("User-Agent", "lethe-datasets")
	if from > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	return d.client.Do(request)
}

// resumePoint returns the position in the part file at which the response's bytes belong. done
// reports that the server has no more bytes than the part file.
func resumePoint(response *http.Response, have int64) (from int64, done bool, err error) {
	switch code := response.StatusCode; {
	case code == http.StatusOK:
		return 0, false, nil
	case code == http.StatusPartialContent:
		var start int64
		if _, err := fmt.Sscanf(response.Header.Get("Content-Range"), "bytes %d-", &start); err != nil || start != have {
			return 0, false, &finalError{fmt.Errorf("asked for byte %d on, the server sent %q", have, response.Header.Get("Content-Range"))}
		}
		return have, false, nil
	case code == http.StatusRequestedRangeNotSatisfiable && have > 0:
		return 0, true, nil
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500:
		return 0, false, fmt.Errorf("the server answered %s", response.Status)
	default:
		return 0, false, &finalError{fmt.Errorf("the server answered %s", response.Status)}
	}
}

// write writes the body at byte from of the file and truncates what was there.
func write(ctx context.Context, file *os.File, from, limit int64, body io.Reader, w *stallWriter) error {
	if err := file.Truncate(from); err != nil {
		return &finalError{err}
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return &finalError{err}
	}
	w.file = file
	timer := time.AfterFunc(w.stall, w.onStall)
	defer timer.Stop()
	w.timer = timer
	_, err := io.Copy(w, io.LimitReader(body, limit-from+1))
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = cause
	}
	if err == nil && w.done > limit {
		err = &finalError{fmt.Errorf("more than the expected %d bytes", limit)}
	}
	return errors.Join(err, file.Sync())
}

// stallWriter writes to a file, reports every write, and cancels the download if no write comes
// for the time stall.
type stallWriter struct {
	file   *os.File
	timer  *time.Timer
	stall  time.Duration
	cancel context.CancelCauseFunc
	done   int64
	report func(done int64)
}

func (w *stallWriter) onStall() { w.cancel(fmt.Errorf("no byte for %v", w.stall)) }

func (w *stallWriter) Write(b []byte) (int, error) {
	w.timer.Reset(w.stall)
	n, err := w.file.Write(b)
	w.done += int64(n)
	w.report(w.done)
	if err != nil {
		return n, &finalError{err} // a full disk, not the network
	}
	return n, nil
}
