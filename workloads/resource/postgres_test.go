//go:build postgres

// This test needs a server, so it is built only on request and then fails
// without one, rather than skip:
//
//	DLMTEST_POSTGRES=postgres://postgres@127.0.0.1:5432/postgres go test -tags postgres ./workloads/resource
//
// It drops and makes the tables dlmtest_resource and dlmtest_log.
package resource_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/workloads/resource"
	"github.com/dlmtest/dlmtest/workloads/resource/resourcetest"
)

func TestPostgres(t *testing.T) {
	resourcetest.Run(t, func(t testing.TB, rules resource.Rules) resourcetest.Fixture {
		empty(t)
		db := open(t, rules)
		return resourcetest.Fixture{Resource: db, Log: func() []history.Op {
			ops, err := db.Log(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return ops
		}}
	})
}

// Clients that start together make the schema together.
func TestSchemaRace(t *testing.T) {
	for range 5 {
		empty(t)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { open(t, resource.Rules{}) })
		}
		wg.Wait()
	}
}

func open(t testing.TB, rules resource.Rules) *resource.Postgres {
	db, err := resource.OpenPostgres(t.Context(), url(t), rules)
	if err != nil {
		t.Error(err)
		return nil
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func empty(t testing.TB) {
	conn, err := pgx.Connect(t.Context(), url(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	// The functions' types hang on the tables.
	if _, err := conn.Exec(t.Context(), "DROP TABLE IF EXISTS dlmtest_resource, dlmtest_log CASCADE"); err != nil {
		t.Fatal(err)
	}
}

func url(t testing.TB) string {
	url := strings.TrimSpace(os.Getenv("DLMTEST_POSTGRES"))
	if url == "" {
		t.Fatal("set DLMTEST_POSTGRES to the URL of a server to test against")
	}
	return url
}
