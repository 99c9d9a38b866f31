"""The steps of the frontier that Redis does as a whole or not at all, in Lua.

Keys begin with `KEYS[1]`; S is a site, P a process, D a request as bytes:

- `seen`: fingerprints of all requests that were pushed
- `waiting:S`: D by priority, and by age within one priority; `taken:S`: those that the owner has
- `sites`: S that nobody owns, by the time (seconds) from which it may be taken
- `owners`: S to P; `held:P`: the sites of P; `processes`: P by the end of its lease (seconds)
- `returns`: D to how often its process died; `failed`: D that is given up; `alone:P`: D, its site
  first, that P does alone, since it may be what processes die of
- `counts`: `pushed`, requests so far; `pending`, those of them that are not done; `born`, when the
  first process came
"""

from __future__ import annotations

COMMON = """
local prefix = KEYS[1]
local function key(name) return prefix .. ':' .. name end
local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) + tonumber(time[2]) / 1e6
end

-- The site has no owner any more, and rests for some seconds; what was taken waits again.
local function free(site, process, rest, most_returns)
  local taken = redis.call('ZRANGE', key('taken:' .. site), 0, -1, 'WITHSCORES')
  for i = 1, #taken, 2 do
    local data = taken[i]
    if most_returns and redis.call('HINCRBY', key('returns'), data, 1) > most_returns then
      redis.call('HDEL', key('returns'), data)
      redis.call('RPUSH', key('failed'), data)
      redis.call('HINCRBY', key('counts'), 'pending', -1)
    else
      redis.call('ZADD', key('waiting:' .. site), taken[i + 1], data)
    end
  end
  redis.call('DEL', key('taken:' .. site))
  redis.call('HDEL', key('owners'), site)
  redis.call('SREM', key('held:' .. process), site)
  redis.call('ZADD', key('sites'), now() + rest, site)
end

local function leave(process, most_returns)
  for _, site in ipairs(redis.call('SMEMBERS', key('held:' .. process))) do
    free(site, process, 0, most_returns)
  end
  redis.call('DEL', key('alone:' .. process))
  redis.call('ZREM', key('processes'), process)
end
"""

PUSH = """
local new = {}
for i = 1, #ARGV, 4 do
  local site, fingerprint, priority, data = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2]), ARGV[i + 3]
  local before_others = priority * 2 ^ 32
  local is_new = fingerprint == '' or redis.call('SADD', key('seen'), fingerprint) == 1
  if is_new then
    local age = redis.call('HINCRBY', key('counts'), 'pushed', 1) % 2 ^ 32
    local place = age - before_others
    -- It may be under way, where the answer to this was lost, and it is pushed once more.
    if not redis.call('ZSCORE', key('taken:' .. site), data) then
      local added = redis.call('ZADD', key('waiting:' .. site), 'NX', place, data)
      redis.call('HINCRBY', key('counts'), 'pending', added)
    end
    if redis.call('HEXISTS', key('owners'), site) == 0 then
      redis.call('ZADD', key('sites'), 'NX', now(), site)
    end
  end
  new[#new + 1] = is_new and 1 or 0
end
return new
"""
"""ARGV: site, fingerprint (empty: no duplicate filter), priority, request, and so on."""

FINISH = """
for i = 1, #ARGV, 2 do
  -- None is removed where the answer to this was lost, and it is asked once more.
  if redis.call('ZREM', key('taken:' .. ARGV[i]), ARGV[i + 1]) == 1 then
    redis.call('HINCRBY', key('counts'), 'pending', -1)
    redis.call('HDEL', key('returns'), ARGV[i + 1])
  end
end
"""
"""ARGV: site, request that is done, and so on."""

RELEASE = """
for i = 2, #ARGV, 2 do
  if redis.call('HGET', key('owners'), ARGV[i]) == ARGV[1] then
    free(ARGV[i], ARGV[1], tonumber(ARGV[i + 1]), nil)
  end
end
"""
"""ARGV: process; then site, seconds of rest, and so on."""

LEAVE = "leave(ARGV[1], nil)"
"""ARGV: process."""

KEEP = """
local known = {}
for i = 3, #ARGV do known[ARGV[i]] = true end
if redis.call('HGET', key('owners'), ARGV[2]) == ARGV[1] then
  local taken = redis.call('ZRANGE', key('taken:' .. ARGV[2]), 0, -1, 'WITHSCORES')
  for i = 1, #taken, 2 do
    if not known[taken[i]] then
      redis.call('ZREM', key('taken:' .. ARGV[2]), taken[i])
      redis.call('ZADD', key('waiting:' .. ARGV[2]), taken[i + 1], taken[i])
    end
  end
end
"""
"""ARGV: process, site; then the requests that the process knows to have, all others wait again."""

TAKE = """
local process, lease, is_known = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local most_new, each, most_returns = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local most_together = tonumber(ARGV[7])
local time = now()
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', key('processes'), '-inf', time)) do
  leave(dead, most_returns)
end
local is_alive = redis.call('ZSCORE', key('processes'), process)
redis.call('HSETNX', key('counts'), 'born', time)
local born = redis.call('HGET', key('counts'), 'born')
if is_known and not is_alive then return {0, born} end
redis.call('ZADD', key('processes'), time + lease, process)

-- Whether a request that came back too often may be taken now: one at a time.
local function is_alone(site, data)
  local other = redis.call('LRANGE', key('alone:' .. process), 0, 1)
  if other[1] and redis.call('ZSCORE', key('taken:' .. other[1]), other[2]) then return false end
  redis.call('DEL', key('alone:' .. process))
  redis.call('RPUSH', key('alone:' .. process), site, data)
  return true
end

local found = {}
local function take(site, count)
  local waiting = redis.call('ZRANGE', key('waiting:' .. site), 0, count - 1, 'WITHSCORES')
  local taken = {}
  for i = 1, #waiting, 2 do
    local returns = tonumber(redis.call('HGET', key('returns'), waiting[i]) or '0')
    if returns > most_together and not is_alone(site, waiting[i]) then break end
    redis.call('ZREM', key('waiting:' .. site), waiting[i])
    redis.call('ZADD', key('taken:' .. site), waiting[i + 1], waiting[i])
    taken[#taken + 1] = waiting[i]
  end
  found[#found + 1] = site
  found[#found + 1] = taken
end

for i = 8, #ARGV, 2 do
  if redis.call('HGET', key('owners'), ARGV[i]) == process then
    take(ARGV[i], tonumber(ARGV[i + 1]))
  end
end

-- Of the sites at hand a process has no more than its share, so that all have work.
local held = redis.call('SCARD', key('held:' .. process))
local sites = redis.call('HLEN', key('owners')) + redis.call('ZCARD', key('sites'))
local share = math.ceil(sites / redis.call('ZCARD', key('processes')))
local room = math.min(most_new, share - held)
while room > 0 do
  local free_sites = redis.call('ZRANGEBYSCORE', key('sites'), '-inf', time, 'LIMIT', 0, room)
  if #free_sites == 0 then break end
  for _, site in ipairs(free_sites) do
    redis.call('ZREM', key('sites'), site)
    if redis.call('EXISTS', key('waiting:' .. site)) == 1 then
      redis.call('HSET', key('owners'), site, process)
      redis.call('SADD', key('held:' .. process), site)
      take(site, each)
      room = room - 1
    end
  end
end
local counts = redis.call('HMGET', key('counts'), 'pending', 'pushed')
local pending, lost = tonumber(counts[1] or '0'), 0
-- Of what nobody has and no site is waited for, only the number is left.
if redis.call('HLEN', key('owners')) == 0 and redis.call('ZCARD', key('sites')) == 0 then
  pending, lost = 0, pending
  redis.call('HSET', key('counts'), 'pending', 0)
end
return {1, pending, tonumber(counts[2] or '0'), share,
        redis.call('ZCOUNT', key('sites'), '-inf', time), redis.call('LLEN', key('failed')), found,
        lost, born}
"""
"""ARGV: process, seconds of its lease, whether it has one, most new sites, most requests of each,
most returns of a request, and most of one that is done beside others; then site, number of requests
wanted, and so on.

Gives 0 where the lease is lost; else 1, pending, pushed, the process's share of the sites, the
number of sites that nobody has, that of requests given up, and sites with their requests. Then how
many requests Redis has lost, and when the frontier was born: another one than before was emptied
meanwhile.
"""
