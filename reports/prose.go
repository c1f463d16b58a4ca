package reports

import (
	"fmt"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// Prose is the judgement in plain language.
type Prose struct {
	Broke     string `json:"broke"`     // what broke
	Fencing   string `json:"fencing"`   // whether fencing saved the data
	Prevented string `json:"prevented"` // what would have prevented it, or what a green means
}

// Explain puts a judgement into plain language. It adds no verdict of its own.
func Explain(setup history.Setup, r checker.Result) Prose {
	if len(r.Properties) == 0 {
		return Prose{"Not known: the run was not judged.", "Not known: the run was not judged.", "Nothing about the lock. The timeline shows what was recorded."}
	}
	verdicts := map[string]checker.Verdict{}
	for _, p := range r.Properties {
		verdicts[p.Name] = p.Verdict
	}
	return Prose{Broke: broke(r), Fencing: fencing(setup, r, verdicts), Prevented: prevented(setup, r, verdicts)}
}

func broke(r checker.Result) string {
	name, v, ok := First(r)
	switch {
	case ok:
		text := sentence(v.Message)
		if v.Possible {
			text += " This hangs on an operation whose outcome is unknown."
		}
		if n := violated(r) - 1; n > 0 {
			return fmt.Sprintf("%s That breaks %s; %d more of the %d properties %s violated, too.", text, name, n, len(r.Properties), verb(n, "is", "are"))
		}
		return fmt.Sprintf("%s That breaks %s.", text, name)
	case r.Verdict == checker.Holds:
		return fmt.Sprintf("Nothing broke in %s and %s.", count(r.Counts.Grants, "grant"), count(r.Counts.FaultsSeen, "fault"))
	case r.Verdict == checker.Violated:
		return "A property is violated; the table says which."
	}
	return "Nothing was seen to break, but this run cannot say that nothing would: why stands beside the unknown properties."
}

func fencing(setup history.Setup, r checker.Result, verdicts map[string]checker.Verdict) string {
	stale, refused := r.Counts.StaleWrites, r.Counts.StaleRefused
	seen := fmt.Sprintf("%s came late, on a grant that somebody else's had replaced", count(stale, "write"))
	switch {
	case stale == 0:
		return "No write came late in this run, so fencing was not put to the test."
	case !setup.Promise.Token:
		return seen + ". This lock gives no token, so the fenced copy had nothing to tell a late write by."
	case verdicts["no-lost-update/fenced"] == checker.Violated:
		return fmt.Sprintf("%s; the fenced copy refused %d and still lost an update.", seen, refused)
	case refused == stale && verdicts["no-lost-update/fenced"] == checker.Holds:
		return seen + ". The fenced copy refused every one, and its data is whole."
	case refused == stale:
		return seen + ". The fenced copy refused every one."
	}
	return fmt.Sprintf("%s; the fenced copy refused %d.", seen, refused)
}

// prevented names the remedy for the worst that broke: what the service can do
// before what its users can.
func prevented(setup history.Setup, r checker.Result, verdicts map[string]checker.Verdict) string {
	bad := func(name string) bool { return verdicts[name] == checker.Violated }
	switch {
	case bad("lease-exclusion"):
		return "Two grants were valid at once, so no care of the clients would have helped. Look at what the service forgot or misjudged: writes not yet synced, replicas behind, clocks that step. A durable quorum that goes by no wall clock prevents it; tokens that never repeat contain it."
	case bad("fencing-monotonic"):
		return "A token must never repeat or fall: make it where the lock is granted, and make it durable before the grant is answered."
	case bad("release-by-owner"):
		return "Compare the owner and delete in one step at the server; never delete by key alone."
	case bad("never-oversold/fenced"), bad("charged-once/fenced"), bad("one-run-a-slot/fenced"), bad("no-interleaving/fenced"):
		return remedyOf(verdicts) // a fence alone does not
	case bad("no-lost-update/fenced") && !setup.Promise.Token, bad("mutual-exclusion") && !setup.Promise.Token:
		return "A lock that gives a rising token with each grant, and a resource that refuses a lower token than it has seen. Checking the deadline before a write makes the window smaller; it does not close it."
	case bad("no-lost-update/fenced") && setup.FenceOn == "write":
		return "Registering the token when the resource is read (--fence-on read), so that a late write is refused even if the new holder has only read so far."
	case bad("mutual-exclusion") && verdicts["lease-exclusion"] == checker.Holds:
		return "Nothing in the service, which kept its promise: a lease ends also while its holder has stopped or its write is under way. The remedy is at the resource, which must check tokens as the fenced copy does."
	case bad("mutual-exclusion"), bad("no-lost-update/unfenced"):
		return "Checking the token of every write at the resource, as the fenced copy does."
	case r.Verdict == checker.Violated:
		return remedyOf(verdicts)
	case r.Verdict == checker.Holds:
		return "One green run shows that this did not happen this time. Repeat it with other seeds before relying on it."
	}
	return "Run it longer or with more clients; the doubts and the reasons beside the unknown properties say what was missing."
}

// sentence ends a message with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
