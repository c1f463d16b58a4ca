package service

import (
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/grpc/codes"
)

// kind is one way in which a request can fail, as each API says it.
type kind struct {
	name   string
	status int
	code   codes.Code
}

// The kinds. Whatever is not unavailable certainly had no effect. By gRPC, held is an
// answer (acquired: false) and no error.
var (
	malformed    = kind{"malformed", http.StatusBadRequest, codes.InvalidArgument}
	unauthorized = kind{"unauthorized", http.StatusUnauthorized, codes.Unauthenticated}
	notHolder    = kind{"not-holder", http.StatusForbidden, codes.PermissionDenied}
	unknown      = kind{"unknown", http.StatusNotFound, codes.NotFound}
	held         = kind{"held", http.StatusConflict, codes.Aborted}
	unsupported  = kind{"unsupported", http.StatusUnprocessableEntity, codes.FailedPrecondition}
	busy         = kind{"busy", http.StatusTooManyRequests, codes.ResourceExhausted}
	unavailable  = kind{"unavailable", http.StatusServiceUnavailable, codes.Unavailable}
)

// The effects of a request that failed.
const (
	effectNone    = "none"    // certainly nothing was changed, or what was is undone
	effectUnknown = "unknown" // it may have been done, or may be done still
)

// problem is why a request failed.
type problem struct {
	kind
	effect, message string
}

func (p *problem) Error() string { return p.message }

func problemf(k kind, format string, args ...any) error {
	return &problem{kind: k, effect: effectNone, message: fmt.Sprintf(format, args...)}
}

// open is a failure after which nobody knows what etcd has done.
func open(err error) error {
	return &problem{kind: unavailable, effect: effectUnknown, message: "etcd does not answer: " + err.Error()}
}

// asProblem takes an error without a kind for one that leaves the outcome open.
func asProblem(err error) *problem {
	var p *problem
	if !errors.As(err, &p) {
		errors.As(open(err), &p)
	}
	return p
}

// unchanged says of a failure, whatever it is, that nothing was changed all the same.
func unchanged(err error) error {
	p := *asProblem(err)
	p.effect = effectNone
	return &p
}
