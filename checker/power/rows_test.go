package power

import "github.com/dlmtest/dlmtest/history"

// row is one planted defect, where it can show, and the properties that may tell of it.
type row struct {
	defect, about string
	by            []string // any of these, violated, has caught it
	with          setting
	why           string // what no observer could know, where less than 95 % can be caught
}

var (
	mutex  = setting{leased: true, tokens: true, sent: true}
	silent = setting{leased: true} // no token, and nobody says when the request was sent
	held   = setting{tokens: true, sent: true}
)

func (s setting) of(kind history.Kind) setting  { s.kind = kind; return s }
func (s setting) under(fault string) setting    { s.fault = fault; return s }
func (s setting) queued() setting               { s.fair = true; return s }
func (s setting) waiting() setting              { s.patient = true; return s }
func (s setting) fencedBy(check string) setting { s.fence = check; return s }
func exclusion(more ...string) []string         { return append(more, "lease-exclusion", "mutual-exclusion") }
func claims(more ...string) []string            { return append(more, "honest-claims") }

var rows = []row{
	{"double-grant", "granted while another's lease has more than 30 ms to go", exclusion(), mutex, ""},
	{"double-grant", "the same, and nobody says when a request was sent", exclusion(), silent, ""},
	{"double-grant", "the same of a lock without a lease", exclusion(), held, ""},
	{"double-grant", "the same, and the holders do nothing with it", exclusion(), held.under("idle"), ""},
	{"double-grant", "with a lease, nobody says when a request was sent, and the holders do nothing with it", exclusion(), silent.under("idle"), "a lease that is counted from its invoke may seem to be over"},
	{"double-grant", "nobody says when a request was sent, and one server of three is killed meanwhile", exclusion(), silent.under("minority"), ""},
	{"double-grant", "while a client's clock runs too fast or too slow", exclusion(), mutex.under("clock"), ""},
	{"double-grant", "while a client's clock is wrong by up to three leases", exclusion(), mutex.under("step"), ""},
	{"expires-early", "after half of its lease a hold no longer keeps others away", exclusion(), mutex, ""},
	{"early-end", "a hold ends by itself after 0.2 to 0.6 of its lease, and nobody is told", exclusion("false-loss", "honest-claims", "lock-info"), mutex, ""},
	{"early-end", "the same, and nobody says when a request was sent", exclusion("false-loss", "honest-claims", "lock-info"), silent, ""},
	{"early-end", "while a client's clock runs too fast or too slow", exclusion("false-loss", "honest-claims", "lock-info"), mutex.under("clock"), ""},
	{"early-revoke", "the holder is told after 0.2 to 0.6 of its lease that it is lost", exclusion("false-loss"), mutex.fencedBy("check-session"), ""},
	{"early-revoke", "the same of a lock without a lease", exclusion("false-loss"), held.fencedBy("check-session"), ""},
	{"early-revoke", "the same of a semaphore", exclusion("false-loss"), mutex.of(history.Semaphore).fencedBy("check-session"), ""},
	{"early-revoke", "of a mutex with leases, and nobody says when a request was sent", exclusion("false-loss"), silent.fencedBy("check-session"), "a lease that is counted from its invoke may seem to be over"},
	{"late-end", "the key of a holder that died is kept for 17 s", []string{"recovery", "deadlock-freedom"}, mutex.under("kill"), ""},
	{"late-end", "the same of a lock without a lease", []string{"recovery", "deadlock-freedom"}, held.under("kill"), ""},
	{"never-freed", "a release is answered ok, and the key is kept for ever", []string{"deadlock-freedom"}, mutex, ""},
	{"slow-handover", "after a release nobody is granted the key for 7 s", []string{"deadlock-freedom"}, mutex, ""},
	{"release-ignored", "a release is answered ok, and the key is kept until its lease ends", []string{"lock-info", "honest-claims", "deadlock-freedom"}, mutex, "nobody looks between the release and the end of the lease, and no lock promises its waiters a faster handover; where one client asks alone, free-lock sees it"},
	{"release-refused", "a release of what is held is answered not held", []string{"false-loss", "honest-claims", "lease-exclusion"}, mutex, ""},
	{"token-back", "the tokens of two grants, one after the other, are swapped", []string{"fencing-monotonic"}, mutex, ""},
	{"token-back", "the same, and nobody says when a request was sent", []string{"fencing-monotonic"}, setting{leased: true, tokens: true}.waiting(), "both asked at once, and no look found one after the other"},
	{"token-repeat", "a later grant gets the token of the one before", []string{"fencing-monotonic"}, mutex, ""},
	{"naive-release", "a release on a lost hold frees whoever holds the key", []string{"release-by-owner", "lease-exclusion", "honest-claims", "false-loss"}, mutex.under("pause"), ""},
	{"false-ok-extend", "a renewal of a lost hold is answered ok", claims("lease-exclusion"), mutex.under("pause").waiting(), ""},
	{"false-ok-extend", "the same, without tokens or the time of sending", claims(), silent.under("pause").waiting(), ""},
	{"false-ok-extend", "the same, late answers waited for", claims("lease-exclusion"), mutex.under("delay").waiting(), "the answer never came, or its holder had asked for its release as well and the renewal may have been first"},
	{"false-ok-release", "a release of a lost hold is answered ok", claims(), mutex.under("pause"), ""},
	{"false-ok-release", "the same, without tokens or the time of sending", claims(), silent.under("pause"), ""},
	{"false-loss", "a renewal of what is held is answered not held", []string{"false-loss"}, mutex, ""},
	{"false-loss", "the same while one server of three, which the service survives, is away", []string{"false-loss"}, mutex.under("minority"), ""},
	{"wrong-look", "a look at the server names nobody, though somebody holds the key", []string{"lock-info"}, mutex, ""},
	{"false-refusal", "a try is refused, though nobody holds the key", []string{"honest-refusal"}, mutex.of(history.Tried), "another attempt was alive meanwhile, and may be what it met"},
	{"endless-claim", "a grant with a lease is claimed for ever", []string{"validity-bound"}, mutex, ""},
	{"long-claim", "a lease is counted from its answer, and 20 ms more", []string{"validity-bound"}, mutex, ""},
	{"stale-accepted", "the fence lets a stale write through", []string{"fenced-writes"}, mutex.under("pause"), ""},
	{"valid-refused", "the fence refuses the valid holder", []string{"fenced-writes"}, mutex, ""},
	{"lost-update", "the resource forgets an update that it has acknowledged", []string{"no-lost-update/unfenced"}, mutex, ""},
	{"stale-read", "a read misses the update before it", []string{"no-lost-update/unfenced"}, mutex, ""},
	{"stranger", "a write is made by an owner that was never granted the key", []string{"mutual-exclusion"}, mutex, ""},
	{"(client)", "a stalled client that checks its session, is told of the loss after its check, and writes", []string{"mutual-exclusion"}, mutex.under("zombie").fencedBy("check-session"), ""},
	{"leaked-permit", "a permit that was given back is never free again", []string{"deadlock-freedom"}, mutex.of(history.Semaphore), ""},
	{"leaked-permit", "the same of one permit of two, while the other is held for long", []string{"deadlock-freedom"}, mutex.of(history.Semaphore).under("hoard"), ""},
	{"double-grant", "a permit beyond their number", exclusion("permits"), mutex.of(history.Semaphore), ""},
	{"double-grant", "a permit beyond their number, of a semaphore without a lease, and the holders do nothing with it", exclusion("permits"), held.of(history.Semaphore).under("idle"), ""},
	{"double-grant", "a writer beside another, or beside readers", exclusion("rw-exclusion"), mutex.of(history.ReadWrite), ""},
	{"double-grant", "the same, and nobody says when a request was sent", exclusion("rw-exclusion"), silent.of(history.ReadWrite), ""},
	{"double-grant", "the same of a lock without a lease, and the holders do nothing with it", exclusion("rw-exclusion"), held.of(history.ReadWrite).under("idle"), ""},
	{"token-between", "of two readers and a writer after them the first has the greatest token and the second the lowest", []string{"fencing-monotonic"}, mutex.of(history.ReadWrite), ""},
	{"token-between", "the same, and nobody says when a request was sent", []string{"fencing-monotonic"}, setting{leased: true, tokens: true}.of(history.ReadWrite), ""},
	{"token-between", "the same of a lock without a lease", []string{"fencing-monotonic"}, held.of(history.ReadWrite), ""},
	{"other-grant", "a reader is granted it as the writer, or a writer as a reader", claims(), mutex.of(history.ReadWrite), ""},
	{"other-grant", "another number of permits is granted than was asked for", claims(), mutex.of(history.Semaphore), ""},
	{"other-renewal", "a renewal tells a reader that it is the writer, or a writer that it is a reader", claims(), mutex.of(history.ReadWrite), ""},
	{"other-renewal", "a renewal tells another number of permits than is held", claims(), mutex.of(history.Semaphore), ""},
	{"reader-blocked", "a reader is not let in beside readers", []string{"deadlock-freedom", "starvation"}, mutex.of(history.ReadWrite), ""},
	{"freed-at-once", "an inner release frees the lock", []string{"reentrancy", "lease-exclusion", "honest-claims", "false-loss", "lock-info"}, mutex.of(history.Reentrant), ""},
	{"wrong-count", "a holder is told that it holds the lock once more than it does", []string{"reentrancy"}, mutex.of(history.Reentrant), ""},
	{"inner-refused", "a holder is refused what it has", []string{"reentrancy"}, mutex.of(history.Reentrant), ""},
	{"unfair", "a waiter is granted the key before the first of the queue", []string{"fairness", "fencing-monotonic"}, mutex.queued(), ""},
	{"lost-place", "the first of the queue must queue anew", []string{"fairness", "fencing-monotonic"}, mutex.queued(), "a place that was never granted is known to the server alone"},
	{"dead-place", "the place of one that gave up blocks the queue", []string{"deadlock-freedom"}, mutex.queued(), ""},
	{"amnesia", "a restart of the server forgets who holds the key", exclusion("honest-claims", "false-loss", "recovery"), mutex.under("restart"), "nearly all of the others had asked for their release while the server was down, which one that remembers answers alike; the rest were told of their loss, and no promise says that a grant survives a crash of its server"},
	{"minority-stall", "each cut of one server of three, 1.5 s long and one after the other, stops all grants", []string{"availability"}, mutex, ""},
}

// allowed are the properties of the clients, which a stopped client breaks with a sound service.
var ofClients = map[string]bool{"mutual-exclusion": true, "rw-exclusion": true, "permits": true, "same-reads": true, "no-lost-update/unfenced": true, "no-lost-update/fenced": true}

// The faults that a sound service is put under.
var soundFaults = []string{"", "careless", "hoard", "pause", "kill", "cut", "delay", "loss", "clock", "step", "server-pause", "restart", "minority"}
