// Package protocol drives a lock library of any language as a process of its own:
// the lock client protocol, version 1, JSON lines on the stdin and stdout of an
// adapter. docs/protocol.md is its specification. What an adapter does against it is
// a Fault, which is never a verdict about the lock.
package protocol

// Version is the newest version that this package speaks; it speaks all from 1 on.
const Version = 1

// Do names what a request asks for.
type Do string

// The requests, in the order in which an adapter's life meets them.
const (
	DoHello   Do = "hello"   // which version, and what do you offer?
	DoOpen    Do = "open"    // open a session with the lock service
	DoAcquire Do = "acquire" // wait for a key, at most wait_ms
	DoTry     Do = "try"     // take a key or be refused, without waiting
	DoExtend  Do = "extend"  // renew a grant for another lease
	DoRelease Do = "release" // give a grant back
	DoPing    Do = "ping"    // are you there? Asked only of who offers concurrent
	DoClose   Do = "close"   // end the session and free what it holds
)

// Request is one line to an adapter. Only the fields of its Do are set.
type Request struct {
	ID int64 `json:"id"` // from 1, rising: no two requests of a process share one
	Do Do    `json:"do"`

	Versions []int `json:"versions,omitempty"` // hello: those that the asker speaks

	Endpoints []string          `json:"endpoints,omitempty"` // open: host:port of every server
	Ways      map[string]string `json:"ways,omitempty"`      // open: where a server is reached, by the host:port that other servers name it by
	Lease     int64             `json:"lease_ms,omitempty"`  // open: lease or session timeout to ask for, ms
	Client    string            `json:"client,omitempty"`    // open: name of this client
	Seed      uint64            `json:"seed,omitempty"`      // open: for random choices of the adapter

	Key     string `json:"key,omitempty"`     // acquire, try
	Wait    int64  `json:"wait_ms,omitempty"` // acquire: the longest wait, ms
	Mode    Mode   `json:"mode,omitempty"`    // acquire, try: "": exclusive
	Permits int    `json:"permits,omitempty"` // acquire, try: of a semaphore, how many it has in all; 0: it is none
	Want    int    `json:"want,omitempty"`    // acquire, try: of a semaphore, how many of them are wanted, all or none; 0: it is none

	Thread string `json:"thread,omitempty"` // acquire: of a reentrant lock, who asks; "": it is none

	Grant string `json:"grant,omitempty"` // extend, release
}

// Mode is how a key is locked.
type Mode string

// The modes.
const (
	Exclusive Mode = "exclusive"
	Shared    Mode = "shared" // readers together
)

// Answer is one line from an adapter that has an id: exactly one of OK and Error is set.
type Answer struct {
	ID    int64   `json:"id"`
	OK    *Result `json:"ok"`
	Error *Error  `json:"error"`
}

// Result is what an adapter answers when it has done what was asked.
type Result struct {
	// hello
	Version int      `json:"version,omitempty"` // chosen among Request.Versions
	Name    string   `json:"name,omitempty"`    // of the library or the adapter
	Library string   `json:"library,omitempty"` // version of the library
	Offers  []string `json:"offers,omitempty"`  // see Offers

	// acquire, try
	Grant string `json:"grant,omitempty"` // name of the grant, unique in the process
	Token int64  `json:"token,omitempty"` // fencing token

	// acquire, try, extend
	Deadline int64 `json:"deadline_ns,omitempty"` // until when the library itself says that it holds, CLOCK_MONOTONIC
	Sent     int64 `json:"sent_ns,omitempty"`     // when the request whose answer proved the hold was sent, CLOCK_MONOTONIC
}

// Error is what an adapter answers when it has not.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Code says what an error proves.
type Code string

// The codes. All but Unknown are definite: the request certainly had no effect.
const (
	NotGranted  Code = "not-granted" // acquire, try: nothing is held, and nothing will be
	Held        Code = "held"        // acquire, try: not granted, and the service said that another holds the lock
	NotHeld     Code = "not-held"    // extend, release: the service knows the grant no more
	Config      Code = "config"      // hello, open, acquire, try: invalid configuration; do not retry
	Unsupported Code = "unsupported" // the adapter does not do this
	Unknown     Code = "unknown"     // it may have had its effect, or have it yet
)

// Event is one line from an adapter that has no id: what a session learns about itself.
type Event struct {
	Event string `json:"event"`           // suspended, resumed or lost
	Grant string `json:"grant,omitempty"` // the one that is concerned; "": the whole session
	Why   string `json:"why,omitempty"`
	At    int64  `json:"at_ns,omitempty"` // when the library told, CLOCK_MONOTONIC; 0: now
}

// What an adapter can offer. What is not offered is not asked for.
const (
	OfferTry        = "try"        // answers try
	OfferExtend     = "extend"     // answers extend
	OfferToken      = "token"      // each grant has a fencing token, rising from grant to grant
	OfferValidity   = "validity"   // the library tells until when it holds: each grant and renewal has a deadline
	OfferSent       = "sent"       // each grant and renewal says when the request was sent that proved it, and started its lease
	OfferAsked      = "asked"      // each grant says when the request was sent that proved it; its lease may be older
	OfferEvents     = "events"     // tells suspended, resumed and lost
	OfferLease      = "lease"      // what is not renewed ends by itself after lease_ms
	OfferRenews     = "renews"     // an open session renews its grants by itself
	OfferOrder      = "order"      // waiters are served in the order in which they came
	OfferWait       = "wait"       // acquire ends at wait_ms, and leaves nothing behind
	OfferConcurrent = "concurrent" // answers others, and ping, while one request waits
	OfferShared     = "shared"     // knows the mode shared
	OfferPermits    = "permits"    // knows permits
	OfferReentrant  = "reentrant"  // knows threads, which take again what they hold
)

// Offers are all that can be offered, each with its sentence.
var Offers = []struct{ Name, About string }{
	{OfferTry, "answers try"},
	{OfferExtend, "answers extend"},
	{OfferToken, "each grant has a fencing token, rising from grant to grant"},
	{OfferValidity, "the library itself tells until when it holds"},
	{OfferSent, "each grant and renewal says when the request was sent that started its lease"},
	{OfferAsked, "each grant says when the request was sent that proved it"},
	{OfferEvents, "tells suspended, resumed and lost"},
	{OfferLease, "what is not renewed ends by itself after lease_ms"},
	{OfferRenews, "an open session renews its grants by itself"},
	{OfferOrder, "waiters are served in the order in which they came"},
	{OfferWait, "acquire ends at wait_ms and leaves nothing behind"},
	{OfferConcurrent, "answers others, and ping, while one request waits"},
	{OfferShared, "knows the mode shared: readers together"},
	{OfferPermits, "knows permits: a semaphore"},
	{OfferReentrant, "knows threads, which take again what they hold"},
}
