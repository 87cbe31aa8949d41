import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { changeAutomation, changeTemplate, createAutomation, publishTemplate } from '../../db/ocp/index.ts'
import { planReservation } from '../../db/ocp/plan-stay.ts'
import { retryMessage } from '../../db/ocp/staff-messages.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { reinstate, waiveDeposit } from '../../db/reservations/index.ts'
import type { MessageRow } from '../../db/rows.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { deliverAll, makeConfirmed, useMailPeer } from '../support/messages.ts'
import { readBooking } from '../support/stay.ts'
import { makeTemplate } from './records.ts'

describe('dated messages of a reservation', () => {
  const world = useDatabase()
  const mail = useMailPeer()
  let house: House

  beforeEach(async () => {
    await world.database.admin.raw('delete from jobs')
    house = await makeHouse({ deposit: null })
  })
  const planned = () =>
    house.inHouse((trx) =>
      sql<Pick<MessageRow, 'id' | 'status' | 'reason' | 'scheduledFor' | 'turn'>>(
        trx,
        `select m.id, m.status, m.reason, m.scheduled_for, m.turn from message m join automation a on a.tenant_id = m.tenant_id and a.id = m.automation_id
         where a.name = 'Before arrival'`,
      ),
    )
  const move = async (bookingId: string, arrival: string, departure: string) => {
    const [room] = (await readBooking(house, bookingId)).rooms
    await house.inHouse(async (trx) => {
      await sql(trx, `update reservation set arrival = ?, departure = ? where id = ?`, [arrival, departure, room?.id])
      await planReservation(trx, room?.id ?? '')
    })
  }

  it('are planned with the confirmation, once', async () => {
    const bookingId = await makeConfirmed(house)
    await deliverAll()
    const [message, ...others] = await planned()
    expect(others).to.deep.equal([])
    expect(message?.status).to.equal('scheduled')
    expect(message?.scheduledFor.toISOString()).to.equal(`${addDays(house.day(30), -2)}T13:00:00.000Z`)
    const [room] = (await readBooking(house, bookingId)).rooms
    await Promise.all(Array.from({ length: 10 }, () => house.inHouse((trx) => planReservation(trx, room?.id ?? ''))))
    expect(await planned()).to.have.length(1)
    expect((await planned())[0]?.turn).to.equal(0)
  })

  it('move with the arrival before they are sent, and are not sent again after', async () => {
    const bookingId = await makeConfirmed(house)
    await deliverAll()
    await move(bookingId, house.day(40), house.day(42))
    const [moved] = await planned()
    expect(moved).to.include({ status: 'scheduled', turn: 1 })
    expect(moved?.scheduledFor.toISOString()).to.equal(`${addDays(house.day(40), -2)}T13:00:00.000Z`)

    await house.inHouse((trx) => sql(trx, `update message_template set urgency = 'immediate'`))
    await house.inHouse((trx) => sql(trx, `update message set urgency = 'immediate'`))
    mail.peer.mails.splice(0)
    // Two days before arrival at 10:00: the last such hour is less than a day ago, whatever the time is now.
    const begun = Date.now()
    const today = Date.parse(`${addDays(house.day(2), -2)}T13:00:00.000Z`) <= begun
    await move(bookingId, house.day(today ? 2 : 1), house.day(3))
    expect((await planned())[0]?.scheduledFor.getTime(), 'the time is past, but not for long').to.be.within(
      begun - 1_000,
      Date.now() + 1_000,
    )
    await deliverAll()
    expect(mail.peer.mails.map((one) => one.subject)).to.have.length(1)
    await move(bookingId, house.day(20), house.day(22))
    await deliverAll()
    expect((await planned()).map((one) => one.status)).to.deep.equal(['sent'])
    expect(mail.peer.mails).to.have.length(1)
  })

  it('that wait for the end of quiet hours or under a cap are not brought back by the next plan, and follow all but their time', async () => {
    const bookingId = await makeConfirmed(house)
    await deliverAll()
    const [row] = await house.inHouse((trx) =>
      sql<{ id: string; templateId: string }>(
        trx,
        `update automation set valid_minutes = 4320 where name = 'Before arrival' returning id, template_id`,
      ),
    )
    // The time of the message is past, for a day or two.
    await move(bookingId, house.day(1), house.day(3))
    // It is put off as by the sending.
    await house.inHouse((trx) =>
      sql(
        trx,
        `update message set status = 'scheduled', scheduled_for = now() + interval '5 hours', turn = turn + 1 where automation_id = ?`,
        [row?.id ?? ''],
      ),
    )
    const before = await planned()
    expect(before.map(({ status }) => status)).to.deep.equal(['scheduled'])
    const [room] = (await readBooking(house, bookingId)).rooms
    await house.inHouse((trx) => planReservation(trx, room?.id ?? ''))
    expect(await planned(), 'planned again').to.deep.equal(before)
    await house.inHouse(async (trx) => {
      const contents = [{ channel: 'email' as const, locale: 'en', subject: 'Soon', text: 'See you soon' }]
      await changeTemplate(trx, row?.templateId ?? '', { contents })
      await publishTemplate(trx, row?.templateId ?? '')
    })
    await house.inHouse((trx) => planReservation(trx, room?.id ?? ''))
    const [followed] = await house.inHouse((trx) =>
      sql<MessageRow>(trx, `select * from message where automation_id = ?`, [row?.id ?? '']),
    )
    expect(followed).to.include({ status: 'scheduled', templateNumber: 2 })
    expect(followed?.scheduledFor, 'another text').to.deep.equal(before[0]?.scheduledFor)
    await move(bookingId, house.day(40), house.day(42))
    expect((await planned())[0]?.scheduledFor.toISOString(), 'another arrival').to.equal(
      `${addDays(house.day(40), -2)}T13:00:00.000Z`,
    )
  })

  it('are left alone once a person has asked for them again, by whatever channels, also while they wait for their hour', async () => {
    const bookingId = await makeConfirmed(house)
    await deliverAll()
    const [message] = await planned()
    await house.inHouse(async (trx) => {
      await sql(trx, `update message set status = 'failed', reason = 'smtp_550' where id = ?`, [message?.id ?? ''])
      await retryMessage(trx, message?.id ?? '', [{ channel: 'email', waitMinutes: 7 }])
      await sql(
        trx,
        `update message set status = 'scheduled', scheduled_for = now() + interval '5 hours', turn = turn + 1 where id = ?`,
        [message?.id ?? ''],
      )
    })
    const asked = () =>
      house.inHouse((trx) => sql<MessageRow>(trx, `select * from message where id = ?`, [message?.id ?? '']))
    const before = await asked()
    expect(before.map(({ status, round }) => [status, round])).to.deep.equal([['scheduled', 1]])
    await move(bookingId, house.day(40), house.day(42))
    expect(await asked(), 'another arrival').to.deep.equal(before)
    await move(bookingId, house.day(-9), house.day(42))
    expect(await asked(), 'too late').to.deep.equal(before)
  })

  it('follow their automation and the version in use', async () => {
    await makeConfirmed(house)
    await makeConfirmed(house, { from: 60 })
    await deliverAll()
    const [row] = await house.inHouse((trx) =>
      sql<{ id: string; templateId: string }>(
        trx,
        `select id, template_id from automation where name = 'Before arrival'`,
      ),
    )
    const change = (more: Parameters<typeof changeAutomation>[2]) =>
      house.inHouse((trx) => changeAutomation(trx, row?.id ?? '', more))
    const times = async () => (await planned()).map((one) => one.scheduledFor.toISOString()).toSorted()
    await change({ trigger: { anchor: 'arrival', days: -3, at: '09:30' } })
    await deliverAll()
    const due = [30, 60].map((day) => `${addDays(house.day(day), -3)}T12:30:00.000Z`)
    expect(await times()).to.deep.equal(due)
    await change({ enabled: false })
    await deliverAll()
    expect((await planned()).map((one) => `${one.status} ${one.reason}`)).to.deep.equal(
      Array(2).fill('cancelled not_wanted'),
    )
    await change({ enabled: true, conditions: { minNights: 30 } })
    await deliverAll()
    expect((await planned()).map((one) => one.status)).to.deep.equal(Array(2).fill('cancelled'))
    await change({ conditions: {} })
    await house.inHouse(async (trx) => {
      const contents = [{ channel: 'email' as const, locale: 'en', subject: 'Soon', text: 'See you soon' }]
      await changeTemplate(trx, row?.templateId ?? '', { contents })
      await publishTemplate(trx, row?.templateId ?? '')
    })
    await deliverAll()
    expect((await planned()).map((one) => one.status)).to.deep.equal(Array(2).fill('scheduled'))
    const numbers = await house.inHouse((trx) =>
      sql(trx, `select template_number from message where automation_id = ?`, [row?.id ?? '']),
    )
    expect(numbers).to.deep.equal(Array(2).fill({ templateNumber: 2 }))
  })

  it('return with a stay that is reinstated', async () => {
    const bookingId = await makeConfirmed(house)
    await house.inHouse((trx) => cancelReservations(trx, bookingId, { acceptedFee: 0, reason: 'changed_plans' }))
    await deliverAll()
    expect(await planned()).to.deep.equal([])
    const [room] = (await readBooking(house, bookingId)).rooms
    await house.inHouse((trx) => reinstate(trx, room?.id ?? '', { reason: 'a mistake' }))
    await deliverAll()
    expect((await planned()).map((one) => one.status)).to.deep.equal(['scheduled'])
  })

  it('say nothing of a deposit that was waived, or that money has covered', async () => {
    const bookingId = await makeConfirmed(house)
    const [room] = (await readBooking(house, bookingId)).rooms
    const deposits = await house.inHouse(async (trx) => {
      const templateId = await makeTemplate(trx, { context: 'reservation' })
      await createAutomation(trx, { name: 'Due', templateId, trigger: { anchor: 'deposit_due', hours: -24 } })
      return sql<{ id: string }>(
        trx,
        `insert into deposit (reservation_id, position, due_at, amount, origin)
         select ?, n, now() + make_interval(days => 10 * n), 1000, 'manual' from generate_series(1, 3) n returning id`,
        [room?.id],
      )
    })
    await deliverAll()
    const statuses = () =>
      house.inHouse((trx) =>
        sql<{ status: string }>(
          trx,
          `select m.status from message m join automation a on a.tenant_id = m.tenant_id and a.id = m.automation_id
           where a.name = 'Due' order by m.scheduled_for`,
        ),
      )
    const said = async () => (await statuses()).map(({ status }) => status)
    expect(await said()).to.deep.equal(['scheduled', 'scheduled', 'scheduled'])
    await house.inHouse((trx) =>
      waiveDeposit(trx, room?.id ?? '', deposits[2]?.id ?? '', { reason: 'a guest of ours', expected: null }),
    )
    await deliverAll()
    expect(await said()).to.deep.equal(['scheduled', 'scheduled', 'cancelled'])
    await world.database.admin.transaction(async (trx) => {
      await trx.raw(`set local session_replication_role = replica`)
      await trx.raw(`update folio set credits = 1500 where reservation_id = ?`, [room?.id ?? ''])
    })
    await house.inHouse((trx) => planReservation(trx, room?.id ?? ''))
    expect(await said()).to.deep.equal(['cancelled', 'scheduled', 'cancelled'])
  })

  it('end with the stay', async () => {
    const bookingId = await makeConfirmed(house)
    await deliverAll()
    await house.inHouse((trx) => cancelReservations(trx, bookingId, { acceptedFee: 0, reason: 'changed_plans' }))
    await deliverAll()
    expect((await planned())[0]).to.include({ status: 'cancelled', reason: 'not_wanted' })
    mail.peer.mails.splice(0)
    await deliverAll(40 * 86_400_000)
    expect(mail.peer.mails).to.deep.equal([])
  })

  it('are left alone once a text of theirs has left and waits for its next channel, whatever becomes of the stay', async () => {
    const bookingId = await makeConfirmed(house)
    await deliverAll()
    await house.inHouse((trx) =>
      sql(
        trx,
        `update message set status = 'queued', sent_at = now(), fallback_at = now() + interval '30 minutes'
         where automation_id = (select id from automation where name = 'Before arrival')`,
      ),
    )
    const before = await planned()
    expect(before).to.have.length(1)
    await move(bookingId, house.day(40), house.day(42))
    expect(await planned(), 'another arrival').to.deep.equal(before)
    await move(bookingId, house.day(-9), house.day(42))
    expect(await planned(), 'too late').to.deep.equal(before)
    await house.inHouse((trx) => sql(trx, `update automation set enabled = false`))
    const [room] = (await readBooking(house, bookingId)).rooms
    await house.inHouse((trx) => planReservation(trx, room?.id ?? ''))
    expect(await planned(), 'not wanted').to.deep.equal(before)
  })

  it('become what their automation has become: another text, another purpose, other channels, another moment of the stay', async () => {
    const bookingId = await makeConfirmed(house)
    await deliverAll()
    const { id, marketing } = await house.inHouse(async (trx) => {
      const [row] = await sql<{ id: string }>(trx, `select id from automation where name = 'Before arrival'`)
      return { id: row?.id ?? '', marketing: await makeTemplate(trx, { marketing: true }) }
    })
    const now = async () => {
      const [row, ...others] = await house.inHouse((trx) =>
        sql<MessageRow>(trx, `select * from message where automation_id = ?`, [id]),
      )
      expect(others).to.deep.equal([])
      return row
    }
    const minutes = (row: MessageRow | undefined) =>
      ((row?.expiresAt.getTime() ?? 0) - (row?.scheduledFor.getTime() ?? 0)) / 60_000
    await house.inHouse((trx) =>
      changeAutomation(trx, id, {
        templateId: marketing,
        plan: [{ channel: 'email', waitMinutes: 5 }],
        validMinutes: 60,
      }),
    )
    await deliverAll()
    const changed = await now()
    expect(changed).to.deep.include({
      status: 'scheduled',
      purpose: 'marketing',
      urgency: 'normal',
      templateId: marketing,
      plan: [{ channel: 'email', waitMinutes: 5 }],
      reservationStatuses: ['confirmed'],
    })
    expect(minutes(changed)).to.equal(60)
    // The guest has agreed to no marketing: it is not sent as the service message that it was.
    mail.peer.mails.splice(0)
    await deliverAll(40 * 86_400_000)
    expect(await now()).to.include({ status: 'suppressed', reason: 'consent_missing' })
    expect(mail.peer.mails).to.deep.equal([])
    await house.inHouse(async (trx) => {
      await sql(trx, `update message set status = 'cancelled', reason = 'not_wanted' where automation_id = ?`, [id])
      await changeAutomation(trx, id, { trigger: { anchor: 'booked', days: 1, at: '10:00' } })
      const [room] = (await readBooking(house, bookingId)).rooms
      await planReservation(trx, room?.id ?? '')
    })
    expect((await now())?.reservationStatuses).to.deep.equal(['confirmed', 'checked_in', 'checked_out'])
  })
})
