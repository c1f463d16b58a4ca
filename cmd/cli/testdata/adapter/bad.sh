#!/bin/sh
# An adapter that grants everything to everybody, so that its lock is a bad one, and that
# breaks the protocol in one way besides, at its 20th acquire, or makes up fencing tokens: bad.sh WAY.
way=$1 n=0 offers='"wait"' token=
case $way in token-*) offers='"wait","token"' ;; esac
[ "$way" = mute ] && sleep 3600
while read -r line; do
  id=${line#*\"id\":} id=${id%%[,\}]*} what=${line#*\"do\":\"} what=${what%%\"*}
  [ "$what" = acquire ] && n=$((n + 1))
  if [ "$what" = acquire ] && [ $n -ge 20 ]; then
    case $way in
    garbage) echo 'WARN: something went wrong' ;;
    dies) echo 'out of memory' >&2; exit 7 ;;
    hangs) sleep 3600 ;;
    twice) echo "{\"id\":$id,\"ok\":{\"grant\":\"g$n\"}}" ;;
    megabyte) head -c 1048576 /dev/zero | tr '\0' x; echo ;;
    unasked) echo "{\"id\":$((id + 1000)),\"ok\":{}}" ;;
    overclaims) echo "{\"id\":$id,\"ok\":{\"grant\":\"g$n\",\"token\":1}}"; continue ;;
    esac
  fi
  case $way in
  token-same) token=',"token":7' ;;
  token-own) token=",\"token\":$n" ;;
  token-falls) token=",\"token\":$((9223372036854775807 - $(date +%s%N)))" ;;
  token-last) token=',"token":9223372036854775807' ;;
  token-rises) token=",\"token\":$(date +%s%N)" ;;
  esac
  case $what in
  hello) echo "{\"id\":$id,\"ok\":{\"version\":1,\"name\":\"bad\",\"library\":\"1\",\"offers\":[$offers]}}" ;;
  acquire) echo "{\"id\":$id,\"ok\":{\"grant\":\"g$n\"$token}}" ;;
  *) echo "{\"id\":$id,\"ok\":{}}" ;;
  esac
done
[ "$way" = deaf ] && sleep 3600
[ "$way" = leaves ] && { sleep 3600 & }
exit 0
