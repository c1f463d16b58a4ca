package serve

import (
	"io"
	"net/http"
	"time"
)

// Unstalled gives up on readers that take nothing for so long. A slow one that goes on
// reading is served to its end, however long that takes.
func Unstalled(handler http.Handler, limit time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u := &unstalled{ResponseWriter: w, control: http.NewResponseController(w), limit: limit}
		u.goesOn()
		handler.ServeHTTP(u, r)
	})
}

// unstalled puts the deadline off with each piece that was taken.
type unstalled struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
}

func (u *unstalled) goesOn() {
	_ = u.control.SetWriteDeadline(time.Now().Add(u.limit)) // a connection that is gone needs none
}

// pieceSize is how much is sent at a time.
const pieceSize = 64 << 10

// Write implements io.Writer. What is long is sent in pieces.
func (u *unstalled) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		var m int
		u.goesOn()
		m, err = u.ResponseWriter.Write(p[:min(pieceSize, len(p))])
		n, p = n+m, p[m:]
	}
	return n, err
}

// ReadFrom keeps the copying of files to this writer's pieces.
func (u *unstalled) ReadFrom(from io.Reader) (int64, error) {
	return io.CopyBuffer(struct{ io.Writer }{u}, struct{ io.Reader }{from}, make([]byte, pieceSize))
}

// Unwrap lets http.ResponseController find what is below.
func (u *unstalled) Unwrap() http.ResponseWriter { return u.ResponseWriter }
