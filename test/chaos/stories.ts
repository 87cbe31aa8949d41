import { setTimeout as wait } from 'node:timers/promises'
import type { Knex } from 'knex'
import { sql } from '../../db/lib/connection.ts'
import type { House } from '../support/factories.ts'
import { until } from '../support/until.ts'
import type { Guest } from './guest.ts'
import type { Ledger } from './ledger.ts'
import { sayByWord, tell } from './no-sayers.ts'
import type { Door, Refusal } from './no-sayers.ts'
import { isOfLetters } from './points.ts'
import type { Case, Story } from './points.ts'
import type { Town } from './town.ts'

type Found = { booking: string; payments: string; refunds: string }

/** The required end of each story. */
export const ends: Record<Story, Found> = {
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
  words: { booking: 'cancelled', payments: 'captured', refunds: 'succeeded' },
  campaign: { booking: 'confirmed', payments: 'captured', refunds: '' },
  silent: { booking: 'confirmed', payments: 'captured', refunds: '' },
  dated: { booking: 'confirmed', payments: 'captured', refunds: '' },
  slot: { booking: 'confirmed', payments: 'captured', refunds: '' },
  placed: { booking: 'confirmed', payments: 'captured', refunds: '' },
}

/** The statuses of a booking, its payments and its refunds, as the database has them now. */
export const foundOf = async (database: Knex, bookingId: string): Promise<Found> => {
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

export type Scene = {
  town: Town
  database: Knex
  house: House
  ledger: Ledger
  folder: string
  inbox: Door
  refusals: Refusal[]
}

/** Opens every gate, as an operator would. Faults made here keep a gate closed for longer with each case. */
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

/** Two words of a guest by SMS, as a provider sends them that had no answer: each three times, the second first. */
const write = async ({ town, inbox }: Scene, guest: Guest): Promise<void> => {
  const say = async (word: number) => {
    const text = word === 1 ? 'Is there parking?' : 'For a small car.'
    const id = `${guest.bookingId}-${word}`
    const taken = await tell([town.fleet.of('api')[0]?.baseUrl ?? ''], inbox, 'sms', { id, from: guest.phone, text })
    if (!taken) throw new Error('a word that was not taken')
  }
  await Promise.all([2, 1, 2].map(say))
  for (const word of [1, 2, 1]) await say(word)
}

/** A stop word by mail; what is written of the cancellation that follows stays here. */
const refuse = async ({ town, inbox, refusals }: Scene, guest: Guest): Promise<void> => {
  const refusal = await sayByWord([town.fleet.of('api')[0]?.baseUrl ?? ''], inbox, 'email', guest.email)
  if (!refusal) throw new Error('a stop word that was not taken')
  refusals.push(refusal)
}

const dueNow = `update schedule set next_at = now() where kind = ?`

const isPlaced = async (database: Knex, bookingId: string): Promise<boolean> =>
  (
    await sql(
      database,
      `select 1 from unit_assignment a join reservation r on r.tenant_id = a.tenant_id and r.id = a.reservation_id
       where r.booking_id = ? and a.status = 'proposed'`,
      [bookingId],
    )
  ).length > 0

const lapsed = `update booking set hold_expires_at = now() - interval '1 second' where id = ?`

/** Plays a story up to the step that its case is about; the rest follows by itself. */
export const play = async (scene: Scene, { story, slot }: Case, guest: Guest): Promise<void> => {
  if (isOfLetters(story)) throw new Error(`${story} is begun before a process waits to die`)
  const { town, database } = scene
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
          // The gateway's word of the money may come first, and who hears it dies: the job that asked for it comes back to a closed gate.
          await openGates(database)
          return (await foundOf(database, guest.bookingId)).refunds === 'unknown'
        },
        { withinMs: 60_000, everyMs: 200, what: 'a refund of which nobody knows' },
      ).finally(() => town.gateway('well'))
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
    case 'words':
      await guest.pay({ method: 'card', cardToken: 'success', amount: 'all' })
      await confirmed()
      await refuse(scene, guest)
      await write(scene, guest)
      await guest.cancel()
      return
    case 'placed':
      await guest.pay({ method: 'card', cardToken: 'success' })
      await until(() => isPlaced(database, guest.bookingId), { withinMs: 60_000, everyMs: 200, what: 'a room' })
      await bringForward(database, dueNow, slot ?? '')
      return
    case 'slot':
      await bringForward(database, dueNow, slot ?? '')
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
