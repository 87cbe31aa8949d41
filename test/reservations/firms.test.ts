import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { sql } from '../../db/lib/connection.ts'
import { deskOf } from './desk.ts'
import { useOwner } from '../properties/support.ts'

describe('Firms of bookings', () => {
  const here = useOwner({ units: 6, deposit: null }, { anew: false, more: () => ({}) })
  const send = (method: string, path: string, body?: object) => here.owner.send(method, path, body)
  const firm = async (kind: string, more: object = {}): Promise<string> =>
    (await send('POST', 'companies', { kind, legalName: `${kind} ${randomUUID().slice(0, 8)}`, ...more })).body.id
  const booking = (from: number, more: object = {}) => ({
    propertyId: here.house.propertyId,
    booker: { firstName: 'Ana', lastName: 'Souza' },
    source: 'phone',
    rooms: [
      {
        unitTypeId: here.house.unitTypeId,
        ratePlanId: here.house.ratePlanId,
        arrival: here.house.day(from),
        departure: here.house.day(from + 2),
        adults: 2,
        childrenAges: [],
      },
    ],
    ...more,
  })

  it('are named by bookings, which keep the rate of the agency, and find bookings, stays and guests', async () => {
    const companyId = await firm('company')
    const agencyId = await firm('agency', { commissionRate: 1_200 })
    const made = await send('POST', 'bookings', booking(5, { companyId, agencyId }))
    expect(made.status, JSON.stringify(made.body)).to.equal(201)
    expect(made.body).to.include({ companyId, agencyId, commissionRate: 1_200 })
    await send('PATCH', `companies/${agencyId}`, { commissionRate: 500 })
    expect((await here.owner.get(`bookings/${made.body.id}`)).body.commissionRate).to.equal(1_200)
    const [room] = made.body.reservations as { id: string; primaryGuestId: string }[]
    expect((await here.owner.get(`reservations/${room?.id}`)).body.booking).to.include({ companyId, agencyId })
    const ids = async (path: string) => ((await here.owner.get(path)).body.data as { id: string }[]).map(({ id }) => id)
    expect(await ids(`bookings?companyId=${companyId}`)).to.deep.equal([made.body.id])
    expect(await ids(`bookings?agencyId=${agencyId}`)).to.deep.equal([made.body.id])
    expect(await ids(`reservations?agencyId=${agencyId}`)).to.deep.equal([room?.id])
    expect(await ids(`reservations?companyId=${agencyId}`)).to.deep.equal([])
    expect(await ids(`guests?companyId=${companyId}`)).to.deep.equal([made.body.booker.guestId])
    expect(await ids(`guests?companyId=${agencyId}`)).to.deep.equal([])
    const books = await here.house.inHouse((trx) =>
      sql<{ companyId: string; agencyId: string }>(
        trx,
        `select distinct company_id, agency_id from on_the_books_change where reservation_id = ?`,
        [room?.id],
      ),
    )
    expect(books).to.deep.equal([{ companyId, agencyId }])
    const desk = await here.owner.get(
      `front-desk/arrivals?propertyId=${here.house.propertyId}&date=${here.house.day(5)}`,
    )
    expect(desk.body.data[0].company.companyId).to.equal(companyId)
  })

  it('earn the agency its commission as the guest leaves, which a revert takes back', async () => {
    const agencyId = await firm('agency', { commissionRate: 1_250 })
    const { body: made } = await send('POST', 'bookings', booking(0, { agencyId }))
    const [room] = made.reservations as { id: string; roomTotal: number }[]
    const stay = room?.id ?? ''
    const rules = ['early_check_in', 'unit_condition', 'balance']
    const override = { rules, reason: 'a test' }
    expect((await send('POST', `reservations/${stay}/check-in`, { override })).status).to.equal(200)
    const leave = () => send('POST', `reservations/${stay}/check-out`, { early: true, chargeTonight: true, override })
    const left = await leave()
    expect(left.status, JSON.stringify(left.body)).to.equal(200)
    const postings = () =>
      here.house.inHouse((trx) =>
        sql<{ event: string; amount: number | null }>(
          trx,
          `select event, (payload -> 'amounts' ->> 'amount')::int as amount from posting_event where source_id = ? and event like 'reservations.agency%' order by seq`,
          [stay],
        ),
      )
    const night = (left.body.nights as { amount: number; status: string }[]).find(({ status }) => status === 'charged')
    const amount = Math.round(((night?.amount ?? 0) * 1_250) / 10_000)
    expect(await postings()).to.deep.equal([{ event: 'reservations.agency_commission_accrued', amount }])
    const back = await send('POST', `reservations/${stay}/revert-check-out`, { reason: 'a test' })
    expect(back.status, JSON.stringify(back.body)).to.equal(200)
    expect((await leave()).status).to.equal(200)
    expect((await postings()).map(({ event }) => event.replace('reservations.agency_commission_', ''))).to.deep.equal([
      'accrued',
      'reversed',
      'accrued',
    ])
    const { healthy } = deskOf(() => here.house)
    await healthy()
  })

  it('are refused where they are unknown, archived, of another kind or of another tenant', async () => {
    const companyId = await firm('company')
    const gone = await firm('company')
    expect((await send('POST', `companies/${gone}/archive`)).status).to.equal(200)
    for (const [more, code] of [
      [{ companyId: randomUUID() }, 'reference_not_found'],
      [{ companyId: gone }, 'company_archived'],
      [{ agencyId: companyId }, 'reference_not_found'],
    ] as const) {
      const refused = await send('POST', 'bookings', booking(9, more))
      expect([refused.status, refused.body.code]).to.deep.equal([422, code])
    }
    const folio = { propertyId: here.house.propertyId, kind: 'house', payerCompanyId: gone }
    const headers = { idempotencyKey: randomUUID() }
    expect((await here.owner.send('POST', 'folios', folio, headers)).body.code).to.equal('company_archived')
  })

  it('are not archived while something of them is open', async () => {
    const companyId = await firm('company')
    const { body: made } = await send('POST', 'bookings', booking(12, { companyId }))
    const [room] = made.reservations as { id: string }[]
    const folio = {
      propertyId: here.house.propertyId,
      kind: 'company',
      reservationId: room?.id,
      payerCompanyId: companyId,
    }
    const opened = await here.owner.send('POST', 'folios', folio, { idempotencyKey: randomUUID() })
    expect(opened.body, JSON.stringify(opened.body)).to.include({ payerCompanyId: companyId, payerGuestId: null })
    const refused = await send('POST', `companies/${companyId}/archive`)
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'company_in_use'])
    expect((refused.body.errors as { field: string }[]).map(({ field }) => field)).to.deep.equal([
      'reservations',
      'folios',
    ])
    const found = await here.owner.get(`folios?payerCompanyId=${companyId}`)
    expect(found.body.data).to.have.length(1)
    // A guest takes the place of the firm as payer.
    const other = await send('PATCH', `folios/${opened.body.id}`, { payerGuestId: made.booker.guestId })
    expect(other.body).to.include({ payerCompanyId: null, payerGuestId: made.booker.guestId })
    await send('POST', `bookings/${made.id}/cancel`, { reason: 'test' })
    const archived = await send('POST', `companies/${companyId}/archive`)
    expect(archived.status, JSON.stringify(archived.body)).to.equal(200)
  })
})
