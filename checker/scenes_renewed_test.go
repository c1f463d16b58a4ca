package checker

import (
	"maps"

	"github.com/dlmtest/dlmtest/history"
)

// The scenes of renewals that tell of another hold than their client has.
func init() { maps.Copy(scenes["honest-claims"], renewedOthers) }

// renewsMode is a holder of a read-write lock that renews it, and is told ok with a mode. It did something to its grant before.
func renewsMode(granted, asked, told history.Mode, before func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.kind(history.ReadWrite)
		b.setup.Promise.Changes = true
		h := b.as(0, 10*ms, "client-1", granted, 1)
		before(b, h)
		renewsAs(b, h, asked, told, 0, 0)
	}
}

// renewsPermits is a holder of permits that renews them, and is told ok with a number.
func renewsPermits(granted, asked, told int32, before func(*builder, *held)) func(*builder) {
	return func(b *builder) {
		b.kind(history.Semaphore)
		h := b.permits(0, 10*ms, "client-1", granted, 1)
		before(b, h)
		renewsAs(b, h, "", "", asked, told)
	}
}

// renewsAs is a renewal that says what it asks for, and is told something.
func renewsAs(b *builder, h *held, asked, told history.Mode, wants, gets int32) {
	b.does(300*ms, h, history.Extend, history.OK)
	b.ops[len(b.ops)-2].Mode, b.ops[len(b.ops)-2].Permits = asked, wants
	b.ops[len(b.ops)-1].Mode, b.ops[len(b.ops)-1].Permits = told, gets
	b.process[h.node] = 0
	b.does(400*ms, h, history.Release, history.OK)
}

func atOnce(*builder, *held) {}

// turned lets a holder ask for another mode, with an outcome.
func turned(at int64, mode history.Mode, outcome history.Type) func(*builder, *held) {
	return func(b *builder, h *held) {
		b.turn(at, h, mode, outcome)
		b.process[h.node] = 0
	}
}

// gaveOne lets a holder give back one permit, with an outcome.
func gaveOne(at int64, outcome history.Type) func(*builder, *held) {
	return func(b *builder, h *held) {
		b.does(at, h, history.Release, outcome)
		b.ops[len(b.ops)-2].Permits = 1
		b.process[h.node] = 0
	}
}

var renewedOthers = map[string]func(*builder){
	"violated-renewed-writer":          renewsMode(shared, "", exclusive, atOnce),
	"violated-renewed-reader":          renewsMode(exclusive, "", shared, atOnce),
	"violated-renewed-writer-asked":    renewsMode(shared, shared, exclusive, atOnce),
	"holds-renewed-as-asked":           renewsMode(shared, exclusive, exclusive, atOnce), // it renews what it had in mind
	"holds-renewed-reader":             renewsMode(shared, "", shared, atOnce),
	"holds-renewed-untold":             renewsMode(shared, "", "", atOnce),
	"holds-renewed-unsaid":             renewsMode("", "", shared, atOnce),
	"holds-renewed-changed":            renewsMode(shared, "", exclusive, turned(100*ms, exclusive, history.OK)),
	"violated-renewed-changed":         renewsMode(shared, "", shared, turned(100*ms, exclusive, history.OK)),
	"holds-renewed-beside-change":      renewsMode(shared, "", shared, turned(300*ms, exclusive, history.OK)), // it was first
	"holds-renewed-maybe-changed":      renewsMode(shared, "", exclusive, turned(100*ms, exclusive, history.Info)),
	"violated-renewed-unchanged":       renewsMode(shared, "", exclusive, turned(100*ms, exclusive, history.Fail)),
	"violated-renewed-more-permits":    renewsPermits(1, 0, 2, atOnce),
	"violated-renewed-fewer-permits":   renewsPermits(2, 0, 1, atOnce),
	"holds-renewed-permits":            renewsPermits(2, 0, 2, atOnce),
	"holds-renewed-part":               renewsPermits(2, 0, 1, gaveOne(100*ms, history.OK)),
	"violated-renewed-part-given-back": renewsPermits(2, 0, 2, gaveOne(100*ms, history.OK)),
	"holds-renewed-part-as-asked":      renewsPermits(2, 2, 2, gaveOne(100*ms, history.OK)),
	"holds-renewed-beside-part":        renewsPermits(2, 0, 2, gaveOne(300*ms, history.OK)),
	"holds-renewed-maybe-part":         renewsPermits(2, 0, 1, gaveOne(100*ms, history.Info)),
	"holds-renewed-refused": func(b *builder) { // what comes with a refusal tells of nothing
		renewsMode(shared, "", shared, atOnce)(b)
		h := b.as(2*sec, 2010*ms, "client-2", shared, 2)
		b.does(4*sec, h, history.Extend, history.Fail)
		b.ops[len(b.ops)-1].Mode = exclusive
	},
	"violated-renewed-elsewhere": func(b *builder) { // which was never granted that key
		renewsMode(shared, "", shared, atOnce)(b)
		b.setup.Keys = []string{"k", "l"}
		h := b.as(2*sec, 2010*ms, "client-2", shared, 2)
		b.ops[len(b.ops)-1].Key, b.ops[len(b.ops)-2].Key = "l", "l"
		b.does(2500*ms, h, history.Extend, history.OK)
		b.ops[len(b.ops)-1].Mode = exclusive
	},
	"violated-renewed-given-back": func(b *builder) { // all of it, and of more than it had: that is one claim
		renewsPermits(1, 0, 1, gaveOne(100*ms, history.OK))(b)
		b.ops[len(b.ops)-3].Permits = 2
	},
}
