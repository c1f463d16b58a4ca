package history

import (
	"bytes"
	"reflect"
	"testing"
	"time"
)

func TestPair(t *testing.T) {
	for _, p := range []Pair{{}, {Unfenced: 3, Fenced: -4}, {Unfenced: 1 << 40}} {
		if got, ok := PairOf(Numbered("client-1/w7", p)); !ok || got != p {
			t.Errorf("%+v came back as %+v", p, got)
		}
	}
	for _, value := range []string{"", "client-1/w7", "client-1/w7 3", "3|4", " 3|4", "a 3|", "a x|4", "a 3|4|5"} {
		if p, ok := PairOf(value); ok {
			t.Errorf("%q was read as %+v", value, p)
		}
	}
}

// FuzzPair: what is read is what was written.
func FuzzPair(f *testing.F) {
	f.Add("client-1/w7 3|4")
	f.Fuzz(func(t *testing.T, value string) {
		if p, ok := PairOf(value); ok {
			if again, ok := PairOf(Numbered("id", p)); !ok || again != p {
				t.Errorf("%q: %+v, then %+v", value, p, again)
			}
		}
	})
}

// TestUseIsKept: a history of a use is the same after it was written and read.
func TestUseIsKept(t *testing.T) {
	setup, _ := sample(0)
	setup.Use = Use{Name: Cron, Every: time.Second, Lockless: true}
	ops := []Op{
		{Index: 0, Time: 1, Node: "client-1", Process: 1, Type: Invoke, F: Effect, Key: "k", Owner: "o", Value: "e1", Unfenced: &Copy{Value: "run slot 7"}, Fenced: &Copy{}},
		{Index: 1, Time: 2, Type: Note, F: Happened, Key: "k", Owner: "o", Value: "e1", Unfenced: &Copy{Value: "run slot 7", Accepted: true}, Fenced: &Copy{}},
		{Index: 2, Time: 3, Node: "client-1", Process: 1, Type: OK, F: Effect, Key: "k", Owner: "o", Value: "e1", Unfenced: &Copy{Value: "run slot 7", Accepted: true}, Fenced: &Copy{}},
	}
	if err := Validate(setup, ops); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := Encode(&file, setup, ops); err != nil {
		t.Fatal(err)
	}
	again, read, err := Decode(&file)
	if err != nil || !reflect.DeepEqual(again, setup) || !reflect.DeepEqual(read, ops) {
		t.Errorf("%v: %+v\n%+v", err, again, read)
	}
	ops[0].Value = ""
	if Validate(setup, ops) == nil {
		t.Error("an effect without a value was accepted")
	}
}
