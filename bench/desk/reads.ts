import type { Knex } from 'knex'
import { sql } from '../../db/lib/connection.ts'
import { addNote } from '../../db/reservations/notes.ts'
import type { House } from '../../test/support/factories.ts'
import { makeHouse } from '../../test/support/factories.ts'
import { place } from '../../test/units/stays.ts'
import { load } from '../load.ts'
import { startApi } from '../processes/start.ts'
import { judge } from '../report.ts'
import type { Result } from '../report.ts'
import { sized } from '../size.ts'
import { keysOf } from './keys.ts'

const units = 100
const days = 31
const stays = sized(300, 100)
const seconds = sized(5, 3)

/** A house with stays in its units over a month, and the longest of them with notes. */
const fill = async (house: House): Promise<string> => {
  const longest = await place(house, { from: 1, nights: 14 })
  for (let note = 0; note < 10; note += 1)
    await house.inHouse((trx) => addNote(trx, longest, { text: `Note ${note}`, audience: 'all' }))
  for (let made = 1; made < stays; made += 1)
    await place(house, { from: 1 + (made % (days - 4)), nights: 1 + (made % 4) })
  return longest
}

/** The reads of a desk all day: a stay, the tape chart, the arrivals, the counts of a day. */
export const reads = async (admin: Knex): Promise<{ results: Result[]; notes: string[] }> => {
  const house = await makeHouse({ units, deposit: null, settings: { portal: { holdShare: 10_000 } } })
  const stay = await fill(house)
  await sql(admin, `vacuum analyze`)
  const keys = await keysOf(house.tenantId)
  const api = await startApi()
  const tenant = `/api/tenants/${house.tenantId}`
  const asked = [
    { name: 'a stay of 14 nights with 10 notes, p95', path: `${tenant}/reservations/${stay}`, most: 30 },
    {
      name: `tape chart of ${units} units and ${days} days, p95`,
      path: `${tenant}/unit-calendar?propertyId=${house.propertyId}&from=${house.day(0)}&to=${house.day(days)}`,
      most: 80,
    },
    {
      name: '100 arrivals of a day, p95',
      path: `${tenant}/front-desk/arrivals?propertyId=${house.propertyId}&date=${house.day(1)}&limit=100`,
      most: 80,
    },
    {
      name: 'counts of a day, p95',
      path: `${tenant}/front-desk/summary?propertyId=${house.propertyId}&date=${house.day(2)}`,
      most: 80,
    },
  ]
  const results = []
  for (const { name, path, most } of asked) {
    const shot = (index: number) => ({ path, headers: { 'x-api-key': keys[index % keys.length] ?? '' } })
    await load(api.baseUrl, shot, { inFlight: 1, expected: 200, seconds: 1 })
    const { p95Ms } = await load(api.baseUrl, shot, { inFlight: 1, expected: 200, seconds })
    results.push(judge({ name, unit: 'ms', ours: p95Ms, reference: null }, { most }))
  }
  await api.stop()
  return {
    results,
    notes: [
      `Reads: one request after the other with an API key; a house of ${units} units with ${stays} stays in a month.`,
    ],
  }
}
