package clusters

import "testing"

// Both runtimes refuse two nodes of one name, whatever its case.
func TestDistinct(t *testing.T) {
	if err := Distinct([]NodeSpec{{Name: "redis-1"}, {Name: "redis-2"}, {Name: "resource"}}); err != nil {
		t.Error(err)
	}
	same := []NodeSpec{{Name: "resource", Image: ClientImage}, {Name: "Resource", Image: ClientImage}}
	_, err := resolveLocal(same)
	wantError(t, err, "resource and Resource, which is one name to a resolver")
	wantError(t, (&deployment{}).up(t.Context(), same), "resource and Resource, which is one name to a resolver")
}
