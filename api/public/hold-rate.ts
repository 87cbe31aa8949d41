import { tooMany } from '../../config/errors.ts'
import { quickly } from '../lib/redis.ts'
import type { Answer, RequestFacts } from '../lib/route.ts'

const perHour = 10
const hourMs = 3_600_000

type Turn = { used: number; leftMs: number }

// Counts of this process alone, for while Redis is away.
const local = new Map<string, { count: number; until: number }>()
const mostLocal = 50_000

const countHere = (client: string, step: 1 | -1): Turn => {
  const now = Date.now()
  const known = local.get(client)
  const entry = known && known.until > now ? known : { count: 0, until: now + hourMs }
  entry.count = Math.max(0, entry.count + step)
  if (local.size >= mostLocal) local.clear()
  local.set(client, entry)
  return { used: entry.count, leftMs: entry.until - now }
}

const script = `
local n = redis.call('incrby', KEYS[1], ARGV[1])
if n <= 1 and ARGV[1] == '1' then redis.call('pexpire', KEYS[1], ARGV[2]) end
return {n, redis.call('pttl', KEYS[1])}`

const count = async (client: string, step: 1 | -1): Promise<Turn> => {
  const answer = await quickly(
    (redis) => redis.eval(script, 1, `holds:${client}`, step, hourMs) as Promise<[number, number]>,
  )
  return answer === null
    ? countHere(client, step)
    : { used: Number(answer[0]), leftMs: Math.max(1_000, Number(answer[1])) }
}

const turns = new WeakMap<RequestFacts, Turn>()

/** Counts a hold for a client's address while it is made; what fails does not count, nor does a repeated one. */
export const countingHold = async (
  client: string,
  request: RequestFacts,
  make: () => Promise<Answer>,
): Promise<Answer> => {
  turns.set(request, await count(client, 1))
  let isMade = false
  try {
    const answer = await make()
    isMade = answer.status === 201 && answer.headers['Idempotent-Replayed'] === undefined
    return answer
  } finally {
    if (!isMade) await count(client, -1)
  }
}

/** Refuses the eleventh hold of an address in an hour. */
export const refuseBeyondRate = (request: RequestFacts): void => {
  const turn = turns.get(request)
  if (turn && turn.used > perHour)
    throw tooMany('hold_limit', `At most ${perHour} stays can be held in an hour`, Math.ceil(turn.leftMs / 1_000))
}
