import { tooMany } from '../../config/errors.ts'
import { quickly } from '../lib/redis.ts'

const perHour = 10
const hourMs = 3_600_000

// Counts of this process alone, for while Redis is away.
const local = new Map<string, { count: number; until: number }>()
const mostLocal = 50_000

const countHere = (client: string, step: 1 | -1): { used: number; leftMs: number } => {
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

const count = async (client: string, step: 1 | -1): Promise<{ used: number; leftMs: number }> => {
  const answer = await quickly(
    (redis) => redis.eval(script, 1, `holds:${client}`, step, hourMs) as Promise<[number, number]>,
  )
  return answer === null
    ? countHere(client, step)
    : { used: Number(answer[0]), leftMs: Math.max(1_000, Number(answer[1])) }
}

/** Makes a hold for a client's address, at most ten in an hour; what fails does not count, nor does a repeated one. */
export const withinHoldRate = async <T extends { repeated: boolean }>(
  client: string,
  make: () => Promise<T>,
): Promise<T> => {
  const { used, leftMs } = await count(client, 1)
  if (used > perHour) {
    await count(client, -1)
    throw tooMany('hold_limit', `At most ${perHour} stays can be held in an hour`, Math.ceil(leftMs / 1_000))
  }
  try {
    const made = await make()
    if (made.repeated) await count(client, -1)
    return made
  } catch (error) {
    await count(client, -1)
    throw error
  }
}
