package formats

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// shape is how some suite writes a history.
type shape struct {
	name    string
	format  string
	without string // models that it cannot carry
	// answers says that owners and tokens stand on what returned OK alone.
	answers bool
	write   func([]models.Event) ([]byte, error)
	o       Options
	// tells is what a file of the shape can tell of a history; nil: all that a model needs.
	tells func([]models.Event) []models.Event
}

const registers = " register cas-register kv fenced-register "

var shapes = []shape{
	{name: "EDN", format: "jepsen", write: func(events []models.Event) ([]byte, error) {
		var b bytes.Buffer
		err := WriteEDN(&b, each(events), Lines)
		return b.Bytes(), err
	}},
	{name: "EDN in a vector", format: "jepsen", write: func(events []models.Event) ([]byte, error) {
		var b bytes.Buffer
		err := WriteEDN(&b, each(events), Vector)
		return b.Bytes(), err
	}},
	{name: "owner and token beside answers", format: "jepsen", without: registers + "try", answers: true, write: ednWith(" :value [%[1]s nil]", " :value [%[1]s nil] :owner %[2]q :token %[3]d", "")},
	{name: "client and fence in answers", format: "jepsen", without: registers + "try", answers: true, write: ednWith(" :value [%[1]s nil]", " :value [%[1]s {:client %[2]q :fence %[3]d}]", "")},
	{name: "owner everywhere, the name as value", format: "jepsen", without: registers + "try", write: ednWith(" :value %[1]s :owner %[2]q", " :value %[1]s :owner %[2]q :token %[3]d", ""), o: Options{ValueIs: "key"}},
	{name: "the name in a map", format: "jepsen", without: registers + "try", write: ednWith(" :value {:key %[1]s :owner %[2]q}", " :value {:key %[1]s :owner %[2]q :token %[3]d}", "")},
	{name: "a key beside", format: "kv", without: registers + "try", write: ednWith(" :value nil :key %[1]s :owner %[2]q", " :value nil :key %[1]s :owner %[2]q :token %[3]d", "")},
	{name: "lock, client and fencing token beside", format: "jepsen", without: registers + "try", write: ednWith(" :lock %[1]s :client %[2]q", " :lock %[1]s :client %[2]q :fencing_token %[3]d", "")},
	{name: "log", format: "jepsen-log", without: registers + "try lease lease-windows", answers: true, write: logLines},
	{name: "elle", format: "elle", write: jsonOf("")},
	{name: "elle, indented", format: "elle", write: jsonOf("  ")},
	{name: "operations", format: "operations", without: "fenced-register", write: wholeOperations},
	{name: "dlmtest", format: "dlmtest", without: registers + "reentrant " + models.Claims, write: func(events []models.Event) ([]byte, error) {
		var b bytes.Buffer
		err := WriteDlmtest(&b, each(events), simLease*time.Nanosecond)
		return b.Bytes(), err
	}},
	{name: "blocks", format: "jepsen-blocks", without: "try", write: blocksWith(28, false)},
	{name: "blocks, answers alone", format: "jepsen-blocks", without: registers + "try", answers: true, write: blocksWith(14, true)},
	{name: "timelock", format: "timelock", without: allBut(models.Claims), write: timelockJSON, tells: timelockTells},
	{name: "fptlin", format: "fptlin", without: allBut("cas-register"), write: fptlinText, tells: fptlinTells},
}

// allBut names the models but one.
func allBut(model string) (all string) {
	for _, m := range models.Models {
		if m.Name != model {
			all += " " + m.Name
		}
	}
	return all
}

// TestShapes writes random histories of every model in every shape that can carry them,
// and reads them back: the verdict is that of the history itself. Where a file tells
// owners in answers alone, what nobody was told may explain more, and nothing less.
func TestShapes(t *testing.T) {
	said := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		model := rapid.SampledFrom(models.Models).Draw(t, "model").Name
		if model == models.Etcd { // see TestEtcd
			return
		}
		events := simulate(t, model)
		if len(events) == 0 {
			return
		}
		for i := range events {
			events[i].Line = i + 1
		}
		want, why := judge(model, events)
		said[model+" "+want.String()]++
		for _, s := range shapes {
			if slices.Contains(strings.Fields(s.without), model) {
				continue
			}
			events, want, why := events, want, why
			if s.tells != nil {
				if events = s.tells(events); len(events) == 0 {
					continue
				}
				want, why = judge(model, events)
			}
			text, err := s.write(slices.Clone(events))
			if err != nil { // what the shape has no word for
				continue
			}
			o := s.o
			format, _, got, err := drain(bytes.NewReader(text), o)
			if err != nil || format != s.format {
				t.Fatalf("%s, %s: read as %s: %v\n%s", s.name, model, format, err, text)
			}
			verdict, reason := judge(model, got)
			said["as "+s.name+" "+verdict.String()]++
			if verdict == want || s.answers && untold(events) && !(want == models.Holds && verdict == models.Violated) {
				continue
			}
			t.Fatalf("%s, %s: %s: %s\nthe history itself: %s: %s\n%s", s.name, model, verdict, reason, want, why, text)
		}
	})
	t.Log(said)
}

// untold says that some operation is of an owner whom no answer of its process has told,
// when it is called or for ever.
func untold(events []models.Event) bool {
	type lock struct {
		process int
		key     string
	}
	told := map[lock]bool{}
	for i := range events {
		e := &events[i]
		at := lock{e.Process, e.Key}
		if e.Type == history.OK {
			told[at] = true
		}
		if e.Type != history.OK && !told[at] && e.Owner != "" {
			return true
		}
	}
	return false
}

// judge is the verdict of a model, with Porcupine for what no sweep decides.
func judge(model string, events []models.Event) (models.Verdict, string) {
	o := models.Options{Permits: 1, Lease: simLease * time.Nanosecond, Ask: func(model string, o models.Options, ops []models.Op) string {
		return models.Consult(model, o, ops, 5*time.Second)
	}}
	if model == "semaphore" {
		o.Permits = 2
	}
	m, _ := models.Named(model)
	d := m.New(o)
	for _, e := range events {
		if err := d.Add(e); err != nil {
			return models.Unknown, err.Error()
		}
	}
	r := d.End()
	models.Settle(m, o, events, o.Ask, &r)
	return r.Verdict, r.Reason
}
