package formats

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker/models"
)

// of writes one event of Jepsen: the process, the type, the f, and what stands beside.
func of(process, typ, f, beside string) string {
	return "{:process " + process + ", :type :" + typ + ", :f :" + f + " " + beside + "}\n"
}

// granted is two grants, one after the other and nothing given back: beside the calls and
// the answers of each stands what is told.
func granted(call0, ok0, call1, ok1 string) string {
	return of("0", "invoke", "acquire", call0) + of("0", "ok", "acquire", ok0) + of("1", "invoke", "acquire", call1) + of("1", "ok", "acquire", ok1)
}

// handed is a grant given back, and one after it.
func handed(ok0, ok1 string) string {
	return of("0", "invoke", "acquire", "") + of("0", "ok", "acquire", ok0) + of("0", "invoke", "release", "") + of("0", "ok", "release", "") +
		of("1", "invoke", "acquire", "") + of("1", "ok", "acquire", ok1)
}

// renewedAs is a lease of 90 from 1 on, a renewal at 3, and the next grant, which returns at 8.
func renewedAs(out, beside string) string {
	return `{"process":0,"f":"acquire","owner":"a","token":1,"lease":90,"call":1,"ret":2,"t_call":1,"t_ret":2,"out":"ok"}
{"process":0,"f":"extend","owner":"a","call":3,"ret":null,"t_call":3,"out":"` + out + `"` + beside + `}
{"process":1,"f":"acquire","owner":"b","token":2,"lease":90,"call":5,"ret":6,"t_call":5,"t_ret":8,"out":"ok"}
`
}

// TestForeign: histories in the words of other suites, each with the verdict that was derived
// by hand, or the reason for which it cannot be judged.
func TestForeign(t *testing.T) {
	const clients = `{"process":"c0","type":"invoke","f":"acquire"}{"process":"c0","type":"info","f":"acquire"}`
	for _, c := range []struct {
		name, model, text string
		o                 Options
		want              models.Verdict
		err               string
	}{
		{"two locks, named beside", "mutex", granted(`:lock "x"`, "", `:lock "y"`, ""), Options{}, models.Holds, ""},
		{"two resources by their ids", "mutex", granted(`:resource-id "x"`, "", `:resourceId "y"`, ""), Options{}, models.Holds, ""},
		{"one lock, named beside", "mutex", granted(`:lock "x"`, "", `:lock "x"`, ""), Options{}, models.Violated, ""},
		{"two locks, named in a map with an owner", "mutex", granted(`:value {:name "x" :owner 1}`, "", `:value {:name "y" :owner 2}`, ""), Options{}, models.Holds, ""},
		{"two locks under a name that the user gives", "mutex", granted(`:path "x"`, "", `:path "y"`, ""), Options{Fields: map[string]string{"path": "key"}}, models.Holds, ""},
		{"the same in a map", "mutex", granted(`:value {:path "x"}`, "", `:value {:path "y"}`, ""), Options{Fields: map[string]string{"path": "key"}}, models.Holds, ""},
		{"a client gives back through another process", "mutex", of("0", "invoke", "acquire", `:client "a"`) + of("0", "ok", "acquire", "") +
			of("1", "invoke", "release", `:client "a"`) + of("1", "ok", "release", ""), Options{}, models.Holds, ""},
		{"another client gives back", "mutex", of("0", "invoke", "acquire", `:client "a"`) + of("0", "ok", "acquire", "") +
			of("1", "invoke", "release", `:client "b"`) + of("1", "ok", "release", ""), Options{}, models.Violated, ""},
		{"an owner, and the client that asks for it", "mutex", of("0", "invoke", "acquire", `:client 1 :owner "a"`) + of("0", "ok", "acquire", "") +
			of("1", "invoke", "release", `:owner "a" :client 2`) + of("1", "ok", "release", ""), Options{}, models.Holds, ""},
		{"names that answers repeat as one", "mutex", steps(`0 invoke acquire "A"`, `0 ok acquire {:lock "A" :owner 1}`, `1 invoke acquire "B"`, `1 ok acquire {:lock "B" :owner 2}`), Options{}, models.Holds, ""},
		{"the same under :name", "mutex", steps(`0 invoke acquire "A"`, `0 ok acquire {:name "A" :owner 1}`, `1 invoke acquire "B"`, `1 ok acquire {:name "B" :owner 2}`), Options{}, models.Holds, ""},
		{"names or ids that answers repeat", "mutex", steps(`0 invoke acquire "A"`, `0 ok acquire {:nm "A" :owner 1}`, `1 invoke acquire "B"`, `1 ok acquire {:nm "B" :owner 2}`), Options{}, models.NA, "--value-is key|answer"},
		{"locks whose numbers tokens repeat by chance", "mutex", steps(`0 invoke acquire 1`, `0 ok acquire {:owner 8 :token 1}`, `1 invoke acquire 2`, `1 ok acquire {:owner 9 :token 2}`, `0 invoke release 1`, `0 ok release {:owner 8}`), Options{}, models.Holds, ""},
		{"one that a slot repeats once", "mutex", steps(`0 invoke acquire 1`, `0 ok acquire {:owner 8 :slot 1}`, `1 invoke acquire 2`, `1 ok acquire {:owner 9 :slot 1}`, `0 invoke release 1`, `0 ok release {:owner 8}`), Options{}, models.Holds, ""},
		{"owners that answers repeat", "mutex", steps(`0 invoke acquire "a"`, `0 ok acquire {:owner "a"}`, `1 invoke acquire "b"`, `1 ok acquire {:owner "b"}`), Options{}, models.Violated, ""},
		{"ids that come again", "mutex", steps(`0 invoke acquire "u"`, `0 ok acquire {:client "a" :uid "u"}`, `0 invoke release "v"`, `0 ok release {:client "a" :uid "v"}`, `0 invoke acquire "u"`,
			`0 ok acquire {:client "a" :uid "u"}`, `1 invoke acquire "w"`, `1 ok acquire {:client "b" :uid "w"}`), Options{}, models.Violated, ""},
		{"releases tell the token", "mutex", steps(`0 invoke acquire nil`, `0 ok acquire {:owner 8 :token 5}`, `0 invoke release 5`, `0 ok release 5`, `1 invoke acquire nil`, `1 ok acquire {:owner 9 :token 6}`, `1 invoke release 6`, `1 ok release 6`), Options{}, models.Holds, ""},
		{"tokens back", "lease-untimed", handed(`:owner 1 :fencing-token 9`, `:owner 2 :fencing_token 4`), Options{}, models.Violated, ""},
		{"tokens on", "lease-untimed", handed(`:owner 1 :fencing-token 4`, `:owner 2 :fencingToken 9`), Options{}, models.Holds, ""},
		{"tokens back in a map", "fenced-mutex", handed(`:value {:owner 1 :fencing_token 9}`, `:value {:owner 2 :fencing_token 4}`), Options{}, models.Violated, ""},
		{"tokens that the user names", "fenced-mutex", handed(`:value {:owner 1 :epoch 9}`, `:value {:owner 2 :epoch 4}`), Options{Fields: map[string]string{"epoch": "token"}}, models.Violated, ""},
		{"tokens in quotes", "fenced-mutex", handed(`:value {:owner 1 :token "9"}`, `:value {:owner 2 :token "10"}`), Options{}, models.Holds, ""},
		{"tokens in quotes, back", "fenced-mutex", handed(`:owner 1 :token "10"`, `:owner 2 :token "9"`), Options{}, models.Violated, ""},
		{"told beside and in a map", "mutex", handed(`:owner 1 :token 9 :value {:owner 1 :token 9}`, `:owner 2 :value {:owner 2 :token 10}`), Options{}, models.Holds, ""},
		{"no fence beside", "mutex", granted("", ":fence -1", "", ":fence -1"), Options{}, models.Violated, ""},

		{"a no in a field", "mutex", granted("", ":success true", "", ":success false"), Options{}, models.Holds, ""},
		{"a no in a map", "mutex", granted("", ":value {:acquired true}", "", ":value {:acquired false}"), Options{}, models.Holds, ""},
		{"a yes in a map", "mutex", granted("", ":value {:acquired true}", "", ":value {:acquired true}"), Options{}, models.Violated, ""},
		{"a word that may be a no", "mutex", granted("", ":value :acquired", "", ":value :busy"), Options{ValueIs: "answer"}, models.NA, "one of them may be a no: --no :busy says so"},
		{"the same beside nothing", "mutex", granted("", "", "", ":value :busy"), Options{}, models.NA, "--no :busy"},
		{"the same in a field", "mutex", granted("", `:result "got"`, "", `:result "busy"`), Options{}, models.NA, "--no busy"},
		{"the same beside true", "mutex", granted("", ":value true", "", ":value :timeout"), Options{}, models.NA, "--no :timeout"},
		{"1 and 0", "mutex", granted("", ":value 1", "", ":value 0"), Options{ValueIs: "answer"}, models.NA, "--no 0"},
		{"the user's no", "mutex", granted("", ":value :acquired", "", ":value :busy"), Options{No: []string{"busy"}}, models.Holds, ""},
		{"none is a no", "mutex", granted("", ":value :acquired", "", ":value :mine"), Options{No: []string{"false"}}, models.Violated, ""},
		{"words of two operations", "mutex", of("0", "invoke", "acquire", "") + of("0", "ok", "acquire", ":value :acquired") +
			of("0", "invoke", "release", "") + of("0", "ok", "release", ":value :released"), Options{ValueIs: "answer"}, models.Holds, ""},
		{"a grant that says its call again", "mutex", granted(`:value "u"`, `:value "u"`, `:value "v"`, `:value "v"`), Options{ValueIs: "answer"}, models.Violated, ""},

		{"owners that are vectors", "mutex", granted(`:owner ["n" 1]`, "", `:owner ["n" 2]`, ""), Options{}, models.Violated, ""},
		{"one owner in two orders", "mutex", of("0", "invoke", "acquire", `:owner {:a 1 :b 2}`) + of("0", "ok", "acquire", "") +
			of("1", "invoke", "release", `:owner {:b 2 :a 1}`) + of("1", "ok", "release", ""), Options{}, models.Holds, ""},
		{"owners that differ in a string", "mutex", of("0", "invoke", "acquire", `:owner ["a b"]`) + of("0", "ok", "acquire", "") +
			of("1", "invoke", "release", `:owner ["a" "b"]`) + of("1", "ok", "release", ""), Options{}, models.Violated, ""},
		{"a register of vectors", "register", of("0", "invoke", "write", ":value [1 2 3]") + of("0", "ok", "write", "") +
			of("0", "invoke", "read", "") + of("0", "ok", "read", ":value [1 2 3]"), Options{}, models.Holds, ""},
		{"a register of maps", "register", of("0", "invoke", "write", ":value {:a 1}") + of("0", "ok", "write", "") +
			of("0", "invoke", "read", "") + of("0", "ok", "read", ":value {:a 2}"), Options{}, models.Violated, ""},
		{"a lock beside a register of tuples", "register", of("0", "invoke", "write", `:lock "m" :value [1 5]`) + of("0", "ok", "write", `:lock "m"`) +
			of("0", "invoke", "read", `:value [2 nil]`) + of("0", "ok", "read", `:value [2 nil]`), Options{}, models.Holds, ""},
		{"keys and values in maps", "register", steps(`0 invoke write {:key 1 :value 2}`, `0 ok write {:key 1 :value 2}`, `0 invoke read {:value nil :key 2}`, `0 ok read {:value nil :key 2}`), Options{}, models.Holds, ""},
		{"a broken key in maps", "cas-register", steps(`0 invoke cas {:key 1 :value [2 3]}`, `0 ok cas {:key 1 :value [2 3]}`), Options{}, models.Violated, ""},
		{"a map of more than a key", "register", steps(`0 invoke write {:key 1 :value 2 :at 3}`, `0 ok write {:key 1 :value 2 :at 3}`, `0 invoke read nil`, `0 ok read {:key 1 :value 2 :at 4}`), Options{}, models.Violated, ""},
		{"a ratio", "register", of("0", "invoke", "write", ":value 1/2") + of("0", "ok", "write", "") +
			of("0", "invoke", "read", "") + of("0", "ok", "read", ":value 1/2"), Options{}, models.Holds, ""},

		{"ns since 1970", "lease", of("0", "invoke", "acquire", ":time 1732000000000000000 :owner 1") + of("0", "ok", "acquire", ":time 1732000000000000001 :token 1") +
			of("1", "invoke", "acquire", ":time 1732000001000000002 :owner 2") + of("1", "ok", "acquire", ":time 1732000001000000003 :token 2"), Options{}, models.Holds, ""},
		{"a lease too early", "lease", of("0", "invoke", "acquire", ":time 1732000000000000000 :owner 1 :lease 9") + of("0", "ok", "acquire", ":time 1732000000000000001 :lease 9 :token 1") +
			of("1", "invoke", "acquire", ":time 1732000000000000002 :owner 2") + of("1", "ok", "acquire", ":time 1732000000000000003 :token 2"), Options{}, models.Violated, ""},
		{"a lease in a map, too early", "lease", granted(`:time 1 :value {:owner 1 :lease 9}`, `:time 2 :value {:owner 1 :lease 9 :token 1}`, `:time 3 :value {:owner 2 :lease 9}`, `:time 9 :value {:owner 2 :lease 9 :token 2}`), Options{}, models.Violated, ""},
		{"a lease in a map, over", "lease", granted(`:time 1 :value {:owner 1 :lease 9}`, `:time 2 :value {:owner 1 :lease 9 :token 1}`, `:time 3 :value {:owner 2 :lease 9}`, `:time 10 :value {:owner 2 :lease 9 :token 2}`), Options{}, models.Holds, ""},
		{"times and a lease in quotes", "lease", granted(`:time "1" :owner 1`, `:time "2" :lease "9" :token 1`, `:time "3" :owner 2`, `:time "9" :lease "9" :token 2`), Options{}, models.Violated, ""},
		{"the name of a lease", "mutex", granted(`:owner 1 :lease "694d7f"`, "", `:value {:owner 2 :lease "694d80"}`, ""), Options{}, models.Violated, ""},
		{"its number", "mutex", granted(`:value {:owner 1 :lease 7587862094217315331}`, "", `:value {:owner 2 :lease 7587862094217315335}`, ""), Options{}, models.NA, "--field lease=- passes over the name of a lease"},
		{"passed over", "mutex", granted(`:value {:owner 1 :lease 7587862094217315331}`, "", `:value {:owner 2 :lease 7587862094217315335}`, ""), Options{Fields: map[string]string{"lease": "-"}}, models.Violated, ""},
		{"a shorter lease that a renewal asked for in a map", "lease", of("0", "invoke", "acquire", `:time 1 :owner 1`) + of("0", "ok", "acquire", `:time 2 :lease 90 :token 1`) +
			of("0", "invoke", "renew", `:time 3 :value {:owner 1 :lease 5}`) + of("0", "info", "renew", `:time 4 :value {:owner 1 :lease 5}`) +
			of("1", "invoke", "acquire", `:time 5 :owner 2`) + of("1", "ok", "acquire", `:time 8 :lease 90 :token 2`), Options{}, models.Holds, ""},
		{"a shorter lease that an operation of unknown outcome asked for", "lease", renewedAs("info", `,"lease":5`), Options{}, models.Holds, ""},
		{"the same, that never came back", "lease", renewedAs("open", `,"lease":5`), Options{}, models.Holds, ""},
		{"one of another unknown outcome", "lease", renewedAs("info", `,"lease":95`), Options{}, models.Violated, ""},
		{"a token that is no number", "mutex", granted("", `:token "a-1"`, "", ""), Options{}, models.NA, "token: want a whole number, got a string; --field token=- passes over it"},
		{"fences in another spelling", "lease-untimed", handed(":fenceToken 5", ":fenceToken 4"), Options{}, models.Violated, ""},
		{"events in the order of their processes", "mutex", granted(":time 1", ":time 2", ":time 3", ":time 9000000003") + of("2", "invoke", "acquire", ":time 4"), Options{}, models.NA, "line 5: the time goes back by 8.999999999s"},
		{"a little back", "mutex", granted(":time 1", ":time 2", ":time 3", ":time 9003") + of("2", "invoke", "acquire", ":time 4"), Options{}, models.Violated, ""},
		{"no time", "mutex", granted(":time nil", ":time 1.5", ":time -3", ":time 9999999999999999999"), Options{}, models.Violated, ""},

		{"two permits at once", "semaphore", granted(":permits 1", "", ":value {:permits 2}", ""), Options{}, models.NA, "permits \"2\": an operation takes one permit here"},
		{"one permit, of how many the nemesis says", "semaphore", `{:process :nemesis, :type :info, :f :grow, :permits 3}` + granted(":permits 1 :mode :x", "", ":value {:permits 1 :mode :x} :permits 1 :mode :x", ""), Options{}, models.Holds, ""},
		{"numbers that are one", "register", steps(`0 invoke write 1.50`, `0 ok write 1.5`, `0 invoke read nil`, `0 ok read 15e-1`, `0 invoke write 1000`, `0 ok write 1000`, `0 invoke read nil`, `0 ok read 1e3`), Options{}, models.Holds, ""},
		{"numbers that are two", "register", steps(`0 invoke write 1.50`, `0 ok write 1.5`, `0 invoke read nil`, `0 ok read 1.51`), Options{}, models.Violated, ""},
		{"numbers that are one and written as two", "register", steps(`0 invoke write 1.0`, `0 ok write 1.0`, `0 invoke read nil`, `0 ok read 1`), Options{Values: Apart}, models.Violated, ""},
		{"true, and nil beside it", "mutex", granted("", ":value true", "", ":value nil"), Options{}, models.NA, "--no nil"},
		{"nil is a no", "mutex", granted("", ":value true", "", ":value nil"), Options{No: []string{"nil"}}, models.Holds, ""},
		{"nil beside an answer", "mutex", granted("", ":acquired true", "", ":acquired true"), Options{No: []string{"nil"}}, models.Violated, ""},
		{"names of fields that a user gives", "mutex", `{"pid":0,"kind":"invoke","op":"lock","ts":1}{"pid":0,"kind":"ok","op":"lock","ts":2}{"pid":1,"kind":"invoke","op":"lock","ts":3}{"pid":1,"kind":"ok","op":"lock","ts":4}`,
			Options{Fields: map[string]string{"pid": "process", "kind": "type", "op": "f", "ts": "time"}}, models.Violated, ""},
		{"the same where he does not", "mutex", `{"pid":0,"kind":"invoke","op":"lock","ts":1}`, Options{}, models.NA, "--field NAME=type"},
		{"an event without f", "mutex", `{"process":0,"type":"invoke","op":"lock"}`, Options{}, models.NA, "line 1: an operation without f: --field NAME=f says"},

		{"processes that have names", "mutex", `{:process "a" :type :invoke :f :acquire}{:process "a" :type :ok :f :acquire}{:process "b" :type :invoke :f :acquire}{:process "b" :type :ok :f :acquire}`, Options{}, models.Violated, ""},
		{"a client goes on, and gives back", "mutex", clients + `{"process":"c0","type":"invoke","f":"release"}{"process":"c0","type":"ok","f":"release"}`, Options{}, models.Holds, ""},
		{"another gives back", "mutex", clients + `{"process":"c1","type":"invoke","f":"release"}{"process":"c1","type":"ok","f":"release"}`, Options{}, models.Violated, ""},
		{"a client goes on, of a register", "register", `{"process":"c0","type":"invoke","f":"write","value":1}{"process":"c0","type":"info","f":"write"}` +
			`{"process":"c0","type":"invoke","f":"read"}{"process":"c0","type":"ok","f":"read","value":1}`, Options{}, models.Holds, ""},
		{"the nemesis is -1", "mutex", `{"process":-1,"type":"info","f":"kill"}{"process":":nemesis","type":":info","f":":kill"}` + clients + `{"process":"c1","type":":invoke","f":":acquire"}{"process":"c1","type":":ok","f":":acquire"}`, Options{}, models.Holds, ""},
		{"a tag before the whole", "mutex", "#jepsen.history.History [" + granted("", "", "", "") + "]", Options{}, models.Violated, ""},
		{"keywords that became JSON", "mutex", `{":process":0,":type":":invoke",":f":":acquire"}{":process":0,":type":":ok",":f":":acquire"}{":process":1,":type":":invoke",":f":":acquire"}{":process":1,":type":":ok",":f":":acquire"}`, Options{}, models.Violated, ""},
		{"what Clojure knows beside", "mutex", "^{:a [1 2]} [" + granted("", "", "", "") + "]", Options{}, models.Violated, ""},
		{"a lock that TimeLock did not give", "claims", `[{"process":0,"type":"invoke","f":"lock","value":"b","time":1},{"process":0,"type":"ok","f":"lock","value":null,"time":2},` +
			`{"process":1,"type":"invoke","f":"lock","value":"b","time":3},{"process":1,"type":"ok","f":"lock","value":"t","time":4}]`, Options{}, models.Holds, ""},
	} {
		_, _, events, err := drain(strings.NewReader(c.text), c.o)
		if c.err != "" || err != nil {
			if c.err == "" || err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if got, why := judge(c.model, events); got != c.want {
			t.Errorf("%s: %s, want %s: %s\n%s", c.name, got, c.want, why, c.text)
		}
	}
}

// TestUntold: what varies under names that nobody knows is said, and what numbers operations is not.
func TestUntold(t *testing.T) {
	_, told, _, err := drain(strings.NewReader(granted(`:mutex "x" :index 0`, `:mutex "x" :index 1`, `:mutex "y" :index 2`, `:mutex "y" :index 3`)), Options{})
	if err != nil || !strings.Contains(told, "what stands under mutex: --field NAME=key") {
		t.Errorf("%v\n%s", err, told)
	}
	_, told, _, err = drain(strings.NewReader(granted(`:clock 0`, `:clock 1`, `:clock 2`, `:clock 3`)), Options{})
	if err != nil || strings.Contains(told, "stands under") {
		t.Errorf("%v\n%s", err, told)
	}
}
