import { setTimeout as wait } from 'node:timers/promises'
import { promoCodeCreated } from '../../config/events/properties.ts'
import { inTenant } from '../../db/lib/connection.ts'
import { emit } from '../../db/lib/events.ts'
import { usedEach } from '../cpu.ts'
import type { Used } from '../cpu.ts'
import { percentile } from '../report.ts'
import { fact } from './fact.ts'

export type Flow = {
  /** Asked for, and reached by the writer, which shares the machine. */
  perSecond: number
  written: number
  /** Seconds from the commit of each event to its first attempt; of one that never arrived, until the bench gave up on it. */
  took: number[]
  missing: number
  /** Milliseconds of a processor for each event that arrived, by process: writing, numbering, handing over, sending, receiving. */
  cost: Used
}

export const seconds = 6
const quietMs = 15_000

/** Writes events at a rate, and waits until all have arrived, or nothing has arrived for a quarter of one. */
export const flow = async (
  arrived: Map<string, number>,
  used: () => Used,
  ids: readonly string[],
  perSecond: number,
): Promise<Flow> => {
  const before = used()
  const committed = new Map<string, number>()
  const began = Date.now()
  const everyMs = 50
  for (let turn = 0; Date.now() - began < seconds * 1_000; turn += 1) {
    const due =
      Math.floor(((turn + 1) * everyMs * perSecond) / 1_000) - Math.floor((turn * everyMs * perSecond) / 1_000)
    await Promise.all(
      Array.from({ length: due }, async () => {
        const tenantId = ids[Math.floor(Math.random() * ids.length)] ?? ''
        const id = await inTenant(tenantId, (trx) => emit(trx, promoCodeCreated, fact(turn)))
        committed.set(id, Date.now())
      }),
    )
    await wait(Math.max(0, began + (turn + 1) * everyMs - Date.now()))
  }
  const written = committed.size / ((Date.now() - began) / 1_000)
  const missing = () => [...committed.keys()].filter((id) => !arrived.has(id)).length
  for (let [left, since] = [missing(), Date.now()]; left > 0 && Date.now() - since < quietMs;) {
    await wait(250)
    const now = missing()
    if (now < left) [left, since] = [now, Date.now()]
  }
  const cost = usedEach(before, used(), committed.size - missing())
  const until = Date.now()
  const took = [...committed].map(([id, at]) => Math.max(0, (arrived.get(id) ?? until) - at) / 1_000)
  return { perSecond, written, took, missing: missing(), cost }
}

/** Tells whether a machine keeps up: it wrote what was asked, and told of it in time. */
export const keepsUp = ({ perSecond, written, took, missing }: Flow) =>
  missing === 0 && written >= 0.95 * perSecond && percentile(took, 0.95) <= 2
