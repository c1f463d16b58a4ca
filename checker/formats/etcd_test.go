package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/checker/models"
)

// The shape of one line, as etcd's tests write it, with the fields that say nothing left out.
const etcdPut = `{"ClientId":%d,"Input":{"Type":"txn","LeaseGrant":null,"Range":null,"Txn":{"Conditions":null,"OperationsOnSuccess":[{"Type":"put-operation","Range":{"Start":"","End":"","Limit":0},"Put":{"Key":"%s","Value":{"Value":"%s","Hash":0},"LeaseID":0},"Delete":{"Key":""}}],"OperationsOnFailure":null},"Defragment":null},"Call":%d,"Output":{%s,"LeaseGrant":null},"Return":%d}` + "\n"
const etcdGet = `{"ClientId":%d,"Input":{"Type":"range","Range":{"Start":"%s","End":"","Limit":0,"Revision":0},"Txn":null},"Call":%d,"Output":{"Range":{"KVs":%s,"Count":%d},"Revision":%d,"PartialResponse":false,"Error":""},"Return":%d}` + "\n"

// TestEtcd judges small histories of each kind.
func TestEtcd(t *testing.T) {
	put := func(client int, key, value string, call, revision, ret int) string {
		return fmt.Sprintf(etcdPut, client, key, value, call, fmt.Sprintf(`"Txn":{"Failure":false,"Results":[{"KVs":null,"Count":0,"Deleted":0}]},"Revision":%d`, revision), ret)
	}
	lost := func(client int, key, value string, call int) string {
		return fmt.Sprintf(etcdPut, client, key, value, call, `"Error":"context deadline exceeded"`, 0)
	}
	get := func(client int, key, value string, mod, call, revision, ret int) string {
		kvs, n := "[]", 0
		if value != "" {
			kvs, n = fmt.Sprintf(`[{"Key":"%s","Value":{"Value":"%s","Hash":0},"ModRevision":%d}]`, key, value, mod), 1
		}
		return fmt.Sprintf(etcdGet, client, key, call, kvs, n, revision, ret)
	}
	for _, c := range []struct {
		name, text string
		want       models.Verdict
		err        string
	}{
		{"reads what was put", put(1, "a", "x", 1, 2, 2) + get(2, "a", "x", 2, 3, 2, 4), models.Holds, ""},
		{"clients one after the other", get(2, "a", "x", 2, 3, 2, 4) + put(1, "a", "x", 1, 2, 2), models.Holds, ""},
		{"reads what is old", put(1, "a", "x", 1, 2, 2) + put(1, "a", "y", 3, 3, 4) + get(2, "a", "x", 2, 5, 3, 6), models.Violated, ""},
		{"reads an old revision", put(1, "a", "x", 1, 2, 2) + put(1, "a", "y", 3, 3, 4) + get(2, "a", "x", 2, 5, 2, 6), models.Violated, ""},
		{"a lost put may have been", lost(1, "a", "x", 1) + get(2, "a", "x", 2, 3, 2, 4), models.Holds, ""},
		{"or not", lost(1, "a", "x", 1) + get(2, "a", "", 0, 3, 1, 4), models.Holds, ""},
		{"or later", lost(1, "a", "x", 1) + get(2, "a", "", 0, 3, 1, 4) + get(2, "a", "x", 2, 5, 2, 6), models.Holds, ""},
		{"but not twice", lost(1, "a", "x", 1) + get(2, "a", "x", 2, 3, 2, 4) + put(2, "a", "y", 5, 3, 6) + get(2, "a", "x", 4, 7, 4, 8), models.Unknown, "the requests in it explain at most 3"},
		{"another value", put(1, "a", "x", 1, 2, 2) + get(2, "a", "z", 2, 3, 2, 4), models.Violated, ""},
		{"a part of a history", put(1, "a", "x", 1, 7, 2), models.Unknown, "line 1: revision 7 is told, and the requests in it explain at most 2"},
		{"an unknown field", `{"ClientId":1,"Inputs":{}}`, models.Unknown, `unknown field "Inputs"`},
		{"an unknown type", put(1, "a", "x", 1, 2, 2) + strings.Replace(put(1, "a", "x", 3, 3, 4), "put-operation", "swap", 1), models.Unknown, `line 2: an operation of type "swap"`},
		{"cut off", put(1, "a", "x", 1, 2, 2)[:90], models.Unknown, "cut off"},
	} {
		format, _, events, err := drain(strings.NewReader(c.text), Options{})
		if c.err != "" || err != nil {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if got, why := judge(models.Etcd, events); got != c.want || format != "etcd" {
			t.Errorf("%s: %s %s: %s", c.name, format, got, why)
		}
	}
}

// TestEtcdShapes runs random requests on a key-value store of its own, with calls and
// returns around the moment of each: that holds. With one answer changed to what was never
// there it is violated.
func TestEtcdShapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type kv struct {
			value        string
			mod, version int64
		}
		store, revision, now := map[string]kv{}, int64(1), int64(0)
		var lines []etcdLine
		wrong := rapid.Bool().Draw(t, "wrong")
		n := rapid.IntRange(2, 12).Draw(t, "requests")
		spoilt := false
		for i := range n {
			now += 10
			key := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key")
			o := etcdLine{ClientID: i, Call: now - rapid.Int64Range(0, 40).Draw(t, "before"), Return: now + rapid.Int64Range(1, 40).Draw(t, "after")}
			o.Call = max(o.Call, 1)
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				result := models.EtcdResult{}
				if have, there := store[key]; there {
					result = models.EtcdResult{KVs: []models.EtcdKV{{Key: key, Value: models.EtcdValue{Value: have.value}, ModRevision: have.mod, Version: have.version}}, Count: 1}
				}
				if wrong && len(result.KVs) > 0 {
					result.KVs[0].Value.Value, spoilt = "never", true
				}
				o.Input = models.EtcdRequest{Type: models.EtcdTypeRange, Range: &models.EtcdRange{Start: key}}
				o.Output = models.EtcdResponse{Range: &result, Revision: revision}
			case 1, 2:
				expected := store[key].mod
				if rapid.Bool().Draw(t, "stale") {
					expected++
				}
				put := models.EtcdOperation{Type: models.EtcdOpPut, Put: models.EtcdPut{Key: key, Value: models.EtcdValue{Value: fmt.Sprint(i)}}}
				o.Input = models.EtcdRequest{Type: models.EtcdTypeTxn, Txn: &models.EtcdTxn{Conditions: []models.EtcdCondition{{Key: key, ExpectedRevision: expected}}, OperationsOnSuccess: []models.EtcdOperation{put}}}
				result := &models.EtcdTxnResult{Failure: expected != store[key].mod}
				unknown := rapid.IntRange(0, 4).Draw(t, "unknown") == 0
				if !result.Failure && (!unknown || rapid.Bool().Draw(t, "done")) {
					revision++
					store[key] = kv{fmt.Sprint(i), revision, store[key].version + 1}
				}
				if !result.Failure {
					result.Results = []models.EtcdResult{{}}
				}
				if o.Output = (models.EtcdResponse{Txn: result, Revision: revision}); unknown {
					o.Output, o.Return = models.EtcdResponse{Error: "timeout"}, 0
				}
			default:
				deleted := int64(0)
				if _, there := store[key]; there {
					deleted = 1
					revision++
					delete(store, key)
				}
				op := models.EtcdOperation{Type: models.EtcdOpDelete}
				op.Delete.Key = key
				o.Input = models.EtcdRequest{Type: models.EtcdTypeTxn, Txn: &models.EtcdTxn{OperationsOnSuccess: []models.EtcdOperation{op}}}
				o.Output = models.EtcdResponse{Txn: &models.EtcdTxnResult{Results: []models.EtcdResult{{Deleted: deleted}}}, Revision: revision}
			}
			lines = append(lines, o)
		}
		var b bytes.Buffer
		for i := range lines {
			if err := json.NewEncoder(&b).Encode(lines[i]); err != nil {
				t.Fatal(err)
			}
		}
		_, _, events, err := drain(bytes.NewReader(b.Bytes()), Options{})
		if err != nil && strings.Contains(err.Error(), "no operation of a client") {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		want := models.Holds
		if spoilt {
			want = models.Violated
		}
		if got, why := judge(models.Etcd, events); got != want && !(got == models.Unknown && strings.Contains(why, "known to have happened")) {
			t.Fatalf("%s, want %s: %s\n%s", got, want, why, &b)
		}
	})
}
