import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { quietUntil } from '../../db/ocp/checks.ts'
import { matches } from '../../db/ocp/rules/automation-conditions.ts'
import type { Stay } from '../../db/ocp/rules/automation-conditions.ts'
import {
  changeAutomation,
  createAutomation,
  publishTemplate,
  changeTemplate,
  triggerEvents,
} from '../../db/ocp/index.ts'
import { dueAt, planStay } from '../../db/ocp/plan-stay.ts'
import { cancelReservations } from '../../db/reservations/cancel.ts'
import { reinstate, waiveDeposit } from '../../db/reservations/index.ts'
import type { MessageRow } from '../../db/rows.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { deliverAll, makeConfirmed, useMailPeer } from '../support/messages.ts'
import { readBooking } from '../support/stay.ts'
import { makeTemplate } from './records.ts'

const stay: Stay = {
  id: 'r',
  bookingId: 'b',
  propertyId: 'p',
  status: 'confirmed',
  unitTypeId: 'u',
  ratePlanId: 'x',
  source: 'portal',
  arrival: '2026-03-29',
  departure: '2026-04-02',
  nights: 4,
  language: 'pt-BR',
  guestId: 'g',
  childrenAges: [],
  bookedAt: new Date('2026-01-10T23:30:00Z'),
  confirmedAt: new Date('2026-01-10T23:31:00Z'),
  checkedInAt: null,
  checkedOutAt: null,
  returning: false,
  balanceDue: true,
  timeZone: 'Europe/Lisbon',
  checkInFrom: '14:00',
  checkOutUntil: '11:00',
}
const at = (trigger: Parameters<typeof dueAt>[0], of: Partial<Stay> = {}) =>
  dueAt(trigger, { ...stay, ...of }, null)?.toISOString() ?? null

describe('automations', () => {
  it('may wait for these events', () => {
    const ofStay = 'held confirmed amended moved checked_in checked_out cancelled no_show_recorded expired reinstated'
    const others =
      'deposit.due_date_reached payment.captured payment.failed refund.succeeded unit.made_ready group.confirmed issue.opened issue.resolved'
    expect([...triggerEvents].sort()).to.deep.equal(
      [...ofStay.split(' ').map((move) => `reservation.${move}`), ...others.split(' ')].sort(),
    )
  })
})

describe('dated messages', () => {
  it('come at the local time of the house, across both clock changes', () => {
    expect(at({ anchor: 'arrival', days: -2, at: '10:00' })).to.equal('2026-03-27T10:00:00.000Z')
    expect(at({ anchor: 'arrival', days: 0, at: '09:00' }), 'summer time has begun in the night').to.equal(
      '2026-03-29T08:00:00.000Z',
    )
    expect(at({ anchor: 'arrival', days: 0, at: '01:30' }), 'a skipped time is the first instant after it').to.equal(
      '2026-03-29T01:00:00.000Z',
    )
    expect(
      at({ anchor: 'arrival', days: 0, at: '01:30' }, { arrival: '2026-10-25' }),
      'a doubled one its first',
    ).to.equal('2026-10-25T00:30:00.000Z')
    expect(at({ anchor: 'check_in', hours: -3 })).to.equal('2026-03-29T10:00:00.000Z')
    expect(at({ anchor: 'departure', days: -1, at: '18:00' })).to.equal('2026-04-01T17:00:00.000Z')
    expect(at({ anchor: 'booked', days: 1, at: '10:00' }), 'the day is the one of the house').to.equal(
      '2026-01-11T10:00:00.000Z',
    )
    expect(at({ anchor: 'checked_out', days: 1, at: '10:00' }), 'nobody has left yet').to.equal(null)
    expect(
      dueAt({ anchor: 'deposit_due', days: -3, at: '10:00' }, stay, new Date('2026-03-20T12:00:00Z'))?.toISOString(),
    ).to.equal('2026-03-17T10:00:00.000Z')
  })

  it('respect quiet hours over midnight and within a day', () => {
    const quiet = { quietFrom: '21:00', quietUntil: '08:00' }
    const end = (instant: string, hours = quiet) =>
      quietUntil(hours, 'America/Sao_Paulo', new Date(instant))?.toISOString() ?? null
    expect(end('2026-11-20T23:59:59Z')).to.equal(null)
    expect(end('2026-11-21T00:00:00Z')).to.equal('2026-11-21T11:00:00.000Z')
    expect(end('2026-11-21T10:59:00Z')).to.equal('2026-11-21T11:00:00.000Z')
    expect(end('2026-11-21T11:00:00Z')).to.equal(null)
    expect(end('2026-11-20T16:00:00Z', { quietFrom: '12:00', quietUntil: '14:00' })).to.equal(
      '2026-11-20T17:00:00.000Z',
    )
    expect(end('2026-11-20T16:00:00Z', { quietFrom: '12:00', quietUntil: '12:00' })).to.equal(null)
  })

  it('are wanted where every condition holds', () => {
    expect(matches({}, stay)).to.equal(true)
    expect(
      matches(
        {
          minNights: 4,
          maxNights: 4,
          languages: ['pt'],
          sources: ['portal'],
          returning: false,
          balanceDue: true,
          minor: false,
        },
        stay,
      ),
    ).to.equal(true)
    for (const one of [
      { minNights: 5 },
      { maxNights: 3 },
      { languages: ['en'] },
      { sources: ['desk'] },
      { returning: true },
      { balanceDue: false },
      { minor: true },
      { unitTypeIds: ['v'] },
    ])
      expect(matches(one, stay), JSON.stringify(one)).to.equal(false)
  })

  describe('of a reservation', () => {
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
        await planStay(trx, room?.id ?? '')
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
      await Promise.all(Array.from({ length: 10 }, () => house.inHouse((trx) => planStay(trx, room?.id ?? ''))))
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
      await house.inHouse((trx) => planStay(trx, room?.id ?? ''))
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
  })
})
