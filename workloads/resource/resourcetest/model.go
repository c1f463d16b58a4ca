package resourcetest

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// event is one step that had an effect on a key, as the model remembers it.
type event struct {
	read   bool
	token  int64
	value  string
	fenced bool // accepted by the fenced copy
}

// model answers from the whole past of one key, with no state but that past.
type model struct {
	rules resource.Rules
	past  []event
}

// highest is the highest token registered by the steps that count.
func (m *model) highest(reads bool) (token int64) {
	for _, e := range m.past {
		if e.fenced || e.read && reads {
			token = max(token, e.token)
		}
	}
	return token
}

func (m *model) registered() int64 { return m.highest(m.rules.FenceOn == resource.OnRead) }

func (m *model) accepts(token int64) bool {
	again := m.rules.Fencing == resource.Strict && token == m.highest(false)
	return token == 0 || token >= m.registered() && !again
}

// values are what stands in the copies.
func (m *model) values() (unfenced, fenced string) {
	for _, e := range m.past {
		if !e.read {
			unfenced = e.value
		}
		if e.fenced {
			fenced = e.value
		}
	}
	return unfenced, fenced
}

func (m *model) read(token int64) resource.Copies {
	m.past = append(m.past, event{read: true, token: token})
	unfenced, fenced := m.values()
	return resource.Copies{Unfenced: history.Copy{Value: unfenced}, Fenced: history.Copy{Value: fenced, Token: m.registered()}}
}

func (m *model) write(req resource.WriteRequest) resource.Copies {
	unfenced, fenced := m.values()
	accepted := m.accepts(req.Token)
	m.past = append(m.past, event{token: req.Token, value: req.Value, fenced: accepted})
	return resource.Copies{
		Unfenced: history.Copy{Base: req.UnfencedBase, Previous: unfenced, Accepted: true},
		Fenced:   history.Copy{Base: req.FencedBase, Previous: fenced, Accepted: accepted, Token: m.registered()},
	}
}

// testModel compares random sequences of calls with the model. The keys are
// fresh in each sequence, so a resource on a server need not be emptied.
func testModel(t *testing.T, open Open) {
	for _, rules := range []resource.Rules{
		{Fencing: resource.AtLeast, FenceOn: resource.OnWrite}, {Fencing: resource.Strict, FenceOn: resource.OnWrite},
		{Fencing: resource.AtLeast, FenceOn: resource.OnRead}, {Fencing: resource.Strict, FenceOn: resource.OnRead},
	} {
		t.Run(rules.Fencing+" "+rules.FenceOn, func(t *testing.T) {
			res, sequence := open(t, rules).Resource, 0
			rapid.Check(t, func(rt *rapid.T) {
				sequence++
				models := map[string]*model{}
				for i := range rapid.IntRange(1, 20).Draw(rt, "steps") {
					key := fmt.Sprintf("k%d-%d", sequence, rapid.IntRange(0, 1).Draw(rt, "key"))
					if models[key] == nil {
						models[key] = &model{rules: rules}
					}
					compare(rt, t, res, models[key], key, fmt.Sprint("v", i))
				}
			})
		})
	}
}

func compare(rt *rapid.T, t *testing.T, res resource.Resource, m *model, key, value string) {
	token := rapid.Int64Range(0, 4).Draw(rt, "token")
	var got, want resource.Copies
	var err error
	if rapid.Bool().Draw(rt, "read") {
		want = m.read(token)
		got, err = res.Read(t.Context(), resource.ReadRequest{Key: key, Token: token})
	} else {
		base := rapid.SampledFrom([]string{"", "v0", "v1"}).Draw(rt, "base")
		req := resource.WriteRequest{Key: key, Token: token, Value: value, UnfencedBase: base, FencedBase: base + "f"}
		want = m.write(req)
		got, err = res.Write(t.Context(), req)
	}
	if err != nil || got != want {
		rt.Fatalf("got %+v, %v\nwant %+v", got, err, want)
	}
}
