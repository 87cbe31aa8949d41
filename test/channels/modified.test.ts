import { expect } from 'chai'
import type { ChannelRoom } from '../../config/channels.ts'
import { daysIn } from '../../config/time.ts'
import { sql } from '../../db/lib/connection.ts'
import { unseal } from '../../db/lib/sealing/index.ts'
import { businessDay } from '../../db/financial/index.ts'
import { approveRequest, eraseStep, erasureSteps, readRequest, registerRequest } from '../../db/guests/index.ts'
import { changeStayFields } from '../../db/reservations/index.ts'
import { chargeNights } from '../../db/reservations/charge-nights.ts'
import { postCharged } from '../../db/reservations/folio/write.ts'
import { requestsPlace } from '../../db/reservations/hold-rows.ts'
import type { ReservationNightRow } from '../../db/rows.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeConnection, newExternalId, receive, revisionOf, staysOf } from './support.ts'

describe('A booking that its channel modifies', function () {
  this.timeout(120_000)
  useDatabase()
  let house: House
  let id: string

  before(async () => {
    house = await makeHouse({ units: 2, suite: true })
    id = await makeConnection(house, { name: 'modified', secret: 'x'.repeat(20) })
    await house.inHouse((trx) => sql(trx, `update channel_connection set status = 'paused' where id = ?`, [id]))
  })

  const room = (from: number, nights: number, given: Partial<ChannelRoom> = {}): ChannelRoom => ({
    externalUnitTypeId: 'DBL',
    externalRatePlanId: 'BAR',
    arrival: house.day(from),
    departure: house.day(from + nights),
    adults: 2,
    childrenAges: [],
    nights: daysIn(house.day(from), house.day(from + nights)).map((date) => ({ date, amount: 10_000 })),
    ...given,
  })
  const guestsOf = async (reservationId: string) =>
    house.inHouse((trx) =>
      sql<{ name: string; role: string }>(
        trx,
        `select g.first_name || ' ' || g.last_name as name, n.role from reservation_guest n join guest g on g.id = n.guest_id
         where n.reservation_id = ? order by n.role desc, 1`,
        [reservationId],
      ),
    )
  const mainGuests = async (bookingId: string | null) => {
    const rows = await house.inHouse((trx) =>
      sql<{ name: string; status: string; arrival: string }>(
        trx,
        `select g.first_name || ' ' || g.last_name as name, r.status, r.arrival from reservation r join guest g on g.id = r.primary_guest_id
         where r.booking_id = ? order by r.position`,
        [bookingId],
      ),
    )
    return rows.map((row) => [row.name, row.status, row.arrival])
  }
  const requestsOfStay = async (reservationId: string) =>
    house.inHouse(async (trx) => {
      const [row] = await sql<{ requests: Buffer | null }>(trx, `select requests from reservation where id = ?`, [
        reservationId,
      ])
      if (!row?.requests) return null
      const place = requestsPlace(reservationId)
      return (await unseal<{ requests: string }>(trx, 'tenant', place, row.requests)).requests
    })

  it('loses the room that is left out, and not the last one', async () => {
    const externalId = newExternalId()
    const ana = { guestNames: ['Ana Souza'] }
    const bea = { guestNames: ['Bea Lima'] }
    const [first] = await receive(
      house,
      id,
      revisionOf(house, { externalId, rooms: [room(3, 2, ana), room(3, 2, bea)] }),
    )
    const later = { externalId, revision: 2, kind: 'modified' as const, rooms: [room(4, 2, bea)] }
    const [second] = await receive(house, id, revisionOf(house, later))
    expect(second).to.include({ status: 'applied', error: null })
    expect(await mainGuests(first?.bookingId ?? null)).to.deep.equal([
      ['Ana Souza', 'cancelled', house.day(3)],
      ['Bea Lima', 'confirmed', house.day(4)],
    ])
    const unnamed = newExternalId()
    const [two] = await receive(house, id, revisionOf(house, { externalId: unnamed, rooms: [room(6, 1), room(8, 1)] }))
    await receive(house, id, revisionOf(house, { ...later, externalId: unnamed, rooms: [room(8, 1)] }))
    expect((await staysOf(house, two?.bookingId ?? null)).map(({ status }) => status)).to.deep.equal([
      'cancelled',
      'confirmed',
    ])
  })

  it('has the guests and wishes of the revision, and keeps what staff has written where the channel repeats itself', async () => {
    const externalId = newExternalId()
    const named = (...guestNames: string[]) => ({ externalId, rooms: [room(10, 2, { guestNames })] })
    const [first] = await receive(house, id, revisionOf(house, { ...named('Ana Souza', 'Rui Souza'), notes: 'Late' }))
    const [stay] = await staysOf(house, first?.bookingId ?? null)
    const stayId = stay?.id ?? ''
    const modified = (revision: number, notes: string, ...names: string[]) =>
      receive(house, id, revisionOf(house, { ...named(...names), revision, kind: 'modified', notes }))
    await modified(2, 'Late, with a cot', 'Caio Reis', 'Rui Souza')
    expect(await guestsOf(stayId)).to.deep.equal([
      { name: 'Caio Reis', role: 'primary' },
      { name: 'Rui Souza', role: 'companion' },
    ])
    expect(await mainGuests(first?.bookingId ?? null)).to.deep.equal([['Caio Reis', 'confirmed', house.day(10)]])
    expect(await requestsOfStay(stayId)).to.equal('Late, with a cot')
    await house.inHouse((trx) => changeStayFields(trx, stayId, { requests: 'Cot is ready' }, null))
    await house.inHouse((trx) =>
      sql(
        trx,
        `update guest set first_name = 'Caio Augusto' where id = (select primary_guest_id from reservation where id = ?)`,
        [stayId],
      ),
    )
    await modified(3, 'Late, with a cot', 'Caio Reis', 'Rui Souza')
    expect((await guestsOf(stayId)).map(({ name }) => name)).to.deep.equal(['Caio Augusto Reis', 'Rui Souza'])
    expect(await requestsOfStay(stayId)).to.equal('Cot is ready')
    await modified(4, 'Early', 'Caio Reis', 'Rui Souza')
    expect(await requestsOfStay(stayId)).to.equal('Cot is ready\nEarly')
  })

  it('leaves nothing of a guest who is erased, in revisions that were never applied either, and comes back with a booker', async () => {
    const externalId = newExternalId()
    const booker = { name: 'Noor Haddad', email: 'noor@ota.example' }
    const said = (revision: number, given: object = {}) =>
      revisionOf(house, { externalId, revision, booker, rooms: [room(20, 1)], ...given })
    const [second] = await receive(house, id, said(2, { kind: 'modified' }))
    const [first] = await receive(house, id, said(1))
    expect([first?.status, first?.bookingId]).to.deep.equal(['superseded', null])
    const bookingId = second?.bookingId ?? ''
    const bookerOf = async () => {
      const [row] = await house.inHouse((trx) =>
        sql<{ id: string; name: string; emailIndex: Buffer | null }>(
          trx,
          `select g.id, g.first_name || ' ' || g.last_name as name, b.email_index from booking b join guest g on g.id = b.booker_guest_id where b.id = ?`,
          [bookingId],
        ),
      )
      return row!
    }
    const before = await bookerOf()
    const payloads = async () =>
      (
        await house.inHouse((trx) =>
          sql<{ revision: number; isKept: boolean }>(
            trx,
            `select revision, payload is not null as is_kept from channel_booking where external_id = ? order by revision`,
            [externalId],
          ),
        )
      ).flatMap(({ revision, isKept }) => (isKept ? [revision] : []))
    await receive(house, id, said(3, { kind: 'cancelled' }))
    expect(await payloads()).to.deep.equal([1, 2, 3])
    const requestId = await house.inHouse((trx) =>
      registerRequest(trx, { guestId: before.id, kind: 'erasure', channel: 'email' }),
    )
    await house.inHouse(async (trx) => {
      const { plan } = await readRequest(trx, requestId)
      await approveRequest(trx, requestId, { identityMethod: 'document', planHash: plan?.hash })
    })
    for (const table of erasureSteps) await house.inHouse((trx) => eraseStep(trx, requestId, table))
    expect(await payloads()).to.deep.equal([])
    expect(await bookerOf()).to.deep.include({ name: 'Erased guest ', emailIndex: null })

    const [back] = await receive(house, id, said(4, { kind: 'modified' }))
    expect(back).to.include({ status: 'applied', bookingId, error: null })
    const after = await bookerOf()
    expect([after.name, after.emailIndex === null]).to.deep.equal(['Noor Haddad', false])
    expect((await mainGuests(bookingId)).at(-1)).to.deep.equal(['Noor Haddad', 'confirmed', house.day(20)])
  })

  it('in mid-stay comes to its total and its commission, charged nights included', async () => {
    const externalId = newExternalId()
    const [stored] = await receive(house, id, revisionOf(house, { externalId, rooms: [room(0, 3)], commission: 3_000 }))
    const stays = await staysOf(house, stored?.bookingId ?? null)
    await house.inHouse(async (trx) => {
      const businessDate = await businessDay(trx, house.propertyId)
      await postCharged(trx, house.propertyId, await chargeNights(trx, { businessDate, stays, through: house.day(0) }))
    })
    const nights = [0, 1].map((day) => ({ date: house.day(day), amount: 11_000 }))
    const shorter = { externalId, revision: 2, kind: 'modified' as const, rooms: [room(0, 2, { nights })] }
    const [applied] = await receive(house, id, revisionOf(house, { ...shorter, commission: 2_500 }))
    expect(applied).to.include({ status: 'applied', error: null })
    const [stay] = await staysOf(house, stored?.bookingId ?? null)
    expect(stay).to.include({ departure: house.day(2), total: 22_000 })
    const rows = await house.inHouse((trx) =>
      sql<ReservationNightRow>(
        trx,
        `select * from reservation_night where reservation_id = ? and status <> 'released' order by date`,
        [stay?.id],
      ),
    )
    expect(rows.map(({ status, amount, commission }) => [status, amount, commission])).to.deep.equal([
      ['charged', 10_000, 1_000],
      ['open', 12_000, 1_500],
    ])
  })
})
