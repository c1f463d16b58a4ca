package formats

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker/models"
)

// TestErrors: whatever is wrong with a file is said, with its line and the reason.
func TestErrors(t *testing.T) {
	const (
		call = `{:process 0, :type :invoke, :f :acquire}` + "\n"
		ok   = `{:process 0, :type :ok, :f :acquire}` + "\n"
		elle = `{"process": 0, "type": "invoke", "f": "acquire"}` + "\n"
		head = `{"dlmtest_history":1,"setup":{"promise":{},"lease":1000000000,"keys":["k"]}}` + "\n"
		op   = `{"time":5,"process":1,"type":"invoke","f":"acquire","key":"k"}` + "\n"
	)
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "file: the file is empty"},
		{"blank", "\n\n ;nothing\n", "nothing but blanks"},
		{"empty vector", "[]", "no operation of a client"},
		{"only faults", "[{:process :nemesis :type :info :f :start}]", "no operation of a client in it: only 1 events of the nemesis"},
		{"only notes", head + `{"type":"note","f":"stall"}` + "\n", "no operation of a client in it: only 1 notes"},
		{"gzip", "\x1f\x8b\x08xx", "unexpected EOF"},
		{"bzip2", "BZh91AY", "compressed"},
		{"binary", "PK\x00\x01", "no text"},
		{"prose", "To be or not to be\n", "the format is not known"},
		{"other JSON", `{"name": "x"}`, "no field of it is known"},
		{"cut JSON", `{"name": `, "cut off"},

		{"cut line", call + `{:process 0, :type :o`, "line 2, column 22: the file is cut off"},
		{"cut string", call + `{:process 0 :error "x`, "cut off"},
		{"cut vector", "[" + call, "line 2, column 1: the file is cut off"},
		{"after the end", "[" + call + "] " + call, "line 2, column 3: something follows"},
		{"wrong bracket", "(" + call + "]", "line 2, column 1: want a map"},
		{"no map", call + "42", "line 2, column 1: want a map {…} for each operation, got '4'"},
		{"half an entry", "{:process 0 :type}", "a key and no value"},
		{"no process", "{:type :invoke :f :read}", "line 1: an operation without process"},
		{"no f", "{:type :invoke :process 1}", "an operation without f"},
		{"twice", "{:process 0 :type :invoke :type :ok :f :read}", "column 33: :type comes twice"},
		{"type", "{:process 0 :type :done :f :read}", `type "done": want invoke`},
		{"process list", "{:process [1] :type :invoke :f :read}", "process: want a whole number, got a list"},
		{"process name and number", call + "{:process :n1 :type :invoke :f :read}", `process "n1": a name, where earlier processes have numbers`},
		{"process number and name", "{:process :n1 :type :invoke :f :read}" + call, "process 0: a number, where earlier processes have names"},
		{"process name goes on", `{:process :n1 :type :invoke :f :acquire :owner 1}{:process :n1 :type :info :f :acquire}{:process :n1 :type :invoke :f :acquire}`, "goes on after its unknown outcome"},
		{"process negative", "{:process -1 :type :invoke :f :read}", "process -1: want 0 to"},
		{"process overflow", "{:process 18446744073709551617 :type :invoke :f :read}", "beyond 64 bits"},
		{"lease overflow", "{:process 0 :lease 9223372036854775807 :type :invoke :f :acquire}", "want 0 to 1152921504606846976"},
		{"token overflow", call + `{:process 0 :type :ok :f :acquire :token 9223372036854775808}`, "line 2, column 42: :token \"9223372036854775808\": beyond 64 bits"},
		{"fence negative", call + `{:process 0 :type :ok :f :acquire :value {:client "a" :fence -3}}`, "line 2, column 62: fence -3: want 0 to"},
		{"token twice", call + `{:process 0 :type :ok :f :acquire :token 1 :value {:fence 3}}`, "fence comes twice"},
		{"deep", "{:error " + strings.Repeat("[", 200), "nested deeper than 100"},
		{"deep discards", strings.Repeat("#_ ", 200), "nothing but blanks"},
		{"deep tags", call + "{:error " + strings.Repeat("#a ", 200), "nested deeper than 100"},
		{"unreadable", `{:error #<Thing 3>}`, "cannot be read by anybody"},
		{"closed", call + "}", `line 2, column 1: want a map`},
		{"escape", `{:error "\q"}`, `\q is no escape`},
		{"half a pair", `{:error "\ud83d."}`, "half of a pair"},
		{"not UTF-8", "{:error \"\xff\"}", "no UTF-8"},
		{"giant string", `{:error "` + strings.Repeat("x", longestText+1), "longer than 1048576 bytes"},
		{"f", "{:process 0 :type :invoke :f :enqueue :value 1}", `line 1: f "enqueue": no operation that is known here; --f enqueue=OPERATION`},
		{"txn", `{"type": "invoke", "process": 0, "f": "txn", "value": [["r", 1, null]]}`, `f "txn"`},

		{"twice called", call + call, "line 2: process 0 calls acquire while its acquire of line 1 is pending"},
		{"twice ended", call + ok + ok, "line 3: process 0 ends acquire without having called it"},
		{"reordered", ok + call, "line 1: process 0 ends acquire without"},
		{"other f", call + "{:process 0 :type :ok :f :release}", "line 2: process 0 ends release, but called acquire in line 1"},
		{"retired", call + "{:process 0 :type :info :f :acquire}" + call, "process 0 goes on after its unknown outcome"},
		{"other value", "{:process 0 :type :invoke :f :write :value 1}{:process 0 :type :ok :f :write :value 2}", `ends with value "2" what it called with "1"`},
		{"other key", "{:process 0 :type :invoke :f :write :value [1 1]}{:process 0 :type :ok :f :write :value [2 1]}", `ends on key "2" what it called on key "1"`},
		{"no value", "{:process 0 :type :invoke :f :write}", "a write of nothing"},
		{"half a cas", "{:process 0 :type :invoke :f :cas :value [1]}", "want [old new]"},
		{"a large list", "{:process 0 :type :invoke :f :write :value [" + strings.Repeat("1 ", 1000) + "]}", "got a large collection"},
		{"tuple and none", "{:process 0 :type :invoke :f :read :value [1 nil]}{:process 1 :type :invoke :f :write :value 3}", "no [key value] tuple"},
		{"tuple and nothing", "{:process 0 :type :invoke :f :acquire}{:process 1 :type :invoke :f :acquire :value [1 nil]}{:process 0 :type :info :f :acquire}", "line 1: a call without a value, so nothing says for which key it is"},
		{"tuple and an end without one", "{:process 0 :type :invoke :f :read}{:process 1 :type :invoke :f :read :value [1 nil]}{:process 0 :type :ok :f :read}", "line 1: a call without a value"},
		{"tuple and no end", "{:process 0 :type :invoke :f :acquire}{:process 1 :type :invoke :f :acquire :value [1 nil]}", "line 1: a call without a value"},
		{"empty key", "{:process 0 :type :invoke :f :read :value [nil nil]}", "key: want one that is not empty"},
		{"mixture", `{:process 0 :type :invoke :f :write :value 1}{:process 1 :type :invoke :f :write :value "1"}`, "told apart by their text"},
		{"roles", `{:process 0 :type :invoke :f :lock :value "a"}{:process 1 :type :invoke :f :lock :value "b"}`, "say which by --value-is key|owner"},
		{"kv without key", `{:process 0 :type :invoke :f :get :key "1"}` + "{:process 1 :type :invoke :f :get}", "an operation without :key"},

		{"JSON names", `{"type": "invoke", "type": "ok"}`, "column 28: type comes twice"},
		{"JSON comma", "[" + elle + ",]", "a comma before the end"},
		{"JSON no comma", "[" + elle + elle + "]", "want ',' between two items, got '{'"},
		{"JSON cut", "[" + elle, "line 2, column 1: the file is cut off"},
		{"JSON cut object", elle + `{"process": 1`, "cut off"},
		{"JSON end", "[" + elle + "]]", "']' follows the end"},
		{"JSON number", `{"type": "invoke", "process": 01}`, "is no JSON"},
		{"JSON control", "{\"type\": \"in\nvoke\"}", "control character"},
		{"JSON deep", `{"type": "invoke", "value": ` + strings.Repeat("[", 200), "nested deeper than 100"},
		{"JSON word", `{"type": "invoke", "value": nul}`, `"nul" is no JSON`},

		{"log cut", "INFO jepsen.util - 0\t:invoke\t:write\t4", "line 1: the file is cut off"},
		{"log value", "INFO jepsen.util - 0\t:invoke\t:write\t4 5\n", `"5" follows the value`},

		{"operations order", `{"process":0,"f":"read","call":5,"ret":6,"out":"ok"}{"process":1,"f":"read","call":4,"ret":7,"out":"ok"}`, "call 4 comes after call 5"},
		{"operations twice", `{"process":0,"f":"read","call":5,"ret":6,"out":"ok"}{"process":0,"f":"read","call":5,"ret":6,"out":"ok"}`, "is pending"},
		{"operations back", `{"process":0,"f":"read","call":5,"ret":5,"out":"ok"}`, "ret 5 is not after call 5"},
		{"operations no ret", `{"process":0,"f":"read","call":5,"out":"ok"}`, "ret 0 is not after"},
		{"operations out", `{"process":0,"f":"read","call":5,"out":"maybe"}`, `out "maybe"`},
		{"operations call", `{"process":0,"f":"read","out":"open"}`, "an operation without call"},
		{"operations field", `{"process":0,"f":"read","call":1,"out":"open","colour":3}`, `unknown field "colour"`},
		{"operations range", `{"process":0,"f":"read","call":1e3,"out":"open"}`, "call: want a whole number"},

		{"dlmtest newer", `{"dlmtest_history":2,"setup":{}}` + "\n", "written by a newer dlmtest: version 2"},
		{"dlmtest cut", head + op[:20], "line 2: the last line is cut off"},
		{"dlmtest cut head", head[:40], "line 1: the last line is cut off"},
		{"dlmtest clock", head + op + strings.Replace(strings.Replace(op, ":1,", ":2,", 1), ":5,", ":4,", 1), "line 3: the clock goes back by 1 ns"},
		{"dlmtest twice", head + op + op, "line 3: process 1 calls acquire while"},
		{"dlmtest range", head + strings.Replace(op, ":5,", ":9223372036854775807,", 1), "out of range"},
		{"dlmtest overflow", head + strings.Replace(op, `"key"`, `"token":9223372036854775808,"key"`, 1), "beyond 64 bits"},
		{"dlmtest f", head + strings.Replace(op, "acquire", "steal", 1), `f "steal"`},
	} {
		_, told, _, err := drain(strings.NewReader(c.text), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q; told\n%s", c.name, err, c.want, told)
		}
	}
}

// TestOptions: what nobody can find out is said by the user.
func TestOptions(t *testing.T) {
	const refused = "{:process 0 :type :invoke :f :take-it}{:process 0 :type :ok :f :take-it :value false}"
	_, told, _, err := drain(strings.NewReader(refused), Options{Meanings: map[string]models.F{"take-it": models.Try}})
	if err != nil || !strings.Contains(told, "fail try") {
		t.Errorf("meanings: %v\n%s", err, told)
	}
	const pair = "{:process 0 :type :invoke :f :cas :value [1 [2 3]]}"
	if _, told, _, err = drain(strings.NewReader(pair), Options{Independent: "yes"}); err != nil || !strings.Contains(told, `key="1" old="2" value="3"`) {
		t.Errorf("independent: %v\n%s", err, told)
	}
	if _, told, _, err = drain(strings.NewReader(pair), Options{Independent: "no"}); err != nil || !strings.Contains(told, `old="1" value="[2 3]"`) {
		t.Errorf("not independent: %v\n%s", err, told)
	}
	if _, _, _, err = drain(strings.NewReader(pair), Options{Format: "elle"}); err == nil || !strings.Contains(err.Error(), "file: line 1, column 2: want the name of a field, got ':'") {
		t.Errorf("read as what it is not: %v", err)
	}
	if _, _, _, err = drain(strings.NewReader(pair), Options{Format: "csv"}); err == nil || !strings.Contains(err.Error(), `unknown format "csv"`) {
		t.Errorf("no such format: %v", err)
	}
}
