import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Load } from './load.ts'
import type { Statement } from './capture.ts'
import { percentile } from './report.ts'

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** The number of a booking, alone or before those of its reservations and folios. */
const bookingNumber = /^[0-9A-HJKMNP-TV-Z]{8}(?=$|-\d)/

const textOf = (value: unknown): string =>
  Buffer.isBuffer(value) ? '' : typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
const uuidsOf = (statements: Statement[]) =>
  new Set(
    statements.flatMap(({ values, rows }) => [...values, ...rows].flatMap((value) => textOf(value).match(uuid) ?? [])),
  )

/** Ids that stand in one run of the same work and not in the other, because each run makes them anew. */
const freshIds = (one: Statement[], other: Statement[]) => {
  const known = uuidsOf(other)
  return new Set([...uuidsOf(one)].filter((id) => !known.has(id)))
}

const renamed = (value: unknown) => (typeof value === 'number' ? randomInt(2 ** 31) : value)

type Names = Map<string, unknown>

/** Bindings of one more run: fresh ids, booking numbers and hashes in place of the captured ones, alike wherever they stood alike. */
const renewed = (value: unknown, other: unknown, fresh: Set<string>, names: Names): unknown => {
  const named = (key: string, make: () => unknown) => {
    if (!names.has(key)) names.set(key, make())
    return names.get(key)
  }
  if (Array.isArray(value))
    return value.map((item, index) => renewed(item, Array.isArray(other) ? other[index] : undefined, fresh, names))
  if (Buffer.isBuffer(value)) {
    const differs = !Buffer.isBuffer(other) || !value.equals(other)
    return differs ? named(value.toString('hex'), () => randomBytes(value.length)) : value
  }
  if (typeof value === 'string') {
    const withIds = value.replace(uuid, (id) => (fresh.has(id) ? String(named(id, randomUUID)) : id))
    if (value !== other && bookingNumber.test(value))
      return value.replace(bookingNumber, (number) =>
        String(named(number, () => Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join(''))),
      )
    return withIds
  }
  return value
}

/** Ids that the database itself made stand in what it answered; later statements name them. */
const learn = (captured: unknown, answered: unknown, fresh: Set<string>, names: Names): void => {
  if (typeof captured === 'string' && typeof answered === 'string') {
    if (fresh.has(captured) && !names.has(captured)) names.set(captured, answered)
    return
  }
  if (
    captured === null ||
    typeof captured !== 'object' ||
    answered === null ||
    typeof answered !== 'object' ||
    Buffer.isBuffer(captured)
  )
    return
  const theirs = Object.values(answered)
  for (const [index, value] of Object.values(captured).entries()) learn(value, theirs[index], fresh, names)
}

type Options = {
  url: string
  seconds: number
  inFlight: number
  most?: number
  /** Ids that each repetition puts in the place of captured ones, such as another room's. */
  instead?: () => [captured: string, id: string][]
}

/**
 * Replays captured statements by pg alone, each prepared: no HTTP, no checks, no code of ours. `other` is a second capture of the same
 * work; where it differs, each repetition differs too.
 */
export const replay = async (
  statements: Statement[],
  other: Statement[],
  { url, seconds, inFlight, most = Infinity, instead = () => [] }: Options,
): Promise<Load> => {
  if (statements.length !== other.length)
    throw new Error(`the work sends ${statements.length} statements once and ${other.length} the next time`)
  const fresh = new Set([...freshIds(statements, other), ...instead().map(([captured]) => captured)])
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  const times: number[] = []
  const started = performance.now()
  const until = started + seconds * 1000
  let begun = 0
  const once = async () => {
    const names: Names = new Map(instead())
    const client = await pool.connect()
    try {
      for (const [index, { text, values, rows }] of statements.entries()) {
        const again = values.map((value, at) => renewed(value, other[index]?.values[at], fresh, names))
        // The name of an advisory lock follows from the caller. Each repetition is another stranger.
        const bindings = text.includes('pg_advisory_xact_lock')
          ? again.map((value, at) => (value === other[index]?.values[at] ? value : renamed(value)))
          : again
        // A text of several statements has an answer for each, and none of them names anything.
        const name = bindings.length > 0 ? { name: `statement ${index}` } : {}
        const answer = await client.query<Record<string, unknown>>({ ...name, text, values: bindings })
        if (!Array.isArray(answer)) learn(rows, answer.rows, fresh, names)
      }
    } catch (cause) {
      await client.query('rollback')
      throw new Error('a statement cannot be repeated', { cause })
    } finally {
      client.release()
    }
  }
  const lane = async () => {
    while (performance.now() < until && begun < most) {
      begun += 1
      const from = performance.now()
      await once()
      times.push(performance.now() - from)
    }
  }
  let tookMs: number
  try {
    await Promise.all(Array.from({ length: inFlight }, lane))
    tookMs = performance.now() - started
  } finally {
    await pool.end()
  }
  return {
    perSecond: (times.length / tookMs) * 1000,
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    p99Ms: percentile(times, 0.99),
    count: times.length,
  }
}
