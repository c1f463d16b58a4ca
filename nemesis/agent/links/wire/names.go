package wire

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Protocols are those that name their messages.
var Protocols = []Protocol{Redis, ZooKeeper, Postgres, HTTP1, HTTP2}

// Words are what messages of one direction are called, in order; of
// Redis' answers, which are named by their first line, the common ones.
func Words(p Protocol, request bool) []string {
	switch p {
	case Redis:
		if request {
			return strings.Fields(commands)
		}
		return []string{"*0", "*1", "*2", "+OK", "+PONG", "+QUEUED", "-ERR", "-NOSCRIPT", "-READONLY", ":0", ":1", "$-1"}
	case ZooKeeper:
		if request {
			return append(slices.Sorted(maps.Values(opcodes)), "connect")
		}
		return []string{"connect", "notification", "ping", "reply"}
	case Postgres:
		if request {
			return append(slices.Sorted(maps.Values(fromFrontend)), "cancel", "gss", "ssl", "startup")
		}
		return append(slices.Sorted(maps.Values(fromBackend)), "N")
	case HTTP1:
		if request {
			return []string{"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}
		}
		return []string{"200", "201", "204", "400", "401", "403", "404", "409", "422", "429", "500", "503"}
	case HTTP2:
		if request {
			return append(slices.Clone(frameTypes), "PREFACE")
		}
		return frameTypes
	}
	return nil
}

// others are names that are made of what a message holds, beside the words.
var others = map[Protocol]map[bool]*regexp.Regexp{
	Redis: {
		true:  regexp.MustCompile(`^([A-Za-z]+\.[A-Za-z.]+|\*|EMPTY)$`), // a module's commands have a dot
		false: regexp.MustCompile(`^([-+:$*_,#(%~>|=!]\S*|EMPTY)$`),
	},
	ZooKeeper: {true: regexp.MustCompile(`^(opcode-?[0-9]+|short)$`), false: regexp.MustCompile(`^short$`)},
	Postgres:  {true: regexp.MustCompile(`^.$`), false: regexp.MustCompile(`^.$`)},
	HTTP1:     {true: regexp.MustCompile(`^$`), false: regexp.MustCompile(`^[1-9][0-9][0-9]$`)},
	HTTP2:     {true: regexp.MustCompile(`^frame[0-9]+$`), false: regexp.MustCompile(`^frame[0-9]+$`)},
}

// Names says whether a message of that direction can be called name, in any case.
func (p Protocol) Names(name string, request bool) bool {
	return slices.ContainsFunc(Words(p, request), func(word string) bool { return strings.EqualFold(word, name) }) ||
		others[p] != nil && others[p][request].MatchString(name)
}

// commands are Redis 7.0's own, as COMMAND LIST names them.
const commands = `
ACL APPEND ASKING AUTH BGREWRITEAOF BGSAVE BITCOUNT BITFIELD BITFIELD_RO BITOP BITPOS BLMOVE BLMPOP
BLPOP BRPOP BRPOPLPUSH BZMPOP BZPOPMAX BZPOPMIN CLIENT CLUSTER COMMAND CONFIG COPY DBSIZE DEBUG DECR
DECRBY DEL DISCARD DUMP ECHO EVAL EVALSHA EVALSHA_RO EVAL_RO EXEC EXISTS EXPIRE EXPIREAT EXPIRETIME
FAILOVER FCALL FCALL_RO FLUSHALL FLUSHDB FUNCTION GEOADD GEODIST GEOHASH GEOPOS GEORADIUS
GEORADIUSBYMEMBER GEORADIUSBYMEMBER_RO GEORADIUS_RO GEOSEARCH GEOSEARCHSTORE GET GETBIT GETDEL GETEX
GETRANGE GETSET HDEL HELLO HEXISTS HGET HGETALL HINCRBY HINCRBYFLOAT HKEYS HLEN HMGET HMSET
HRANDFIELD HSCAN HSET HSETNX HSTRLEN HVALS INCR INCRBY INCRBYFLOAT INFO KEYS LASTSAVE LATENCY LCS
LINDEX LINSERT LLEN LMOVE LMPOP LOLWUT LPOP LPOS LPUSH LPUSHX LRANGE LREM LSET LTRIM MEMORY MGET
MIGRATE MODULE MONITOR MOVE MSET MSETNX MULTI OBJECT PERSIST PEXPIRE PEXPIREAT PEXPIRETIME PFADD
PFCOUNT PFDEBUG PFMERGE PFSELFTEST PING PSETEX PSUBSCRIBE PSYNC PTTL PUBLISH PUBSUB PUNSUBSCRIBE
QUIT RANDOMKEY READONLY READWRITE RENAME RENAMENX REPLCONF REPLICAOF RESET RESTORE RESTORE-ASKING
ROLE RPOP RPOPLPUSH RPUSH RPUSHX SADD SAVE SCAN SCARD SCRIPT SDIFF SDIFFSTORE SELECT SET SETBIT
SETEX SETNX SETRANGE SHUTDOWN SINTER SINTERCARD SINTERSTORE SISMEMBER SLAVEOF SLOWLOG SMEMBERS
SMISMEMBER SMOVE SORT SORT_RO SPOP SPUBLISH SRANDMEMBER SREM SSCAN SSUBSCRIBE STRLEN SUBSCRIBE
SUBSTR SUNION SUNIONSTORE SUNSUBSCRIBE SWAPDB SYNC TIME TOUCH TTL TYPE UNLINK UNSUBSCRIBE UNWATCH
WAIT WATCH XACK XADD XAUTOCLAIM XCLAIM XDEL XGROUP XINFO XLEN XPENDING XRANGE XREAD XREADGROUP
XREVRANGE XSETID XTRIM ZADD ZCARD ZCOUNT ZDIFF ZDIFFSTORE ZINCRBY ZINTER ZINTERCARD ZINTERSTORE
ZLEXCOUNT ZMPOP ZMSCORE ZPOPMAX ZPOPMIN ZRANDMEMBER ZRANGE ZRANGEBYLEX ZRANGEBYSCORE ZRANGESTORE
ZRANK ZREM ZREMRANGEBYLEX ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREVRANGE ZREVRANGEBYLEX ZREVRANGEBYSCORE
ZREVRANK ZSCAN ZSCORE ZUNION ZUNIONSTORE`
