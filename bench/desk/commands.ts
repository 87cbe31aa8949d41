import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { closeRedis, openRedis } from '../../api/lib/redis.ts'
import { listen, makeServer } from '../../api/server.ts'
import { sql } from '../../db/lib/connection.ts'
import { assignBestFit } from '../../db/reservations/unit-lock.ts'
import { confirmPaid } from '../../db/reservations/confirm-paid.ts'
import { clientOf } from '../../test/support/client.ts'
import { makeHouse } from '../../test/support/factories.ts'
import type { House } from '../../test/support/factories.ts'
import { pay } from '../../test/support/pay.ts'
import { roundTrips } from '../../test/support/trips.ts'
import { capture } from '../capture.ts'
import type { Statement } from '../capture.ts'
import { load, paced } from '../load.ts'
import type { Load, Shot } from '../load.ts'
import { startApi } from '../processes/start.ts'
import { replay } from '../replay.ts'
import { judge } from '../report.ts'
import type { Result } from '../report.ts'
import { sized } from '../size.ts'
import { keysOf } from './keys.ts'

const units = 200
const perSecond = 50
const inFlight = 8
/** Stays of a house that are commanded; each house takes the four commands once. */
const stays = sized(180, 40)

const names = ['create', 'confirm', 'check-in', 'check-out'] as const
type Name = (typeof names)[number]
const expected: Readonly<Record<Name, number>> = { create: 201, confirm: 200, 'check-in': 200, 'check-out': 200 }

type Stay = { id: string; bookingId: string }

/** A hotel of which every unit is fit for a guest at once. Guests leave by the policy for nothing. */
const openHotel = async (tenantId?: string): Promise<House> => {
  const house = await makeHouse({
    units,
    taxes: true,
    deposit: null,
    settings: { frontDesk: { noShowFrom: '00:00', conditions: ['clean', 'inspected', 'dirty'] } },
    ...(tenantId === undefined ? {} : { tenantId }),
  })
  await house.inHouse((trx) => sql(trx, `update property set check_in_from = '00:00' where id = ?`, [house.propertyId]))
  return house
}

const staysOf = (house: House) =>
  house.inHouse((trx) =>
    sql<Stay>(trx, `select id, booking_id from reservation where property_id = ? order by created_at, id`, [
      house.propertyId,
    ]),
  )

/** Bodies and paths of the four commands for a house. */
const shotsOf = (house: House, keys: readonly string[]) => {
  const tenant = `/api/tenants/${house.tenantId}`
  let sent = 0
  const post = (path: string, body: object): Shot => {
    sent += 1
    return {
      path: `${tenant}/${path}`,
      method: 'POST',
      headers: { 'x-api-key': keys[sent % keys.length] ?? '', 'idempotency-key': randomUUID() },
      body,
    }
  }
  const room = {
    unitTypeId: house.unitTypeId,
    ratePlanId: house.ratePlanId,
    arrival: house.day(0),
    departure: house.day(1),
    adults: 2,
    childrenAges: [],
  }
  const of: Record<Name, (stay: Stay) => Shot> = {
    create: () =>
      post('bookings', {
        propertyId: house.propertyId,
        booker: { firstName: 'Ana', lastName: 'Souza' },
        rooms: [room],
        hold: { kind: 'payment' },
      }),
    confirm: ({ bookingId }) => post(`bookings/${bookingId}/confirm`, {}),
    'check-in': ({ id }) => post(`reservations/${id}/check-in`, {}),
    'check-out': ({ id }) => post(`reservations/${id}/check-out`, { chargeTonight: true }),
  }
  return of
}

/** The steps between two commands, which are not measured: the job that finds a unit, and the guest who pays. */
const between: Partial<Record<Name, (house: House, stay: Stay) => Promise<unknown>>> = {
  confirm: (house, { id }) => house.inHouse((trx) => assignBestFit(trx, id, { lock: true })),
  'check-in': async (house, { bookingId }) => {
    await pay(house, bookingId, 'all')
    await house.inHouse((trx) => confirmPaid(trx, bookingId))
  },
}

/** Runs the four commands over the stays of a house, one command after the other. */
const day = async (
  house: House,
  run: (name: Name, stays: readonly Stay[]) => Promise<void>,
  count = stays,
): Promise<void> => {
  let found: Stay[] = Array.from({ length: count }, () => ({ id: '', bookingId: '' }))
  for (const name of names) {
    await run(name, found)
    if (name === 'create') found = (await staysOf(house)).slice(-count)
    for (const stay of found) await between[name]?.(house, stay)
  }
}

type Captured = Record<Name, { one: Statement[]; other: Statement[]; ids: (string | null)[]; trips: number }>

/** Ids of the rows of a stay, each kind at its place; null for what it has not yet. */
const idsOf = async (house: House, { id }: Stay): Promise<(string | null)[]> => {
  const [found] = await house.inHouse((trx) =>
    sql<{ ids: (string | null)[] }>(
      trx,
      `select array[r.id, r.booking_id, r.primary_guest_id, (select g.id from reservation_guest g where g.reservation_id = r.id limit 1),
         (select f.id from folio f where f.reservation_id = r.id limit 1), a.id, a.unit_id]::text[] as ids
       from reservation r left join unit_assignment a on a.tenant_id = r.tenant_id and a.reservation_id = r.id and a.status <> 'released' where r.id = ?`,
      [id],
    ),
  )
  return found?.ids ?? []
}

const textsOf = (statements: readonly Statement[]) => statements.map(({ text }) => text).join()
const taken = 7

/** The statements of each command for two stays that send the same ones, and the round trips of a third. */
const captureDay = async (house: House, keys: readonly string[]): Promise<Captured> => {
  openRedis(settings.redisUrl)
  const server = await makeServer()
  const here = clientOf(await listen(server, 0, '127.0.0.1'))
  const shots = shotsOf(house, keys)
  const captured: Partial<Captured> = {}
  const send = async (name: Name, stay: Stay) => {
    const { path, headers = {}, body } = shots[name](stay)
    const reply = await here('POST', path, { headers, body })
    if (reply.status !== expected[name]) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
  }
  await day(
    house,
    async (name, [warm, last, ...found]) => {
      if (!warm || !last) throw new Error('stays are missing')
      await send(name, warm)
      const made: { statements: Statement[]; stay: Stay }[] = []
      for (const stay of found) made.push({ statements: await capture(() => send(name, stay)), stay })
      const pairs = made.flatMap((one, index) => made.slice(index + 1).map((other) => ({ one, other })))
      const pair = pairs.findLast(({ one, other }) => textsOf(one.statements) === textsOf(other.statements))
      if (!pair) throw new Error(`no two requests send the same statements: ${name}`)
      captured[name] = {
        one: pair.one.statements,
        other: pair.other.statements,
        ids: name === 'create' ? [] : await idsOf(house, pair.one.stay),
        trips: await roundTrips(() => send(name, last)),
      }
    },
    taken,
  )
  server.closeAllConnections()
  server.close()
  closeRedis()
  return captured as Captured
}

/** Repeats the captured statements of each command over stays of the same house, by pg alone. */
const replayDay = async (house: House, captured: Captured): Promise<Record<Name, Load>> => {
  const loads: Partial<Record<Name, Load>> = {}
  await day(house, async (name, found) => {
    const { one, other, ids } = captured[name]
    const others = name === 'create' ? [] : await Promise.all(found.map((stay) => idsOf(house, stay)))
    // It is asked once more than there are stays, for the names of the ids alone.
    let turn = -1
    const instead = (): [string, string][] => {
      const next = others[Math.max(0, turn)] ?? []
      turn += 1
      return ids.flatMap((id, index): [string, string][] => (id && next[index] ? [[id, next[index]]] : []))
    }
    loads[name] = await replay(one, other, { url: settings.databaseUrl, seconds: 600, inFlight, most: stays, instead })
  })
  return loads as Record<Name, Load>
}

/** The four commands of a stay at a steady rate, and as many as can be beside the same statements by pg alone. */
export const commands = async (): Promise<{ results: Result[]; notes: string[] }> => {
  const calm = await openHotel()
  const [busy, bare] = [await openHotel(calm.tenantId), await openHotel(calm.tenantId)]
  const keys = await keysOf(calm.tenantId)
  const captured = await captureDay(bare, keys)

  const api = await startApi()
  const warm = await openHotel(calm.tenantId)
  const over = (house: House, send: (name: Name, shots: readonly Shot[]) => Promise<Load>) => {
    const shots = shotsOf(house, keys)
    return async (name: Name, found: readonly Stay[]) => send(name, found.map(shots[name]))
  }
  const all = (name: Name, shots: readonly Shot[]) =>
    load(api.baseUrl, (index) => shots[index] ?? { path: '/' }, {
      seconds: 600,
      inFlight,
      expected: expected[name],
      most: shots.length,
    })
  const warmUp = over(warm, all)
  await day(warm, async (name, found) => void (await warmUp(name, found)), 20)
  const steady: Partial<Record<Name, Load>> = {}
  const most: Partial<Record<Name, Load>> = {}
  const atRate = over(calm, (name, shots) => paced(api.baseUrl, shots, { perSecond, expected: expected[name] }))
  await day(calm, async (name, found) => void (steady[name] = await atRate(name, found)))
  const atOnce = over(busy, all)
  await day(busy, async (name, found) => void (most[name] = await atOnce(name, found)))
  await api.stop()
  const theirs = await replayDay(bare, captured)
  return {
    results: names.flatMap((name) => [
      judge(
        {
          name: `${name} at ${perSecond} a second, p95`,
          unit: 'ms',
          ours: steady[name]?.p95Ms ?? NaN,
          reference: null,
        },
        { most: 80 },
      ),
      judge(
        {
          name: `${name}, as many as can be`,
          unit: 'per second',
          ours: most[name]?.perSecond ?? 0,
          reference: theirs[name].perSecond,
        },
        { least: 0.5 },
      ),
    ]),
    notes: [
      `Commands over HTTP with API keys, compiled, one process, one property of ${units} units: ${stays} stays of one night are held, confirmed, checked in and, once paid, checked out. Units are assigned and payments made between the commands.`,
      `Reference: pg alone repeats the statements of the same requests one after the other, ${inFlight} transactions at a time, as ours are ${inFlight} in flight.`,
      `Statements and round trips: ${names.map((name) => `${name} ${captured[name].one.length} in ${captured[name].trips}`).join(', ')}.`,
    ],
  }
}
