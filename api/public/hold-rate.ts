import { tooMany } from '../../config/errors.ts'
import { quickly } from '../lib/redis.ts'
import type { Answer, RequestFacts } from '../lib/route.ts'

const perHour = 10
const hourMs = 3_600_000

type Turn = { used: number; leftMs: number; isLocal: boolean }

// Counts of this process alone, for while Redis is away.
const local = new Map<string, { count: number; until: number }>()
const mostLocal = 50_000

const countHere = (client: string): Turn => {
  const now = Date.now()
  const known = local.get(client)
  const entry = known && known.until > now ? known : { count: 0, until: now + hourMs }
  entry.count += 1
  if (local.size >= mostLocal) local.clear()
  local.set(client, entry)
  return { used: entry.count, leftMs: entry.until - now, isLocal: true }
}

const countScript = `
local n = redis.call('incr', KEYS[1])
if n <= 1 then redis.call('pexpire', KEYS[1], ARGV[1]) end
return {n, redis.call('pttl', KEYS[1])}`

const count = async (client: string): Promise<Turn> => {
  const answer = await quickly(
    (redis) => redis.eval(countScript, 1, `holds:${client}`, hourMs) as Promise<[number, number]>,
  )
  if (answer === null) return countHere(client)
  return { used: Number(answer[0]), leftMs: Math.max(1_000, Number(answer[1])), isLocal: false }
}

const takeBackScript = `
if tonumber(redis.call('get', KEYS[1]) or 0) > 0 then return redis.call('decr', KEYS[1]) end
return 0`

/** Where it was counted, and only while that counts at all: elsewhere, or in the next hour, it would be a hold more than is allowed. */
const takeBack = async (client: string, { isLocal }: Turn): Promise<void> => {
  if (!isLocal) return void (await quickly((redis) => redis.eval(takeBackScript, 1, `holds:${client}`)))
  const known = local.get(client)
  if (known && known.count > 0) known.count -= 1
}

const turns = new WeakMap<RequestFacts, Turn>()

/** Counts a hold for a client's address while it is made; what fails does not count, nor does a repeated one. */
export const countingHold = async (
  client: string,
  request: RequestFacts,
  make: () => Promise<Answer>,
): Promise<Answer> => {
  const turn = await count(client)
  turns.set(request, turn)
  let isMade = false
  try {
    const answer = await make()
    isMade = answer.status === 201 && answer.headers['Idempotent-Replayed'] === undefined
    return answer
  } finally {
    if (!isMade) await takeBack(client, turn)
  }
}

/** Refuses the eleventh hold of an address in an hour. */
export const refuseBeyondRate = (request: RequestFacts): void => {
  const turn = turns.get(request)
  if (turn && turn.used > perHour)
    throw tooMany('hold_limit', `At most ${perHour} stays can be held in an hour`, Math.ceil(turn.leftMs / 1_000))
}
