import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { tooMany } from '../../config/errors.ts'
import { quickly } from '../lib/redis.ts'
import type { Answer, RequestFacts } from '../lib/route.ts'

const perHour = 10
const hourMs = 3_600_000

/** `used`: how many different holds the address has made or is making. */
type Turn = { used: number; leftMs: number; isLocal: boolean }

// Counts of this process alone, for while Redis is away: how many make, or made, each hold.
type Local = { holds: Map<string, number>; until: number }
let local: LRUCache<string, Local> | null = null
// Its places take a megabyte as soon as it is made.
const counts = () => (local ??= new LRUCache({ max: 50_000 }))

const countHere = (client: string, hold: string): Turn => {
  const now = Date.now()
  const known = counts().get(client)
  const entry = known && known.until > now ? known : { holds: new Map<string, number>(), until: now + hourMs }
  entry.holds.set(hold, (entry.holds.get(hold) ?? 0) + 1)
  counts().set(client, entry)
  return { used: entry.holds.size, leftMs: entry.until - now, isLocal: true }
}

const countScript = `
local n = redis.call('hincrby', KEYS[1], ARGV[2], 1)
local used = redis.call('hlen', KEYS[1])
if n == 1 and used == 1 then redis.call('pexpire', KEYS[1], ARGV[1]) end
return {used, redis.call('pttl', KEYS[1])}`

const keyOf = (client: string) => `held:${client}`

const count = async (client: string, hold: string): Promise<Turn> => {
  const answer = await quickly(
    (redis) => redis.eval(countScript, 1, keyOf(client), hourMs, hold) as Promise<[number, number]>,
  )
  if (answer === null) return countHere(client, hold)
  return { used: Number(answer[0]), leftMs: Math.max(1_000, Number(answer[1])), isLocal: false }
}

const takeBackScript = `
if redis.call('hincrby', KEYS[1], ARGV[1], -1) <= 0 then redis.call('hdel', KEYS[1], ARGV[1]) end
return 0`

/** Takes a count back in this process and in the same hour only: anywhere else it would allow a hold too many. */
const takeBack = async (client: string, hold: string, { isLocal }: Turn): Promise<void> => {
  if (!isLocal) return void (await quickly((redis) => redis.eval(takeBackScript, 1, keyOf(client), hold)))
  const holds = counts().get(client)?.holds
  const left = (holds?.get(hold) ?? 0) - 1
  if (left > 0) holds?.set(hold, left)
  else holds?.delete(hold)
}

const turns = new WeakMap<RequestFacts, Turn>()

/**
 * Counts a hold for a client's address while it is made; what fails does not count, nor does a repeated one. A request that is sent many
 * times at once is one hold, since its quote makes one. It is counted before its transaction, which must not wait for Redis, or many at once
 * would all pass: of one address, ten that the house is about to refuse (its own fields, its terms, sold out) shut out an eleventh until they
 * are refused. What its schema refuses, or its quote, is never counted.
 */
export const countingHold = async (
  client: string,
  request: RequestFacts,
  make: () => Promise<Answer>,
): Promise<Answer> => {
  const hold = createHash('sha256').update(request.rawBody).digest('base64url').slice(0, 22)
  const turn = await count(client, hold)
  turns.set(request, turn)
  let isMade = false
  try {
    const answer = await make()
    isMade = answer.status === 201 && answer.headers['Idempotent-Replayed'] === undefined
    return answer
  } finally {
    if (!isMade) await takeBack(client, hold, turn)
  }
}

/** Refuses the eleventh hold of an address in an hour. */
export const refuseBeyondRate = (request: RequestFacts): void => {
  const turn = turns.get(request)
  if (turn && turn.used > perHour)
    throw tooMany('hold_limit', `At most ${perHour} stays can be held in an hour`, Math.ceil(turn.leftMs / 1_000))
}
