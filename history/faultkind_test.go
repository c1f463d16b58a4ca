package history

import "testing"

// Each kind of fault is whole: it says what it does, and selftest lies about it, or about the one
// injection that the faults of links share.
func TestFaultKinds(t *testing.T) {
	seen, lies := map[string]bool{}, 0
	for _, k := range FaultKinds {
		if k.Name == "" || k.About == "" || seen[k.Name] {
			t.Errorf("%q is not whole, or stands twice", k.Name)
		}
		if len(k.Lies) == 0 && !k.Link {
			t.Errorf("selftest does not lie about %s", k.Name)
		}
		if k.Link {
			lies += len(k.Lies)
		}
		if k.Message && !k.Link || k.Link && !k.Local || k.Disk && k.Need != NeedFuse {
			t.Errorf("%s contradicts itself", k.Name)
		}
		if FaultOf(k.Name).About != k.About {
			t.Errorf("%s is not found", k.Name)
		}
		seen[k.Name] = true
	}
	if lies == 0 {
		t.Error("selftest does not lie about the faults of links")
	}
	if other := FaultOf("flood"); other.Name != "flood" || other.About != "" || other.Stops {
		t.Errorf("what is no kind: %+v", other)
	}
}
