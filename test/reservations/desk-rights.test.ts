import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { priceStay } from '../../db/properties/sale/quote.ts'
import { readGuestBooking } from '../../db/reservations/guest-booking.ts'
import { confirmPaid } from '../../db/reservations/confirm-paid.ts'
import { settings } from '../../config/env.ts'
import { requestNightAudit } from '../../db/night-audit/request.ts'
import { todayIn } from '../../config/time.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse, timeZone } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { pay } from '../support/pay.ts'
import { refusal } from '../support/refusals.ts'
import { makeHold, readBooking } from '../support/stay.ts'

describe('What the desk may do', () => {
  useDatabase()
  let house: House
  beforeEach(async () => {
    house = await makeHouse({ units: 2 })
  })

  it('sells optional extras up to the arrival, while guests are bound by the cut-off', async () => {
    const [extra] = await house.inHouse((trx) =>
      sql<{ id: string }>(
        trx,
        `insert into extra (property_id, code, name, category, revenue_group, amount, basis, cutoff_hours)
         values (?, 'BRK', '{"en":"Breakfast"}', 'meal', 'food', 2500, 'per_person_per_night', 720) returning id`,
        [house.propertyId],
      ),
    )
    await house.inHouse((trx) =>
      sql(trx, `update property set public_version = public_version + 1 where id = ?`, [house.propertyId]),
    )
    const price = (audience: 'portal' | 'staff') =>
      house.inHouse((trx) =>
        priceStay(trx, {
          propertyId: house.propertyId,
          arrival: house.today,
          departure: house.day(1),
          audience,
          rooms: [
            {
              unitTypeId: house.unitTypeId,
              ratePlanId: house.ratePlanId,
              adults: 2,
              childrenAges: [],
              extras: [{ extraId: extra?.id ?? '', quantity: 1 }],
            },
          ],
        }),
      )
    expect((await refusal(price('portal'))).code).to.equal('extra_unavailable')
    expect((await price('staff')).priced[0]?.extrasTotal).to.equal(5_000)
  })

  it('counts money on any folio of a stay towards its installments', async () => {
    const id = await makeHold(house)
    await pay(house, id)
    await house.inHouse((trx) => confirmPaid(trx, id))
    const due = () => house.inHouse(async (trx) => (await readGuestBooking(trx, id))?.dueNow)
    expect(await due()).to.equal(0)
    const { folios, rooms } = await readBooking(house, id)
    const { credits = 0, number = '' } = folios[0] ?? {}
    // As a transfer to a second folio leaves it.
    await house.inHouse(async (trx) => {
      await sql(
        trx,
        `insert into folio (property_id, number, kind, reservation_id, is_primary, currency)
         select property_id, regexp_replace(number, '1$', '2'), kind, reservation_id, false, currency from folio where number = ?`,
        [number],
      )
      await sql(
        trx,
        `insert into folio_line (folio_id, kind, description, unit_amount, amount, business_date, source_type, source_id, source_key, posted_by)
         select f.id, case when f.is_primary then 'transfer_out' else 'transfer_in' end, 'Moved', v, v, ?, 'folio', f.id, 'moved', '{"type":"system","id":null}'
         from folio f cross join lateral (select case when f.is_primary then ?::bigint else -?::bigint end as v) x where f.reservation_id = ?`,
        [house.today, credits, credits, rooms[0]?.id],
      )
    })
    expect(await due()).to.equal(0)
  })

  it('closes a day ahead of the calendar where the installation says so, and then sells from the business date on', async () => {
    const businessDate = todayIn(timeZone)
    const close = () => house.inHouse((trx) => requestNightAudit(trx, { propertyId: house.propertyId, businessDate }))
    expect((await refusal(close())).code).to.equal('business_date_not_over')
    settings.businessDayAhead = true
    try {
      expect((await close()).isNew).to.equal(true)
    } finally {
      settings.businessDayAhead = false
    }
    await house.inHouse((trx) =>
      sql(trx, `update property set business_date = ? where id = ?`, [house.day(2), house.propertyId]),
    )
    const price = (from: number) =>
      house.inHouse((trx) =>
        priceStay(trx, {
          propertyId: house.propertyId,
          arrival: house.day(from),
          departure: house.day(from + 1),
          audience: 'staff',
          rooms: [
            { unitTypeId: house.unitTypeId, ratePlanId: house.ratePlanId, adults: 2, childrenAges: [], extras: [] },
          ],
        }),
      )
    expect((await refusal(price(1))).code).to.equal('validation_failed')
    expect((await price(2)).priced).to.have.lengthOf(1)
  })
})
