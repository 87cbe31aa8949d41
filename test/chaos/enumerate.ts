import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Knex } from 'knex'
import { sql } from '../../db/connection.ts'
import type { House } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { insistentClient } from './client.ts'
import { holdAsGuest } from './guest.ts'
import type { Guest } from './guest.ts'
import { quiescence, replayInnocent, untilOver } from './heal.ts'
import type { Ledger } from './ledger.ts'
import { missedWithinMs, nameOf } from './points.ts'
import type { Case, Story } from './points.ts'
import { randomOf } from './random.ts'
import type { Town } from './town.ts'

type Found = { booking: string; payments: string; refunds: string }

const ends: Record<Story, Found> = {
  book: { booking: 'confirmed', payments: 'captured', refunds: '' },
  cancel: { booking: 'cancelled', payments: 'captured', refunds: 'succeeded' },
  expire: { booking: 'expired', payments: '', refunds: '' },
  lapse: { booking: 'expired', payments: '', refunds: '' },
  supersede: { booking: 'confirmed', payments: 'cancelled captured', refunds: '' },
  unread: { booking: 'confirmed', payments: 'captured', refunds: '' },
  busy: { booking: 'confirmed', payments: 'captured', refunds: '' },
  wipe: { booking: 'confirmed', payments: 'captured', refunds: '' },
  unreturned: { booking: 'cancelled', payments: 'captured', refunds: 'succeeded' },
  unheard: { booking: 'confirmed', payments: 'captured', refunds: '' },
  slot: { booking: 'confirmed', payments: 'captured', refunds: '' },
}

const foundOf = async (database: Knex, bookingId: string): Promise<Found> => {
  const [row] = await sql<Found>(
    database,
    `select (select string_agg(distinct status, ' ') from reservation where booking_id = :bookingId) as booking,
       coalesce((select string_agg(status, ' ' order by status) from payment where target_id = :bookingId), '') as payments,
       coalesce((select string_agg(r.status, ' ' order by r.status) from refund r join payment p on p.tenant_id = r.tenant_id and p.id = r.payment_id
         where p.target_id = :bookingId), '') as refunds`,
    { bookingId },
  )
  if (!row) throw new Error('no row')
  return row
}

const bringForward = async (database: Knex, statement: string, id: string) => {
  await sql(database, statement, [id])
}

type Scene = { town: Town; database: Knex; house: House; ledger: Ledger; folder: string }

/** What broke here has closed the gate for longer with each case: an operator knows better. */
const openGates = (database: Knex) =>
  sql(
    database,
    `update provider_gate set state = 'open', closed_at = null, closed_until = null, reason = null, failures = 0, closures = 0,
       probe_job_id = null, probe_until = null`,
  )

/** The connection to the mail server breaks once the message has gone out on it, and before it arrives. */
const loseAnswer = async ({ proxies: { smtp } }: Town, database: Knex, guest: Guest): Promise<void> => {
  const [since] = await sql<{ at: Date }>(database, `select clock_timestamp() as at`)
  const asked = `kind = 'messages.resolve-unknown' and status = 'pending' and created_at >= ?`
  const isLost = async () => {
    smtp.cut()
    return (await sql(database, `select 1 from jobs where ${asked}`, [since?.at])).length > 0
  }
  // A second answer that is lost gives a mail up: those of earlier cases are heard of first.
  const mails = `kind = 'messages.resolve-unknown' and status <> 'dead'`
  const areHeard = async () => {
    await openGates(database)
    await sql(database, `update jobs set run_at = now() where ${mails} and status = 'pending' and run_at > now()`)
    return (await sql(database, `select 1 from jobs where ${mails} limit 1`)).length === 0
  }
  await until(areHeard, { withinMs: 90_000, everyMs: 1_000, what: 'the fate of earlier mails' })
  smtp.freezeOn('\r\n.\r\n')
  try {
    await guest.pay({ method: 'card', cardToken: 'success' })
    await until(isLost, { withinMs: 60_000, everyMs: 1_000, what: 'a mail of which nobody knows' })
  } finally {
    smtp.freezeOn(null)
    smtp.cut()
  }
  await openGates(database)
  await sql(database, `update jobs set run_at = now() where ${asked}`, [since?.at])
}

const lapsed = `update booking set hold_expires_at = now() - interval '1 second' where id = ?`

/** Plays a story up to the step that its case is about; the rest follows by itself. */
const play = async ({ town, database }: Scene, { story, slot }: Case, guest: Guest): Promise<void> => {
  const confirmed = () =>
    until(async () => (await foundOf(database, guest.bookingId)).booking === 'confirmed', {
      withinMs: 60_000,
      what: 'the confirmation',
    })
  switch (story) {
    case 'book':
      await guest.pay({ method: 'card', cardToken: 'success' })
      return
    case 'cancel': {
      await guest.pay({ method: 'card', cardToken: 'success', amount: 'all' })
      await confirmed()
      await guest.cancel()
      return
    }
    case 'unreturned':
      await guest.pay({ method: 'card', cardToken: 'success', amount: 'all' })
      await confirmed()
      await town.gateway('hangs_after')
      await guest.cancel()
      await until(
        async () => {
          town.proxies.gateway.cut()
          return (await foundOf(database, guest.bookingId)).refunds === 'unknown'
        },
        { withinMs: 60_000, everyMs: 200, what: 'a refund of which nobody knows' },
      )
      await town.gateway('well')
      await openGates(database)
      await bringForward(
        database,
        `update refund set next_read_at = now() where payment_id in (select id from payment where target_id = ?)`,
        guest.bookingId,
      )
      return
    case 'unheard':
      await loseAnswer(town, database, guest)
      return
    case 'slot':
      await bringForward(database, `update schedule set next_at = now() where kind = ?`, slot ?? '')
      await guest.pay({ method: 'card', cardToken: 'success' })
      return
    case 'lapse':
      await bringForward(database, lapsed, guest.bookingId)
      return
    case 'expire':
      await bringForward(database, lapsed, guest.bookingId)
      await bringForward(
        database,
        `update jobs set run_at = now() where kind = 'inventory.expire-hold' and status = 'pending' and payload->>'bookingId' = ?`,
        guest.bookingId,
      )
      return
    case 'supersede':
      await guest.pay({ method: 'pix', cardToken: 'pix_unpaid' })
      await until(async () => (await foundOf(database, guest.bookingId)).payments === 'requires_action', {
        withinMs: 30_000,
        what: 'the Pix code',
      })
      await guest.pay({ method: 'card', cardToken: 'success' })
      return
    case 'unread':
      await town.gateway('loses_callbacks')
      await guest.pay({ method: 'card', cardToken: 'action' })
      await until(async () => (await foundOf(database, guest.bookingId)).payments === 'requires_action', {
        withinMs: 30_000,
        what: 'the step of the guest',
      })
      await town.gateway('well')
      // The gateway has the money by now.
      await wait(1_000)
      await bringForward(database, `update payment set next_read_at = now() where target_id = ?`, guest.bookingId)
      return
    case 'busy':
      await town.gateway('busy')
      await guest.pay({ method: 'card', cardToken: 'success' })
      await wait(1_500)
      await town.gateway('well')
      return
    case 'wipe':
      await town.redis((redis) => redis.flushall())
      await guest.pay({ method: 'card', cardToken: 'success' })
      return
  }
}

/** A case whose point was reached or not, with the guest whose outcome tells the rest, and the jobs of its kind that were under way when it was. */
export type Reached = { case: Case; problem: string | null; guest: Guest | null; at: Date; jobIds: string[] }

const reachedWithinMs = 40_000

const underWay = async (database: Knex, kind: string): Promise<string[]> =>
  (
    await sql<{ id: string }>(database, `select id from jobs where kind = ? and status in ('dispatched', 'running')`, [
      kind,
    ])
  ).map((row) => row.id)

/** Lets the one process of its kind die at a point, once, while a guest books. What follows from it is not waited for. */
export const reach = async (scene: Scene, one: Case, number: number): Promise<Reached> => {
  const { town, database, house, ledger, folder } = scene
  const name = nameOf(one)
  const marker = join(folder, `reached-${number}`)
  const random = randomOf(number, name)
  const apis = town.fleet.of('api').map((each) => each.baseUrl)
  const members = town.fleet.of(one.process)
  const arm = async () => {
    await Promise.all(members.map((member) => member.hold('term')))
    for (const member of members) member.start({ CRASH_AT: `${name}@${marker}` })
    await town.fleet.ready(60_000)
  }
  const isOfHold = one.kind === 'public.reservations.hold'
  if (isOfHold) await arm()
  const guest = await holdAsGuest(insistentClient(apis, ledger), random, apis, house, {
    arrival: 12 + (number % 60),
    nights: 1,
    saver: false,
    email: `point-${number}@guests.example`,
    from: `127.9.${number % 250}.${(number % 200) + 2}`,
  })
  if (!guest) return { case: one, problem: 'nothing could be held', guest, at: new Date(), jobIds: [] }
  if (!isOfHold) await arm()
  await play(scene, one, guest)
  const reached = await until(() => existsSync(marker), { withinMs: reachedWithinMs, everyMs: 50, what: name }).catch(
    () => false,
  )
  const at = new Date()
  const jobIds = reached && one.process === 'worker' ? await underWay(database, one.kind) : []
  if (!reached) {
    await Promise.all(members.map((member) => member.hold('kill')))
    for (const member of members) member.start()
  }
  return { case: one, problem: reached ? null : 'the point was never reached', guest, at, jobIds }
}

/** How long each job lived on that was under way when its process died, by kind; who still lives is Infinity. */
export const survivals = async (database: Knex, cases: readonly Reached[]): Promise<Map<string, number>> => {
  const found = await Promise.all(
    cases.map(async ({ case: one, at, jobIds }) => {
      const [row] = await sql<{ live: boolean; last: Date | null }>(
        database,
        `select exists (select from jobs where id = any(:jobIds) and status <> 'dead') as live,
           (select max(finished_at) from job_archive where id = any(:jobIds)) as last`,
        { jobIds },
      )
      const ms = row?.live ? Infinity : Math.max(0, (row?.last?.getTime() ?? 0) - at.getTime())
      return [nameOf(one), ms] as const
    }),
  )
  return new Map(found)
}

/** Waits for the end of each story, for rest, and for what waits for its time. Answers what is not as it should be, by name. */
export const conclude = async (
  { town, database }: Scene,
  cases: readonly Reached[],
): Promise<{ name: string; problem: string }[]> => {
  await town.fleet.ready(60_000)
  const problems = cases.flatMap(({ case: one, problem }) => (problem === null ? [] : [{ name: nameOf(one), problem }]))
  const differing = async () => {
    const found = await Promise.all(
      cases.map(async ({ case: one, guest }) => {
        const end = guest && JSON.stringify(await foundOf(database, guest.bookingId))
        return end === null || end === JSON.stringify(ends[one.story])
          ? []
          : [{ name: nameOf(one), problem: `ended as ${end}` }]
      }),
    )
    return found.flat()
  }
  // One worker dies again and again here, so that who is in hand with each may be taken for poison.
  const isOver = async () => {
    await replayInnocent(database)
    // Whoever died while it was read is not due before minutes have passed, which nobody waits for here.
    await sql(
      database,
      `update refund set next_read_at = now() where status = 'unknown' and next_read_at > now() + interval '20 seconds'`,
    )
    return (await differing()).length === 0
  }
  await until(isOver, { withinMs: 60_000, everyMs: 500 }).catch(() => false)
  // What is with a process that died is missed when its lock is over; then it must come again by itself.
  const patienceMs = Math.max(60_000, ...cases.map(({ case: one }) => missedWithinMs(one.kind)))
  const areBack = async () => [...(await survivals(database, cases)).values()].every((ms) => ms < Infinity)
  await until(areBack, { withinMs: patienceMs, everyMs: 500 }).catch(() => false)
  const quiet = await quiescence(database, patienceMs)
  problems.push(...(await differing()))
  if (quiet.left.length > 0)
    problems.push({ name: 'all', problem: `not quiet: ${quiet.left.map((left) => left.kind).join(', ')}` })
  await replayInnocent(database)
  const over = await untilOver(database)
  if (over.left > 0) problems.push({ name: 'all', problem: `${over.left} things wait though their time is over` })
  return problems
}
